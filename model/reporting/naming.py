"""Documents at hand, from which topics get their names: a bounded, uniform sample.

A document counts for the topic that has the largest share of its mixture.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from model.reporting.names import Counted, Names, candidates, names_of
from model.reporting.phrases import Pairs
from model.reporting.relevance import word_statistics
from model.snapshot import Snapshot

MOST_DOCUMENTS = 20_000


def names_by_documents(snapshot: Snapshot, documents: Iterable[tuple[int, Sequence[str]]]) -> Names:
    """Return names that cover documents at hand.

    Args:
        snapshot: The model.
        documents: The topic of each document, and its words in their order.
    """
    statistics = word_statistics(snapshot)
    rows = [candidates(statistics, topic) for topic in range(snapshot.topic_count)]
    pairs = Pairs([frozenset(snapshot.words[row] for row in some) for some in rows])
    wanted = {snapshot.words[row]: row for some in rows for row in some}
    counted = counted_words(documents, wanted, pairs)
    return names_of(snapshot, statistics, counted, pairs)


def counted_words(
    documents: Iterable[tuple[int, Sequence[str]]],
    wanted: dict[str, int],
    pairs: Pairs | None = None,
) -> Counted:
    """Return which documents hold some words.

    Args:
        documents: The topic of each document, and its words in their order.
        wanted: The rows of the words by word.
        pairs: Counts the pairs of the documents, too.
    """
    topics: list[int] = []
    holding: dict[int, list[int]] = defaultdict(list)
    for number, (topic, words) in enumerate(documents):
        topics.append(topic)
        for row in {wanted[word] for word in words if word in wanted}:
            holding[row].append(number)
        if pairs is not None:
            pairs.add(topic, words)
    return Counted(
        np.array(topics, np.int64),
        {row: np.array(numbers, np.int64) for row, numbers in holding.items()},
    )
