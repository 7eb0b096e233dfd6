"""How much came to each topic over event time, from the manifests of a chain of versions.

A version's manifest has the tokens of each topic that came since its parent. They are counted when
they come, so a sum over versions is what came in that time. Differences of the totals of two
versions are not: learners draw the topics of past tokens again, and another chain or a change of
the stream moves whole topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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


class Came(NamedTuple):
    """What came with a version.

    Attributes:
        tokens: float64[T], the tokens that came to each topic.
        elsewhere: The tokens that came to topics that died later.
    """

    tokens: FloatArray
    elsewhere: float


def came_to(manifest: Manifest, ids: Sequence[int]) -> Came | None:
    """Return what came with a version to the topics of a later one; None if it is not known.

    Args:
        manifest: the version.
        ids: the ids of the later version's topics.

    Raises:
        DamagedDataError: a version has another number of topics.
    """
    if manifest.topic_tokens is None:
        return None
    name = f"field topic_tokens of version {manifest.version}"
    checks.sized(name, manifest.topic_tokens, len(ids))
    tokens = np.array(manifest.topic_tokens, np.float64)
    same = np.array(manifest.ids(len(ids))) == np.array(ids)
    return Came(np.where(same, tokens, 0.0), float(tokens[~same].sum()))


def curves(history: Sequence[Manifest], topics: int, most: int) -> Curves:
    """Return what came to each topic of the last version over event time.

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
    totals = np.zeros((periods, 1))
    for manifest in history:
        if arrived := came_to(manifest, history[-1].ids(topics)):
            at = (manifest.event_time - first) * periods // max(1, last - first)
            place = min(max(0, at), periods - 1)
            came[place] += arrived.tokens
            totals[place] += arrived.tokens.sum() + arrived.elsewhere
    shares = np.divide(came, totals, out=np.full_like(came, np.nan), where=totals > 0)
    return Curves(first, last, shares)
