"""Which times are read in which form, exactly, and what is refused with which reason."""

from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from beam_topics.model.errors import OptionError
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.reading.time_forms import NAMES, accepted, month_of, number_of, read_time
from beam_topics.model.times import TimeRangeError, parse_time

# 2001-01-31
MOMENT = 980899200
MICROS = MOMENT * 10**6
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@pytest.mark.parametrize(
    ("form", "factor"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)]
)
def test_a_number_and_its_text_have_the_unit(form, factor):
    number = MOMENT * factor
    for value in (number, float(number), str(number), f" {number} ", f"+{number}", f"{number}."):
        assert read_time(value, form) == MICROS
    assert read_time(f"-{factor}", form) == read_time(-factor, form) == -(10**6)


@pytest.mark.parametrize("value", ["2001-01-31", "20010131", " 2001-01-31T00:00Z",
                                   date(2001, 1, 31), "2001-01-31 01:00:00+01:00",
                                   "2001-01-31T00:00:00.0000000+0000",
                                   "20010131T000000Z", "2001-01-31T00", "2001-W05-3", MOMENT,
                                   str(MOMENT), datetime(2001, 1, 31),
                                   "2001-01-30 19:00-05"])  # fmt: skip
def test_iso_is_read_in_its_variants_and_seconds_too(value):
    assert read_time(value) == MICROS


def test_a_month_is_its_first_moment():
    assert read_time("2001-02") == read_time("2001-02-01")
    assert read_time("02/2001", "%m/%Y") == read_time("February 2001", "%B %Y")
    assert read_time("2001", "%Y") == read_time(2001, "year") == read_time("2001.0", "year")


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("31/01/2001", "%d/%m/%Y"),
        ("31/1/2001 0:00", "%d/%m/%Y %H:%M"),
        ("01/31/2001", "%m/%d/%Y"),
        ("January 31, 2001 ", "%B %d, %Y"),
        ("JAN  31 2001", "%b %d %Y"),
        ("January 31st, 2001", "%B %d, %Y"),
        ("Wed Jan 31 00:00:00 +0000 2001", "%a %b %d %H:%M:%S %z %Y"),
        ("Wed, 31 Jan 2001 00:00:00 GMT", "rfc2822"),
        ("31 Jan 2001 01:00 +0100 (CET)", "rfc2822"),
        ("Tue, 30 Jan 2001 19:00:00 EST", "rfc2822"),
        ("2001-01-31 00:00:00 UTC", "%Y-%m-%d %H:%M:%S %Z"),
        ("2001-01-31 00:00:00.000 UTC", "%Y-%m-%d %H:%M:%S %Z"),
        ("2001/01/31", "%Y/%m/%d"),
        ("2001-1-31", "%Y-%m-%d"),
        ("31.01.2001", "%d.%m.%Y"),
        ("31. Januar 2001", "%d. %B %Y"),
        ("31 janv. 2001", "%d %b %Y"),
        ("31 de enero de 2001", "%d de %B de %Y"),
        ("2001年1月31日", "%Y年%m月%d日"),
        ("31 Jan 2001 12:00 am", "%d %b %Y %I:%M %p"),
        (20010131, "%Y%m%d"),
        ("31/01/01", "%d/%m/%y"),
        (36922, "excel"),
        ("36922.0", "excel"),
        ("2544-01-31", "buddhist"),
        ("31%2001 Jan", "%d%%%Y %b"),
    ],
)
def test_forms_of_exports(value, form):
    assert read_time(value, form) == MICROS


def test_half_days_fractions_and_two_digits():
    noon = "31 Jan 2001 12:30 p.m."
    assert read_time(noon, "%d %b %Y %I:%M %p") - MICROS == 45_000_000_000
    assert read_time("00:00:00,25 1/2/1970", "%H:%M:%S %d/%m/%Y") == 31 * 86_400 * 10**6 + 250_000
    assert [read_time(f"1/1/{y}", "%d/%m/%y") for y in ("69", "68")] == [
        read_time("1969-01-01"),
        read_time("2068-01-01"),
    ]


