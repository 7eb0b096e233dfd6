"""Bursts: planted ones are found, and quiet windows are rarely called bursts."""

import numpy as np
import pytest
from made import manifest_of

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.publishing.catalogue import came_to, curves
from beam_topics.model.reporting import course
from beam_topics.model.reporting.course import (
    HOUR,
    LEAST,
    LEVEL,
    LONGEST,
    bursts_in,
    bursts_of,
    calendar_unit,
    discovered,
    judged,
    kinds_of,
    movements,
    period_of,
    period_start,
    periods,
    unit_of,
)
from beam_topics.model.reporting.trends import whole_rows
from beam_topics.model.times import parse_time
from benchmarks import bursts as benchmark

DAY = 86_400_000_000
WINDOWS, TOPICS, FACTOR = 60, 20, 3.0


def moved(history, topics):
    return movements(history, [came_to(one, range(topics)) for one in history], topics)


def periods_of(history, topics):
    return periods(history, [came_to(one, range(topics)) for one in history], topics)


def history_of(tokens, step=30 * DAY, first=0):
    return [
        manifest_of(n + 1, f"{n:012d}-{'0' * 16}" if n else None, event_time=first + n * step,
                    topic_tokens=came)
        for n, came in enumerate(tokens)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("step", "count", "unit"),
    [(DAY, 30, "day"), (30 * DAY, 40, "month"), (DAY, 900, "month"), (365 * DAY, 20, "year"),
     (1461 * DAY, 60, "decade"), (20 * 365 * DAY, 90, "century")],
)  # fmt: skip
def test_the_unit_is_no_shorter_than_the_usual_gap(step, count, unit):
    assert unit_of([n * step for n in range(count)]) == unit


def test_a_time_far_from_all_others_lengthens_no_unit_and_no_bar():
    times = [DAY * n for n in range(1, 20)]
    assert unit_of([*times, DAY * 70_000]) == unit_of(times) == "day"
    (late,) = history_of([[1.0]], first=DAY * 70_000)
    drawn = curves([*history_of([[1.0]] * 19, step=DAY, first=DAY), late], 1, 10)
    assert (drawn.first, drawn.last) == (DAY, DAY * 19)
    assert not np.isnan(drawn.shares).any()


def test_one_time_is_a_day():
    assert unit_of([5]) == "day" == unit_of([5, 5])


@pytest.mark.parametrize(
    ("unit", "name", "start"),
    [("day", "1913-07-04", "1913-07-04"), ("month", "1913-07", "1913-07-01"),
     ("year", "1913", "1913-01-01"), ("decade", "1910s", "1910-01-01"),
     ("century", "1900s (century)", "1900-01-01")],
)  # fmt: skip
def test_a_period_has_a_name_and_a_start(unit, name, start):
    time = parse_time("1913-07-04T12:00:00Z")
    assert period_of(time, unit) == name
    assert period_start(time, unit) == parse_time(start)
    assert period_start(parse_time(start), unit) == parse_time(start)


def test_periods_hold_what_came_in_them():
    history = history_of([[1.0, 2.0], [3.0, 4.0], None, [5.0, 5.0]], 15 * DAY, first=16 * DAY)
    found = periods_of(history, 2)
    assert calendar_unit(history) == "month"
    assert [(p.name, p.versions, p.tokens.tolist()) for p in found] == [
        ("1970-01", [0, 1], [4.0, 6.0]),
        ("1970-02", [2], [0.0, 0.0]),
        ("1970-03", [3], [5.0, 5.0]),
    ]
    assert found[0].shares == [0.4, 0.6] and found[1].shares is None


