"""The words of a report: those of each topic with their statistics, and where each word is."""

from __future__ import annotations

from typing import Any

import numpy as np

from model.records import FloatArray
from model.reporting.limits import Limits, shortened
from model.reporting.relevance import WordStatistics
from model.snapshot import Snapshot

# The places of the slider of lambda.
LAMBDAS = tuple(n / 20 for n in range(21))
# Topics of a word that are listed.
_TOPICS = 10


class WordColumns:
    """Words that are listed in some topic, numbered from 0.

    Args:
        snapshot: The model.
        statistics: Its statistics.
        limits: How much a report holds.

    Attributes:
        terms: For each topic, columns of its words: the number of the word, ln P(w | z), ln of the
            lift, FREX, and n_wz. They are in the order of n_wz.
    """

    def __init__(self, snapshot: Snapshot, statistics: WordStatistics, limits: Limits) -> None:
        self._snapshot = snapshot
        self._limits = limits
        self._rows: list[int] = []
        self._numbers: dict[int, int] = {}
        self.terms = [self._terms(statistics, z) for z in range(snapshot.topic_count)]

    def _terms(self, statistics: WordStatistics, topic: int) -> dict[str, Any]:
        first = statistics.starts[topic] + np.arange(self._limits.words)
        found = statistics.candidates(topic, LAMBDAS, self._limits.words)
        at = np.union1d(found, first[first < statistics.starts[topic + 1]])
        return {
            "word": [self._number(row) for row in statistics.words[at].tolist()],
            "probability": _logarithms(statistics.probability[at]),
            "lift": _logarithms(statistics.lift[at]),
            "frex": [round(value, 9) for value in statistics.frex[at].tolist()],
            "count": statistics.counts[at].tolist(),
        }

    def _number(self, row: int) -> int:
        if row not in self._numbers:
            self._numbers[row] = len(self._rows)
            self._rows.append(row)
        return self._numbers[row]

    def words(self) -> dict[str, Any]:
        """Return columns: the word, its tokens, and its topics with their shares of the tokens."""
        rows = np.array(self._rows, np.int64)
        counts = self._snapshot.rows(rows)
        totals = counts.sum(axis=1)
        order = np.argsort(-counts, axis=1, kind="stable")[:, :_TOPICS]
        return {
            "text": [shortened(self._snapshot.words[r], self._limits.name) for r in self._rows],
            "count": totals.tolist(),
            "topics": [
                [[int(z), float(counts[n, z] / totals[n])] for z in order[n] if counts[n, z] > 0]
                for n in range(len(rows))
            ],
        }

    def strings(self) -> list[str]:
        """Return the words as the model has them."""
        return [self._snapshot.words[row] for row in self._rows]


def _logarithms(values: FloatArray) -> list[float]:
    """Return natural logarithms, rounded so that their last bits do not depend on a library."""
    return [round(value, 10) for value in np.log(values).tolist()]
