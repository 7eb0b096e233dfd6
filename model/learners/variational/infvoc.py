"""``infvoc``: topics over all strings, after Zhai and Boyd-Graber (2013).

A topic is a stick-breaking process. Each piece of the stick belongs to a word that is drawn from
G0 (:mod:`beam_topics.model.words.character_model`). G0 learns how words are spelled from
``word_list``, or from the first minibatch. A topic keeps a truncation-ordered set of these words
(:class:`beam_topics.model.learners.variational.kernels.variational_estep.Sticks`). The rest of the
stick is for all other words.

* The topics of a minibatch are drawn by Gibbs sweeps within each document, by exp E[log beta] for
  words in a topic's set. Other words get their share of the rest of the stick. In the paper each
  of them gets all of it; ``remainder`` chooses.
* New words join the sets of the topics that drew them, at the end, with their prior
  Beta(1, concentration). In the paper it is Beta(1, 1), too large a piece for many steps;
  ``remainder`` chooses this, too. Then all beta parameters take a step (eq. 8 and 9).
* Every U minibatches the words of each topic are sorted by their rank score R, with their
  parameters. Only the first T of a topic stay, and of these the ``max_words`` that all topics
  together use most. A word that is in no topic's set is forgotten; if it comes back, it is new. R
  decays and grows as nu1 - 1 does, up to the factor G0(w): it is G0(w) (nu1 - 1).

The rest of a stick is shared by a base B: (1 + G0(w)) / (V + 1) for each of the V words that some
topic has, and G0(w) / (V + 1) for all others. With G0 alone, which gives a single word almost no
probability, a word would stay forever with the topic that drew it first. With the whole rest for
each word, every topic claims the words that it does not know. A published model has the same B.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray, IntArray, LongArray
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.kernels.threads import over_slices
from beam_topics.model.learners.base import StepInfo, register
from beam_topics.model.learners.variational.kernels.variational_estep import (
    Sticks,
    StickUpdate,
    count_new,
    expected_logs,
    learn,
    look_up,
    means,
)
from beam_topics.model.learners.variational.settings import Infvoc
from beam_topics.model.learners.variational.shared import (
    KnownTokens,
    VariationalLearner,
    VariationalState,
    sample_counts,
    score,
    total_nbytes,
)
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.stored import checks, wire
from beam_topics.model.words.character_model import SMALLEST, CharacterModel
from beam_topics.model.words.vocabulary import Vocabulary

Mask = npt.NDArray[np.bool_]


def empty_positions(words: int, topics: int) -> IntArray:
    """Return int32[words, topics] of -1: no topic has the words."""
    return np.full((words, topics), -1, np.int32)


def used_entries(sticks: Sticks) -> Mask:
    """Return which entries are in use, bool[K, C]."""
    used: Mask = np.arange(sticks.use.shape[1]) < sticks.size[:, None]
    return used


def resize(sticks: Sticks, entries_each: int, words: int) -> Sticks:
    """Return the sticks with room for these numbers of entries in each topic and of words."""
    topics, room = sticks.use.shape
    if words > len(sticks.position):
        grown = empty_positions(max(words, len(sticks.position) * 3 // 2), topics)
        grown[: len(sticks.position)] = sticks.position
        sticks = sticks._replace(position=grown)
    if entries_each > room:
        more = max(entries_each, room * 3 // 2) - room
        parts: list[Any] = [
            np.pad(part, ((0, 0), (0, more))) for part in (sticks.words, sticks.use, sticks.rest)
        ]
        sticks = sticks._replace(words=parts[0], use=parts[1], rest=parts[2])
    return sticks


def write_positions(sticks: Sticks) -> None:
    """Write the positions of all entries."""
    sticks.position[:] = -1
    for k, size in enumerate(sticks.size):
        sticks.position[sticks.words[k, :size], k] = np.arange(size)


def truncate(sticks: Sticks, base: FloatArray, words: int, truncation: int, max_words: int) -> Mask:
    """Sort each topic's words by rank score, and keep the best.

    Each topic keeps its first ``truncation`` words. Of these, the ``max_words`` stay that all
    topics together use most. Positions are wrong until :func:`renumber`.

    Args:
        sticks: the sets, changed in place.
        base: float64, G0 of the words.
        words: the number of words.
        truncation: T.
        max_words: the maximum number of words of all topics.

    Returns:
        bool[words], which words some topic still has.
    """
    for k, size in enumerate(sticks.size):
        rank = base[sticks.words[k, :size]] * sticks.use[k, :size]
        _keep_entries(sticks, k, np.argsort(-rank, kind="stable")[:truncation])
    used = used_entries(sticks)
    numbers, use = sticks.words[used], sticks.use[used]
    kept = np.bincount(numbers, minlength=words) > 0
    if np.count_nonzero(kept) > max_words:
        together = np.where(kept, np.bincount(numbers, use, minlength=words), -1.0)
        kept = np.zeros(words, bool)
        kept[np.argsort(-together, kind="stable")[:max_words]] = True
        for k, size in enumerate(sticks.size):
            _keep_entries(sticks, k, np.flatnonzero(kept[sticks.words[k, :size]]))
    return kept


def renumber(sticks: Sticks, kept: Mask) -> Sticks:
    """Return the same sets where only the kept words have numbers, in their order."""
    if not kept.all():
        sticks.words[:] = np.where(used_entries(sticks), (np.cumsum(kept) - 1)[sticks.words], 0)
        sticks = sticks._replace(position=empty_positions(int(kept.sum()), len(sticks.size)))
    write_positions(sticks)
    return sticks


def _keep_entries(sticks: Sticks, k: int, order: LongArray) -> None:
    """Keep these entries of topic k, in this order."""
    for part in (sticks.words, sticks.use, sticks.rest):
        part[k, : len(order)] = part[k, order]
    sticks.size[k] = len(order)


MAGIC = b"BTi1"
# The smallest stored beta parameter nu2.
_SMALLEST_REST = 2.0**-400


@dataclass
class InfvocState(VariationalState[Infvoc]):
    """The state of the learner.

    Attributes:
        vocabulary: the words that are in some topic's set.
        character_model: G0; None before the first word.
        base: float64, G0 of these words.
        sticks: the truncation-ordered sets.
        sums: float64[K, 2], sums of the sticks' parameters, for the witness.
    """

    vocabulary: Vocabulary = field(init=False)
    character_model: CharacterModel | None = field(init=False)
    base: FloatArray = field(init=False)
    sticks: Sticks = field(init=False)
    sums: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        topics = self.settings.topic_count
        self.vocabulary = Vocabulary((), sys.maxsize)
        self.character_model = (
            CharacterModel.fit(self.settings.word_list) if self.settings.word_list else None
        )
        self.base = np.zeros(0)
        self.sums = np.zeros((topics, 2))
        none = np.zeros((topics, 0))
        words, sizes = none.astype(np.int32), np.zeros(topics, np.int64)
        self.sticks = Sticks(words, none, none, sizes, empty_positions(0, topics))


@register(Infvoc)
class InfvocLearner(VariationalLearner):
    """The learner; see the module's docstring."""

    def init(self, settings: Infvoc, key: str, island: int, threads: int = 1) -> InfvocState:
        return InfvocState(settings, key, threads)

    def step(self, state: InfvocState, minibatch: Minibatch) -> StepInfo:
        settings = state.settings
        if state.character_model is None and minibatch.words:
            state.character_model = CharacterModel.fit(
                dict(zip(minibatch.words, np.bincount(minibatch.tokens).tolist(), strict=True))
            )
        known = len(state.vocabulary)
        local = KnownTokens(
            state.vocabulary.numbers(minibatch.words).astype(np.int64),
            minibatch.tokens,
            minibatch.offsets,
        )
        self._append_base(state, known)
        found = None
        if state.steps:
            found = score(local, self._topic_means(state, local, known), settings.topic_alpha)
            state.score(found, len(local.tokens))
        step, weight = state.begin(minibatch, local)
        counts = sample_counts(state, settings, local, self._topic_weights(state, local, known))
        self._learn(state, local, counts, weight / settings.local_sweeps, step)
        if state.steps % settings.reorder_every == 0:
            reorder(state)
        return state.step_info(minibatch, local, found)

    def snapshot(self, state: InfvocState, chain: int | None = None) -> Snapshot:
        settings, sticks, words = state.settings, state.sticks, len(state.vocabulary)
        shares, left = expectations(state, means)
        # A topic gets as many counts as it has tokens, so that new tokens have the right weight.
        tokens = sticks.use.sum(axis=1, where=used_entries(sticks)) + settings.stick_concentration
        topics, places = np.nonzero(used_entries(sticks))
        numbers = sticks.words[topics, places]
        by_word = np.lexsort((topics, numbers))
        counts = shares[topics, places] * tokens[topics]
        prior = TopicWordPrior(
            left * tokens,
            shared_base(state.base[:words], np.arange(words), words),
            1.0 / (words + 1),
            state.character_model,
        )
        return Snapshot(
            offsets=np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=words))]),
            topics=topics[by_word].astype(np.int32),
            counts=counts[by_word],
            key=state.key,
            sequence=state.sequence,
            event_time=0,
            fingerprint="",
            alpha=np.full(settings.topic_count, settings.topic_alpha),
            prior=prior,
            words=state.vocabulary.words,
        )

    def witness(self, state: InfvocState) -> bytes:
        arrays = (state.sums, "<f8"), (state.sticks.size, "<i8")
        return wire.digest(
            state.evidence.to_bytes(), *(wire.array_to_bytes(*array) for array in arrays)
        )

    def save(self, state: InfvocState) -> bytes:
        sticks, words = state.sticks, len(state.vocabulary)
        used = used_entries(sticks)
        arrays = (
            (state.base[:words], "<f8"),
            (sticks.size, "<i8"),
            (sticks.words[used], "<i4"),
            (sticks.use[used], "<f8"),
            (sticks.rest[used], "<f8"),
            (state.sums, "<f8"),
        )
        texts = (
            state.vocabulary.words.text.tobytes(),
            state.character_model.to_bytes() if state.character_model else b"",
        )
        return wire.pack(
            MAGIC, state.header(), *texts, *(wire.array_to_bytes(*array) for array in arrays)
        )

    def load(
        self, settings: Infvoc, key: str, island: int, data: bytes, threads: int = 1
    ) -> InfvocState:
        state = self.init(settings, key, island, threads)
        _, (words, character_model, *blobs) = state.unpack(MAGIC, data, 8)
        topic_tables = ("<f8", "<i8", "<i4", "<f8", "<f8", "<f8")
        base, size, numbers, use, rest, sums = (
            wire.array_from_bytes(blob, kind)
            for blob, kind in zip(blobs, topic_tables, strict=True)
        )
        names = wire.words_from_bytes(words)
        _check_entries(len(names), size, numbers, settings)
        for name, values in (("use", use), ("rest", rest)):
            checks.sized(f"{name} of a saved learner's entries", values, len(numbers))
        # The rest of an entry is above 0: it begins above 0, and a step keeps a part of it or adds
        # the concentration.
        checks.measures("use of a saved learner's entries", use)
        checks.measures("rest of a saved learner's entries", rest, _SMALLEST_REST)
        checks.sized("spellings of a saved learner's words", base, len(names))
        checks.measures("spellings of a saved learner's words", base, SMALLEST, 1.0)
        checks.measures("sums of a saved learner's topics", sums)
        if names and not character_model:
            checks.refuse("spellings of a saved learner", "none", "a distribution with words")
        state.vocabulary = Vocabulary(names, sys.maxsize)
        state.character_model = (
            CharacterModel.from_bytes(character_model) if character_model else state.character_model
        )
        state.base, state.sums = (
            base.copy(),
            checks.shaped("sums of a saved learner's topics", sums, settings.topic_count, 2).copy(),
        )
        state.sticks = resize(state.sticks, int(size.max(initial=0)), len(names))._replace(
            size=size.copy()
        )
        used = used_entries(state.sticks)
        state.sticks.words[used] = numbers
        state.sticks.use[used], state.sticks.rest[used] = use, rest
        write_positions(state.sticks)
        return state

    def nbytes(self, state: InfvocState) -> int:
        return total_nbytes((*state.sticks, state.base)) + state.vocabulary.nbytes()

    def _append_base(self, state: InfvocState, known: int) -> None:
        """Compute G0 of the words that have joined the vocabulary."""
        new = state.vocabulary.since(known)
        if new:
            assert state.character_model is not None
            state.base = np.concatenate(
                [state.base[:known], state.character_model.probabilities(new)]
            )

    def _topic_means(self, state: InfvocState, local: KnownTokens, known: int) -> FloatArray:
        """Return P(w | k) of the minibatch's words, float64[V, K].

        It is that of a snapshot whose vocabulary is the first ``known`` words.
        """
        shares, left = expectations(state, means)
        out, rest = np.empty((len(local.rows), len(left))), np.zeros((len(local.rows), len(left)))
        look_up(local.rows, state.sticks, shares, rest, out)
        out += np.multiply.outer(shared_base(state.base[local.rows], local.rows, known), left)
        return out

    def _topic_weights(self, state: InfvocState, local: KnownTokens, known: int) -> FloatArray:
        """Return the weights by which topics are drawn, float64[V, K]."""
        weight, left = expectations(state, expected_logs)
        of_word = np.ones(len(local.rows))
        if state.settings.remainder == "share":
            of_word = shared_base(state.base[local.rows], local.rows, known)
        out = np.empty((len(local.rows), len(left)))
        look_up(local.rows, state.sticks, weight, np.multiply.outer(of_word, left), out)
        return out

    def _learn(
        self, state: InfvocState, local: KnownTokens, counts: IntArray, scale: float, step: float
    ) -> None:
        """Make one step of all topics."""
        words = len(state.vocabulary)
        state.sticks = resize(state.sticks, 0, words)
        sizes = state.sticks.size + count_new(local.rows, counts, state.sticks)
        longest = int(sizes.max(initial=0))
        state.sticks = resize(state.sticks, longest, words)
        concentration = state.settings.stick_concentration
        entry = concentration if state.settings.remainder == "share" else 1.0
        update = StickUpdate(scale, step, concentration, entry)

        def run(first: int, last: int, thread: int) -> None:
            learn(first, last, local.rows, counts, update, state.sticks, state.sums)

        over_slices(len(counts[0]) if len(counts) else 0, state.threads, run)


