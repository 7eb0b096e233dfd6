"""The course of topics: periods of the calendar, what is new, rising or gone, and bursts.

The tokens of a version are those that came since its parent (``Manifest.topic_tokens``). They
belong to the period of the latest document among them.

**Bursts** are windows of trends in which a topic has more documents than the windows before
explain. A window is compared with those of its kind: of the same weekday where windows are days, of
the same hour of the day where they are shorter and divide a day, both in UTC. Windows of another
length have one kind. Let n_i be the documents of window i, and c_i = n_i times the topic's mean
share: the documents that the topic has there. The past is the quiet windows among the last
:data:`CYCLES` weeks or days of windows, and at least the last :data:`MEMORY` windows. A window is
judged where this is :data:`LEAST` windows and one cycle or more:

    rate        r = w r_kind + (1 - w) r_all, r_kind and r_all = sum c_i / sum n_i over the
                past of its kind and of all kinds; expected e = r n
    dispersion  d = sum (c_i - e_i)^2 / e_i / f, e_i by the rate of the kind of window i,
                f the windows of the past less their kinds
    variance    v = e (min(1, max(D0, d)) + max(0, d - 1) e / mean e_i) (1 + n u)
                u = w / sum n_i of the kind + (1 - w) / sum n_i of all

w is the estimate of James and Stein: 1 - 1 / F, at least 0, with the ratio F of the variance
between kinds to that within them. A stream without a cycle is judged by all windows, and one with
a cycle by those of the kind. Where fewer than :data:`SAME` cycles of its kind are there, or f is
below :data:`LEAST`, d is about the rate of all windows, and r is the larger one of r_kind and
r_all, so that the first weekends are no bursts.

A Poisson distribution has d = 1. Mean shares vary less, so the least dispersion D0 is
:data:`LEAST_DISPERSION`. Rates that vary from window to window add to the variance by their square.
u is the uncertainty of the rate. The tail is that of the gamma distribution with mean e and
variance v, a negative binomial distribution of counts that need not be whole. As d is an estimate,
the normal score of the tail is judged by Student's t with f degrees of freedom. Silences, windows
with fewer documents than expected, are judged by the other tail.

The bursts of a window are those that the method of Benjamini and Hochberg (1995) finds among all
its topics and groups at a rate of false discoveries of :data:`FALSE_SHARE`, and whose probability
is at most :data:`LEVEL`. So about a tenth of the windows without a burst have a false alarm, and
fewer than one in a hundred of the quiet windows of a topic
(``docs/results/bursts.md``).

A window whose probability is below :data:`OUTLIER`, as that of a holiday may be, is not among the
quiet ones by which later windows are judged, unless :data:`LONGEST` windows in a row, and a whole
cycle, would be left out: this is the new level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from beam_topics.model.arrays import BoolArray, FloatArray, LongArray
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
HOUR = DAY // 24
# Kinds of windows: seven weekdays, or hours of a day.
MOST_KINDS = 24
CYCLES, MEMORY, LEAST, SAME, LONGEST = 8, 30, 6, 2, 5
FALSE_SHARE, LEVEL, OUTLIER = 0.1, 0.008, 0.001
LEAST_DISPERSION = 0.2
_SMALLEST = 1e-300
# Sums that differ from 0 by less are 0.
_ROUNDING = 1e-6


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
        until: The time of the last of them; without one, the end of the period, in microseconds.
        elsewhere: The tokens that came to topics that died later.
    """

    name: str
    versions: list[int]
    tokens: FloatArray
    until: int = 0
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
    """Return the periods in their order, by what came to the T topics.

    Those between the first and the last that no version ends in are there, too, unless there are
    more than :data:`MOST_PERIODS` of them.
    """
    # A window that ends at midnight belongs to the day before.
    times = [manifest.until - (not manifest.times) for manifest in history]
    unit = calendar_unit(history)
    found: dict[str, Period] = {}
    for number, time in enumerate(times):
        name = period_of(time, unit)
        period = found.setdefault(name, Period(name, [], np.zeros(topics)))
        period.versions.append(number)
        period.until = history[number].until
        if (arrived := came[number]) is not None:
            period.tokens += arrived.tokens
            period.elsewhere += arrived.elsewhere
    for name, end in _between(min(times), max(times), unit).items():
        found.setdefault(name, Period(name, [], np.zeros(topics), end))
    return [found[name] for name in sorted(found)]


