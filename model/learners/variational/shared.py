"""What the variational learners share: minibatches, step sizes, scores and saved state.

A variational learner is a single chain, without particles, weights or islands. Minibatch i moves
the topics by epsilon_i = (tau0 + i)^-kappa towards what they would be if the whole stream of D
documents were like it (Hoffman, Blei and Bach 2010). kappa = 0 with D = |S| is the batch algorithm.

``evidence`` is prequential: the probability of each minibatch by the first-moment estimate, under
the topics' means, before it is learned. The first minibatch is not scored, as nothing is known
before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from beam_topics.model.arrays import FloatArray, IntArray, LongArray
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.kernels.random import stream_key
from beam_topics.model.kernels.threads import over_slices
from beam_topics.model.learners.base import Arrivals, StepInfo, Summary
from beam_topics.model.learners.states import (
    KeepsEvidence,
    load_facts,
    settings_digest,
    unpack_state,
)
from beam_topics.model.learners.variational.kernels.variational_estep import (
    LocalSweeps,
    TopicWeights,
    WordRepeats,
    cumulate,
    expected_counts,
    fit_documents,
    sample_documents,
    score_documents,
)
from beam_topics.model.learners.variational.settings import (
    FixvocVb,
    SampledLocally,
    VariationalSettings,
)
from beam_topics.model.scaled import Scaled
from beam_topics.model.words.word_list import known_words

# The numbers of a state that are saved in its header.
_COUNTS = ("sequence", "steps", "documents", "tokens", "scored")


S = TypeVar("S", bound=VariationalSettings)


class KnownTokens(NamedTuple):
    """The known tokens of a minibatch.

    Attributes:
        rows: int64[V], the rows of its distinct words in the vocabulary.
        tokens: int32[N], indices into ``rows``.
        offsets: int64[D + 1]; document d is tokens[offsets[d]:offsets[d + 1]].
    """

    rows: LongArray
    tokens: IntArray
    offsets: LongArray


@dataclass
class VariationalState(KeepsEvidence, Generic[S]):
    """What every variational learner keeps in addition to its topics.

    Attributes:
        settings, key, threads: as given to ``init``.
        vocabulary: the words.
        sequence: number of the last minibatch.
        steps: i.
        documents, tokens: how many were learned.
        arrived: float64[2, K], the expected tokens and the documents of each topic in the last
            minibatch; not saved.
    """

    settings: S
    key: str
    threads: int
    vocabulary: Any = field(init=False)
    sequence: int = 0
    steps: int = 0
    documents: int = 0
    tokens: int = 0
    arrived: FloatArray = field(default_factory=lambda: np.zeros((2, 0)))

    def keys(self) -> tuple[int, int]:
        """Return the stream key of the draws."""
        return stream_key(self.settings.seed, self.key)

    def begin(self, minibatch: Minibatch, local: KnownTokens) -> tuple[float, float]:
        """Count a minibatch.

        Returns:
            The step size epsilon, and D / |S|, the number of documents that each of its documents
            stands for.
        """
        settings = self.settings
        self.sequence, self.steps = minibatch.sequence, self.steps + 1
        self.documents += len(minibatch)
        self.tokens += len(local.tokens)
        step = float((settings.tau0 + self.steps) ** -settings.kappa)
        return step, (settings.stream_documents or self.documents) / max(len(minibatch), 1)

    def arrive(self, tokens: FloatArray, main: IntArray) -> None:
        """Note the topics of a minibatch.

        Args:
            tokens: float64[K], the expected tokens of each topic.
            main: int32[D], the topic with the most tokens of each document; -1 without tokens.
        """
        documents = np.bincount(main[main >= 0], minlength=len(tokens))
        self.arrived = np.array([tokens, documents], np.float64)

    def step_info(
        self,
        minibatch: Minibatch,
        local: KnownTokens,
        found: Scaled | None,
    ) -> StepInfo:
        """Return what a step did.

        Args:
            minibatch: the minibatch.
            local: its known tokens.
            found: the minibatch's probability; None where it was not scored.
        """
        return StepInfo(
            documents=len(minibatch),
            tokens=len(minibatch.tokens),
            unknown_tokens=len(minibatch.tokens) - len(local.tokens),
            moves=self.settings.sweeps * len(local.tokens),
            log_evidence=found.log() if found else 0.0,
            words=len(self.vocabulary.words),
            scored_tokens=len(local.tokens) if found else 0,
        )

    def header(self) -> dict[str, Any]:
        """Return the fields for a saved state."""
        facts = {name: getattr(self, name) for name in _COUNTS}
        own = {"evidence": self.evidence_to_json(), "settings": settings_digest(self.settings)}
        return facts | own

    def unpack(self, magic: bytes, data: bytes, blobs: int) -> tuple[dict[str, Any], list[bytes]]:
        """Restore the fields of ``header``; return the header and the parts of a saved state.

        Raises:
            DamagedDataError: the bytes do not fit the settings, or a field is impossible.
        """
        header, found = unpack_state(magic, data, self.settings, blobs)
        load_facts(self, header, _COUNTS)
        self.load_evidence(header)
        return header, found


class VariationalLearner:
    """What the variational learners do alike."""

    def arrivals(
        self, state: VariationalState[Any], after: int, unlearned: bool = False
    ) -> Arrivals:
        # No document waits, so the last minibatch is counted as a whole or not at all.
        if unlearned or not state.arrived.size or after >= state.documents:
            return Arrivals(np.zeros((1, 2, state.settings.topic_count)), state.documents)
        return Arrivals(state.arrived[None].copy(), state.documents)

    def summary(self, state: VariationalState[Any], chain: int | None = None) -> Summary:
        # There is no posterior of a particle; the evidence of all tokens takes its place.
        return Summary(
            evidence=state.recent_evidence,
            posterior=state.evidence,
            documents=state.documents,
            tokens=state.tokens,
            words=len(state.vocabulary.words),
            log_evidence=state.evidence.log(),
            scored_tokens=state.scored,
        )


def known_tokens(minibatch: Minibatch, numbers: IntArray) -> KnownTokens:
    """Return the tokens whose word has a number.

    Args:
        minibatch: V words and N tokens.
        numbers: int32[V], the number of each word; -1 for none. Words with one number, in one
            bucket of a hash, become one word.
    """
    rows, columns = known_words(numbers)
    tokens = columns[minibatch.tokens]
    ends = np.concatenate([[0], np.cumsum(tokens >= 0)])
    return KnownTokens(rows, tokens[tokens >= 0], ends[minibatch.offsets].astype(np.int64))


def score(local: KnownTokens, phi: FloatArray, alpha: float) -> Scaled:
    """Return the probability of a minibatch; phi is float64[V, K], P(w | k) of its words."""
    mantissa, exponent = score_documents(local.tokens, local.offsets, phi, alpha)
    return Scaled.of(float(mantissa), int(exponent))


def sample_counts(
    state: VariationalState[Any], settings: SampledLocally, local: KnownTokens, weights: FloatArray
) -> IntArray:
    """Draw the topics of a minibatch by Gibbs sweeps within its documents, and note them.

    Args:
        state: names the draws.
        settings: the number of sweeps.
        local: the known tokens.
        weights: float64[V, K], exp E[log beta].

    Returns:
        int32[V, K], how often each word had each topic in the sweeps that count.
    """
    sums = np.empty_like(weights)
    cumulate(weights, sums)
    slices = [np.zeros(weights.shape, np.int32) for _ in range(state.threads)]
    topics = TopicWeights(weights, sums, settings.topic_alpha)
    sweeps = LocalSweeps(
        settings.local_burn_in, settings.local_sweeps, *state.keys(), state.sequence
    )
    main = np.empty(len(local.offsets) - 1, np.int32)

    def run(first: int, last: int, thread: int) -> None:
        sample_documents(first, last, local, topics, sweeps, slices[thread], main)

    over_slices(len(main), state.threads, run)
    for other in slices[1:]:
        slices[0] += other
    state.arrive(slices[0].sum(axis=0) / settings.local_sweeps, main)
    return slices[0]


def fitted_counts(
    state: VariationalState[Any], settings: FixvocVb, local: KnownTokens, weights: FloatArray
) -> FloatArray:
    """Fit the documents of a minibatch by coordinate ascent, and note their topics.

    Arguments as of :func:`sample_counts`.

    Returns:
        float64[V, K], the expected counts of each word.
    """
    documents = _word_repeats(local)
    theta = np.empty((len(documents.offsets) - 1, weights.shape[1]))
    counts = np.zeros(weights.shape)
    alpha, updates = settings.topic_alpha, settings.sweeps

    def run(first: int, last: int, thread: int) -> None:
        fit_documents(first, last, documents, weights, alpha, updates, theta)

    over_slices(len(theta), state.threads, run)
    expected_counts(documents, weights, theta, counts)
    main = np.where(np.diff(documents.offsets) > 0, theta.argmax(axis=1), -1)
    state.arrive(counts.sum(axis=0), main.astype(np.int32))
    return counts


def _word_repeats(local: KnownTokens) -> WordRepeats:
    """Return the distinct words of each document, and how often it has each."""
    width = max(len(local.rows), 1)
    document = np.repeat(np.arange(len(local.offsets) - 1), np.diff(local.offsets))
    pairs, repeats = np.unique(document * width + local.tokens, return_counts=True)
    offsets = np.searchsorted(pairs, np.arange(len(local.offsets)) * width)
    return WordRepeats(
        (pairs % width).astype(np.int32), repeats.astype(np.float64), offsets.astype(np.int64)
    )


def total_nbytes(parts: Iterable[Any]) -> int:
    """Return the memory of arrays."""
    return sum(part.nbytes for part in parts)
