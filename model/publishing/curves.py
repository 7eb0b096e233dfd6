"""How much came to each topic over event time, from the manifests of a chain of versions.

A version's manifest has the tokens of each topic that came since its parent. They are counted when
they come, so a sum over versions is what came in that time. Differences of the totals of two
versions are not: learners draw the topics of past tokens again, and another chain or a change of
the stream moves whole topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model import checks
from model.publishing.manifest import Manifest
from model.records import FloatArray


@dataclass(frozen=True)
class Curves:
    """The share of each topic in the tokens that came, in equal periods of event time.

    Attributes:
        first: the event time of the first version, in microseconds.
        last: that of the last one.
        shares: float64[periods, T]; NaN in periods without a version that says what came.
    """

    first: int
    last: int
    shares: FloatArray

    def times(self) -> list[int]:
        """Return the middle of each period, in microseconds."""
        count, span = len(self.shares), self.last - self.first
        return [self.first + span * (2 * n + 1) // (2 * count) for n in range(count)]


def curves(history: Sequence[Manifest], topics: int, most: int) -> Curves:
    """Return what came to each topic over event time.

    Args:
        history: one version or more, from the first to the last.
        topics: T.
        most: the largest number of periods. There are no more than versions.

    Raises:
        DamagedDataError: a version has another number of topics.
    """
    first, last = history[0].event_time, history[-1].event_time
    periods = min(most, len(history))
    came = np.zeros((periods, topics))
    for manifest in history:
        if manifest.topic_tokens is not None:
            name = f"field topic_tokens of version {manifest.version}"
            checks.sized(name, manifest.topic_tokens, topics)
            at = (manifest.event_time - first) * periods // max(1, last - first)
            came[min(max(0, at), periods - 1)] += manifest.topic_tokens
    totals = came.sum(axis=1, keepdims=True)
    shares = np.divide(came, totals, out=np.full_like(came, np.nan), where=totals > 0)
    return Curves(first, last, shares)
