"""Dormant topics: the words of topics that ended, which a challenger may revive.

A topic ends when a duel is won by a challenger in which another topic has absorbed it. Let n be its
counts before the duel without the documents that the challenger learned anew, and n' the counts of
the same topic number afterwards. It has ended if more than half of its tokens are elsewhere, and it
is remembered if at least a tenth of them came from earlier documents; otherwise it was a topic of
the documents that are learned anew:

    2 sum_w min(n_w, n'_w) < sum_w n_w    and    sum_w n_w >= LEFT sum_w n_w with these documents

At most ``--dormant`` topics are remembered, each by its :data:`MOST_WORDS` largest counts. The
oldest is dropped first. :mod:`model.learners.particles.reviving` revives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model import checks, wire
from model.learners.particles.challenger_settings import Challengers
from model.learners.particles.packing import pack_numbers, unpack_numbers
from model.learners.particles.settings import ParticleSettings
from model.records import IntArray, LongArray

MOST_WORDS, MOST_TOKENS, LEFT = 200, 50_000, 0.1
_MAGIC = b"BTD1"


@dataclass(frozen=True, eq=False)
class Dormant:
    """The words of a topic that ended.

    Attributes:
        words: int32[W'], word numbers, ascending.
        counts: int64[W'], above 0; their sum is at most :data:`MOST_TOKENS`.
    """

    words: IntArray
    counts: LongArray

    def renumbered(self, numbers: IntArray) -> Dormant:
        """Return the topic with new word numbers, without words whose number is negative."""
        words = numbers[self.words]
        order = np.argsort(words)[np.count_nonzero(words < 0) :]
        return Dormant(words[order], self.counts[order])


def capacity(settings: ParticleSettings) -> int:
    """Return how many topics are remembered."""
    challengers = settings.rejuvenation.challengers
    return challengers.dormant if isinstance(challengers, Challengers) else 0


def ended_topics(before: LongArray, after: LongArray, newest: LongArray) -> list[Dormant]:
    """Return the topics that a duel has ended.

    Args:
        before: int64[W, T], the tokens of each word in each topic before the duel.
        after: the same after it.
        newest: the part of ``before`` that came from documents that were learned anew.
    """
    own = before - newest
    sums, kept = own.sum(axis=0), np.minimum(own, after).sum(axis=0)
    ended = (2 * kept < sums) & (sums >= LEFT * before.sum(axis=0))
    return [_dormant(own[:, topic]) for topic in np.flatnonzero(ended)]


def _dormant(counts: LongArray) -> Dormant:
    """Return the words with the largest counts, the first of equals."""
    order = np.argsort(-counts, kind="stable")[:MOST_WORDS]
    words = np.sort(order[counts[order] > 0])
    found, total = counts[words], int(counts[words].sum())
    if total > MOST_TOKENS:
        found = found * MOST_TOKENS // total
    return Dormant(words[found > 0].astype(np.int32), found[found > 0])


def dormant_to_bytes(topics: Sequence[Dormant]) -> bytes:
    """Return bytes that are equal for equal contents."""
    none = np.zeros(0, np.int64)
    return wire.pack(
        _MAGIC,
        {},
        pack_numbers(np.array([len(topic.words) for topic in topics])),
        pack_numbers(np.concatenate([none, *(topic.words for topic in topics)])),
        pack_numbers(np.concatenate([none, *(topic.counts for topic in topics)])),
    )


def dormant_from_bytes(data: bytes, most: int, words: int) -> list[Dormant]:
    """Read the bytes of :func:`dormant_to_bytes`.

    Args:
        data: the bytes.
        most: how many topics are remembered.
        words: words of the learner's vocabulary.

    Raises:
        DamagedDataError: the bytes are not of this form, or hold what no learner holds.
    """
    _, blobs = wire.unpack(_MAGIC, data, 3)
    lengths, numbers, counts = map(unpack_numbers, blobs)
    checks.whole("dormant topics", len(lengths), 0, most + 1)
    checks.within("words of a dormant topic", lengths, 0, MOST_WORDS + 1)
    checks.equal("words of all dormant topics", len(numbers), int(lengths.sum()))
    checks.sized("counts of dormant topics", counts, len(numbers))
    checks.within("words of dormant topics", numbers, 0, words)
    checks.within("counts of dormant topics", counts, 1, MOST_TOKENS + 1)
    found, ends = [], np.cumsum(lengths).tolist()
    for begin, end in zip([0, *ends], ends, strict=False):
        checks.ascending("words of a dormant topic", numbers[begin:end], strictly=True)
        sums = int(counts[begin:end].sum())
        checks.whole("tokens of a dormant topic", sums, 0, MOST_TOKENS + 1)
        found.append(Dormant(numbers[begin:end].astype(np.int32), counts[begin:end]))
    return found