def test_periods_without_a_version_are_there_and_empty():
    """Months of which two have no version, and days with one that is far from all others."""
    history = history_of([[2.0]] * 3, 30 * DAY, first=20 * DAY)
    found = periods_of([*history, *history_of([[1.0]], first=170 * DAY)], 1)
    assert [(p.name[5:], p.versions, p.shares is None) for p in found] == [
        ("01", [0], False), ("02", [1], False), ("03", [2], False),
        ("04", [], True), ("05", [], True), ("06", [3], False),
    ]  # fmt: skip
    assert [p.until for p in found[2:4]] == [80 * DAY, parse_time("1970-05-01") - 1]
    days = periods_of([*history_of([[1.0]] * 9, DAY), *history_of([[1.0]], first=70_000 * DAY)], 1)
    assert len(days) == 10


@pytest.mark.parametrize("unit", ["day", "month", "year", "decade", "century"])
def test_no_period_is_passed_over(unit):
    length = course._LENGTHS[unit]
    for start in map(parse_time, ("0001-03-01", "1999-12-30", "5000-02-28")):
        found = course._between(start, start + 40 * length, unit)
        assert 40 <= len(found) <= 42 and sorted(found) == list(found)
        for name, end in found.items():
            assert period_of(end, unit) == name != period_of(end + 1, unit)


def test_a_window_that_ends_at_midnight_belongs_to_the_period_before():
    (found,) = periods_of(history_of([[1.0]], first=parse_time("2014-01-01")), 1)
    assert found.name == "2013-12-31"


def test_a_version_belongs_to_the_period_of_its_latest_document():
    # Windows end in 2020, and no document is of 2020.
    versions = [(6, "2018-12-24", "2018-12-20"), (7, "2020-01-03", "2019-12-20")]
    history = [
        manifest_of(n, event_time=parse_time(end), times=[0, parse_time(last)], topic_tokens=[n])
        for n, end, last in versions
    ]
    found = [(one.name, one.tokens.tolist()) for one in periods_of(history, 1)]
    assert found == [("2018", [6.0]), ("2019", [7.0])]
    drawn = curves(history, 1, 2)
    assert (drawn.first, drawn.last) == tuple(parse_time(last) for _, _, last in versions)
    assert moved(history, 1)[0] < drawn.last


def test_movements_compare_the_last_fifth_with_the_time_before():
    before, recent = [400.0, 100.0, 250.0, 249.5, 0.5], [20.0, 400.0, 250.0, 100.0, 230.0]
    since, found = moved(history_of([before] * 9 + [recent] * 2), 5)
    assert since == 8 * 30 * DAY
    assert [one.kind for one in found] == ["gone", "rising", "steady", "falling", "new"]
    assert found[1].recent == pytest.approx(0.4) and found[1].before == pytest.approx(0.1)


def test_with_one_version_nothing_moves():
    _, found = moved(history_of([[3.0, 1.0]]), 2)
    assert [(one.kind, one.recent, one.before) for one in found] == [
        ("steady", 0.75, None), ("steady", 0.25, None),
    ]  # fmt: skip


def test_what_was_not_counted_does_not_move():
    _, found = moved(history_of([None, None]), 2)
    assert [one.kind for one in found] == ["steady", "steady"]


def test_periods_add_up_to_the_curves_of_show():
    tokens = np.random.default_rng(1).integers(0, 50, (40, 3)).astype(float)
    history = history_of(tokens.tolist(), 365 * DAY)
    total = np.sum([period.tokens for period in periods_of(history, 3)], axis=0)
    (shares,) = curves(history, 3, 1).shares
    assert total / total.sum() == pytest.approx(shares, abs=1e-12)


def test_another_number_of_topics_is_refused():
    with pytest.raises(DamagedDataError, match="topic_tokens of version"):
        periods_of(history_of([[1.0, 2.0], [1.0]]), 2)


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


def probabilities(counts, sizes, step=DAY):
    """{window: the probability} of the windows of a topic that are judged."""
    _, (found,) = (part.T for part in judged(*columns(counts, sizes), times(len(sizes), step)))
    return {at: p for at, p in enumerate(found) if not np.isnan(p)}


def columns(*lists):
    return [np.array(one, float)[:, None] for one in lists]


