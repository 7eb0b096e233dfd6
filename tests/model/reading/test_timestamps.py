from datetime import date
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.reading.timestamps import TimestampUnit, UnitError, read_time
from model.times import TimeRangeError

MOMENT = 980942400


@pytest.mark.parametrize(
    ("unit", "factor"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)]
)
def test_numbers_in_every_unit_and_as_text(unit, factor):
    for value in (
        MOMENT * factor,
        float(MOMENT * factor),
        str(MOMENT * factor),
        f" +{MOMENT * factor}.0 ",
    ):
        assert read_time(value, unit) == MOMENT * 10**6
    assert read_time(f"-{factor}", unit) == read_time(-factor, unit) == -(10**6)


@pytest.mark.parametrize("unit", get_args(TimestampUnit))
def test_iso_text_is_the_same_in_every_unit(unit):
    for value in ("2001-01-31T12:00:00Z", "20010131T120000Z", "2001-01-31 12:00"):
        assert read_time(value, unit) == MOMENT * 10**6
    assert (
        read_time("20010131", unit)
        == read_time(date(2001, 1, 31), unit)
        == read_time("2001-01-31", unit)
    )


def test_digits_are_never_taken_for_a_date_with_a_time():
    """Python reads thirteen digits as a date, any character, and a time: the year 1210."""
    assert read_time("1210010101234", "ms") == 1210010101234000


@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        (
            MOMENT * 10**3,
            "s",
            (
                "too large for a number of seconds; as milliseconds it is 2001-01-31"
                " (--timestamp_unit=ms)"
            ),
        ),
        (
            str(MOMENT * 10**6),
            "s",
            (
                "too large for a number of seconds; as microseconds it is 2001-01-31"
                " (--timestamp_unit=us)"
            ),
        ),
        (
            float(MOMENT * 10**9),
            "s",
            (
                "too large for a number of seconds; as nanoseconds it is 2001-01-31"
                " (--timestamp_unit=ns)"
            ),
        ),
        (
            MOMENT * 10**9,
            "ms",
            (
                "too large for a number of milliseconds; as nanoseconds it is 2001-01-31"
                " (--timestamp_unit=ns)"
            ),
        ),
        (
            -(10**11),
            "s",
            (
                "too large for a number of seconds; as milliseconds it is 1966-10-31"
                " (--timestamp_unit=ms)"
            ),
        ),
        (
            10**11,
            "s",
            (
                "too large for a number of seconds; as milliseconds it is 1973-03-03"
                " (--timestamp_unit=ms)"
            ),
        ),
    ],
)
def test_another_unit_is_known_by_the_size(value, unit, message):
    with pytest.raises(UnitError) as raised:
        read_time(value, unit)
    assert str(raised.value) == message


@pytest.mark.parametrize("value", [2013, 2013.0, "2013", " 2013.0 "])
def test_a_year_is_not_taken_for_seconds(value):
    told = "it looks like a year; as seconds it is 1970-01-01T00:33:33 (--timestamp_unit=year)"
    with pytest.raises(UnitError) as raised:
        read_time(value, "s")
    assert str(raised.value) == told
    assert read_time(value, "year") == 1356998400 * 10**6


@pytest.mark.parametrize("value", [0, 1399, 2200, 2013.5, -2013])
def test_numbers_of_seconds_that_are_no_years(value):
    assert read_time(value, "s") == value * 10**6


def test_the_first_and_the_last_year():
    assert read_time(1, "year") == read_time("0001-01-01", "s")
    assert read_time("9999", "year") == read_time("9999-01-01", "s")
    assert read_time("2013-05-01", "year") == read_time("2013-05-01", "s")


@pytest.mark.parametrize("value", [0, -5, 2013.5, 10_000.5, 10**20, float("nan"), "201305010"])
def test_what_is_no_year(value):
    with pytest.raises(ValueError, match=r"a year is a whole|too large for a year|outside|not one"):
        read_time(value, "year")


def test_seconds_are_not_taken_for_years():
    with pytest.raises(UnitError) as raised:
        read_time(MOMENT, "year")
    assert str(raised.value) == (
        "too large for a year; as seconds it is 2001-01-31 (--timestamp_unit=s)"
    )


def test_the_largest_number_of_seconds():
    assert read_time(10**11 - 1, "s") == (10**11 - 1) * 10**6


def test_what_no_unit_fits_is_out_of_range():
    for value in (10**30, 1e300, 10**4000, -(10**40)):
        with pytest.raises(TimeRangeError):
            read_time(value, "s")


def test_what_a_schema_declares_comes_first():
    assert read_time(200_000 * 10**9, "s", Fraction(1000)) == 200_000 * 10**12


@pytest.mark.parametrize(
    "value",
    [
        "",
        "31/01/2001",
        "01/31/2001",
        "1e9",
        "1_000",
        "١٢٣",
        "0x10",
        "1" * 40,
        True,
        None,
        [],
        {},
        b"1",
        float("nan"),
    ],
)
def test_what_is_no_time(value):
    with pytest.raises(ValueError):
        read_time(value, "s")


@given(
    st.text() | st.floats() | st.integers() | st.text("0123456789+-.:TZ "),
    st.sampled_from(get_args(TimestampUnit)),
)
def test_any_value_is_a_time_or_a_value_error(value, unit):
    try:
        assert isinstance(read_time(value, unit), int)
    except ValueError:
        return
