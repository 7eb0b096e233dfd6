"""Follow words over the versions: their ranks in a topic, and where they first were.

A rank is the place of a word in the order of :meth:`model.snapshot.Snapshot.top_words`, with 1 for
the first, as in :mod:`model.publishing.topic_changes`. Here all ranks of a topic come from one
sort, because a report asks for hundreds of words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from model.publishing.manifest import Manifest
from model.reporting.relevance import WordStatistics, word_statistics
from model.snapshot import Snapshot


@dataclass
class Followed:
    """Words over the versions whose models were read.

    Attributes:
        versions: The numbers of these versions in the history.
        ranks: For each topic and each of its words, the rank in each of these versions.
        since: The first of these versions that has each word, as its number in the history; None
            where none has it.
    """

    versions: list[int] = field(default_factory=list)
    ranks: list[list[list[int | None]]] = field(default_factory=list)
    since: list[int | None] = field(default_factory=list)


def follow(
    history: Sequence[Manifest],
    model_of: Callable[[Manifest], Snapshot | None],
    by_topic: Sequence[Sequence[str]],
    words: Sequence[str],
    most: int,
) -> Followed:
    """Follow words over at most ``most`` versions, evenly spread, with the first and the last.

    Args:
        history: The versions.
        model_of: Returns the model of a version, or None where it was removed.
        by_topic: For each topic, the words whose ranks are wanted.
        words: The words whose first version is wanted.
        most: The number of models to read.
    """
    found = Followed(ranks=[[[] for _ in wanted] for wanted in by_topic], since=[None] * len(words))
    for number in spread(len(history), most):
        snapshot = model_of(history[number])
        if snapshot is None:
            continue
        found.versions.append(number)
        now = ranks_in(snapshot, word_statistics(snapshot), by_topic)
        for topic, ranks in enumerate(now):
            for place, rank in enumerate(ranks):
                found.ranks[topic][place].append(rank)
        for place, word in enumerate(words):
            if found.since[place] is None and word in snapshot.numbers:
                found.since[place] = number
    return found


def spread(count: int, most: int) -> list[int]:
    """Return at most ``most`` of the numbers below ``count``, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int)).tolist()


def ranks_in(
    snapshot: Snapshot, statistics: WordStatistics, by_topic: Sequence[Sequence[str]]
) -> list[list[int | None]]:
    """Return the rank of each word in its topic; None where the topic does not have it.

    Args:
        snapshot: The model.
        statistics: Its statistics, whose pairs are in the order of ranks.
        by_topic: For each topic, the words to rank.
    """
    found: list[list[int | None]] = []
    for topic, wanted in enumerate(by_topic):
        rows = statistics.words[statistics.span(topic)]
        place = {row: rank for rank, row in enumerate(rows.tolist(), 1)}
        found.append([place.get(snapshot.row_of(word)) for word in wanted])
    return found
