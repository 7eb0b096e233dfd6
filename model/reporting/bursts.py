"""Bursts in trends: windows in which a topic has more documents than the windows before explain.

Let n_i be the number of documents of window i, and c_i = n_i times the topic's mean share: the
documents that the topic has there. A window is judged by up to :data:`MEMORY` quiet windows before
it, of which there are at least :data:`LEAST`:

    rate        r = sum c_i / sum n_i, expected e = r n
    dispersion  d = max(D0, sum (c_i - r n_i)^2 / (r n_i) / (k - 1))
    variance    v = d e (1 + n / sum n_i)

Counts vary more than a Poisson distribution does, which has D0 = 1. Mean shares vary less, so the
least dispersion D0 is :data:`LEAST_DISPERSION`. The second factor of v is the uncertainty of the
rate. The tail is that of the gamma distribution with mean e and variance v, a negative binomial
distribution of counts that need not be whole. The dispersion is an estimate from k windows, so the
normal score of the tail is judged by Student's t with k - 1 degrees of freedom. A window is a burst
if that probability is below :data:`LEVEL`. This gives less than one false alarm in a hundred quiet
windows where the rate varies by up to 15 % from window to window.

A window that is a burst is not among the quiet ones by which later windows are judged, unless
:data:`LONGEST` windows in a row would be bursts: this is the new level.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

MEMORY, LEAST, LONGEST = 30, 6, 5
LEVEL = 0.008
LEAST_DISPERSION = 0.2
_SMALLEST = 1e-300


@dataclass(frozen=True)
class Burst:
    """A window in which a topic has more documents than expected.

    Attributes:
        key, group, topic: Of the row; no topic is None.
        start: The start of the window in microseconds.
        documents: c, the documents of the topic.
        expected: e.
        probability: That of as many documents or more in a quiet window.
    """

    key: str
    group: str
    topic: int | None
    start: int
    documents: float
    expected: float
    probability: float


def bursts_of(rows: Iterable[Mapping[str, Any]]) -> list[Burst]:
    """Return the bursts of all topics, in the order of windows.

    Args:
        rows: Whole rows of trends (:func:`beam_topics.model.trends.whole_rows`). A window without a
            row is passed over.
    """
    series: dict[tuple[str, str, int | None], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        series[row["key"], row["group"], row["topic"]].append(row)
    found = []
    for (key, group, topic), some in series.items():
        some.sort(key=lambda row: row["window_start"])
        documents = [row["documents"] for row in some]
        counts = [row["documents"] * row["mean_share"] for row in some]
        for at, expected, probability in judged(counts, documents):
            if probability < LEVEL:
                start = some[at]["window_start"]
                found.append(Burst(key, group, topic, start, counts[at], expected, probability))
    return sorted(found, key=lambda b: (b.start, b.key, b.group, b.topic is None, b.topic))


def judged(counts: Sequence[float], documents: Sequence[int]) -> list[tuple[int, float, float]]:
    """Judge each window that has enough quiet windows before it.

    Args:
        counts: The documents of the topic in each window.
        documents: All documents of each window.

    Returns:
        For each window its place, what was expected, and the probability.
    """
    quiet: list[int] = []
    held: list[int] = []
    found = []
    for at in range(len(counts)):
        if len(quiet) >= LEAST:
            expected, probability = _tail(counts, documents, quiet[-MEMORY:], at)
            found.append((at, expected, probability))
            if probability < LEVEL:
                held.append(at)
                if len(held) >= LONGEST:
                    quiet, held = held, []
                continue
        quiet.append(at)
        held = []
    return found


def _tail(
    counts: Sequence[float], documents: Sequence[int], quiet: Sequence[int], at: int
) -> tuple[float, float]:
    """Return what is expected in a window, and the probability of as much or more."""
    past, sizes = np.array([(counts[n], documents[n]) for n in quiet], np.float64).T
    rate = past.sum() / sizes.sum()
    if rate <= 0:
        # Half a document, so that the first document of a topic is no burst.
        rate = 0.5 / sizes.sum()
    means = rate * sizes
    spread = float(((past - means) ** 2 / means).sum() / (len(quiet) - 1))
    expected = float(rate * documents[at])
    variance = max(LEAST_DISPERSION, spread) * expected * (1 + documents[at] / sizes.sum())
    shape, scale = expected**2 / variance, variance / expected
    tail = special.gammaincc(shape, max(0.0, counts[at]) / scale)
    score = -special.ndtri(max(float(tail), _SMALLEST))
    return expected, float(special.stdtr(len(quiet) - 1, -score))
