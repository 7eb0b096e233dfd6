"""Bursts: planted ones are found, and quiet windows are rarely called bursts."""

import numpy as np
import pytest

from beam_topics.model.reporting.bursts import LEAST, LEVEL, LONGEST, bursts_of, judged
from beam_topics.model.trends import whole_rows

WINDOWS, TOPICS, FACTOR = 60, 20, 3.0
DAY = 86_400_000_000


def stream(seed, scatter, planted=()):
    """(documents of each window, counts[window, topic]) with rates that differ from day to day.

    The number of documents is negative binomial, and so is that of each topic: the rate of a window
    is gamma with a coefficient of variation of ``scatter``. A planted topic is ``FACTOR`` times as
    frequent in its window. Mixtures are not pure,
    so counts are not whole.
    """
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.full(TOPICS, 2.0))
    sizes = generator.negative_binomial(5, 5 / 305, WINDOWS) + 50
    counts = np.zeros((WINDOWS, TOPICS))
    for at, size in enumerate(sizes):
        rates = shares * generator.gamma(scatter**-2, scatter**2, TOPICS)
        for window, topic in planted:
            if window == at:
                rates[topic] *= FACTOR
        own = generator.multinomial(size, rates / rates.sum())
        mixed = generator.dirichlet(10 * own / size + 0.01, size)
        counts[at] = 0.7 * own + 0.3 * mixed.sum(axis=0)
    return sizes.tolist(), counts


@pytest.mark.parametrize("scatter", [0.05, 0.15])
def test_one_false_alarm_in_a_hundred_quiet_windows(scatter):
    alarms = judgements = 0
    for seed in range(5):
        sizes, counts = stream(seed, scatter)
        for topic in range(TOPICS):
            found = judged(counts[:, topic].tolist(), sizes)
            judgements += len(found)
            alarms += sum(probability < LEVEL for *_, probability in found)
    assert judgements == 5 * TOPICS * (WINDOWS - LEAST)
    assert alarms / judgements <= 0.01


@pytest.mark.parametrize("scatter", [0.05, 0.15])
def test_nine_of_ten_planted_bursts_are_found(scatter):
    hits = planted_all = 0
    for seed in range(40):
        generator = np.random.default_rng(100 + seed)
        planted = [(int(w), int(generator.integers(TOPICS))) for w in range(20, WINDOWS, 8)]
        sizes, counts = stream(seed, scatter, planted)
        for window, topic in planted:
            found = {at: p for at, _, p in judged(counts[:, topic].tolist(), sizes)}
            # Three times fewer documents than ten are too few to be told from chance so often.
            if np.median(counts[:, topic]) >= 10:
                planted_all += 1
                hits += found[window] < LEVEL
    assert planted_all >= 120
    assert hits / planted_all >= 0.9


def test_a_new_level_is_a_burst_at_first_only():
    counts = [10.0, 11.0, 9.0, 10.0, 12.0, 8.0, 10.0, 9.0, 11.0] + [40.0, 41.0, 39.0] * 6
    found = [at for at, _, p in judged(counts, [100] * len(counts)) if p < LEVEL]
    assert found == list(range(9, 9 + LONGEST))


def test_the_first_windows_and_first_documents_are_no_bursts():
    assert judged([1.0] * LEAST, [100] * LEAST) == []
    ((_, expected, probability),) = judged([0.0] * LEAST + [1.0], [100] * (LEAST + 1))
    assert expected < 0.1 and probability > LEVEL


def row(day, topic, share, group=""):
    return {
        "key": "k", "window_start": day * DAY, "window_end": (day + 1) * DAY, "part": 0,
        "group": group, "topic": topic, "documents": 100, "tokens": 1.0, "mean_share": share,
        "typical": [],
    }  # fmt: skip


def test_bursts_name_their_row():
    shares = [0.1, 0.11, 0.09, 0.1, 0.12, 0.08, 0.1, 0.5]
    rows = [row(day, 1, share) for day, share in enumerate(shares)]
    rows += [row(day, 0, 0.2, "other") for day in range(8)]
    (found,) = bursts_of(whole_rows(rows[::-1]))
    assert (found.key, found.group, found.topic, found.start) == ("k", "", 1, 7 * DAY)
    assert found.documents == 50 and found.expected == pytest.approx(10)
    assert found.probability < LEVEL
