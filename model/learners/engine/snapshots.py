"""Documents given a snapshot: topics held as they were, and the mixtures of documents over them.

A snapshot has n_wk, G and a. Its K topics are held at phi_wk = (n_wk + a G_w) / (n_k + a). A
document's mixture theta is fitted to its tokens by some steps of EM; its completion is the
probability of the tokens at odd places, given the mixture of those at even places.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from beam_topics.model.kernels.first_uses import number_in_documents
from beam_topics.model.learners.engine.kernels import held_topics
from beam_topics.model.learners.engine.kernels.draw import LANES
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.learners.states import pack_counts
from beam_topics.model.stored import wire

# EM steps of a mixture.
STEPS = 6


class Texts(NamedTuple):
    """Some documents, with words renumbered.

    Attributes:
        words: int32[N], for each token the place of its word in ``ids``.
        offsets: int64[D + 1].
        ids: int64[V], the words in the model, ascending.
    """

    words: Array
    offsets: Array
    ids: Array

    @property
    def lengths(self) -> Array:
        """Return int64[D]."""
        return np.diff(self.offsets)

    def of(self, chosen: Array) -> Texts:
        """Return some of the documents, bool[D], with the same words."""
        lengths = self.lengths
        words = self.words[np.repeat(chosen, lengths)]
        return self._replace(words=words, offsets=ends(lengths[chosen]))

    def counts(self, topics: Array, width: int, count: int) -> Array:
        """Return int32[V, m], the tokens of each word in new topics."""
        new = topics >= width
        cells = self.words[new].astype(np.int64) * count + topics[new] - width
        found = np.bincount(cells, minlength=len(self.ids) * count)
        return found.reshape(len(self.ids), count).astype(np.int32)

    def of_topics(self, topics: Array, width: int, count: int) -> Array:
        """Return int64[D, m], the tokens of each document in new topics."""
        new = topics >= width
        where = np.repeat(np.arange(len(self.lengths)), self.lengths)[new]
        cells = where * count + topics[new] - width
        return np.bincount(cells, minlength=len(self.lengths) * count).reshape(-1, count)


def texts_of(live: State, chosen: Array) -> Texts:
    """Return documents of a model."""
    places, offsets = live.places(chosen)
    words = live.words[places]
    used = np.zeros(live.size, np.bool_)
    used[words] = True
    return Texts((np.cumsum(used) - 1).astype(np.int32)[words], offsets, np.flatnonzero(used))


def kinds_of(texts: Texts) -> tuple[Array, Array]:
    """Return (words, documents) of all distinct pairs of these."""
    words, _, bounds, _ = number_in_documents(texts.words, texts.offsets, len(texts.ids))
    return words, np.repeat(np.arange(len(texts.lengths)), np.diff(bounds))


@dataclass(frozen=True, eq=False)
class Past:
    """A snapshot, which does not change.

    Attributes:
        seen: the documents that had come.
        counts: int32[W, K], n_wk; later words have none.
        base: float64[W], the mean of G given the tables; a draw says little of a rare word.
        a: the strength of a topic's prior.
    """

    seen: int
    counts: Array
    base: Array
    a: float

    @classmethod
    def of(cls, live: State, seen: int) -> Past:
        """Return what topics are now."""
        counts = live.rows[: live.size, : live.topics].copy()
        return cls(seen, counts, live.base_mean(), live.a)

    @property
    def topics(self) -> int:
        """Return K."""
        return self.counts.shape[1]

    @cached_property
    def totals(self) -> Array:
        """Return n_k, int64[K]."""
        found: Array = self.counts.sum(axis=0, dtype=np.int64)
        return found

    @cached_property
    def packed(self) -> list[bytes]:
        """Return it as bytes: how many topics each word has, which, their counts, and G."""
        return [*pack_counts(self.counts), wire.array_to_bytes(self.base, "<f8")]

    def of_words(self, staying: Array) -> Past:
        """Return the snapshot with some of the words, int64[m], ascending."""
        kept = staying[staying < len(self.base)]
        return replace(self, counts=self.counts[kept], base=self.base[kept])

    def prior(self, ids: Array, live: State) -> Array:
        """Return G of words; later words have that of the model."""
        base: Array = live.base_mean(ids)
        known = ids < len(self.base)
        base[known] = self.base[ids[known]]
        return base

    def phi(self, ids: Array, live: State) -> Array:
        """Return float32[V, K]."""
        counts = np.zeros((len(ids), self.topics))
        known = ids < len(self.base)
        counts[known] = self.counts[ids[known]]
        return phi_of(counts, self.totals, self.prior(ids, live), self.a)


def phi_of(counts: Array, totals: Array, base: Array, a: float) -> Array:
    """Return (n_wk + a G_w) / (n_k + a), float32[V, K]."""
    found: Array = ((counts + a * base[:, None]) / (totals + a)).astype(np.float32)
    return found


def phi_now(live: State, ids: Array) -> Array:
    """Return phi of the topics of a model, float32[V, T]."""
    counts, totals = live.rows[ids, : live.topics], live.totals[: live.topics]
    return phi_of(counts, totals, live.base_mean(ids), live.a)


class Held(NamedTuple):
    """Topics that are held, padded to a multiple of eight.

    Attributes:
        phi: float32[V, K8].
        alpha: float32[K8].
    """

    phi: Array
    alpha: Array

    @classmethod
    def of(cls, alpha: float, *parts: Array) -> Held:
        """Return topics side by side."""
        phi = np.concatenate(parts, axis=1)
        pad = -phi.shape[1] % LANES
        alphas = np.full(phi.shape[1], alpha, np.float32)
        return cls(np.ascontiguousarray(np.pad(phi, ((0, 0), (0, pad)))), np.pad(alphas, (0, pad)))

    def mixtures(self, texts: Texts, stride: int = 1) -> Array:
        """Return theta of documents, float32[D, K8]."""
        theta = np.zeros((len(texts.lengths), self.phi.shape[1]), np.float32)
        held_topics.mixtures(texts.words, texts.offsets, self.phi, self.alpha, STEPS, stride, theta)
        return theta

    def completion(self, texts: Texts) -> Array:
        """Return ln P(tokens at odd places | those at even places), float64[D]."""
        found = np.zeros(len(texts.lengths))
        theta = self.mixtures(texts, 2)
        held_topics.completed(texts.words, texts.offsets, self.phi, theta, found)
        return found


def ends(lengths: Array) -> Array:
    """Return where documents of such lengths begin, and where the last ends, int64[D + 1]."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