def _between(first: int, last: int, unit: str) -> dict[str, int]:
    """Return the last microseconds of the periods from one time to another; none of too many."""
    found: dict[str, int] = {}
    # A period is at most two days longer than its usual length.
    step = _LENGTHS[unit] + (unit != "day") * 2 * DAY
    start = period_start(first, unit)
    while start <= last and len(found) <= MOST_PERIODS:
        name, start = period_of(start, unit), period_start(start + step, unit)
        found[name] = start - 1
    return found if start > last else {}


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

    ``came`` has what came with each version.
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


class Burst(NamedTuple):
    """A window in which a topic has more documents than expected.

    Attributes:
        topic: Of the rows.
        start: The start of the window in microseconds.
        documents: c, the documents of the topic.
        expected: e.
        probability: That of as many documents or more in a quiet window.
    """

    topic: int
    start: int
    documents: float
    expected: float
    probability: float


def bursts_of(rows: Sequence[Mapping[str, Any]]) -> list[Burst]:
    """Return the bursts of all topics, in the order of windows.

    Args:
        rows: One row of trends for each window and topic
            (:func:`beam_topics.model.reporting.trends.merged_rows`). A window without a row is
            passed over.
    """
    starts, topics, counts, documents = tables_of(rows)
    return [
        Burst(topics[column], starts[at], float(counts[at, column]), *judgement)
        for at, column, *judgement in bursts_in(counts, documents, starts)
    ]


def tables_of(
    rows: Sequence[Mapping[str, Any]],
) -> tuple[list[int], list[int], FloatArray, FloatArray]:
    """Return the rows of :func:`bursts_of` as what :func:`judged` takes.

    Returns:
        The starts of the W windows; the S topics, ascending; and float64[W, S], the documents of
        the topics and of all topics.
    """
    starts = sorted({row["window_start"] for row in rows})
    places = {start: at for at, start in enumerate(starts)}
    topics = sorted({row["topic"] for row in rows})
    columns = {topic: at for at, topic in enumerate(topics)}
    counts, documents = np.zeros((2, len(starts), len(topics)))
    for row in rows:
        place = places[row["window_start"]], columns[row["topic"]]
        documents[place] = row["documents"]
        counts[place] = row["documents"] * row["mean_share"]
    return starts, topics, counts, documents


def bursts_in(
    counts: FloatArray, documents: FloatArray, starts: Sequence[int]
) -> list[tuple[int, int, float, float]]:
    """Return the bursts as window, series, expected documents and probability, in this order.

    Args:
        counts: float64[W, S], the documents of each series, a topic of a group, in each window.
        documents: float64[W, S] or float64[W, 1], all documents of the group; 0 where a window is
            passed over.
        starts: The starts of the windows in microseconds, ascending.
    """
    expected, probability = judged(counts, documents, starts)
    places = np.argwhere([discovered(row) for row in probability]).tolist()
    return [(w, z, float(expected[w, z]), float(probability[w, z])) for w, z in places]


def discovered(
    probabilities: FloatArray, share: float = FALSE_SHARE, level: float = LEVEL
) -> BoolArray:
    """Return which of the probabilities of a window are bursts; NaN is none.

    Args:
        probabilities: Those of all series that are judged together.
        share: The rate of false discoveries.
        level: The largest probability of a burst.
    """
    known = np.sort(probabilities[~np.isnan(probabilities)])
    passed = known[known <= share * np.arange(1, len(known) + 1) / len(known)]
    return probabilities <= min(level, passed[-1]) if len(passed) else probabilities < 0


