import hashlib
from dataclasses import replace
from math import exp
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fake_learner import FAILURES, FakeLearner, StepFailed, fake_settings, score
from streams import SECOND, documents, final_states, learn_options, links_of, run_settings
from without_beam import run_without_beam

from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.pending import ListBag
from beam_topics.model.errors import (
    DamagedDataError,
    DivergedError,
    MemoryLimitError,
    StoreConflictError,
)
from beam_topics.model.learner_log import restoring
from beam_topics.model.learner_log.head import (
    LearnerHead,
    Live,
    LiveLearners,
    checkpoint_from_bytes,
)
from beam_topics.model.learner_log.log import Session, run_from_bytes, run_to_bytes
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.publication import Publisher, PublishHead
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.stored import wire

ITEMS = documents(60)
LINKS = links_of(ITEMS)
OTHER_LINKS = links_of(sorted(ITEMS, key=lambda item: item.timestamps[0])[1:])
END = NumberedMinibatch.end(LINKS[-1].sequence, LINKS[-1].fingerprint)
END_AT_9 = NumberedMinibatch.end(LINKS[8].sequence, LINKS[8].fingerprint)
CHECKPOINT_TOKENS = 40
# Room for the saved bytes of one learner, and for no learner in use.
TINY_MB = 3e-4


@pytest.fixture(autouse=True)
def no_failures():
    FAILURES.at, FAILURES.steps = [], 0


class Worker:
    """A runner for one learner: committed state, bundles that commit or fail, live learners."""

    def __init__(self, store, island=0, key="", run=1, **others):
        islands, self.run = others.pop("islands", 1), run
        values = {"checkpoint_tokens": CHECKPOINT_TOKENS, "end_of_stream": 10**15, **others}
        self.options = learn_options(store, fake_settings(islands=islands), **values)
        self.island, self.key, self.live = island, key, LiveLearners()
        self.head, self.log, self.gap = None, [], []
        self.candidates, self.restores, self.repeats, self.unpacked = [], 0, 0, 0

    def bundle(self, links, commit=True):
        """Process links as one bundle; state is encoded and kept only if all went well."""
        session = Session(self.options, self.key, self.island, self.live)
        log, gap, offered = ListBag(self.log), ListBag(self.gap), []
        if self.head is None:
            head, offered = session.first()
        else:
            head = LearnerHead.from_bytes(self.head)
        for run in runs_of(links, self.run):
            out = session.handle(head, run, log, gap)
            head = out.head
            offered = offered + out.candidates
            self.restores += out.restores
            self.unpacked += out.unpacked
            self.repeats += out.repeats
        if commit:
            self.head, self.log, self.gap = head.to_bytes(), log.elements, gap.elements
            self.candidates += offered

    @property
    def at(self):
        return LearnerHead.from_bytes(self.head)

    def retried(self, links):
        """A bundle as a runner runs it: again, until it goes well."""
        while True:
            try:
                return self.bundle(links)
            except StepFailed:
                continue

    def result(self):
        """(sequence, fingerprint, witness, state digest) and the candidates."""
        (state,) = final_states(self.options.store, self.key) if not self.island else [None]
        return state, self.candidates


def runs_of(links, size):
    """Links as they come from a run's bytes."""
    runs = [run_to_bytes([link.to_bytes() for link in some]) for some in bundles(links, size)]
    return map(run_from_bytes, runs)


def bundles(links, size):
    links = list(links)
    return [links[i : i + size] for i in range(0, len(links), size)]


def uninterrupted(tmp_path):
    worker = Worker(tmp_path / "uninterrupted")
    worker.bundle([*LINKS, END])
    return worker.result()


def test_it_comes_to_what_the_learner_comes_to_without_beam(tmp_path):
    want = run_without_beam(LINKS, fake_settings())
    state, candidates = uninterrupted(tmp_path)
    assert state == (want.sequence, want.fingerprint, want.witness, want.state_digest)
    assert candidates[-1].fingerprint == want.fingerprint.hex()
    assert want.sequence == len(LINKS)


