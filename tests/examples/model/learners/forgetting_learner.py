"""Online expectation maximisation with counts that fade.

Notation: W is the number of words, V the number of words of the minibatch, T the number of topics.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.kernels.random import FIRST_TOPICS, fill_uniforms, stream_key
from beam_topics.model.learners.base import Arrivals, StepInfo, Summary, register
from beam_topics.model.learners.forgetting import Forgetting
from beam_topics.model.learners.variational.kernels.variational_estep import score_documents
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.scaled import Scaled
from beam_topics.model.stored import checks, wire

MAGIC = b"BTy1"
FACTS = ("sequence", "documents", "tokens")


@dataclass
class ForgettingState:
    """The state of the learner.

    Attributes:
        settings, key: as given to ``init``.
        words: the row of each word.
        counts: float64[W, T], expected tokens.
        arrived: float64[2, T], tokens and documents of each topic in the last minibatch.
        facts: sequence, documents and tokens so far.
        evidence: the probability of everything that was scored.
    """

    settings: Forgetting
    key: str
    words: dict[str, int]
    counts: FloatArray
    arrived: FloatArray
    facts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FACTS, 0))
    evidence: Scaled = field(default_factory=lambda: Scaled.of(1.0))

    def prior_words(self) -> int:
        """Return the number of words of the prior: the known ones, and one for all others."""
        return len(self.words) + 1


@register(Forgetting)
class ForgettingLearner:
    """Online expectation maximisation: five E-steps a document, one M-step a minibatch."""

    def init(
        self, settings: Forgetting, key: str, island: int, threads: int = 1
    ) -> ForgettingState:
        topics = settings.topic_count
        return ForgettingState(settings, key, {}, np.zeros((0, topics)), np.zeros((2, topics)))

    def step(self, state: ForgettingState, minibatch: Minibatch) -> StepInfo:
        settings, size = state.settings, len(minibatch.tokens)
        rows = np.array(
            [state.words.setdefault(word, len(state.words)) for word in minibatch.words], np.int64
        )
        _add_rows(state)
        totals = state.counts.sum(axis=0) + settings.beta * state.prior_words()
        phi = (state.counts[rows] + settings.beta) / totals
        # The score comes first: it is a prediction of words that are not learned yet.
        mantissa, exponent = score_documents(
            minibatch.tokens, minibatch.offsets, phi, settings.topic_alpha
        )
        found = Scaled.of(float(mantissa), int(exponent))
        state.evidence = state.evidence * found
        state.counts *= settings.fading
        added, state.arrived = _expected_counts(minibatch, phi, settings.topic_alpha)
        state.counts[rows] += added
        state.facts = {
            "sequence": minibatch.sequence,
            "documents": state.facts["documents"] + len(minibatch),
            "tokens": state.facts["tokens"] + size,
        }
        return StepInfo(
            documents=len(minibatch),
            tokens=size,
            unknown_tokens=0,
            moves=0,
            resamplings=0,
            ess=1.0,
            log_evidence=found.log(),
            words=len(state.words),
            scored_tokens=size,
        )

    def arrivals(self, state: ForgettingState, after: int, unlearned: bool = False) -> Arrivals:
        documents = state.facts["documents"]
        # A step learns its whole minibatch, so no document waits.
        counted = after < documents and not unlearned
        return Arrivals(
            (state.arrived if counted else np.zeros_like(state.arrived))[None], documents
        )

    def snapshot(self, state: ForgettingState, chain: int | None = None) -> Snapshot:
        settings, words = state.settings, state.prior_words()
        return Snapshot.from_dense(
            state.counts,
            key=state.key,
            sequence=state.facts["sequence"],
            event_time=0,
            fingerprint="",
            alpha=np.full(settings.topic_count, settings.topic_alpha),
            prior=TopicWordPrior.flat(
                settings.beta * words, words, len(state.words), settings.topic_count
            ),
            words=tuple(state.words),
        )

    def summary(self, state: ForgettingState, chain: int | None = None) -> Summary:
        return Summary(
            evidence=state.evidence,
            posterior=state.evidence,
            documents=state.facts["documents"],
            tokens=state.facts["tokens"],
            words=len(state.words),
            log_evidence=state.evidence.log(),
            scored_tokens=state.facts["tokens"],
            ess=1.0,
            in_sample_nmi=None,
        )

    def witness(self, state: ForgettingState) -> bytes:
        return wire.digest(state.evidence.to_bytes(), wire.array_to_bytes(state.counts, "<f8"))

    def save(self, state: ForgettingState) -> bytes:
        return wire.pack(
            MAGIC,
            {**state.facts, "settings": _digest(state.settings)},
            wire.words_to_bytes(tuple(state.words)),
            wire.array_to_bytes(state.counts, "<f8"),
            state.evidence.to_bytes(),
        )

    def load(
        self, settings: Forgetting, key: str, island: int, data: bytes, threads: int = 1
    ) -> ForgettingState:
        header, (text, numbers, evidence) = wire.unpack(MAGIC, data, 3)
        checks.equal("fields of a saved learner", sorted(header), sorted((*FACTS, "settings")))
        if header["settings"] != _digest(settings):
            raise DamagedDataError("a saved learner does not fit these settings, or is damaged")
        facts = {name: checks.whole(f"{name} of a saved learner", header[name]) for name in FACTS}
        words = wire.words_from_bytes(text)
        checks.distinct("words of a saved learner", words)
        counts = checks.shaped(
            "counts of a saved learner",
            wire.array_from_bytes(numbers, "<f8"),
            len(words),
            settings.topic_count,
        )
        checks.measures("counts of a saved learner", counts)
        state = self.init(settings, key, island, threads)
        state.words = {word: row for row, word in enumerate(words)}
        state.counts, state.facts = counts.copy(), facts
        state.evidence = Scaled.from_bytes(evidence)
        return state

    def nbytes(self, state: ForgettingState) -> int:
        return state.counts.nbytes + sum(100 + len(word) for word in state.words)


def _add_rows(state: ForgettingState) -> None:
    """Give each new word a row of draws, which are named by seed, key, row and topic."""
    topics = state.settings.topic_count
    fresh = np.empty((len(state.words) - len(state.counts)) * topics)
    keys = stream_key(state.settings.seed, state.key)
    fill_uniforms(fresh, len(fresh), state.counts.size, *keys, 0, 0, FIRST_TOPICS)
    state.counts = np.concatenate([state.counts, fresh.reshape(-1, topics)])


def _expected_counts(
    minibatch: Minibatch, phi: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Infer the topics of each document.

    Args:
        minibatch: the documents.
        phi: float64[V, T], P(w | t) of the words of the minibatch.
        alpha: Dirichlet parameter of a document's topics.

    Returns:
        float64[V, T], the expected tokens of each word and topic; and float64[2, T], the expected
        tokens of each topic, and the documents that have most of their tokens there.
    """
    added, arrived = np.zeros_like(phi), np.zeros((2, phi.shape[1]))
    for begin, end in zip(minibatch.offsets[:-1], minibatch.offsets[1:], strict=True):
        tokens, theta = minibatch.tokens[begin:end], np.ones(phi.shape[1])
        for _ in range(5):
            shares = phi[tokens] * theta
            shares /= shares.sum(axis=1, keepdims=True)
            theta = alpha + shares.sum(axis=0)
        np.add.at(added, tokens, shares)
        arrived[0] += shares.sum(axis=0)
        arrived[1, theta.argmax()] += len(tokens) > 0
    return added, arrived


def _digest(settings: Forgetting) -> str:
    """Return a digest of the settings that a saved state belongs to."""
    return wire.digest(settings.canonical().encode()).hex()
