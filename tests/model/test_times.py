from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.times import (
    MAX_TIME,
    MIN_TIME,
    TimeRangeError,
    parse_time,
    to_compact_iso,
    to_iso,
)

DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        ("1970-01-02", DAY),
        ("1970-01-02T00:00:00Z", DAY),
        ("1970-01-02T00:00:00", DAY),
        ("1970-01-02 01:00:00+01:00", DAY),
        (" 19700102T000000Z ", DAY),
        ("1969-12-31T23:59:59.999999", -1),
        (86400, DAY),
        (-1, -1_000_000),
        (1.5, 1_500_000),
        (1600000000.123456, 1600000000123456),
        (datetime(1970, 1, 2), DAY),
        (datetime(1970, 1, 2, tzinfo=timezone(timedelta(hours=1))), DAY - DAY // 24),
        (date(1970, 1, 2), DAY),
        ("1790-01-08", -5679590400000000),
        ("0001-01-01", MIN_TIME),
        ("9999-12-31T23:59:59.999999", MAX_TIME),
    ],
)
def test_times_in_every_spelling(value, micros):
    assert parse_time(value) == micros


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "2020-13-01",
        "1600000000",
        float("nan"),
        float("inf"),
        True,
        None,
        [],
        b"2020",
    ],
)
def test_what_is_not_a_time(value):
    with pytest.raises(ValueError):
        parse_time(value)


@pytest.mark.parametrize(
    "value",
    [
        1600000000000,
        10**400,
        1e300,
        -1e14,
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
    ],
)
def test_times_out_of_range(value):
    with pytest.raises(TimeRangeError, match="year is not one of 1 to 9999"):
        parse_time(value)


def test_units_round_down_to_microseconds():
    assert parse_time(1999, Fraction(1, 1000)) == 1
    assert parse_time(-1, Fraction(1, 1000)) == -1
    assert parse_time(7, Fraction(1000)) == 7000


def test_a_window_may_end_after_the_year_9999():
    assert to_iso(MAX_TIME + 1) == "10000-01-01T00:00:00.000000Z"


@given(st.datetimes(timezones=st.just(UTC)))
@settings(max_examples=100)
def test_iso_round_trip(moment):
    assert to_iso(parse_time(moment)) == moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")
    assert parse_time(to_iso(parse_time(moment))) == parse_time(moment)
    assert parse_time(to_compact_iso(parse_time(moment))) == parse_time(
        moment.replace(microsecond=0)
    )
