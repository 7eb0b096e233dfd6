"""A published model: everything that inference needs.

Notation of this module: w is a word, z a topic, T the number of topics, n_wz the count of word w in
topic z, and n_z the sum of n_wz over w. A model of any learner gives

    P(w | z) = (n_wz + s_z B(w)) / (n_z + s_z)

where B is a distribution over words and s_z is the strength of the topic's prior. Counts need not
be integers. A discount d leaves n_wz - d t_wz tokens and s_z = a + d t_z, and a variational learner
has expected counts. The snapshot has B for the words of its vocabulary and for all others, so a
word that the model has never seen has a probability, too.

A version is compared with its parent. A :class:`Held` keeps the parents of many keys, up to a total
number of bytes; the least recently used ones are dropped first and are read from the store again
when needed. Another :class:`Held` keeps the candidates that were written in this process. It holds
copies, because a learner may go on writing the arrays of its model. Its counts, most of which are
small whole numbers, have the narrowest type that holds them all, as in its file
(:mod:`beam_topics.model.stored.wire`). What a model derives from its fields for a comparison is
not held, because it takes milliseconds.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.arrays import FloatArray, IntArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.stored.wire import Column
from beam_topics.model.words.character_model import CharacterModel, StoredCharacters
from beam_topics.model.words.phrases import JOINER, Phrases
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.word_list import WordList, bucket


@dataclass(frozen=True, eq=False)
class TopicWordPrior:
    """The prior of the topics over words.

    Attributes:
        strength: float64[T], s_z, in pseudo-counts.
        base: float64[W], B(w) of the words of the vocabulary.
        unseen: B(w) of each other word; with ``characters``, the factor of their probability. 0
            where there can be no other words.
        letters: G0, a distribution over all strings; None where unseen words are all alike.
    """

    strength: FloatArray
    base: FloatArray
    unseen: float = 0.0
    letters: CharacterModel | StoredCharacters | None = None

    @cached_property
    def characters(self) -> CharacterModel | None:
        """G0; that of a stored model is read here, because most readers need none.

        Raises:
            DamagedDataError: its bytes are not a character model.
        """
        letters = self.letters
        return letters.read() if isinstance(letters, StoredCharacters) else letters

    @classmethod
    def flat(cls, a: float, words: int, known: int, topics: int) -> TopicWordPrior:
        """Return a uniform prior.

        Args:
            a: pseudo-counts of each topic.
            words: the number of words that the prior expects.
            known: the number of these that are in the vocabulary.
            topics: T.
        """
        return cls(
            np.full(topics, a), np.full(known, 1.0 / words), 1.0 / words if words > known else 0.0
        )

    def shares(self, rows: IntArray | LongArray) -> FloatArray:
        """Return s_z B(w) of some words, float64[len(rows), T]."""
        return np.multiply.outer(self.base[rows], self.strength)

    def unseen_base(self, words: Iterable[str]) -> FloatArray:
        """Return B(w) of words that are not in the vocabulary, float64."""
        if self.characters is None:
            return np.array([self.unseen for _ in words], np.float64)
        found: FloatArray = self.unseen * self.characters.probabilities(words)
        return found


class ByTopic(NamedTuple):
    """The entries of a snapshot in the order of topics, and of words within a topic.

    Attributes:
        offsets: int64[T + 1]; topic z has the entries from offsets[z] to offsets[z + 1].
        rows: int64[nnz], the word of each entry.
        counts: float64[nnz].
    """

    offsets: LongArray
    rows: LongArray
    counts: FloatArray


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A model at one moment, with sparse counts.

    Word w has the counts ``counts[offsets[w]:offsets[w + 1]]`` in the topics ``topics[...]``.

    Attributes:
        key: the key of the model.
        sequence: number of the last minibatch.
        event_time: the end of its window, microseconds.
        fingerprint: the learner's, hex. Snapshots with one fingerprint come from the same settings
            and documents.
        alpha: float64[T], the Dirichlet prior of a document's topics.
        prior: of the topics over words.
        words: the vocabulary; a :class:`~beam_topics.model.words.word_list.WordList` if the model
            was read.
        offsets: int64[W + 1].
        topics: int32[nnz], ascending within a word.
        counts: float64[nnz].
        tokeniser: the settings that made the words.
        buckets: the number of buckets that other words are hashed to
            (:mod:`beam_topics.model.words.word_list`),
            which are the first rows; 0 where other words have no row.
        joins_phrases: whether neighbouring words of a document become one word where the vocabulary
            has their phrase (:mod:`beam_topics.model.words.phrases`).
    """

    key: str
    sequence: int
    event_time: int
    fingerprint: str
    alpha: FloatArray
    prior: TopicWordPrior
    words: Sequence[str]
    offsets: LongArray
    topics: IntArray
    counts: FloatArray
    tokeniser: TokeniserSettings = field(default_factory=TokeniserSettings)
    buckets: int = 0
    joins_phrases: bool = False

    @classmethod
    def from_dense(cls, counts: FloatArray, **others: Any) -> Snapshot:
        """Return a snapshot of float64[W, T] counts; the other fields are given by name."""
        words, topics = np.nonzero(counts)
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(np.bincount(words, minlength=len(counts)), out=offsets[1:])
        return cls(
            offsets=offsets,
            topics=topics.astype(np.int32),
            counts=counts[words, topics].astype(np.float64),
            **others,
        )

    @property
    def topic_count(self) -> int:
        """T."""
        return len(self.alpha)

    def without(self, words: Collection[str]) -> Snapshot:
        """Return the model without some words."""
        kept = np.array([word not in words for word in self.words], np.bool_)
        if kept.all():
            return self
        lengths = np.diff(self.offsets)
        entries = np.repeat(kept, lengths)
        return replace(
            self,
            prior=replace(self.prior, base=self.prior.base[kept]),
            words=tuple(word for word, keep in zip(self.words, kept.tolist(), strict=True) if keep),
            offsets=np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64),
            topics=self.topics[entries],
            counts=self.counts[entries],
        )

    @cached_property
    def phrases(self) -> Phrases | None:
        """The phrases of the vocabulary; None if phrases are not joined."""
        if not self.joins_phrases:
            return None
        return Phrases(word for word in self.words if JOINER in word)

    def joined(self, block: Block) -> Block:
        """Return documents with phrases in the place of their words."""
        return self.phrases.in_block(block) if self.phrases else block

    @cached_property
    def totals(self) -> FloatArray:
        """float64[T], n_z."""
        return np.bincount(self.topics, weights=self.counts, minlength=self.topic_count).astype(
            np.float64
        )

    @cached_property
    def normalisers(self) -> FloatArray:
        """float64[T], n_z + s_z."""
        normalisers: FloatArray = self.totals + self.prior.strength
        return normalisers

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The row of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def row_of(self, word: str) -> int:
        """Return the row of a word; -1 where it has none."""
        row = self.numbers.get(word, -1)
        return bucket(word, self.buckets) if row < 0 and self.buckets else row

    @cached_property
    def _index(self) -> tuple[Any, Any, Any]:
        """What :func:`beam_topics.model.words.kernels.word_index.find_words` looks words up in."""
        # Imported here, so that a model can be shown without kernels.
        from beam_topics.model.words.kernels.word_index import build_index

        text = WordList.of(self.words).text
        return text, *build_index(text, len(self.words), len(self.words))

    def known_rows(self, words: Sequence[str]) -> LongArray:
        """Return the row of each word of the vocabulary, int64[len(words)]; -1 for others.

        Neither list is cut into strings where it is a text. A learner appends new words, so most
        models begin with the words of the one before.
        """
        if _begins_with(words, self.words):
            places = np.arange(len(words))
            return np.where(places < len(self.words), places, -1)
        from beam_topics.model.words.kernels.word_index import find_words

        rows: LongArray = find_words(*self._index, WordList.of(words).text, len(words))
        return rows

    def rows_of(self, words: Sequence[str]) -> LongArray:
        """Return the row of each word as :meth:`row_of` does, int64[len(words)], in one call."""
        rows = self.known_rows(words)
        if self.buckets:
            for at in np.flatnonzero(rows < 0).tolist():
                rows[at] = bucket(words[at], self.buckets)
        return rows

    def rows(self, numbers: IntArray | LongArray) -> FloatArray:
        """Return the counts of some words, float64[len(numbers), T]."""
        dense = np.zeros((len(numbers), self.topic_count))
        for row, w in enumerate(numbers):
            at = slice(self.offsets[w], self.offsets[w + 1])
            dense[row, self.topics[at]] = self.counts[at]
        return dense

    @property
    def count_rows(self) -> LongArray:
        """int64[len(counts)], the row of the word of each count."""
        return np.repeat(np.arange(len(self.words)), np.diff(self.offsets))

    @cached_property
    def by_topic(self) -> ByTopic:
        """The entries by topic."""
        # A stable sort of two bytes takes linear time.
        narrow = np.uint16 if self.topic_count <= 1 << 16 else np.uint32
        order = np.argsort(self.topics.astype(narrow), kind="stable")
        rows = self.count_rows
        offsets = np.zeros(self.topic_count + 1, np.int64)
        np.cumsum(np.bincount(self.topics, minlength=self.topic_count), out=offsets[1:])
        return ByTopic(offsets, rows[order], self.counts[order])

    def top_rows(self, count: int) -> list[list[int]]:
        """Return the rows of the words of :meth:`top_words`."""
        return [self.first_rows(topic, count) for topic in range(self.topic_count)]

    def first_rows(self, topic: int, count: int) -> list[int]:
        """Return the rows of the most frequent words of one topic."""
        offsets, rows, counts = self.by_topic
        first, last = offsets[topic : topic + 2].tolist()
        found: list[int] = rows[first + _largest(counts[first:last], count)].tolist()
        return found

    def top_words(self, count: int) -> list[list[str]]:
        """Return the most frequent words of each topic; ties are in the order of the vocabulary."""
        return [[self.words[row] for row in rows] for rows in self.top_rows(count)]