@pytest.mark.parametrize("at", [1, 7, len(LINKS)])
def test_a_learner_that_rests_leaves_a_head_and_continues_with_the_same_bits(tmp_path, at):
    worker = Worker(tmp_path / "s", checkpoint_tokens=10**9)
    worker.bundle(LINKS[:at])
    session, log = Session(worker.options, "", 0, worker.live), ListBag(worker.log)
    assert len(log.elements) == at and len(worker.live) == 1
    out = session.rest(worker.at, log)
    assert (out.checkpoints, log.elements, len(worker.live)) == (1, [], 0)
    again = session.rest(out.head, log)
    assert (again.head, again.checkpoints) == (out.head, 0)
    worker.head, worker.log = out.head.to_bytes(), log.elements
    worker.bundle([*LINKS[at:], END])
    assert worker.restores == 1
    assert worker.result() == uninterrupted(tmp_path)


def test_a_learner_whose_rest_was_rolled_back_is_restored_from_its_log(tmp_path):
    worker = Worker(tmp_path / "s", checkpoint_tokens=10**9)
    worker.bundle(LINKS[:7])
    Session(worker.options, "", 0, worker.live).rest(worker.at, ListBag(worker.log))
    worker.bundle([*LINKS[7:], END])
    assert worker.result() == uninterrupted(tmp_path)


def test_learners_that_share_little_memory_come_to_the_same_bits(tmp_path):
    """The state of a learner goes to its saved bytes between its bundles, and comes back."""
    want = uninterrupted(tmp_path)
    worker = Worker(tmp_path / "little", memory_mb=TINY_MB)
    for bundle in bundles([*LINKS, END], 3):
        # Another key of the process takes the place of the learner.
        worker.live.check_in("other", Live(b"", LearnerHead(1, b"", b"", b""), 1, bytes), TINY_MB)
        worker.bundle(bundle)
        worker.live.check_in("other", Live(b"", LearnerHead(1, b"", b"", b""), 1, bytes), TINY_MB)
    assert worker.result() == want
    assert worker.unpacked + worker.restores >= len(bundles([*LINKS, END], 3)) - 1
    assert worker.unpacked > 0


def test_nothing_of_a_learner_stays_in_memory_after_the_end(tmp_path):
    worker = Worker(tmp_path / "ended")
    worker.bundle(LINKS)
    assert len(worker.live) == 1
    worker.bundle([END])
    assert len(worker.live) == 0


def test_another_order_or_another_document_is_another_result():
    want = run_without_beam(LINKS, fake_settings())
    other = run_without_beam(links_of(ITEMS[:-1]), fake_settings())
    assert (
        want.state_digest != other.state_digest
        and want.witness != other.witness
        and want.fingerprint != other.fingerprint
    )
    with pytest.raises(DivergedError, match="minibatch 3 does not follow minibatch 1"):
        run_without_beam([LINKS[0], LINKS[2]], fake_settings())


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_bundles_of_any_size_give_the_same(tmp_path, size):
    worker = Worker(tmp_path / "s")
    for links in bundles([*LINKS, END], size):
        worker.bundle(links)
    assert worker.result() == uninterrupted(tmp_path)
    assert worker.restores == 0


@pytest.mark.parametrize("run", [2, 5, 100])
def test_runs_of_any_size_give_the_same(tmp_path, run):
    worker = Worker(tmp_path / "s", run=run)
    for links in bundles([*LINKS, END], 7):
        worker.bundle(links)
    assert worker.result() == uninterrupted(tmp_path)
    assert worker.restores == 0


def test_a_learner_without_steps_learns_runs_one_minibatch_at_a_time(tmp_path, monkeypatch):
    want = uninterrupted(tmp_path)
    methods = (
        "init",
        "step",
        "arrivals",
        "snapshot",
        "summary",
        "witness",
        "save",
        "load",
        "nbytes",
    )
    learner = SimpleNamespace(**{name: getattr(FakeLearner(), name) for name in methods})
    monkeypatch.setattr(restoring, "learner_for", lambda settings: learner)
    worker = Worker(tmp_path / "s", run=5)
    worker.bundle([*LINKS, END])
    assert worker.result() == want


