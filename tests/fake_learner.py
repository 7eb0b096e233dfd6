"""A learner that costs nothing and notices everything: its state is a running digest of every byte that it saw, and word counts."""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from model import wire
from model.learners import InitialBatch, NoInitialBatch
from model.learners.base import StepInfo, Summary, register
from model.learners.particle_settings import StreamingParticles
from model.scaled import Scaled
from model.snapshot import Snapshot, TopicWordPrior


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


class FakeState:
    def __init__(self, settings, key, island):
        self.settings, self.key, self.island = settings, key, island
        self.digest = hashlib.sha256(f"{settings.seed} {key} {island}".encode()).digest()
        self.words = Counter()
        self.documents = self.tokens = 0


@dataclass(frozen=True)
class Fake(StreamingParticles):
    kind = "fake"


@register(Fake)
class FakeLearner:
    def init(self, settings, key, island, threads=1):
        return FakeState(settings, key, island)

    def step(self, state, minibatch):
        state.digest = hashlib.sha256(state.digest + minibatch.to_bytes()).digest()
        FAILURES.check(minibatch.sequence)
        state.words.update(minibatch.words[w] for w in minibatch.tokens)
        state.documents += len(minibatch)
        state.tokens += len(minibatch.tokens)
        size = len(minibatch.tokens)
        return StepInfo(len(minibatch), size, 0, 0, 1, 2.0, -size * math.log(8), len(state.words))

    def snapshot(self, state):
        words = tuple(sorted(state.words))
        topics = state.settings.topics
        counts = np.zeros((len(words), topics))
        # Each island numbers its topics in its own way, so alignment has something to do.
        for row, word in enumerate(words):
            counts[row, (len(word) + state.island) % topics] = state.words[word]
        prior = TopicWordPrior.flat(10.0, 100, len(words), topics)
        alpha = np.full(topics, state.settings.alpha)
        return Snapshot.from_dense(counts, key="", sequence=0, event_time=0, fingerprint="", alpha=alpha, prior=prior, words=words)

    def summary(self, state):
        evidence = Scaled.of(1 + state.digest[0], state.digest[1])
        logs = -state.tokens * math.log(8)
        return Summary(evidence, evidence, state.documents, state.tokens, len(state.words), logs, state.tokens, 2.0, None)

    def witness(self, state):
        return wire.digest(b"witness", state.digest)

    def save(self, state):
        return wire.pack(b"BTz1", {"documents": state.documents, "tokens": state.tokens, "words": dict(state.words)}, state.digest)

    def load(self, settings, key, island, data, threads=1):
        state = FakeState(settings, key, island)
        header, (state.digest,) = wire.unpack(b"BTz1", data)
        state.documents, state.tokens, state.words = header["documents"], header["tokens"], Counter(header["words"])
        return state

    def nbytes(self, state):
        return 1000 + 100 * len(state.words)


def fake_settings(islands=1):
    return Fake(topics=3, islands=islands, particles=2 * islands, initial=InitialBatch(1) if islands > 1 else NoInitialBatch())