@pytest.mark.parametrize(
    ("value", "form", "reason"),
    [
        ("31/02/2001", "%d/%m/%Y", "there is no such day"),
        ("29/02/2023", "%d/%m/%Y", "there is no such day"),
        ("2023-02-29", "iso", "not ISO 8601: day is out of range"),
        ("13/13/2001", "%d/%m/%Y", "there is no such day: month must be in 1..12"),
        ("31/01/2001 24:00", "%d/%m/%Y %H:%M", "00:00:00 to 23:59:59"),
        ("31/01/2001 23:59:60", "%d/%m/%Y %H:%M:%S", "00:00:00 to 23:59:59"),
        ("31/01/2001 13:00 PM", "%d/%m/%Y %I:%M %p", "one of 1 to 12"),
        ("31/01/2001 00:00 AM", "%d/%m/%Y %I:%M %p", "one of 1 to 12"),
        ("2001-01-31 10:00:00 IST", "%Y-%m-%d %H:%M:%S %Z", "'IST' has no agreed meaning"),
        ("2001-01-31 10:00:00 +9900", "%Y-%m-%d %H:%M:%S %z", "not an offset"),
        ("31 Foo 2001", "%d %b %Y", "'Foo' is not the name of a month"),
        ("31/01/2001 x", "%d/%m/%Y", "it is not %d/%m/%Y"),
        ("31/01/0000", "%d/%m/%Y", "there is no such day: year 0"),
        ("2001-01-31", "ms", "not a number"),
        (1.5, "%Y", "a float is not a time"),
        (True, "%Y", "a bool is not a time"),
        (60, "excel", "from 61"),
        ("0400-01-31", "buddhist", "year of the Buddhist calendar"),
        (2_958_466, "excel", "to 2958465"),
        (2013, "iso", "looks like a year"),
        ("1" * 41, "s", "so many digits"),
    ],
)
def test_what_is_refused(value, form, reason):
    with pytest.raises(ValueError, match=r".") as raised:
        read_time(value, form)
    assert reason in str(raised.value) and not isinstance(raised.value, TimeRangeError)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("0001-01-01T00:00+01:00", "iso"),
        ("9999-12-31T23:59-01:00", "iso"),
        ("01/01/0001 00:00 +0100", "%d/%m/%Y %H:%M %z"),
        (10**11, "s"),
        (10**14, "ms"),
        (10**30, "ns"),
        (1e300, "s"),
        (10**4000, "us"),
        (-(10**40), "iso"),
    ],
)
def test_what_is_out_of_range(value, form):
    with pytest.raises(TimeRangeError):
        read_time(value, form)


def test_the_largest_numbers():
    assert read_time(10**11 - 1, "s") == (10**11 - 1) * 10**6
    assert read_time(1, "year") == read_time("0001-01-01")
    assert read_time("9999", "year") == read_time("9999-01-01")


@pytest.mark.parametrize(
    "value", [0, -5, 2013.5, 10_000, 10**20, float("nan"), "soon", "201305010"]
)
def test_what_is_no_year(value):
    with pytest.raises(ValueError, match="whole number from 1|not a number"):
        read_time(value, "year")


@pytest.mark.parametrize("value", [0, 1399, 2200, 1800.5, -2013])
def test_numbers_that_look_like_a_year_are_seconds_where_this_is_said(value):
    assert read_time(value) == read_time(value, "s") == value * 10**6
    assert read_time(1800, "s") == read_time("1800", "s") == 1800 * 10**6


def test_what_a_schema_declares_comes_first():
    assert read_time(200_000 * 10**9, "iso", "UTC", Fraction(1000)) == 200_000 * 10**12
    assert read_time(2013, "year", "UTC", Fraction(10**6)) == 2013 * 10**6