def _begins_with(words: Sequence[str], first: Sequence[str]) -> bool:
    if len(words) < len(first):
        return False
    if isinstance(words, WordList):
        return words.begins_with(first)
    return words[: len(first)] == first


def _largest(values: FloatArray, count: int) -> LongArray:
    """Return the places of the largest values in descending order, the first of equals first."""
    places = np.arange(len(values))
    if count < len(values):
        least = np.partition(values, len(values) - count)[len(values) - count]
        places = np.flatnonzero(values >= least)
    return places[np.argsort(-values[places], kind="stable")[:count]]


_MOST_BYTES, _MOST_CANDIDATES = 256 << 20, 32 << 20
# A base, and about what the text of a word takes.
_WORD_BYTES = 8 + 10

Name = tuple[str, str, str]


class Held:
    """Models by the root of their store, their key, and their version or digest."""

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most, self._size = most, 0
        self._models: OrderedDict[Name, _Narrow] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Name, read: Callable[[], Snapshot]) -> Snapshot:
        """Return a model, read by ``read`` if it is not held."""
        with self._lock:
            if (held := self._models.get(name)) is not None:
                self._models.move_to_end(name)
        if held is not None:
            return held.whole()
        snapshot = read()
        self.put(name, snapshot)
        return snapshot

    def put(self, name: Name, snapshot: Snapshot) -> None:
        """Hold a copy of a model, without what it has derived from its fields."""
        with self._lock:
            if name in self._models:
                return
        held = _Narrow(snapshot)
        with self._lock:
            self._take(name)
            self._models[name] = held
            self._size += held.size
            while self._size > self._most:
                self._take(next(iter(self._models)))

    def drop(self, name: Name) -> None:
        """Forget a model that is no longer needed."""
        with self._lock:
            self._take(name)

    def _take(self, name: Name) -> None:
        if (held := self._models.pop(name, None)) is not None:
            self._size -= held.size


