"""Online LDA with a fixed vocabulary.

``fixvoc-vb`` is the learner of Hoffman, Blei and Bach (2010), ``fixvoc-hybrid`` that of Mimno,
Hoffman and Blei (2012). q(beta_k) is a Dirichlet with parameters lambda_kw = eta + the sum of what
minibatches added. A step sets lambda to

    (1 - epsilon) lambda + epsilon (eta + D / |S| * expected counts)

The learners differ in the expected counts: coordinate ascent on each document, or Gibbs sweeps
within it. :class:`FixedVocabulary` decides which words have a row.

All that was added decays at each step. The table is kept divided by ``scale``, so a step changes
only the rows of its words. Topics begin different from each other: each row begins with counts
between 1/2 and 3/2, drawn by name, as if they had been there from the start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from beam_topics.model.arrays import FloatArray, IntArray
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.kernels.random import FIRST_TOPICS, fill_uniforms
from beam_topics.model.kernels.special import dirichlet_means, dirichlet_weights
from beam_topics.model.learners.base import StepInfo, register
from beam_topics.model.learners.variational.settings import (
    DictHash,
    FixvocHybrid,
    FixvocVb,
    FullHash,
)
from beam_topics.model.learners.variational.shared import (
    KnownTokens,
    VariationalLearner,
    VariationalState,
    fitted_counts,
    known_tokens,
    sample_counts,
    score,
    total_nbytes,
)
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.stored import checks, wire
from beam_topics.model.words.vocabulary import Vocabulary
from beam_topics.model.words.word_list import bucket

MAGIC = b"BTf1"
# A published model leaves out smaller counts. They are noise of the initial topics, and of the
# weakest topics of documents.
SMALLEST_COUNT = 1e-3
_SMALLEST_SCALE = 2.0**-300
_UNUSED = "#"

Fixed = FixvocHybrid | FixvocVb


class FixedVocabulary:
    """Which words have a number, and which one (Zhai and Boyd-Graber 2013, section 6).

    A hash cannot be inverted, but a number can be named after the word that uses it most often. A
    majority vote in constant memory (Boyer and Moore) finds that word: its votes grow with each
    use, and fall with each use of another word with the same number.

    Attributes:
        buckets: the number of hash buckets for other words; 0: other words have no number.
        expected: W of the prior; 0 while it is not known.
        votes: int64, the votes of the names where they are found by vote, else empty.
    """

    def __init__(self, learner: Fixed) -> None:
        settings = learner.vocabulary
        start = settings.words
        if isinstance(settings, FullHash):
            start = tuple(f"{_UNUSED}{number}" for number in range(settings.buckets))
        self.expected = settings.size
        self.buckets = len(start) if isinstance(settings, DictHash | FullHash) else 0
        self._names = list(start) if isinstance(settings, FullHash) else []
        self._vocabulary = Vocabulary(() if self._names else start, self.expected or sys.maxsize)
        self.votes = np.zeros(len(self._names), np.int64)

    @property
    def words(self) -> Sequence[str]:
        """The name of each number."""
        return self._names or self._vocabulary.words

    def nbytes(self) -> int:
        """Return the memory of the words."""
        if self._names:
            return sum(map(sys.getsizeof, self._names))
        return self._vocabulary.nbytes()

    def numbers(self, words: Sequence[str], uses: IntArray) -> IntArray:
        """Return the number of each word, int32; -1 where it has none.

        Args:
            words: distinct words.
            uses: int32, how often each occurs.
        """
        if self._names:
            found = np.array([bucket(word, self.buckets) for word in words], np.int32)
            self._vote(words, found, uses)
            return found
        found = self._vocabulary.numbers(words)
        if self.buckets:
            found = np.array(
                [bucket(words[i], self.buckets) if n < 0 else n for i, n in enumerate(found)],
                np.int32,
            )
        if not self.expected and len(words):
            self._close()
        return found

    def restore(self, words: Sequence[str], votes: np.ndarray) -> None:
        """Restore saved names.

        Raises:
            DamagedDataError: the settings do not allow them.
        """
        checks.sized("votes for words", votes, len(self.votes))
        checks.within("votes for words", votes, 0, checks.LARGEST)
        if self._names:
            checks.sized("words of a saved learner", words, len(self.words))
            self._names, self.votes = list(words), votes.copy()
            return
        checks.distinct("words of a saved learner", words)
        if len(self.words):
            checks.sized("words of a saved learner", words, len(self.words))
            others = set(words) - set(self.words)
            checks.equal("words of a saved learner that are not in the settings", others, set())
        elif self.expected:
            checks.whole("words of a saved learner", len(words), 0, self.expected + 1)
        self._vocabulary.extend(words)
        if not self.expected and words:
            self._close()

    def _close(self) -> None:
        """Admit no more words."""
        self.expected = self._vocabulary.limit = len(self.words)

    def _vote(self, words: Sequence[str], numbers: IntArray, uses: IntArray) -> None:
        """Count the uses of words as votes for the names of their numbers."""
        names, votes = self._names, self.votes
        for word, number, used in zip(words, numbers.tolist(), uses.tolist(), strict=True):
            if names[number] == word:
                votes[number] += used
            elif used > votes[number]:
                names[number], votes[number] = word, used - votes[number]
            else:
                votes[number] -= used


@dataclass
class FixvocState(VariationalState[Fixed]):
    """The state of both learners.

    Attributes:
        vocabulary: the words that have rows.
        counts: float64[room, K], what was added to eta, divided by ``scale``.
        added: float64[K], the column sums of ``counts``.
        rows: the number of rows in use.
        scale: the decay of everything that was added.
        fresh: the factor of the start of a new row: 1, and 0 once ``scale`` was reset to 1.
    """

    vocabulary: FixedVocabulary = field(init=False)
    counts: FloatArray = field(init=False)
    added: FloatArray = field(init=False)
    rows: int = 0
    scale: float = 1.0
    fresh: float = 1.0

    def __post_init__(self) -> None:
        self.vocabulary = FixedVocabulary(self.settings)
        self.counts = np.zeros((0, self.settings.topic_count))
        self.added = np.zeros(self.settings.topic_count)
        self.make_rows()

    @property
    def totals(self) -> FloatArray:
        """float64[K], the sum of lambda_k over the vocabulary of the prior."""
        totals: FloatArray = self.settings.beta * self.vocabulary.expected + self.scale * self.added
        return totals

    def make_rows(self) -> None:
        """Make rows for new words."""
        words, topics = len(self.vocabulary.words), self.settings.topic_count
        if words > len(self.counts):
            grown = np.zeros((max(words, len(self.counts) * 3 // 2), topics))
            grown[: self.rows] = self.counts[: self.rows]
            self.counts = grown
        if words > self.rows:
            fresh = self.counts[self.rows : words].reshape(-1)
            fill_uniforms(fresh, len(fresh), self.rows * topics, *self.keys(), 0, 0, FIRST_TOPICS)
            fresh += 0.5
            fresh *= self.fresh
            self.added = self.added + self.counts[self.rows : words].sum(axis=0)
            self.rows = words

    def decay(self, step: float) -> None:
        """Multiply all that was added by 1 - step."""
        self.scale *= 1.0 - step
        if self.scale < _SMALLEST_SCALE:
            self.counts *= self.scale
            self.added = self.added * self.scale
            self.scale, self.fresh = 1.0, 0.0


@register(FixvocHybrid, FixvocVb)
class FixvocLearner(VariationalLearner):
    """Both learners; see the module's docstring."""

    def init(self, settings: Fixed, key: str, island: int, threads: int = 1) -> FixvocState:
        return FixvocState(settings, key, threads)

    def step(self, state: FixvocState, minibatch: Minibatch) -> StepInfo:
        uses = np.bincount(minibatch.tokens, minlength=len(minibatch.words)).astype(np.int32)
        local = known_tokens(minibatch, state.vocabulary.numbers(minibatch.words, uses))
        state.make_rows()
        found = None
        if state.steps:
            means = _table(state, local, dirichlet_means)
            found = score(local, means, state.settings.topic_alpha)
            state.score(found, len(local.tokens))
        step, weight = state.begin(minibatch, local)
        counts = _local_counts(state, local, _table(state, local, dirichlet_weights))
        state.decay(step)
        state.counts[local.rows] += counts * (step * weight / state.scale)
        state.added = state.added + counts.sum(axis=0) * (step * weight / state.scale)
        return state.step_info(minibatch, local, found)

    def snapshot(self, state: FixvocState, chain: int | None = None) -> Snapshot:
        settings, words = state.settings, state.vocabulary
        counts = state.counts[: state.rows] * state.scale
        # A ``null`` vocabulary may have no word yet; a prior must have some strength.
        expected = max(words.expected, 1)
        return Snapshot.from_dense(
            np.where(counts < SMALLEST_COUNT, 0.0, counts),
            key=state.key,
            sequence=state.sequence,
            event_time=0,
            fingerprint="",
            alpha=np.full(settings.topic_count, settings.topic_alpha),
            prior=TopicWordPrior.flat(
                settings.beta * expected, expected, state.rows, settings.topic_count
            ),
            words=tuple(words.words),
            buckets=words.buckets,
        )

    def witness(self, state: FixvocState) -> bytes:
        return wire.digest(state.evidence.to_bytes(), wire.array_to_bytes(state.totals, "<f8"))

    def save(self, state: FixvocState) -> bytes:
        words = state.vocabulary
        header = {
            **state.header(),
            "scale": state.scale,
            "fresh": state.fresh,
        }
        arrays = [(words.votes, "<i8"), (state.counts[: state.rows], "<f8"), (state.added, "<f8")]
        return wire.pack(
            MAGIC,
            header,
            wire.words_to_bytes(tuple(words.words)),
            *(wire.array_to_bytes(*array) for array in arrays),
        )

    def load(
        self, settings: Fixed, key: str, island: int, data: bytes, threads: int = 1
    ) -> FixvocState:
        state = self.init(settings, key, island, threads)
        header, (words, *blobs) = state.unpack(MAGIC, data, 4)
        votes, counts, added = (
            wire.array_from_bytes(blob, dtype)
            for blob, dtype in zip(blobs, ("<i8", "<f8", "<f8"), strict=True)
        )
        names = wire.words_from_bytes(words)
        checks.sized("sums of a saved learner's topics", added, settings.topic_count)
        checks.measures("sums of a saved learner's topics", added)
        checks.measures("counts of a saved learner's words", counts)
        state.vocabulary.restore(names, votes)
        state.counts = checks.shaped(
            "counts of a saved learner's words", counts, len(names), settings.topic_count
        ).copy()
        state.added, state.rows = added.copy(), len(names)
        state.scale = checks.number(
            "scale of a saved learner", checks.field(header, "scale"), _SMALLEST_SCALE, 1.0
        )
        state.fresh = checks.number(
            "fresh of a saved learner", checks.field(header, "fresh"), 0.0, 1.0
        )
        return state

    def nbytes(self, state: FixvocState) -> int:
        return total_nbytes((state.counts, state.vocabulary.votes)) + state.vocabulary.nbytes()


def _local_counts(state: FixvocState, local: KnownTokens, weights: FloatArray) -> FloatArray:
    """Return the expected counts of the minibatch's words, float64[V, K]."""
    settings = state.settings
    if isinstance(settings, FixvocVb):
        return fitted_counts(state, settings, local, weights)
    return sample_counts(state, settings, local, weights) / settings.local_sweeps


def _table(state: FixvocState, local: KnownTokens, of: Callable[..., None]) -> FloatArray:
    """Return what a kernel computes for the minibatch's words, float64[V, K]."""
    out = np.empty((len(local.rows), state.settings.topic_count))
    of(local.rows, state.counts, state.scale, state.settings.beta, state.totals, out)
    return out