@pytest.mark.parametrize("value", ["", "1e9", "1_000", "١٢٣", "0x10", None, [], {}, b"1",
                                   float("nan"), float("inf"), True])  # fmt: skip
@pytest.mark.parametrize("form", [*NAMES, "%d/%m/%Y"])
def test_what_is_no_time(value, form):
    with pytest.raises(ValueError):
        read_time(value, form)


def test_a_time_without_a_zone_is_of_the_zone_that_is_given():
    berlin = "Europe/Berlin"
    for value, form in [("2001-07-01", "iso"), (date(2001, 7, 1), "iso"), (2001, "year"),
                        ("1.7.2001", "%d.%m.%Y"), (37073, "excel"),
                        ("1 Jul 2001 00:00", "rfc2822")]:  # fmt: skip
        utc = read_time(value, form)
        ahead = 1 if form == "year" else 2
        assert utc - read_time(value, form, berlin) == ahead * 3600 * 10**6
    for value, form in [
        (MOMENT, "s"),
        ("2001-01-31T00:00Z", "iso"),
        ("31/1/2001 GMT", "%d/%m/%Y %Z"),
    ]:
        assert read_time(value, form, berlin) == MICROS


def test_hours_that_a_clock_shows_twice_or_leaves_out():
    def utc(text):
        return read_time(text, zone="Europe/Berlin")

    assert utc("2024-10-27T02:30") == read_time("2024-10-27T00:30Z")
    assert utc("2024-10-27T03:00") == read_time("2024-10-27T02:00Z")
    assert utc("2024-03-31T02:30") == read_time("2024-03-31T01:30Z")
    assert utc("2024-03-31T03:00") == read_time("2024-03-31T01:00Z")


ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Africa/Monrovia",
)
datetimes = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29))


@given(datetimes, st.sampled_from(ZONES))
@example(datetime(1893, 3, 31, 23, 54), "Europe/Berlin")
@example(datetime(1893, 4, 1, 0, 3), "Europe/Berlin")
def test_zones_are_those_of_zoneinfo(moment, zone):
    assert read_time(moment.isoformat(), zone=zone) == parse_time(
        moment.replace(tzinfo=ZoneInfo(zone))
    )


def written(moment, form):
    """What strftime of the C locale gives, for every year."""
    of = {"Y": f"{moment.year:04}", "y": f"{moment.year % 100:02}", "m": f"{moment.month:02}"}
    of |= {"d": f"{moment.day:02}", "H": f"{moment.hour:02}", "M": f"{moment.minute:02}"}
    of |= {"I": f"{moment.hour % 12 or 12:02}", "p": "AM" if moment.hour < 12 else "PM"}
    of |= {"S": f"{moment.second:02}", "f": f"{moment.microsecond:06}", "Z": "UTC"}
    of |= {"b": MONTHS[moment.month - 1], "a": WEEKDAYS[moment.weekday()]}
    of |= {"B": moment.strftime("%B"), "A": moment.strftime("%A"), "z": moment.strftime("%z")}
    return "".join(of[part[1]] if part[0] == "%" else part for part in _split(form))


def _split(form):
    at = 0
    while at < len(form):
        size = 2 if form[at] == "%" else 1
        yield form[at : at + size]
        at += size


DATES = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%B %d, %Y", "%d %b %Y", "%a, %d %b %Y",
         "%Y/%m/%d", "%Y%m%d", "%A, %d %B %Y", "%d-%b-%Y")  # fmt: skip
CLOCKS = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S.%f", " %I:%M %p", ", %I:%M:%S %p")
OFFSETS = ("", " %z", "%z", " %Z")
offsets = st.integers(-23 * 60, 23 * 60).map(lambda m: timezone(timedelta(minutes=m)))