def test_runs_that_overlap_and_come_in_any_order(tmp_path):
    worker = Worker(tmp_path / "s", run=100)
    for first, last in ((3, 6), (0, 2), (1, 4), (5, 9), (4, 12)):
        worker.bundle(LINKS[first:last])
    assert worker.at.sequence == 12 and worker.at.gaps == 0 and worker.gap == []
    # 2; 3 to 6 waited and were learned with 1 to 4, so 6 came again, and 7 to 9 followed it.
    assert worker.repeats == 1 + 1 + 5
    worker.bundle([*LINKS[12:], END])
    assert worker.result() == uninterrupted(tmp_path)


@pytest.mark.parametrize("failing", [8, 10, 14], ids=["first", "middle", "last"])
def test_a_step_that_fails_half_way_changes_nothing(tmp_path, failing):
    worker = Worker(tmp_path / "s")
    worker.retried(LINKS[:7])
    FAILURES.at = [failing, failing]
    worker.retried(LINKS[7:14])
    assert FAILURES.at == []
    worker.retried([*LINKS[14:], END])
    assert worker.result() == uninterrupted(tmp_path)
    # The learner that failed was gone, so the attempt that went well began with checkpoint and log.
    assert worker.restores >= 1


def test_a_failed_step_leaves_no_live_learner(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle(LINKS[:3])
    FAILURES.at = [4]
    with pytest.raises(StepFailed):
        worker.bundle(LINKS[3:5])
    assert len(worker.live) == 0


def test_every_bundle_run_twice_and_rolled_back_once(tmp_path):
    worker = Worker(tmp_path / "s")
    for links in bundles([*LINKS, END], 4):
        worker.bundle(links, commit=False)
        worker.bundle(links)
    assert worker.result() == uninterrupted(tmp_path)
    assert worker.restores > 0


def test_a_process_that_forgets_everything_between_bundles(tmp_path):
    worker = Worker(tmp_path / "s")
    for links in bundles([*LINKS, END], 4):
        worker.bundle(links)
        worker.live.clear()
    assert worker.result() == uninterrupted(tmp_path)


@pytest.mark.parametrize(
    "order",
    [
        [1, 0, 2, 4, 3, 5],
        [5, 4, 3, 2, 1, 0],
        [0, 3, 1, 5, 4, 2],
        [0, 1, 1, 3, 3, 0, 2, 4, 5, 2],
    ],
)
def test_gaps_and_repeats_are_put_right(tmp_path, order):
    worker = Worker(tmp_path / "s")
    for at in order:
        worker.bundle([LINKS[at]])
    assert worker.at.sequence == 6 and worker.at.gaps == 0 and worker.gap == []
    worker.bundle([END])
    worker.bundle(reversed(LINKS[6:]))
    assert worker.result() == uninterrupted(tmp_path)


def test_gaps_within_one_bundle_that_fails(tmp_path):
    worker = Worker(tmp_path / "s")
    FAILURES.at = [3]
    worker.retried([LINKS[2], LINKS[1], LINKS[0]])
    worker.retried([*LINKS[3:], END])
    assert worker.result() == uninterrupted(tmp_path)


def test_repeats_are_dropped_and_counted(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle([*LINKS, END])
    before = worker.at
    worker.bundle([LINKS[3], LINKS[-1]])
    assert (worker.at, worker.repeats) == (before, 2)


def test_another_minibatch_under_the_same_number_is_refused(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle(LINKS[:5])
    with pytest.raises(DivergedError, match="minibatch 5 came again with other documents"):
        worker.bundle([OTHER_LINKS[4]])
    with pytest.raises(DivergedError, match="other documents came before minibatch 6"):
        worker.bundle([replace(LINKS[5], previous=bytes(32))])
    with pytest.raises(DivergedError, match=r"other documents came before.*empty model store"):
        Worker(tmp_path / "t").bundle([replace(LINKS[0], previous=bytes(32))])


def forged(head, **others):
    return replace(LearnerHead.from_bytes(head), **others).to_bytes()


def test_a_forged_head_is_noticed(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle(LINKS[:9])
    good = worker.head
    for name, value in (
        ("witness", bytes(32)),
        ("fingerprint", bytes(32)),
        ("chain", bytes(32)),
        ("log_count", 0),
    ):
        worker.head = forged(good, **{name: value})
        with pytest.raises((DivergedError, DamagedDataError)):
            worker.bundle(LINKS[9:])
    worker.head = forged(good, sequence=8)
    with pytest.raises((DivergedError, DamagedDataError)):
        worker.bundle(LINKS[8:])
    worker.head = good
    worker.bundle(LINKS[9:])


def test_a_damaged_head_is_noticed(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle(LINKS[:9])
    good = worker.head
    for head in (
        good.replace(b'"sequence":9', b'"sequence":8'),
        good[:-1],
        b"BTh9" + good[4:],
        b"",
    ):
        with pytest.raises(DamagedDataError):
            LearnerHead.from_bytes(head)
    for at in range(len(good)):
        # The last digit of a number may be changed and the number be the same.
        try:
            assert LearnerHead.from_bytes(
                good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
            ) == LearnerHead.from_bytes(good)
        except DamagedDataError:
            continue


def test_a_forged_log_is_noticed(tmp_path):
    worker = Worker(tmp_path / "s", checkpoint_tokens=10**6)
    worker.bundle(LINKS[:9])
    good, link = worker.log, NumberedMinibatch.from_bytes(worker.log[4])
    foreign = NumberedMinibatch.link(5, link.previous, links_of(documents(20))[4].payload)
    for log in (
        good[:-1],
        [*good, good[0]],
        [],
        [*good[:4], foreign.to_bytes(), *good[5:]],
        [*good[:4], replace(link, payload=foreign.payload).to_bytes(), *good[5:]],
    ):
        worker.log = log
        worker.live.clear()
        with pytest.raises((DivergedError, DamagedDataError)):
            worker.bundle(LINKS[9:])
    worker.log = good[::-1]
    worker.bundle(LINKS[9:])


def test_a_forged_gap_bag_is_noticed(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle([LINKS[0], LINKS[3], LINKS[2]])
    worker.gap = worker.gap[:1]
    with pytest.raises(DamagedDataError, match="gap bag holds 1"):
        worker.bundle([LINKS[1]])


def test_a_forged_checkpoint_is_noticed(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle(LINKS[:12])
    (path,) = (tmp_path / "s" / "_" / "checkpoints").glob(f"*-{worker.at.checkpoint[:16]}")
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    worker.live.clear()
    with pytest.raises(DamagedDataError, match="does not have the digest|do not have the digest"):
        worker.bundle(LINKS[12:])
    # A whole and valid checkpoint of another minibatch under the head's name is no better.
    store = ModelStore(str(tmp_path / "s"))
    other = min(store.checkpoints(""), key=lambda entry: entry.sequence)
    worker.head = forged(worker.head, checkpoint=other.digest)
    with pytest.raises(DamagedDataError, match=f"minibatch {other.sequence} in place of"):
        worker.bundle(LINKS[12:])


def test_other_arithmetic_is_noticed(tmp_path, monkeypatch):
    worker = Worker(tmp_path / "s", checkpoint_tokens=10**6)
    worker.bundle(LINKS[:9])
    worker.live.clear()
    monkeypatch.setattr(
        "fake_learner.FakeLearner.witness",
        lambda self, state: wire.digest(b"another libm", state.digest),
    )
    with pytest.raises(
        DivergedError, match="other bits.*other libraries or on another kind of processor"
    ):
        worker.bundle(LINKS[9:])


def test_other_settings_are_refused(tmp_path):
    first = Worker(tmp_path / "s")
    first.bundle(LINKS[:3])
    # Without a version any settings are allowed.
    other = Worker(tmp_path / "s")
    other.options = replace(first.options, settings=replace(first.options.settings, alpha=0.6))
    other.bundle(LINKS[:3])
    publisher = Publisher(first.options, "", ModelStore(first.options.store))
    publisher.handle(PublishHead(), first.candidates[0], ListBag())
    other = Worker(tmp_path / "s")
    other.options = replace(other.options, settings=replace(other.options.settings, alpha=0.7))
    with pytest.raises(StoreConflictError, match="alpha"):
        other.bundle(LINKS[:3])
    # What does not change what is learned may change.
    Worker(tmp_path / "s", threads=2, checkpoint_tokens=7).bundle(LINKS[:3])


def test_a_large_learner_is_refused_with_advice(tmp_path):
    with pytest.raises(
        MemoryLimitError, match=r"--max_state_mb \(0.001\).*fewer --topics.*--reservoir"
    ):
        Worker(tmp_path / "s", max_state_mb=0.001).bundle(LINKS)


def test_checkpoints_bound_the_log(tmp_path):
    worker = Worker(tmp_path / "s")
    largest = max(len(link.minibatch().tokens) for link in LINKS)
    for link in LINKS:
        worker.bundle([link])
        assert worker.at.log_count == len(worker.log)
        assert worker.at.log_tokens < CHECKPOINT_TOKENS + largest
    assert len(ModelStore(str(tmp_path / "s")).checkpoints("")) > 2


def test_many_versions_do_not_make_the_head_grow(tmp_path):
    links = links_of(documents(300, span=3000))
    worker = Worker(tmp_path / "s", checkpoint_tokens=10**9)
    sizes = []
    for link in links:
        worker.bundle([link])
        sizes.append(len(worker.head))
    assert len(worker.candidates) > 150
    assert max(sizes) < 64 * 1500 and len(ModelStore(str(tmp_path / "s")).checkpoints("")) >= 2


def published(worker):
    return [candidate.sequence for candidate in worker.candidates]


def closing(links=LINKS):
    return [
        (link.sequence, link.minibatch().window_end)
        for link in links
        if link.minibatch().closes_window
    ]


def test_versions_after_every_window_and_after_every_third(tmp_path):
    every, third = Worker(tmp_path / "a"), Worker(tmp_path / "b", publish_every=("windows", 3))
    every.bundle([*LINKS, END])
    third.bundle([*LINKS, END])
    sequences = [sequence for sequence, _ in closing()]
    assert published(every) == sequences
    assert published(third) == [*sequences[2::3], sequences[-1]]


def test_versions_by_periods_of_event_time(tmp_path):
    worker = Worker(tmp_path / "s", publish_every=("period", 35 * SECOND))
    worker.bundle([*LINKS, END])
    assert [end // SECOND for sequence, end in closing() if sequence in published(worker)] == [
        40,
        70,
        100,
    ]
    assert [c.previous for c in worker.candidates] == [0, *published(worker)[:-1]]


def test_a_period_shorter_than_a_window_is_every_window(tmp_path):
    worker = Worker(tmp_path / "s", publish_every=("period", SECOND))
    worker.bundle(LINKS)
    assert published(worker) == [sequence for sequence, _ in closing()]


def by(every, end, since):
    """Whether a version is due at a window's end, by period."""
    return end // every > since // every


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("period", 20 * SECOND), ("period", 50 * SECOND)),
        (("period", 50 * SECOND), ("period", 20 * SECOND)),
        (("period", 20 * SECOND), ("windows", 3)),
        (("windows", 3), ("period", 20 * SECOND)),
        (("windows", 2), ("windows", 3)),
    ],
)
def test_a_job_goes_on_with_another_rhythm_of_versions(tmp_path, before, after):
    half = len(LINKS) // 2
    worker = Worker(tmp_path / "s", publish_every=before)
    worker.bundle(LINKS[:half])
    worker.options = replace(worker.options, run=run_settings(after))
    worker.bundle(LINKS[half:])
    due, since, windows = [], LINKS[0].minibatch().window_end - worker.options.sequence.window, 0
    for sequence, end in closing():
        kind, every = before if sequence <= LINKS[half - 1].sequence else after
        windows += 1
        if (windows >= every) if kind == "windows" else by(every, end, since):
            due.append(sequence)
            since, windows = end, 0
    assert published(worker) == due
    assert len(due) > 1


def test_the_end_publishes_what_is_new_only(tmp_path):
    worker = Worker(tmp_path / "s", publish_every=("windows", 1000))
    worker.bundle([*LINKS, END])
    worker.bundle([END])
    assert published(worker) == [len(LINKS)]
    assert worker.candidates[0].at == worker.options.end_of_stream
    assert worker.candidates[0].event_time == LINKS[-1].minibatch().window_end


def test_a_version_at_the_end_is_known_to_the_next_job_even_after_a_checkpoint_of_its_minibatch(
    tmp_path,
):
    first = Worker(tmp_path / "s", publish_every=("windows", 1000), checkpoint_tokens=1)
    first.bundle([*LINKS[:9], END_AT_9])
    assert published(first) == [9]
    again = Worker(tmp_path / "s", publish_every=("windows", 1000), resume_from="latest")
    again.bundle([*LINKS[9:], END])
    assert [(one.previous, one.sequence) for one in again.candidates] == [(0, 9), (9, len(LINKS))]


def test_the_first_version_has_no_perplexity(tmp_path):
    """The model had no word when that period began."""
    worker = Worker(tmp_path / "s")
    worker.bundle(LINKS)
    first, *others = worker.candidates
    assert first.prequential_perplexity is None
    assert others and all(one.prequential_perplexity for one in others)


def test_candidates_say_what_was_learned(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle(LINKS)
    last = worker.candidates[-1]
    assert last.documents == 60 and last.tokens == sum(len(item.tokens) for item in ITEMS)
    snapshot = ModelStore(str(tmp_path / "s")).get_candidate("", last.snapshot)
    assert (snapshot.sequence, snapshot.event_time, snapshot.fingerprint) == (
        last.sequence,
        last.event_time,
        last.fingerprint,
    )
    assert snapshot.totals.sum() == last.tokens
    assert Candidate.from_bytes(last.to_bytes()) == last


@pytest.mark.parametrize("every", [1, 2, 3])
def test_the_perplexity_is_of_the_tokens_scored_since_the_version_before(tmp_path, every):
    worker = Worker(tmp_path / "s", publish_every=("windows", every))
    for links in bundles([*LINKS, END], 4):
        worker.bundle(links)
        worker.live.clear()
    found = [candidate.prequential_perplexity for candidate in worker.candidates]
    want = []
    for candidate in worker.candidates:
        losses = [
            score(link.minibatch()) for link in LINKS[candidate.previous : candidate.sequence]
        ]
        loss, scored = np.sum(losses, axis=0)
        want.append(exp(loss / 1000 / scored))
    # The first version has none.
    assert found[1:] == pytest.approx(want[1:])
    assert len(set(found)) > 2


@pytest.mark.parametrize("killed", [6, 11, 17])
def test_a_new_job_from_the_last_checkpoint_equals_an_uninterrupted_run(tmp_path, killed):
    first = Worker(tmp_path / "s")
    first.bundle(LINKS[:killed])
    point = ModelStore(str(tmp_path / "s")).resume_point("", "latest", 1)[0].sequence
    assert point < killed or LINKS[killed - 1].sequence == point
    again = Worker(tmp_path / "s", resume_from="latest")
    again.bundle([*LINKS, END])
    state, candidates = uninterrupted(tmp_path)
    assert again.result()[0] == state
    # Nothing had been published: the candidates of the first job are offered again, and the rest
    # follows.
    assert again.candidates == candidates
    onward = Worker(tmp_path / "s", resume_from=str(point))
    onward.bundle([*LINKS[point:], END])
    assert onward.result()[0] == state


def test_a_run_that_is_repeated_from_a_checkpoint_writes_the_same_checkpoints(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle([*LINKS, END])
    entries = ModelStore(worker.options.store).checkpoints("")
    heads = [ModelStore(worker.options.store).get_checkpoint("", one.digest) for one in entries]
    # Only a checkpoint behind several versions can differ.
    assert any(len(checkpoint_from_bytes(data)[0].candidates) > 1 for data in heads[:-1])
    for entry in entries[:-1]:
        Worker(tmp_path / "s", resume_from=str(entry.sequence)).bundle([*LINKS, END])
    assert ModelStore(worker.options.store).checkpoints("") == entries


def test_resuming_checks_the_input(tmp_path):
    Worker(tmp_path / "s").bundle(LINKS[:11])
    other = Worker(tmp_path / "s", resume_from="latest")
    with pytest.raises(
        DivergedError,
        match="To finish a run that was interrupted, .* --add_documents in place of --resume_from",
    ):
        other.bundle(OTHER_LINKS)


def test_a_key_without_a_checkpoint_begins_anew(tmp_path):
    Worker(tmp_path / "s").bundle(LINKS[:11])
    items = documents(9, key="new")
    worker = Worker(tmp_path / "s", key="new", resume_from="latest")
    worker.bundle(links_of(items, key="new"))
    assert worker.at.sequence == len(links_of(items, key="new"))


def test_islands_see_the_same_and_learn_for_themselves(tmp_path):
    workers = [Worker(tmp_path / "s", island, islands=2) for island in range(2)]
    for worker in workers:
        worker.bundle([*LINKS, END])
    heads = [worker.at for worker in workers]
    assert heads[0].chain == heads[1].chain
    assert heads[0].fingerprint != heads[1].fingerprint and heads[0].witness != heads[1].witness
    assert [c.chain for c in workers[0].candidates] == [c.chain for c in workers[1].candidates]


def test_checkpoint_holds_the_learner_and_its_head(tmp_path):
    worker = Worker(tmp_path / "s")
    worker.bundle([*LINKS, END])
    head, state = checkpoint_from_bytes(
        ModelStore(str(tmp_path / "s")).get_checkpoint("", worker.at.checkpoint)
    )
    assert head.sequence == len(LINKS) and head.log_count == head.gaps == 0
    assert (
        hashlib.sha256(state).hexdigest() == run_without_beam(LINKS, fake_settings()).state_digest
    )


def test_a_run_that_is_resumed_goes_back_no_further_than_the_checkpoints_that_are_left(tmp_path):
    """No version was offered yet, so the search for candidates has no other end."""
    first = Worker(tmp_path / "s", publish_every=("windows", 1000), checkpoint_tokens=1)
    first.bundle(LINKS[:9])
    store = ModelStore(str(tmp_path / "s"))
    points = store.checkpoints("")
    assert len(points) > 3
    for entry in points[:-1]:
        Path(store.root, "_", "checkpoints", entry.file_name).unlink()
    again = Worker(
        tmp_path / "s", publish_every=("windows", 1000), checkpoint_tokens=1, resume_from="latest"
    )
    again.bundle([*LINKS[9:], END])
    assert published(again) == [len(LINKS)]


def test_a_checkpoint_to_continue_from_is_marked_as_used(tmp_path):
    """Until the next checkpoint the head refers to it, so no expiry may remove it."""
    first = Worker(tmp_path / "s", checkpoint_tokens=1)
    first.bundle(LINKS[:9])
    blobs = blobs_at(str(tmp_path / "s"))
    before = blobs.stamps("_/checkpoints")
    again = Worker(tmp_path / "s", checkpoint_tokens=1, resume_from="latest")
    again.bundle(LINKS[9:10])
    newest = ModelStore(str(tmp_path / "s")).checkpoints("")[-2].file_name
    assert blobs.stamps("_/checkpoints")[newest] != before[newest]