def _check_entries(words: int, size: LongArray, numbers: IntArray, settings: Infvoc) -> None:
    """Refuse sets with unknown words, or with a word twice."""
    checks.sized("sizes of a saved learner's topics", size, settings.topic_count)
    checks.within("sizes of a saved learner's topics", size, 0, words + 1)
    checks.sized("entries of a saved learner", numbers, int(size.sum()))
    checks.within("words of a saved learner's entries", numbers, 0, words)
    # Numbers of different topics are in different ranges.
    apart = np.sort(np.repeat(np.arange(len(size)) * (words + 1), size) + numbers)
    checks.ascending("words of a saved learner's topic, sorted", apart, strictly=True)


def shared_base(base_probability: FloatArray, rows: LongArray, known: int) -> FloatArray:
    """Return B(w) of the module's docstring.

    Args:
        base_probability: float64, G0(w).
        rows: int64, the words' numbers.
        known: numbers below this are in some topic's set.
    """
    shared: FloatArray = (base_probability + (rows < known)) / (known + 1)
    return shared


def expectations(state: InfvocState, kernel: Any) -> tuple[FloatArray, FloatArray]:
    """Return what a kernel computes for the sticks.

    Returns:
        float64[K, C], for each entry; float64[K], for the rest of each stick.
    """
    weight, left = np.empty(state.sticks.use.shape), np.empty(len(state.sticks.size))
    over_slices(
        len(left),
        state.threads,
        lambda first, last, thread: kernel(first, last, state.sticks, weight, left),
    )
    return weight, left


def reorder(state: InfvocState) -> None:
    """Sort every topic's words, and forget the words that no topic has any longer."""
    settings, words = state.settings, state.vocabulary.words
    kept = truncate(state.sticks, state.base, len(words), settings.truncation, settings.max_words)
    state.sticks = renumber(state.sticks, kept)
    if not kept.all():
        staying = (word for word, stays in zip(words, kept, strict=True) if stays)
        state.vocabulary = Vocabulary(staying, sys.maxsize)
        state.base = state.base[: len(words)][kept]