def times(count, step=DAY):
    """The starts of windows; the first one is a Monday."""
    return [4 * DAY + at * step for at in range(count)]


@pytest.mark.parametrize("scatter", [0.05, 0.15])
def test_one_false_alarm_in_a_hundred_quiet_windows(scatter):
    alarms = judgements = 0
    for seed in range(5):
        sizes, counts = stream(seed, scatter)
        for topic in range(TOPICS):
            found = probabilities(counts[:, topic], sizes)
            judgements += len(found)
            alarms += sum(probability < LEVEL for probability in found.values())
    assert judgements == 5 * TOPICS * (WINDOWS - 7)
    assert alarms / judgements <= 0.01


@pytest.mark.parametrize("scatter", [0.05, 0.15])
def test_nine_of_ten_planted_bursts_are_found(scatter):
    hits = planted_all = 0
    for seed in range(40):
        generator = np.random.default_rng(100 + seed)
        planted = [(int(w), int(generator.integers(TOPICS))) for w in range(20, WINDOWS, 8)]
        sizes, counts = stream(seed, scatter, planted)
        for window, topic in planted:
            found = probabilities(counts[:, topic], sizes)
            # Three times fewer documents than ten are too few to be told from chance so often.
            if np.median(counts[:, topic]) >= 10:
                planted_all += 1
                hits += found[window] < LEVEL
    assert planted_all >= 120
    assert hits / planted_all >= 0.9


@pytest.mark.parametrize(("step", "longest"), [(DAY, 7), (30 * DAY, LONGEST)])
def test_a_new_level_is_a_burst_at_first_only(step, longest):
    counts = [10.0, 11.0, 9.0, 10.0, 12.0, 8.0, 10.0, 9.0, 11.0] + [40.0, 41.0, 39.0] * 6
    judgements = probabilities(counts, [100] * len(counts), step)
    assert [at for at, p in judgements.items() if p < LEVEL] == [*range(9, 9 + longest)]


def test_the_first_windows_and_first_documents_are_no_bursts():
    assert probabilities([1.0] * LEAST, [100] * LEAST, 30 * DAY) == {}
    counts = [0.0] * LEAST + [1.0]
    expected, found = judged(*columns(counts, [100] * len(counts)), times(len(counts), 30 * DAY))
    assert expected[-1, 0] < 0.1 and found[-1, 0] > LEVEL


