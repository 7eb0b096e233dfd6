"""Find lengths of windows and of publication that fit the mass of the documents.

A time of 1970 or 2204 among thousands of other years is an outlier: it is named, and the lengths
are those for all others.

>>> day = 86_400_000_000
>>> span = span_of([-20_000 * day, *(number * day for number in range(1000))])
>>> len(span.outliers), lengths_of(span)
(1, {'window': '7d', 'publish_every': '30d'})
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.times import DURATION_UNITS

_WINDOWS = ("1min", "10min", "1h", "6h", "1d", "7d", "30d", "365d")
_PERIODS = ("10min", "1h", "6h", "1d", "7d", "30d", "91d", "365d", "1461d", "3652d")
# The most windows and versions of a run whose lengths are chosen here.
_MOST_WINDOWS = 400
_MOST_VERSIONS = 40
# The share of the times at each end that decides nothing, and the distance of an outlier from the
# others, as a multiple of their span.
_TRIMMED, _FAR = 0.025, 3
_LEAST_TIMES = 10


@dataclass(frozen=True)
class Span:
    """How times lie. All are in microseconds since 1970.

    Attributes:
        first, last: the first and the last time that is no outlier.
        quantiles: the times before which 1 %, 25 %, 50 %, 75 % and 99 % of them are.
        outliers: the times that are far from all others, in order.
    """

    first: int
    last: int
    quantiles: tuple[int, int, int, int, int]
    outliers: tuple[int, ...]


def span_of(times: Sequence[int]) -> Span | None:
    """Return how times lie; None if there is none."""
    ordered = sorted(times)
    if not ordered:
        return None
    trimmed = max(1, round(_TRIMMED * len(ordered))) if len(ordered) >= _LEAST_TIMES else 0
    low, high = ordered[trimmed], ordered[-1 - trimmed]
    far = max(_FAR * (high - low), DURATION_UNITS["d"])
    mass = [time for time in ordered if low - far <= time <= high + far]
    outliers = tuple(time for time in ordered if not low - far <= time <= high + far)
    at = [round(part * (len(mass) - 1)) for part in (0.01, 0.25, 0.5, 0.75, 0.99)]
    first, quarter, half, three, last = (mass[one] for one in at)
    return Span(mass[0], mass[-1], (first, quarter, half, three, last), outliers)


def lengths_of(span: Span) -> dict[str, str]:
    """Return ``window`` and ``publish_every`` for documents of these times."""
    size = max(span.last - span.first, 1)
    window = _first(_WINDOWS, size / _MOST_WINDOWS)
    return {
        "window": window,
        "publish_every": _first(_PERIODS, max(size / _MOST_VERSIONS, _micros(window))),
    }


def _first(lengths: Sequence[str], least: float) -> str:
    """Return the shortest length of time that is long enough, or the longest of all."""
    return next((one for one in lengths if _micros(one) >= least), lengths[-1])


def _micros(length: str) -> int:
    unit = length.lstrip("0123456789")
    return int(length.removesuffix(unit)) * DURATION_UNITS[unit]
