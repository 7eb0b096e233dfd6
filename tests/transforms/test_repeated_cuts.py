"""A job that a runner restores cuts the windows of its versions again as it had cut them."""

import random
from types import SimpleNamespace

import pytest
from apache_beam.utils.timestamp import Timestamp
from bad_runner import Job
from fake_learner import FAILURES, fake_settings
from streams import SECOND, WORDS, learn_options

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import NumberedMinibatch, place
from beam_topics.model.documents.pending import ListBag
from beam_topics.model.learner_log.restoring import SequenceStart
from beam_topics.model.publishing.store import ModelStore
from beam_topics.transforms.sequence import SequenceDoFn
from beam_topics.transforms.shared import END_OF_STREAM

PARTITIONS, DOCUMENTS = 3, 40


@pytest.fixture(autouse=True)
def no_failures():
    FAILURES.at, FAILURES.steps = [], 0


def logs_of(chance):
    """The documents of each partition, nearly in the order of time; one in five is late."""
    logs = []
    for partition in range(PARTITIONS):
        times = sorted(chance.uniform(0, 80) for _ in range(DOCUMENTS))
        times = [time - (chance.random() < 0.2) * chance.uniform(0, 30) for time in times]
        logs.append([block(chance, partition, *pair) for pair in enumerate(times)])
    return logs


def block(chance, partition, offset, seconds):
    name, where = f"p{partition}d{offset}", place(f"posts/{partition}", 0, offset, offset + 1)
    document = Document(name, int(seconds * SECOND), "", None, "k", place=where)
    return Block.of_words([document], [chance.choices(WORDS, k=4)])


class Head:
    """The state of a runner that holds one value."""

    def __init__(self, data=None):
        self.data = data

    def read(self):
        return self.data

    def write(self, data):
        self.data = data


class LogJob:
    """A job that reads partitions, as ``chance`` has it, and sequences, learns and publishes.

    Event time is that of the partition that lags most, whose newest document tells it.
    """

    def __init__(self, logs, store, chance):
        self.logs, self.chance = logs, chance
        self.options = learn_options(store, fake_settings(), publish_every=("windows", 1))
        self.job = Job(random.Random(1), self.options, "k")
        self.begin([0] * PARTITIONS, None, [], set())

    def begin(self, read, head, bag, timers):
        self.read, self.head, self.bag, self.timers = read, Head(head), ListBag(bag), timers
        self.step = SequenceDoFn(SequenceStart(self.options), streams=True)
        self.step.setup()
        self.step.start_bundle()

    def state(self):
        sequence = [*self.read], self.head.data, self.bag.read(), {*self.timers}
        return sequence, self.job.state()

    def restore(self, state):
        sequence, job = state
        self.begin(*sequence)
        self.job.restore(job)

    @property
    def time(self):
        """Event time in microseconds."""
        logs = zip(self.read, self.logs, strict=True)
        return min(
            END_OF_STREAM
            if at == len(log)
            else max((int(one.timestamps[0]) for one in log[:at]), default=-(2**60))
            for at, log in logs
        )

    def set(self, time, dynamic_timer_tag):
        self.timers.add(time.micros)

    def run(self, steps):
        """Read so many documents, and close what is due after most of them."""
        for _ in range(steps):
            left = [p for p in range(PARTITIONS) if self.read[p] < len(self.logs[p])]
            if left:
                partition = self.chance.choice(left)
                data = self.logs[partition][self.read[partition]].to_bytes()
                self.read[partition] += 1
                self.step.process((b"k", data), self.head, self.bag, SimpleNamespace(set=self.set))
            if self.chance.random() < 0.7 or not left:
                self.fire()

    def fire(self):
        while due := [timer for timer in self.timers if timer <= self.time]:
            self.timers.remove(min(due))
            closed = self.step.close(
                b"k", Timestamp(micros=min(due)), self.head, self.bag, SimpleNamespace(set=self.set)
            )
            sent = [getattr(one, "value", one) for one in closed]
            links = [NumberedMinibatch.from_bytes(data) for _, data in sent]
            self.job.take([link for link in links if not link.is_end])
        self.step.start_bundle()


def superseded(folder, seed):
    """(versions that a restored job gave up, versions when it was killed, all of its documents)."""
    chance = random.Random(seed)
    job = LogJob(logs_of(chance), folder, chance)
    job.run(chance.randint(10, 80))
    state = job.state()
    job.run(chance.randint(10, 80))
    published = len(ModelStore(str(folder)).manifests("k"))
    job.chance = random.Random(-seed)
    job.restore(state)
    job.run(PARTITIONS * DOCUMENTS)
    return len(job.job.superseded), published, ModelStore(str(folder)).latest("k").documents


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_restored_job_comes_to_its_versions_again(tmp_path, seed):
    given_up, _, documents = superseded(tmp_path, seed)
    assert given_up == 0 and documents == PARTITIONS * DOCUMENTS


def test_without_the_record_late_documents_lead_to_other_versions(tmp_path, monkeypatch):
    monkeypatch.setattr(SequenceStart, "cuts", lambda self, key, head: None)
    found = [superseded(tmp_path / str(seed), seed) for seed in range(1, 9)]
    assert sum(given_up > 0 for given_up, _, _ in found) > 3
    assert {documents for _, _, documents in found} == {PARTITIONS * DOCUMENTS}