def kinds_of(starts: Sequence[int], length: int = 0) -> tuple[int, LongArray]:
    """Return the number of windows of a cycle, and the kind int64[W] of each window.

    Args:
        starts: As for :func:`bursts_in`.
        length: The length of a window in microseconds; 0 for the least distance of two starts.
    """
    times, gaps = np.array(starts, np.int64), np.diff(starts)
    length = length or (int(gaps.min()) if len(gaps) else 0)
    if length == DAY:
        return 7, times // DAY % 7
    if 0 < length < DAY and DAY % length == 0:
        return DAY // length, times % DAY // max(length, HOUR)
    return 1, np.zeros_like(times)


def adjusted(probabilities: FloatArray) -> FloatArray:
    """Return the least rate of false discoveries at which each probability is discovered."""
    order = np.argsort(probabilities)
    known = np.count_nonzero(~np.isnan(probabilities))
    rates = probabilities[order] * known / np.arange(1, len(order) + 1)
    found = np.full(len(order), np.nan)
    found[order[:known]] = np.minimum.accumulate(rates[:known][::-1])[::-1]
    return found


def judged(
    counts: FloatArray, documents: FloatArray, starts: Sequence[int], few: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Judge each window that has enough quiet windows before it; see :func:`bursts_in`.

    Returns:
        float64[W, S], what was expected, and float64[W, S], the probability of as much or more, or
        with ``few`` of as much or less; NaN where a window is not judged.
    """
    counts, documents = np.broadcast_arrays(counts, documents)
    return judged_after(None, counts, documents, *kinds_of(starts), few)[:2]


def judged_after(
    known: FloatArray | None,
    counts: FloatArray,
    documents: FloatArray,
    cycle: int,
    kinds: LongArray,
    few: bool = False,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Judge windows after others, as :func:`judged` does with all of them at once.

    Args:
        known: What was returned for the windows before; none or empty without them.
        counts: float64[W, S]. The first windows are those that ``known`` is about.
        documents: float64[W, S].
        cycle: The number of windows of a cycle.
        kinds: int64[W], the kind of each window.
        few: Whether few documents are improbable, and not many.

    Returns:
        What :func:`judged` returns, NaN for windows that are known; and what later windows need of
        the last M of these, at most :data:`CYCLES` cycles or :data:`MEMORY`: float64[M + 1 + 4 K,
        S], whether each is quiet, the outliers in a row, and the sums of the past of K kinds.
    """
    least, longest = max(LEAST, cycle), max(LONGEST, cycle)
    past = _Past(counts, documents, kinds, max(MEMORY, CYCLES * cycle), min(cycle, MOST_KINDS))
    same = SAME * cycle // len(past.sums[0])
    held, first = np.zeros(counts.shape[1], np.int64), 0
    if known is not None and len(known):
        first = len(known) - 1 - 4 * len(past.sums[0])
        past.quiet[:first], held = known[:first] > 0, known[first].astype(np.int64)
        past.sums[:] = known[first + 1 :].reshape(past.sums.shape)
    expected, probability = np.full((2, *counts.shape), np.nan)
    for at, kind in enumerate(kinds[first:].tolist(), first):
        past.leave(at)
        there = documents[at] > 0
        ready = there & (past.sums[0].sum(axis=0) >= least)
        expected[at, ready], probability[at, ready] = _tail(
            counts[at, ready], documents[at, ready], past.sums[:, :, ready], kind, same, few
        )
        outlier = probability[at] < OUTLIER
        past.come(at, there & ~outlier)
        held = np.where(there & ~outlier, 0, held + outlier)
        for series in np.flatnonzero(held >= longest).tolist():
            past.begin(at, series, longest)
            held[series] = 0
    sums = past.sums.reshape(-1, counts.shape[1])
    return expected, probability, np.vstack([past.quiet[-past.memory :], held, sums])


class _Past:
    """Sums over the quiet windows of the past.

    Attributes:
        memory: The windows that count.
        quiet: bool[W, S], whether a window is quiet.
        sums: float64[4, K, S], of 1, n, c and c^2 / n for each kind and series.
    """

    def __init__(
        self, counts: FloatArray, documents: FloatArray, kinds: LongArray, memory: int, most: int
    ) -> None:
        self._counts, self._documents, self._kinds = counts, documents, kinds
        self.memory, self.quiet = memory, np.zeros(counts.shape, bool)
        self.sums = np.zeros((4, most, counts.shape[1]))

    def _terms(self, at: int) -> FloatArray:
        c, n = self._counts[at], self._documents[at]
        return self.quiet[at] * np.array([np.ones_like(n), n, c, c * c / np.maximum(n, 1)])

    def leave(self, at: int) -> None:
        """Take the window out that is too old at a window."""
        if (old := at - self.memory) >= 0:
            self.sums[:, self._kinds[old]] -= self._terms(old)

    def come(self, at: int, quiet: BoolArray) -> None:
        """Add the series of a window that are quiet in it."""
        self.quiet[at] = quiet
        self.sums[:, self._kinds[at]] += self._terms(at)

    def begin(self, at: int, series: int, windows: int) -> None:
        """Forget all windows of a series but the last ones that it has."""
        first = max(0, at + 1 - self.memory)
        there = first + np.flatnonzero(self._documents[first : at + 1, series] > 0)
        self.quiet[:, series], self.sums[:, :, series] = False, 0
        for last in there[-windows:]:
            self.quiet[last, series] = True
            self.sums[:, self._kinds[last], series] += self._terms(last)[:, series]


def _tail(
    counts: FloatArray, documents: FloatArray, sums: FloatArray, kind: int, same: int, few: bool
) -> tuple[FloatArray, FloatArray]:
    """Return what is expected in a window, and the probability of as much or more.

    Args:
        counts: float64[S], the documents of the series in the window.
        documents: float64[S], all documents of it.
        sums: float64[4, K, S], sums over the past of each kind.
        kind: The kind of the window.
        same: The least number of windows of its kind.
        few: Whether the probability is that of as much or less.
    """
    own, whole = sums[:, kind], sums.sum(axis=1)
    rates = [part[2] / np.maximum(part[1], 1) for part in (own, whole)]
    spread, usual, freedom = _spread(sums)
    enough = (own[0] >= same) & (freedom >= LEAST)
    wide, _, free = _spread(whole[:, None])
    # What kinds explain beyond chance, James and Stein's estimate.
    chance = (free - freedom) * spread / np.maximum(free * wide - freedom * spread, _ROUNDING)
    weight = np.where(enough, np.clip(1 - chance, 0, 1), rates[0] > rates[1])
    unsure = weight / np.maximum(own[1], 1) + (1 - weight) / whole[1]
    # Half a document at least, so that the first document of a topic is no burst.
    rate = np.maximum(weight * rates[0] + (1 - weight) * rates[1], 0.5 * unsure)
    expected = rate * documents
    spread, freedom = np.where(enough, [spread, freedom], [wide, free])
    # Rates vary from window to window: what a Poisson distribution has not grows by the square.
    factor = np.clip(spread, LEAST_DISPERSION, 1) + np.maximum(0, spread - 1) * expected / usual
    variance = factor * expected * (1 + documents * unsure)
    # One document more, as the tail of a Poisson distribution has it, so that none may be usual.
    tail_of, seen = (special.gammainc, counts + 1) if few else (special.gammaincc, counts)
    tail = tail_of(expected**2 / variance, np.maximum(0, seen) * expected / variance)
    score = -special.ndtri(np.maximum(tail, _SMALLEST))
    return expected, special.stdtr(np.maximum(1, freedom), -score)


def _spread(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each series' dispersion about the rates of its kinds, its mean, and the freedom."""
    windows, size, count, squares = sums
    freedom = np.maximum(windows - 1, 0).sum(axis=0)
    chi = (squares * size / np.maximum(count, _ROUNDING) - count).sum(axis=0)
    usual = np.maximum(count.sum(axis=0), 0.5) / windows.sum(axis=0)
    return chi / np.maximum(freedom, 1), usual, freedom
