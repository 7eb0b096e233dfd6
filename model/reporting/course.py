"""The course of topics: periods of the calendar, what is new, rising or gone, and bursts.

The tokens of a version are those that came since its parent (``Manifest.topic_tokens``). They
belong to the period of the latest document among them.

**Bursts** are windows of trends in which a topic has more documents than the windows before
explain. Let n_i be the number of documents of window i, and c_i = n_i times the topic's mean share:
the documents that the topic has there. A window is judged by up to :data:`MEMORY` quiet windows
before it, of which there are at least :data:`LEAST`:

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

from beam_topics.model.arrays import FloatArray
from beam_topics.model.publishing.catalogue import Came, mass_of
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.times import to_iso

MOST_PERIODS = 120
# The recent part of a stream: the last fifth of its time.
_RECENT = 5
# A share below this is taken as this, so that no ratio is extreme by chance.
_FLOOR = 1e-3
# Ratios of the recent share to the share before. The lower bounds are their inverses.
_CHANGED, _BORN = 1.5, 10.0
DAY = 86_400_000_000
_UNITS = ("day", "month", "year", "decade", "century")
_LENGTHS = dict(zip(_UNITS, (DAY, 30 * DAY, 365 * DAY, 3652 * DAY, 36524 * DAY), strict=True))
MEMORY, LEAST, LONGEST = 30, 6, 5
LEVEL = 0.008
LEAST_DISPERSION = 0.2
_SMALLEST = 1e-300


def unit_of(times: Sequence[int]) -> str:
    """Return the shortest unit of the calendar that suits times in microseconds.

    It is not shorter than the usual gap between two times, and gives a limited number of periods. A
    time that is far from all others does not count.
    """
    gaps = np.diff(np.array(sorted(times), np.int64))
    usual = int(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 0
    first, last = mass_of(times)
    span = last - first
    for unit in _UNITS:
        if usual <= _LENGTHS[unit] * 1.05 and span // _LENGTHS[unit] < MOST_PERIODS:
            return unit
    return _UNITS[-1]


def period_of(micros: int, unit: str) -> str:
    """Return the name of the period of a time, for example ``2013``, ``2013-05`` or ``1790s``.

    The names of one unit sort as their times do, from the year 1 to 9999.
    """
    iso = to_iso(micros)
    return {
        "day": iso[:10],
        "month": iso[:7],
        "year": iso[:4],
        "decade": f"{iso[:3]}0s",
        "century": f"{iso[:2]}00s (century)",
    }[unit]


def period_start(micros: int, unit: str) -> int:
    """Return the start of the period of a time, in microseconds."""
    moment = np.datetime64(micros, "us")
    if unit in ("day", "month", "year"):
        start = moment.astype(f"datetime64[{unit[0].upper()}]")
    else:
        years = 10 if unit == "decade" else 100
        year = int(moment.astype("datetime64[Y]").astype(int)) + 1970
        # The calendar that is written here begins with the year 1.
        start = np.datetime64(f"{max(1, year // years * years):04d}", "Y")
    return int(start.astype("datetime64[us]").astype(int))


@dataclass
class Period:
    """What came in a period of the calendar.

    Attributes:
        name: The name, for example ``2013``.
        versions: The numbers of its versions in the history.
        tokens: float64[T], the tokens of each topic that came; all 0 where it is not known.
        elsewhere: The tokens that came to topics that died later.
    """

    name: str
    versions: list[int]
    tokens: FloatArray
    elsewhere: float = 0.0

    @property
    def shares(self) -> list[float] | None:
        """The share of each topic in what came; None if nothing came."""
        total = self.tokens.sum() + self.elsewhere
        return (self.tokens / total).tolist() if total else None


def calendar_unit(history: Sequence[Manifest]) -> str:
    """Return the unit of the calendar that suits the versions."""
    return unit_of([manifest.until for manifest in history])


def periods(history: Sequence[Manifest], came: Sequence[Came | None], topics: int) -> list[Period]:
    """Return the periods that have versions, in their order.

    Args:
        history: The versions.
        came: What came with each of them.
        topics: T.
    """
    # A window that ends at midnight belongs to the day before.
    times = [manifest.until - (not manifest.times) for manifest in history]
    unit = calendar_unit(history)
    found: dict[str, Period] = {}
    for number, time in enumerate(times):
        name = period_of(time, unit)
        period = found.setdefault(name, Period(name, [], np.zeros(topics)))
        period.versions.append(number)
        if (arrived := came[number]) is not None:
            period.tokens += arrived.tokens
            period.elsewhere += arrived.elsewhere
    return list(found.values())


@dataclass(frozen=True)
class Movement:
    """How a topic's share changed lately.

    Attributes:
        kind: ``new``, ``rising``, ``steady``, ``falling`` or ``gone``.
        recent: The share of what came in the last fifth of the time.
        before: The share of what came before that; None if nothing came.
    """

    kind: str
    recent: float
    before: float | None


def movements(
    history: Sequence[Manifest], came: Sequence[Came | None], topics: int
) -> tuple[int, list[Movement]]:
    """Return since when the recent part is counted, in microseconds, and each topic's movement.

    Args:
        history: The versions.
        came: What came with each of them.
        topics: T.
    """
    first, last = history[0].until, history[-1].until
    since = min(last - (last - first) // _RECENT, last - 1)
    # The last column is of topics that died.
    parts = np.zeros((2, topics + 1))
    for manifest, arrived in zip(history, came, strict=True):
        if arrived is not None:
            part = int(manifest.until > since)
            parts[part] += np.append(arrived.tokens, arrived.elsewhere)
    before, recent = (_shares(part) for part in parts)
    return since, [
        _movement(0.0 if recent is None else float(recent[z]), before, z) for z in range(topics)
    ]


def _movement(recent: float, before: FloatArray | None, topic: int) -> Movement:
    if before is None:
        return Movement("steady", recent, None)
    ratio = max(recent, _FLOOR) / max(float(before[topic]), _FLOOR)
    if ratio >= _CHANGED:
        kind = "new" if ratio >= _BORN else "rising"
    elif 1 / ratio >= _CHANGED:
        kind = "gone" if 1 / ratio >= _BORN else "falling"
    else:
        kind = "steady"
    return Movement(kind, recent, float(before[topic]))


def _shares(tokens: FloatArray) -> FloatArray | None:
    total = float(tokens.sum())
    return tokens / total if total else None


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
        rows: Whole rows of trends (:func:`beam_topics.model.reporting.trends.whole_rows`). A window
            without a row is passed over.
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
