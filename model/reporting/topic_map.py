"""Place topics on a plane by the distances between their word distributions.

The distance is Hellinger's: for distributions p and q it is sqrt(1 - sum of sqrt(p q)), from 0 for
equal ones to 1 for those that share no word. Classical scaling gives the first places, and stress
majorisation (SMACOF) improves them. Both are deterministic: no random start, a fixed number of
steps, and the signs of eigenvectors are set by their largest component.
"""

from __future__ import annotations

import numpy as np

from model.records import FloatArray
from model.snapshot import Snapshot

# Words whose dense probabilities are computed at a time.
_BLOCK = 20_000
_STEPS = 300
# Places and distances are rounded, so that the last bits of a linear algebra library do not show.
_DIGITS = 6


def distances(snapshot: Snapshot) -> FloatArray:
    """Return the Hellinger distances between the topics' word distributions, float64[T, T]."""
    topics = snapshot.topic_count
    common = np.zeros((topics, topics))
    for first in range(0, len(snapshot.words), _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, len(snapshot.words)))
        counts = snapshot.rows(rows) + snapshot.prior.shares(rows)
        roots = np.sqrt(counts / snapshot.normalisers)
        common += roots.T @ roots
    found: FloatArray = np.sqrt(np.clip(1 - common, 0, 1))
    np.fill_diagonal(found, 0.0)
    return np.round(found, _DIGITS)


def places(apart: FloatArray) -> FloatArray:
    """Return points whose distances are as near as possible to the given ones, float64[T, 2].

    Args:
        apart: float64[T, T], symmetric, 0 on the diagonal.
    """
    points = _classical(apart)
    topics = len(apart)
    if topics < 3:
        return np.round(points, _DIGITS)
    for _ in range(_STEPS):
        between = np.linalg.norm(points[:, None] - points[None], axis=2)
        ratio = np.divide(apart, between, out=np.zeros_like(apart), where=between > 0)
        # The Guttman transform.
        points = (points * ratio.sum(axis=1, keepdims=True) - ratio @ points) / topics
    return np.round(points - points.mean(axis=0), _DIGITS)


def nearest(apart: FloatArray, topic: int, count: int) -> list[tuple[int, float]]:
    """Return the topics nearest to one, each with its distance; equals are in their order."""
    order = np.argsort(apart[topic], kind="stable")
    return [(int(z), float(apart[topic, z])) for z in order if z != topic][:count]


def _classical(apart: FloatArray) -> FloatArray:
    """Return the places of classical scaling, float64[T, 2]."""
    topics = len(apart)
    centring = np.eye(topics) - 1 / topics
    values, vectors = np.linalg.eigh(-0.5 * centring @ apart**2 @ centring)
    found = np.zeros((topics, 2))
    for axis in range(min(2, topics)):
        vector = vectors[:, topics - 1 - axis]
        largest = vector[np.argmax(np.round(np.abs(vector), _DIGITS))]
        length = np.sqrt(max(0.0, values[topics - 1 - axis]))
        found[:, axis] = vector * length * (1 if largest >= 0 else -1)
    return found
