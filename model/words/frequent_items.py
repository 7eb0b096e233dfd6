"""Counts of frequent items in bounded memory, with bounds for their errors.

This is the summary of Misra and Gries (1982), as Agarwal et al. (2012, "Mergeable summaries") add
to it. When more than twice ``most`` items are counted, the count that comes after the ``most``
largest ones is subtracted from all, and items without a count leave. The sum of what was subtracted
bounds how much any count is too small. Of N occurrences in all it is at most N / most.

The counts depend on the sum of what is added between two prunings, and not on its order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T", bound=Hashable)


@dataclass
class FrequentItems(Generic[T]):
    """Counts of items.

    Attributes:
        most: how many items are kept by a pruning.
        counts: the counts, each at most the true one.
        short: how much each of them is too small at most; the count of an item that is not kept.
    """

    most: int
    counts: dict[T, int] = field(default_factory=dict)
    short: int = 0

    def least(self, item: T) -> int:
        """Return a lower bound of the count of an item."""
        return self.counts.get(item, 0)

    def greatest(self, item: T) -> int:
        """Return an upper bound of the count of an item."""
        return self.counts.get(item, 0) + self.short

    def add(self, items: Iterable[tuple[T, int]]) -> None:
        """Add occurrences, positive numbers; :meth:`prune` is called afterwards by the caller."""
        counts = self.counts
        for item, count in items:
            counts[item] = counts.get(item, 0) + count

    def prune(self) -> None:
        """Keep ``most`` items, where there are more than twice as many."""
        if len(self.counts) <= 2 * self.most:
            return
        values = np.fromiter(self.counts.values(), np.int64, len(self.counts))
        place = len(values) - self.most - 1
        self._reduce(int(np.partition(values, place)[place]))

    def _reduce(self, by: int) -> None:
        self.counts = {item: count - by for item, count in self.counts.items() if count > by}
        self.short += by

    def halve(self) -> None:
        """Halve all counts; the bounds then hold for half of the true counts."""
        halves = ((item, count // 2) for item, count in self.counts.items())
        self.counts = {item: count for item, count in halves if count}
        self.short = self.short // 2 + 1
