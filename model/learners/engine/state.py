"""What the engine learns: :class:`State`, one record.

The model of T topics over W words is

    theta_d ~ Dirichlet(alpha),  phi_t ~ Dirichlet(a G),  G ~ Dirichlet(a0 G0),  G0_w = 1 / W.

The state consists of the topic z of each token of the documents in reach, the counts n_wt and n_t,
the parameters G, a, a0 and alpha, and the number of epochs, which names the draws. Counts may
exceed those of z by the tokens of documents that have left and by prior tokens.

Arrays have spare room and double when it is used up, so minibatches add documents and words in
amortised constant time.

>>> state = State(topics=3, seed=1)
>>> state.add_words(4)
>>> state.add_documents(np.array([0, 3, 3, 1]), np.array([3, 1]))
array([0, 1])
>>> state.phi().shape
(3, 4)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.random import stream_key
from beam_topics.model.learners.engine.kernels.draw import LANES, NONE, Documents, Scratch
from beam_topics.model.learners.engine.kernels.figures import main_topics
from beam_topics.model.learners.engine.kernels.tables import MOST

Array = npt.NDArray[Any]

# alpha_t when learning begins.
ALPHA = 0.1
# Where a is not given, it begins at this share of the words, and at most at MOST_A.
A_WORD, MOST_A = 0.1, 1000.0


def with_room(array: Array, used: int, wanted: int, fill: int = 0) -> Array:
    """Return the array, or a copy of at least twice its length if ``wanted`` rows do not fit.

    Args:
        array: [room, ...].
        used: the rows in use; the copy has these.
        wanted: the rows that must fit.
        fill: the value of rows that are not in use.
    """
    if wanted <= len(array):
        return array
    grown = np.full((max(wanted, 2 * len(array)), *array.shape[1:]), fill, array.dtype)
    grown[:used] = array[:used]
    return grown


class Workspace:
    """Memory of S shards, which holds nothing between epochs.

    Only the copies that a shard makes take memory, because the system gives a page when it is
    written.

    Args:
        shards: S.
        words: the words for which there is room.
        width: T8.

    Attributes:
        slots: int32[S, W], all -1.
        pools: int32[S, W, T8].
        totals: int64[S, T8].
    """

    def __init__(self, shards: int, words: int, width: int) -> None:
        self.slots: Array = np.full((shards, words), -1, np.int32)
        self.pools: Array = np.empty((shards, words, width), np.int32)
        self.totals: Array = np.zeros((shards, width), np.int64)

    def scratch(self, longest: int) -> Scratch:
        """Return where one shard computes, for documents of at most ``longest`` tokens."""
        width = self.totals.shape[1]
        one, two, three, four = (np.zeros(width, np.float32) for _ in range(4))
        return Scratch(one, two, three, four, np.zeros(LANES, np.float32), np.zeros(longest))


@dataclass(eq=False)
class State:
    """A model and what it was learned from.

    Args:
        topics: T, from 1 to 65,535.
        seed: names the draws, with ``name``.
        name: the model's key.
        shards: S of an epoch that does not say another one; a part of the law.
        a: 0 for a tenth of the words of the first epoch, at most 1,000.
        a0: the concentration of G.
        learns_strengths: whether a and a0 are drawn; else they stay.
        unseen: 1 if G has a share for a word to come, which is its mean; else 0.

    Attributes:
        size: W, the number of words.
        documents: D, the number of documents in reach.
        words: int32[room], the word of each token.
        z: uint16[room], its topic, or ``NONE``.
        offsets: int64[room], where documents begin.
        rows: int32[room, T8], n_wt, T8 the topics padded to a multiple of eight.
        tables: int64[room], m_w.
        base: float64[room], G.
        totals: int64[T8], n_t.
        alpha: float64[T8]; 0 beyond T.
        epochs: the number of epochs.
        visits: the number of draws of a token.
        reseated: ``visits`` when tables were last drawn.
        owed: visits of documents in reach that a stream owes.
    """

    topics: int
    seed: int = 0
    name: str = ""
    shards: int = 16
    a: float = 0.0
    a0: float = 1000.0
    learns_strengths: bool = True
    unseen: int = 0
    size: int = 0
    documents: int = 0
    epochs: int = 0
    visits: int = 0
    reseated: int = 0
    owed: int = 0
    words: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    z: Array = field(default_factory=lambda: np.zeros(0, np.uint16))
    offsets: Array = field(default_factory=lambda: np.zeros(1, np.int64))
    tables: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    base: Array = field(default_factory=lambda: np.zeros(0))
    rows: Array = field(init=False)
    totals: Array = field(init=False)
    alpha: Array = field(init=False)
    workspace: Workspace | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _whole("topics", self.topics, NONE)
        _whole("shards", self.shards, 2**16)
        if not (self.a >= 0.0 and self.a0 > 0.0):
            raise ValueError(f"a = {self.a}, a0 = {self.a0}: a is 0 or more, and a0 above 0")
        width = -(-self.topics // LANES) * LANES
        self.rows, self.totals = np.zeros((0, width), np.int32), np.zeros(width, np.int64)
        self.alpha = np.zeros(width)
        self.alpha[: self.topics] = ALPHA

    @property
    def tokens(self) -> int:
        """Return N, the number of tokens in reach."""
        return int(self.offsets[self.documents])

    @property
    def key(self) -> tuple[int, int]:
        """Return the stream key of the draws."""
        return stream_key(self.seed, self.name)

    @property
    def base_share(self) -> float:
        """Return a0 G0_w, the same for all words."""
        return self.a0 / max(self.size + self.unseen, 1)

    @property
    def strength(self) -> float:
        """Return a, or that of the first epoch."""
        return self.a or min(A_WORD * max(self.size, 1), MOST_A)

    @property
    def known_share(self) -> float:
        """Return the mass that G has for the W words together: 1 without a word to come."""
        if not self.unseen:
            return 1.0
        return 1.0 - self.base_share / (float(self.tables[: self.size].sum()) + self.a0)

    @property
    def nbytes(self) -> int:
        """Return the memory of the arrays, without that of shards."""
        documents = self.words.nbytes + self.z.nbytes + self.offsets.nbytes
        shared = self.tables.nbytes + self.base.nbytes + self.totals.nbytes + self.alpha.nbytes
        return documents + self.rows.nbytes + shared

    @property
    def reach(self) -> Documents:
        """Return the documents as kernels take them."""
        return Documents(self.words, self.offsets, self.z)

    def add_words(self, count: int) -> None:
        """Let W grow by ``count``; the new words have the numbers from W on.

        G of a word that no topic has is a0 G0_w / (M + a0) on average. The new words get this, and
        the others give it up in proportion. The next epoch draws G again.

        Args:
            count: 0 or more.

        Raises:
            ValueError: there would be too many words.
        """
        if count == 0:
            return
        size, known = self.size + _whole("words", count, MOST - self.size), self.known_share
        self.rows = with_room(self.rows, self.size, size)
        self.tables = with_room(self.tables, self.size, size)
        self.base = with_room(self.base, self.size, size)
        if self.tables.any():
            new = self.a0 / (size + self.unseen) / (self.tables.sum() + self.a0)
            self.base[: self.size] *= (1.0 - (count + self.unseen) * new) / known
            self.base[self.size : size] = new
        else:
            self.base[:size] = 1.0 / (size + self.unseen)
        self.size = size

    def add_prior_tokens(self, words: Array, counts: Array) -> None:
        """Add tokens that belong to no document, so that no draw takes them out.

        Args:
            words: int[n], distinct words.
            counts: int[n, m], for each word its tokens in the topics 0, ..., m - 1.
        """
        topics = np.arange(counts.shape[1])
        self.rows[words[:, None], topics] += counts.astype(np.int32)
        self.totals[topics] += counts.sum(axis=0)

    def add_topics(self, count: int, alpha: float) -> list[int]:
        """Add topics without tokens; return their numbers, from T on.

        Args:
            count: 0 or more.
            alpha: theirs.

        Raises:
            ValueError: there would be too many topics.
        """
        before, self.topics = self.topics, _whole("topics", self.topics + count, NONE)
        more = -(-self.topics // LANES) * LANES - len(self.totals)
        if more:
            self.rows = np.pad(self.rows, ((0, 0), (0, more)))
            self.totals, self.alpha = np.pad(self.totals, (0, more)), np.pad(self.alpha, (0, more))
            self.workspace = None
        self.alpha[before : self.topics] = alpha
        return list(range(before, self.topics))

    def main_topics(self, first: int = 0) -> Array:
        """Return the topic with the most tokens of each document from one on, int32; or -1."""
        main = np.empty(self.documents - first, np.int32)
        main_topics(self.offsets[first : self.documents + 1], self.z, self.topics, main)
        return main

    def counts_from(self, first: int, topics: int) -> Array:
        """Return float64[2, topics], the tokens and documents of each topic, from a document on."""
        z, main = self.z[self.offsets[first] : self.tokens], self.main_topics(first)
        parts = [np.bincount(part, minlength=topics) for part in (z[z != NONE], main[main >= 0])]
        return np.array(parts, np.float64)

    def recount(self, places: Array, topics: Array) -> None:
        """Give tokens other topics.

        Args:
            places: int64[n], the places of distinct tokens.
            topics: int[n], their topics, or ``NONE``.
        """
        for change, now in ((-1, self.z[places]), (1, topics)):
            counted = now != NONE
            cells = self.words[places[counted]], now[counted].astype(np.int64)
            np.add.at(self.rows, cells, change)
            np.add.at(self.totals, cells[1], change)
        self.z[places] = topics

    def tokens_of(self, chosen: Array) -> int:
        """Return the tokens of some documents."""
        return int((self.offsets[chosen + 1] - self.offsets[chosen]).sum())

    def places(self, chosen: Array) -> tuple[Array, Array]:
        """Return the places of all tokens of some documents, and where each document begins."""
        starts = self.offsets[chosen]
        offsets = np.concatenate([[0], np.cumsum(self.offsets[chosen + 1] - starts)])
        shift = np.repeat(starts - offsets[:-1], np.diff(offsets))
        return shift + np.arange(offsets[-1]), offsets

    def add_documents(self, words: Array, lengths: Array) -> Array:
        """Add documents, whose tokens have no topic yet.

        Args:
            words: int[n], the words of all tokens, document after document.
            lengths: int[m], the tokens of each document.

        Returns:
            int64[m], the documents' numbers.

        Raises:
            ValueError: a word is not known, or the lengths do not sum to n.
        """
        if len(words) and not (words.min() >= 0 and words.max() < self.size):
            raise ValueError(f"words {words.min()} to {words.max()} are not in [0, {self.size})")
        if (len(lengths) and lengths.min() < 0) or lengths.sum() != len(words):
            raise ValueError(
                f"the lengths sum to {lengths.sum()}, and there are {len(words)} tokens"
            )
        before, after = self.documents, self.documents + len(lengths)
        start, end = self.tokens, self.tokens + len(words)
        self.words = with_room(self.words, start, end)
        self.z = with_room(self.z, start, end, NONE)
        self.offsets = with_room(self.offsets, before + 1, after + 1)
        self.words[start:end] = words
        self.offsets[before + 1 : after + 1] = start + np.cumsum(lengths)
        self.documents = after
        return np.arange(before, after)

    def keep_documents(self, staying: Array) -> None:
        """Let documents leave; their tokens stay in the counts.

        Args:
            staying: int64[m], the documents that stay, ascending; they get the numbers 0, 1, ...
        """
        stays = np.zeros(self.documents, np.bool_)
        stays[staying] = True
        # Documents before the first that leaves are where they were.
        first = int(np.argmin(stays)) if len(staying) < self.documents else self.documents
        lengths = np.diff(self.offsets[first : self.documents + 1])
        self.keep_tokens(np.repeat(stays[first:], lengths), lengths[stays[first:]], first)

    def keep_words(self, staying: Array) -> None:
        """Let words leave, with their counts, their tables and their tokens in reach.

        Args:
            staying: int64[m], the words that stay, ascending; they get the numbers 0, 1, ...
        """
        number = np.full(self.size, -1, np.int32)
        number[staying] = np.arange(len(staying), dtype=np.int32)
        tokens, size = self.tokens, len(staying)
        self.words[:tokens] = number[self.words[:tokens]]
        stays = self.words[:tokens] >= 0
        ends = np.concatenate([[0], np.cumsum(stays)])[self.offsets[: self.documents + 1]]
        self.keep_tokens(stays, np.diff(ends))
        self.rows, self.tables = self.rows[staying], self.tables[staying]
        self.base, self.size, self.workspace = self.base[staying], size, None
        self.totals = self.rows.sum(axis=0, dtype=np.int64)
        if size:
            self.base *= self.known_share / self.base.sum()

    def keep_tokens(self, stays: Array, lengths: Array, first: int = 0) -> None:
        """Keep some tokens of the documents from ``first`` on, which have these lengths then."""
        begin, end = int(self.offsets[first]), self.tokens
        kept = begin + int(np.count_nonzero(stays))
        for array in (self.words, self.z):
            array[begin:kept] = array[begin:end][stays]
        self.z[kept:end] = NONE
        self.documents = first + len(lengths)
        self.offsets[first + 1 : self.documents + 1] = begin + np.cumsum(lengths)

    def room_for(self, shards: int) -> Workspace:
        """Return memory for as many shards."""
        work, words = self.workspace, len(self.rows)
        if work is None or work.slots.shape[0] < shards or work.slots.shape[1] < words:
            work = self.workspace = Workspace(shards, words, self.rows.shape[1])
        return work

    def phi(self) -> Array:
        """Return P(word | topic), float64[T, W], with the mean of G given the tables."""
        mean = self.base_mean()
        counts = self.rows[: self.size, : self.topics].T
        return (counts + self.strength * mean) / (self.totals[: self.topics, None] + self.strength)

    def base_mean(self, words: Any = slice(None)) -> Array:
        """Return the mean of G given the tables, of all words or of some, float64[n]."""
        tables = self.tables[: self.size]
        return (tables[words] + self.base_share) / (tables.sum() + self.a0)


def _whole(name: str, value: int, most: int) -> int:
    """Return a whole number from 1 to ``most``."""
    if not 1 <= value <= most:
        raise ValueError(f"{name}: {value} is not in [1, {most}]")
    return value