class _Narrow:
    """A copy of a model with narrow entries."""

    def __init__(self, snapshot: Snapshot) -> None:
        entries = np.diff(snapshot.offsets), snapshot.topics, snapshot.counts
        self._columns = [Column.of(values).content for values in entries]
        prior, letters = snapshot.prior, snapshot.prior.letters
        if isinstance(letters, CharacterModel):
            # Without the trie, which takes more memory than all the rest of a small model.
            letters = replace(letters, spelling=replace(letters.spelling))
        strength, base = prior.strength.copy(), prior.base.copy()
        words = snapshot.words
        self._rest = replace(
            snapshot,
            # Without what the list has cached.
            words=WordList(words.text, len(words)) if isinstance(words, WordList) else words,
            alpha=snapshot.alpha.copy(),
            prior=replace(prior, strength=strength, base=base, letters=letters),
            # A part of an array would keep all of it.
            offsets=np.zeros(0, np.int64),
            topics=np.zeros(0, np.int32),
            counts=np.zeros(0),
        )
        entry_bytes = sum(len(column.body) for column in self._columns)
        self.size = entry_bytes + _WORD_BYTES * len(snapshot.words)

    def whole(self) -> Snapshot:
        """Return the model."""
        lengths, topics, counts = (column.values for column in self._columns)
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return replace(
            self._rest,
            offsets=offsets,
            topics=topics.astype(np.int32),
            counts=counts.astype(np.float64),
        )


HELD = Held()
# Where the publisher runs in other processes, nothing takes candidates from here.
CANDIDATES = Held(_MOST_CANDIDATES)