@pytest.mark.parametrize(
    ("step", "cycle", "kinds"),
    [(DAY, 7, 7), (HOUR, 24, 24), (6 * HOUR, 4, 4), (HOUR // 12, 288, 24), (7 * HOUR, 1, 1),
     (2 * DAY, 1, 1), (7 * DAY, 1, 1), (30 * DAY, 1, 1)],
)  # fmt: skip
def test_days_of_one_weekday_and_windows_of_one_hour_are_of_one_kind(step, cycle, kinds):
    found, kind = kinds_of(times(2 * cycle + 20, step))
    assert found == cycle and len(set(kind)) == kinds
    assert np.array_equal(kind[cycle:], kind[:-cycle])
    # A window that is passed over changes no kind.
    assert np.array_equal(kinds_of(times(60, step)[9:] + times(99, step)[70:])[1][:9], kind[9:18])


@pytest.mark.parametrize("starts", [[], [DAY]])
def test_a_window_alone_has_no_kind(starts):
    assert bursts_in(*np.ones((2, len(starts), 3)), starts) == []


def test_bursts_are_those_of_benjamini_and_hochberg():
    told = discovered(np.array([0.007, np.nan, 0.001, 0.5, 0.006, 0.9]))
    assert told.tolist() == [True, False, True, False, True, False]
    # The smallest of a hundred is not below a thousandth, nor is any above the level.
    assert not discovered(np.array([0.002] + [0.5] * 99)).any()
    assert not discovered(np.array([LEVEL * 1.1] * 3)).any()
    assert not discovered(np.full(3, np.nan)).any()


def weekly(cycle, holidays=(), few=False):
    """Shares of doublings and false alarms, see benchmarks/bursts.py; holidays are as Sundays."""
    times = 1 / 3 if few else 2
    starts, counts, doubled = benchmark.stream(2, cycle, 100, 50, runs=60, times=times)
    for day in holidays:
        counts[day] = np.roll(counts[6], day, axis=0)
    told = benchmark.bursts(counts, np.full(len(starts), 10_000.0), starts, few=few)
    told[list(holidays)] = False
    return benchmark.rates_of(told, doubled, 7)


def right(found, false, days):
    """Whether nine of ten are found, with the false alarms that are stated."""
    return found >= 0.85 and false <= 0.01 and days <= 0.12


@pytest.mark.parametrize("cycle", [1 / 3, 1, 1.3, 2, 3])
def test_doublings_on_a_weekday_are_found_whatever_the_weekly_cycle(cycle):
    assert right(*weekly(cycle))


@pytest.mark.parametrize("cycle", [1, 3])
def test_silences_are_found_as_doublings_are(cycle):
    assert right(*weekly(cycle, few=True))


def test_a_topic_of_which_little_is_expected_may_have_no_documents(monkeypatch):
    counts = np.random.default_rng(7).poisson(0.7, (40, 200)).astype(float)
    starts = [day * DAY for day in range(40)]

    def told():
        return np.nanmean(judged(counts, np.full((40, 1), 100.0), starts, few=True)[1] < LEVEL)

    assert told() <= 0.001
    # Without one document more, none is always improbable.
    tail = course.special.gammainc
    monkeypatch.setattr(
        course.special, "gammainc", lambda k, x: tail(k, np.maximum(x - k / 0.7, 0))
    )
    assert told() > 0.1


@pytest.mark.parametrize("cycle", [1 / 3, 3])
def test_holidays_are_ordinary_outliers(cycle):
    assert right(*weekly(cycle, holidays=(24, 39)))


@pytest.mark.parametrize("week", [1, 6])
def test_the_weekly_measurement_rejects_windows_of_other_kinds(monkeypatch, week):
    monkeypatch.setattr(course, "kinds_of", lambda starts: (week, np.arange(len(starts)) % week))
    assert not right(*weekly(2))


def test_the_weekly_measurement_rejects_a_level_for_each_topic_alone(monkeypatch):
    monkeypatch.setattr(benchmark, "discovered", lambda found, *_: found < LEVEL)
    assert not right(*weekly(2))


def test_a_doubling_at_an_hour_is_found_within_a_daily_cycle():
    starts, generator = np.arange(24 * 10) * HOUR, np.random.default_rng(6)
    rates = np.where(np.arange(240) % 24 < 8, 30.0, 100.0)[:, None].repeat(100, axis=1)
    rates[228] *= 2
    found = judged(generator.poisson(rates).astype(float), np.full((240, 1), 1e4), starts.tolist())
    told = found[1] < LEVEL
    assert told[228].mean() >= 0.95 and told[24:228].mean() <= 0.01
    assert not told[:24].any()


def row(day, topic, share):
    return {
        "key": "k", "window_start": day * DAY, "window_end": (day + 1) * DAY, "part": 0, "run": 0,
        "group": "", "topic": topic, "documents": 100, "tokens": 1.0, "mean_share": share,
        "typical": [],
    }  # fmt: skip


def test_bursts_name_their_row():
    shares = [0.1, 0.11, 0.09, 0.1, 0.12, 0.08, 0.1, 0.5]
    rows = [row(day, 1, share) for day, share in enumerate(shares)]
    rows += [row(day, 0, 0.2) for day in range(8)]
    (found,) = bursts_of(whole_rows(rows[::-1]))
    assert (found.topic, found.start) == (1, 7 * DAY)
    assert found.documents == 50 and found.expected == pytest.approx(10)
    assert found.probability < LEVEL
