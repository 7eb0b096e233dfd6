"""Bursts in streams with a weekly cycle: ``python -m benchmarks.bursts``.

``python -m benchmarks.bursts rules`` has the limits of rules of ``--alerts`` in place of sizes.
``python -m benchmarks.bursts silences`` has a third of the documents in place of twice as many.

A made stream has 70 days and a number of topics. The documents of a topic on a day have a Poisson
distribution, whose rate varies by 10 % from day to day, is the cycle times as large on Saturdays
and Sundays, and is twice as large on one working day of the last week, in one topic. All documents
of a day are twice what the topics have on a working day. A row has the share of doublings that are
found; the false alarms for each topic and day; and the share of days without a doubling that have
a false alarm of any topic.
"""

from __future__ import annotations

import sys

import numpy as np

from beam_topics.model.arrays import BoolArray, FloatArray, LongArray
from beam_topics.model.reporting.course import DAY, FALSE_SHARE, LEVEL, discovered, judged

RUNS, WEEKS, SCATTER = 200, 10, 0.1
CYCLES, SIZES, TOPICS = (1, 2, 3), (30, 100, 300), (10, 50, 200)
# ``false_discoveries`` and ``false_alarms`` of rules.
ALARMS, DISCOVERIES = (0.2, 1.0, 5.0), (0.02, 0.1, 0.3)


def stream(
    seed: int,
    cycle: float,
    size: float,
    topics: int,
    scatter: float = SCATTER,
    runs: int = RUNS,
    times: float = 2.0,
) -> tuple[LongArray, BoolArray, FloatArray, LongArray]:
    """Return starts int64[days], counts float64[days, runs, topics] and the days of doublings.

    Topic 0 has the doublings. The first day is a Monday.
    """
    generator, days = np.random.default_rng(seed), np.arange(7 * WEEKS)
    usual = size * np.where(days % 7 < 5, 1.0, cycle)
    rates = usual[:, None, None] * generator.gamma(
        scatter**-2, scatter**2, (len(days), runs, topics)
    )
    doubled = len(days) - 7 + generator.integers(0, 5, runs)
    rates[doubled, np.arange(runs), 0] *= times
    return (days + 4) * DAY, generator.poisson(rates).astype(np.float64), doubled


def rates_of(told: BoolArray, doubled: LongArray, first: int) -> tuple[float, float, float]:
    """Return the share of doublings that are found, and false alarms by topic and day, and by day.

    Args:
        told: bool[days, runs, topics], the bursts.
        doubled: The day of each run that has a doubling of topic 0.
        first: The first day that counts.
    """
    told, runs = told.copy(), np.arange(len(doubled))
    found = float(told[doubled, runs, 0].mean())
    told[doubled, runs, 0] = False
    days = told.any(axis=2)
    days[doubled, runs] = False
    quiet = days[first:].size - len(runs)
    return found, float(told[first:].mean()), float(days[first:].sum() / quiet)


def main(few: bool = False) -> None:
    """Print a row for each cycle, size and number of topics; of silences if ``few``."""
    print("weekend  documents  topics  found  false: topic-days     days")
    for topics in TOPICS:
        for size in SIZES:
            for cycle in CYCLES:
                times = 1 / 3 if few else 2.0
                starts, counts, doubled = stream(1, cycle, size, topics, times=times)
                told = bursts(counts, np.full(len(starts), 2.0 * size * topics), starts, few=few)
                found, false, days = rates_of(told, doubled, 7)
                row = f"{cycle:6}x  {size:9}  {topics:6}  {found:5.1%}"
                print(f"{row}  {false:17.2%}  {days:7.1%}", flush=True)


def rules() -> None:
    """Print a row for each limit and number of topics, at 100 documents a day."""
    limits = [(f"false_alarms: {most:g}", 1.0, most / 100) for most in ALARMS]
    limits += [(f"false_discoveries: {share:g}", share, 1.0) for share in DISCOVERIES]
    print("limit                    weekend  topics  found  false: topic-days     days")
    for topics in TOPICS:
        for cycle in CYCLES[:2]:
            starts, counts, doubled = stream(1, cycle, 100, topics)
            documents = np.full(len(starts), 200.0 * topics)
            for name, share, level in limits:
                told = bursts(counts, documents, starts, share, level)
                found, false, days = rates_of(told, doubled, 7)
                row = f"{name:23} {cycle:7}x  {topics:6}  {found:5.1%}"
                print(f"{row}  {false:17.2%}  {days:7.1%}", flush=True)


def bursts(
    counts: FloatArray,
    documents: FloatArray,
    starts: LongArray,
    share: float = FALSE_SHARE,
    level: float = LEVEL,
    few: bool = False,
) -> BoolArray:
    """Return which counts are bursts, or silences, by the limits of :func:`discovered`."""
    _, found = judged(counts.reshape(len(starts), -1), documents[:, None], starts.tolist(), few)
    topics = found.reshape(-1, counts.shape[2])
    return np.array([discovered(one, share, level) for one in topics]).reshape(counts.shape)


if __name__ == "__main__":
    rules() if sys.argv[1:] == ["rules"] else main(sys.argv[1:] == ["silences"])