@given(
    datetimes, st.sampled_from(DATES), st.sampled_from(CLOCKS), st.sampled_from(OFFSETS), offsets
)
def test_what_a_form_writes_it_reads(moment, day, clock, zone, offset):
    form = day + clock + (zone if clock else "")
    kept = {"year": moment.year, "month": moment.month, "day": moment.day}
    kept |= {"hour": moment.hour, "minute": moment.minute} if clock else {}
    kept |= {"second": moment.second} if "%S" in clock else {}
    kept |= {"microsecond": moment.microsecond} if "%f" in clock else {}
    whole = datetime(**kept, tzinfo=offset if "%z" in form else UTC)
    assert read_time(written(whole, form), form) == parse_time(whole)


@given(datetimes, offsets, st.sampled_from(["", " (CET)"]))
def test_dates_of_mails(moment, offset, comment):
    moment = moment.replace(microsecond=0, tzinfo=offset)
    text = written(moment, "%a, %d %b %Y %H:%M:%S %z") + comment
    assert read_time(text, "rfc2822") == parse_time(moment)


@given(datetimes, offsets, st.sampled_from(["T", " "]))
def test_what_iso_writes_it_reads(moment, offset, sep):
    assert read_time(moment.replace(tzinfo=offset).isoformat(sep)) == parse_time(
        moment.replace(tzinfo=offset)
    )


@given(
    st.text() | st.floats() | st.integers() | st.text("0123456789+-.:TZ /"),
    st.sampled_from([*NAMES, "%d/%m/%Y", "%Y-%m-%d %H:%M:%S", "%b %d %Y %I:%M %p"]),
    st.sampled_from(["UTC", "America/New_York"]),
)
def test_any_value_is_a_time_or_a_value_error(value, form, zone):
    try:
        assert isinstance(read_time(value, form, zone), int)
    except ValueError:
        return


def test_digits_are_never_taken_for_a_date_with_a_time():
    assert read_time("1210010101234", "ms") == 1210010101234000
    with pytest.raises(TimeRangeError, match="too large for a number of seconds"):
        read_time("1210010101234")
    assert number_of("20010131", dates=True) is None and number_of("20010131") == 20010131
    assert number_of(False) is None


def test_names_of_months():
    names = "Jan Feb März avril MAYO giugno juil. ago Sept okt. novembre Dez"
    assert [month_of(name) for name in names.split()] == list(range(1, 13))
    assert [month_of(name) for name in ("jui", "decade", "martes", "Ma", "", "marchx")] == [0] * 6


@pytest.mark.parametrize(
    ("form", "remedy"),
    [
        ("h", "Correct the spelling."),
        ("", "Correct the spelling."),
        ("%d/%m", "A time needs its year: %Y, or %y of two digits."),
        ("%d %Y", "A day needs its month: %m, or %b for its name."),
        ("%Y %j", "There is no %j here"),
        ("%Y-%m-%d %", "There is no % here"),
        ("%Y-%m-%d %I:%M", "Hours of a half day are %I together with %p."),
        ("%Y-%m-%d %H:%M %p", "Hours of a half day are %I together with %p."),
        ("%Y %m %b %d", "Give each part once."),
        ("%Y %y", "Give each part once."),
    ],
)
def test_forms_that_cannot_be_read(form, remedy):
    with pytest.raises(OptionError, match="--timestamp_format: ") as raised:
        ParseSettings(timestamp_format=form)
    assert remedy in str(raised.value)
    forms = "iso, s, ms, us, ns, year, quarter, excel, buddhist, rfc2822, or a form of strptime"
    assert forms in str(raised.value)


def test_forms_that_can_be_read():
    for form in (*NAMES, "%d/%m/%Y %H:%M", "%b %y", "%Y", "100%% %Y", "%A, %d. %B %Y, %I %p %Z"):
        assert ParseSettings(timestamp_format=form).timestamp_format == form
        assert accepted(form).startswith("allowed is ")


@pytest.mark.parametrize("zone", ["Berlin", "", "../etc/passwd", "/etc/localtime", "Europe/"])
def test_zones_that_there_are_not(zone):
    with pytest.raises(OptionError, match="--time_zone: .*the IANA name of a time zone"):
        ParseSettings(time_zone=zone)
