"""How topics change: words that enter and leave their top words, and ranks of words.

The rank of a word in a topic is its place in the order of
:meth:`model.snapshot.Snapshot.top_words`, with 1 for the first. It is None if the topic does not
have the word. Topics have the numbers of the version before (:mod:`model.publishing.alignment`), so
the changes are changes within a topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from model.snapshot import Snapshot

TOP_WORDS = 10

Ranks = dict[str, list[int | None]]


def ranks_of(snapshot: Snapshot, words: Iterable[str]) -> Ranks:
    """Return the rank of each word in each topic."""
    by_word = _rows_of_entries(snapshot)
    by_topic = [np.flatnonzero(snapshot.topics == topic) for topic in range(snapshot.topic_count)]
    return {
        word: [_rank(snapshot, by_word, places, snapshot.row_of(word)) for places in by_topic]
        for word in words
    }


def changes(before: Snapshot, after: Snapshot, count: int = TOP_WORDS) -> list[dict[str, Any]]:
    """Return the topics whose first ``count`` words are other words than before.

    A topic that only changed the order of its first words is left out.

    Args:
        before: The previous version.
        after: The new version.
        count: The number of first words to compare.

    Returns:
        For each such topic: ``topic``; ``entered``, {word: rank now}; and ``left``, {word: rank
        now, or None if the topic does not have the word any more}.
    """
    found, by_word = [], _rows_of_entries(after)
    for topic, (old, new) in enumerate(
        zip(before.top_words(count), after.top_words(count), strict=True)
    ):
        entered, left = (
            [word for word in new if word not in old],
            [word for word in old if word not in new],
        )
        if entered or left:
            places = np.flatnonzero(after.topics == topic)
            now = {word: _rank(after, by_word, places, after.row_of(word)) for word in left}
            found.append(
                {
                    "topic": topic,
                    "entered": {word: new.index(word) + 1 for word in entered},
                    "left": now,
                }
            )
    return found


def topic_of(ranks: Sequence[int | None]) -> int | None:
    """Return the topic in which a word ranks highest, the first of equals.

    It is None if no topic has the word.
    """
    known = [(rank, topic) for topic, rank in enumerate(ranks) if rank is not None]
    return min(known)[1] if known else None


def _rows_of_entries(snapshot: Snapshot) -> np.ndarray:
    """Return int64[nnz], the word of each entry."""
    return np.repeat(np.arange(len(snapshot.words)), np.diff(snapshot.offsets))


def _rank(snapshot: Snapshot, by_word: np.ndarray, places: np.ndarray, row: int) -> int | None:
    mine = places[by_word[places] == row]
    if not len(mine):
        return None
    counts = snapshot.counts[places]
    own = snapshot.counts[mine[0]]
    return 1 + int(np.count_nonzero((counts > own) | ((counts == own) & (by_word[places] < row))))
