"""A fast learner that notices every difference.

Its state is a running digest of every byte that it saw, and word counts. Its figures differ between
minibatches, islands and topics, so a test notices a figure of the wrong minibatch, island or topic.
Evidence and posterior have few values, so ties are frequent.

It has two independent chains. Documents of every third minibatch wait until the next one comes.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from beam_topics.model.learners import InitialBatch, NoInitialBatch
from beam_topics.model.learners.base import Arrivals, StepInfo, Summary, register
from beam_topics.model.papers.settings import StreamingParticles
from beam_topics.model.publishing.events import FLOOD, Event
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.scaled import Scaled
from beam_topics.model.stored import wire

FIGURES = ("documents", "tokens", "loss", "scored")


class StepFailed(Exception):
    """Raised on purpose."""


class Failures:
    """Which steps fail half-way, by sequence; each fails as often as it is listed."""

    def __init__(self):
        self.at = []
        self.steps = 0

    def check(self, sequence):
        self.steps += 1
        if sequence in self.at:
            self.at.remove(sequence)
            raise StepFailed(f"at {sequence}")


FAILURES = Failures()


def score(minibatch):
    """Thousandths of a nat, and scored tokens; words of three letters are not scored."""
    scored = [word for word in (minibatch.words[w] for w in minibatch.tokens) if len(word) != 3]
    return sum(100 * len(word) + 10 * (minibatch.sequence % 7) for word in scored), len(scored)


def first_digest(settings, key, island):
    """The digest before the first minibatch."""
    return hashlib.sha256(f"{settings.seed} {key} {island}".encode()).digest()


def next_digest(digest, payload):
    """The digest after a minibatch with these bytes."""
    return hashlib.sha256(digest + payload).digest()


def topic_of(word, island, topics):
    """Each island numbers its topics in its own way, so alignment has something to do."""
    return (len(word) + island) % topics


def evidence_of(digest):
    """The evidence of a learner: about 40 bits, with few values."""
    return _few(digest[0])


def posterior_of(digest, chain):
    """The same for the posterior of a chain."""
    return _few(digest[1 + chain])


def _few(byte):
    return 1 + byte % 3, byte // 3 % 4 - 42


def is_held(sequence):
    """Whether the documents of a minibatch wait for the next one."""
    return sequence % 3 == 1


def events_of(digest, topics):
    """What a step notes: nothing mostly, with few values, in the numbers of one of the chains."""
    found = []
    for byte in digest[4:6]:
        if byte % 3 == 0:
            figures = {"found": byte / 7, "usual": 1.5, "bound": 0.25}
            ids = [f"d{byte}"] * (byte % 2)
            topic, particle = byte // 3 % topics, byte // 9 % 2
            found.append(Event(FLOOD, byte, 2 * byte, [topic], "shares", figures, ids, particle))
    return found


def strength_of(topic, island, topics):
    """The prior strength of a topic, which follows the topic when it is renumbered."""
    return 10.0 + 5 * ((topic - island) % topics)


def alpha_of(topic, island, topics):
    """The same for alpha."""
    return 0.1 + 0.2 * ((topic - island) % topics)


class FakeState:
    def __init__(self, settings, key, island):
        self.settings, self.key, self.island = settings, key, island
        self.digest = first_digest(settings, key, island)
        self.words = Counter()
        self.documents = self.tokens = self.loss = self.scored = 0
        # Words of documents: those that wait, and those that the last steps learned.
        self.held, self.learned = [], []


@dataclass(frozen=True)
class Fake(StreamingParticles):
    kind = "fake"

    @property
    def independent_chains(self):
        return 2


@register(Fake)
class FakeLearner:
    def init(self, settings, key, island, threads=1):
        return FakeState(settings, key, island)

    def step(self, state, minibatch):
        state.digest = next_digest(state.digest, minibatch.to_bytes())
        FAILURES.check(minibatch.sequence)
        state.words.update(minibatch.words[w] for w in minibatch.tokens)
        state.documents += len(minibatch)
        state.tokens += len(minibatch.tokens)
        loss, scored = score(minibatch)
        state.loss += loss
        state.scored += scored
        came = [
            [minibatch.words[w] for w in minibatch.tokens[first:last]]
            for first, last in pairwise(minibatch.offsets)
        ]
        state.held, state.learned = state.held + came, []
        if not is_held(minibatch.sequence):
            state.held, state.learned = [], state.held
        return StepInfo(
            len(minibatch),
            len(minibatch.tokens),
            0,
            0,
            1,
            2.0,
            -loss / 1000,
            len(state.words),
            scored,
            tuple(events_of(state.digest, state.settings.topic_count)),
        )

    def steps(self, state, minibatches):
        infos, learned = [], []
        for minibatch in minibatches:
            infos.append(self.step(state, minibatch))
            learned += state.learned
        state.learned = learned
        return infos

    def arrivals(self, state, after, unlearned=False):
        until = state.documents - (0 if unlearned else len(state.held))
        documents = state.held if unlearned else state.learned
        size = state.settings.topic_count
        counts = np.zeros((2, 2, size))
        for words in documents[max(0, after - (until - len(documents))) :]:
            for chain in range(2):
                topics = [topic_of(word, state.island + chain, size) for word in words]
                for topic in topics:
                    counts[chain, 0, topic] += 1
                if topics:
                    counts[chain, 1, max(range(size), key=lambda z: (topics.count(z), -z))] += 1
        return Arrivals(counts, until)

    def snapshot(self, state, chain=None):
        numbering = state.island + (chain or 0)
        words = tuple(sorted(state.words))
        topics = state.settings.topic_count
        counts = np.zeros((len(words), topics))
        for row, word in enumerate(words):
            counts[row, topic_of(word, numbering, topics)] = state.words[word]
        strength = np.array([strength_of(z, numbering, topics) for z in range(topics)])
        prior = TopicWordPrior(strength, np.full(len(words), 1 / 100), 1 / 100)
        alpha = np.array([alpha_of(z, numbering, topics) for z in range(topics)])
        return Snapshot.from_dense(
            counts,
            key="",
            sequence=0,
            event_time=0,
            fingerprint="",
            alpha=alpha,
            prior=prior,
            words=words,
        )

    def summary(self, state, chain=None):
        evidence = Scaled.of(*evidence_of(state.digest))
        posterior = Scaled.of(*posterior_of(state.digest, chain or 0))
        logs = -state.loss / 1000
        return Summary(
            evidence,
            posterior,
            state.documents,
            state.tokens,
            len(state.words),
            logs,
            state.scored,
            2.0,
            None,
        )

    def witness(self, state):
        return wire.digest(b"witness", state.digest)

    def save(self, state):
        return wire.pack(
            b"BTz1",
            {name: getattr(state, name) for name in FIGURES}
            | {"words": dict(state.words), "held": state.held},
            state.digest,
        )

    def load(self, settings, key, island, data, threads=1):
        state = FakeState(settings, key, island)
        header, (state.digest,) = wire.unpack(b"BTz1", data)
        state.words, state.held = Counter(header.pop("words")), header.pop("held")
        for name in FIGURES:
            setattr(state, name, header[name])
        return state

    def nbytes(self, state):
        return 1000 + 100 * len(state.words)


def fake_settings(islands=1):
    return Fake(
        topics=3,
        islands=islands,
        particles=2 * islands,
        initial=InitialBatch(1) if islands > 1 else NoInitialBatch(),
    )
