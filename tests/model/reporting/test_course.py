import numpy as np
import pytest
from made import manifest_of

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.publishing.catalogue import came_to, curves
from beam_topics.model.reporting.course import (
    calendar_unit,
    movements,
    period_of,
    period_start,
    periods,
    unit_of,
)
from beam_topics.model.times import parse_time

DAY = 86_400_000_000


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


def test_a_window_that_ends_at_midnight_belongs_to_the_period_before():
    (found,) = periods_of(history_of([[1.0]], first=parse_time("2014-01-01")), 1)
    assert found.name == "2013-12-31"


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
