"""Which form the values of a field have, and what is said of a value of another form."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.reading.found_forms import ID_NAME, advice, find_form, listed
from beam_topics.model.reading.time_forms import read_time
from tests.model.reading.test_time_forms import CLOCKS, DATES, OFFSETS, written


def forms(*values, name="x"):
    found = find_form(name, values)
    return () if found is None else found.forms


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("31/01/2013 10:00", "%d/%m/%Y %H:%M"),
        ("01/31/2013", "%m/%d/%Y"),
        ("January 01, 2016 ", "%B %d, %Y"),
        ("Wed Mar 01 00:00:00 +0000 2023", "%a %b %d %H:%M:%S %z %Y"),
        ("Wed, 01 Nov 2026 10:00:00 GMT", "rfc2822"),
        ("2024-03-01 08:00:00 UTC", "%Y-%m-%d %H:%M:%S %Z"),
        ("2024-03-01 08:00:00.123 UTC", "%Y-%m-%d %H:%M:%S %Z"),
        ("2024/03/01", "%Y/%m/%d"),
        ("2024-3-1", "%Y-%m-%d"),
        ("2024-03", "iso"),
        ("01.01.2024", "%d.%m.%Y"),
        ("1 Jan 2024", "%d %b %Y"),
        ("Jan 1 2024 3:04 PM", "%b %d %Y %I:%M %p"),
        ("20240301", "iso"),
        (20240301, "%Y%m%d"),
        ("20240301103000", "%Y%m%d%H%M%S"),
        ("2024-03-01T08:00:00.123456789Z", "iso"),
        ("2024-03-01 08:00+0100", "iso"),
        (1700000000, "s"),
        ("1700000000.5", "s"),
        (1700000000000, "ms"),
        ("1700000000000000", "us"),
        (1700000000000000000, "ns"),
        (2013, "year"),
        ("2013.0", "year"),
        ("25/12/98", "%d/%m/%y"),
        ("01-Jan-24", "%d-%b-%y"),
        ("2024年3月1日", "%Y年%m月%d日"),
        ("mar. 5 mars 2024", "%a %d %B %Y"),
        ("Thursday, March 5, 2020 at 8:14am", "%A, %B %d, %Y at %I:%M%p"),
        ("Wed Mar 01 2023 10:00:00 GMT+0100 (CET)", "%a %b %d %Y %H:%M:%S %z"),
        ("01/Mar/2024:10:00:00 +0000", "%d/%b/%Y:%H:%M:%S %z"),
        ("8:15 PM - 1 Mar 2015", "%I:%M %p - %d %b %Y"),
        ("March 3rd, 2021", "%B %d, %Y"),
        ("1 de enero de 2024", "%d de %B de %Y"),
        ("03/2024", "%m/%Y"),
        ("2024-03-01 08:00:00.123456789 +0100 CET", "%Y-%m-%d %H:%M:%S %z"),
        ("3/21/24, 8:00\u202fAM", "%m/%d/%y, %I:%M %p"),
        ("March 2024", "%B %Y"),
    ],
)
def test_forms_of_exports_are_found_whatever_the_name(value, form):
    assert forms(value, value, None, "") == (form,)
    assert read_time(value, form) > 0


@pytest.mark.parametrize(
    "value",
    ["", None, True, [], "hello", "model 5 2024", "4/5", "12:30", "1-800-1234", "+49 170 1234",
     "a" * 99, "10.1000/182", "1.2.3.4", "3.5", "3", "2024-13-45", "45/45/2024", "Room 101", 7,
     31000, 10**40],
)  # fmt: skip
def test_what_is_no_time(value):
    assert forms(value, value, value) == ()


def test_a_day_above_12_proves_the_order():
    assert forms("1/2/2024", "2/2/2024", "13/2/2024") == ("%d/%m/%Y",)
    assert forms("1/2/2024", "2/2/2024", "2/13/2024") == ("%m/%d/%Y",)
    assert forms("1/2/2024", "2/2/2024") == ("%d/%m/%Y", "%m/%d/%Y")
    assert forms("1/2/2024 3:04 PM", "2/2/2024 3:04 PM")[0] == "%m/%d/%Y %I:%M %p"
    # Both are proved, each by one value.
    many = ["1/2/2024"] * 20
    assert forms(*many, "13/2/2024", "2/13/2024") == ("%d/%m/%Y", "%m/%d/%Y")


def test_the_order_of_the_records_proves_the_form():
    days = [f"{day:02}/{month:02}/2024" for month in (1, 2) for day in (3, 7, 11)]
    assert forms(*days) == forms(*reversed(days)) == ("%d/%m/%Y",)
    assert forms(*(f"{day[3:5]}/{day[:2]}/2024" for day in days)) == ("%m/%d/%Y",)
    # Five times prove nothing, nor does what is in order by both.
    assert len(forms(*days[:5])) == len(forms(*days[:5] * 9)) == 2
    assert len(forms(*(f"{day:02}/{day:02}/2024" for day in range(1, 13)))) == 1
    assert len(forms(*(f"01/{day:02}/2024" for day in range(1, 13)))) == 2


def test_two_digits_of_a_year_are_proved_or_asked_for():
    assert forms("01/02/03") == ("%d/%m/%y", "%m/%d/%y", "%y/%m/%d")
    assert forms("01/02/03", "31/12/99") == ("%d/%m/%y",)
    assert forms("01/02/03", "12/31/99") == ("%m/%d/%y",)
    days = [3, 9, 14, 20, 25, 31]
    assert forms(*(f"{day:02}.12.24" for day in days[::2] + days[1::2])) == ("%d.%m.%y",)
    assert forms(*(f"24.12.{day:02}" for day in days[::2] + days[1::2])) == ("%y.%m.%d",)
    assert len(forms(*(f"{day:02}.12.24" for day in days[4::-1]))) == 2
    # The first of each month, or the first days of one: the span says nothing of the month.
    assert forms(*(f"{n:02}/01/24" for n in range(1, 10))) == ("%d/%m/%y", "%m/%d/%y")


def test_nine_of_ten_values_decide():
    found = find_form("Datum", ["01.02.2024"] * 9 + ["unbekannt", None, " "])
    assert found is not None
    assert (found.read, found.of, found.example, found.named) == (9, 10, "unbekannt", True)
    assert forms(*["01.02.2024"] * 8, "unbekannt", "?") == ()


def test_the_unit_of_numbers_is_decided_for_all_of_them():
    assert forms(*range(0, 3600, 600), name="timestamp") == ("s",)
    assert forms(*range(1990, 2020), name="timestamp") == forms(*range(1990, 2020)) == ("year",)
    assert forms(*range(1990, 2020), name="views") == forms(*range(1500, 1700)) == ()
    assert forms(*range(1500, 1700), name="pub_year") == ("year",)
    assert forms(*range(5), name="runtime") == forms(1700000000, name="author_id") == ()
    assert forms(5, 10**12, 2 * 10**12, *[1600000000000] * 20, name="created_at") == ("ms",)


def test_names_of_times():
    def named(name):
        found = find_form(name, ["2024-03-01"])
        return found is not None and found.named

    assert all(map(named, ("Datum", "fecha", "日付", "created_at", "pubDate", "Jahr", "updated")))
    assert not any(map(named, ("x", "candidate", "that", "leapyear")))


MOMENTS = st.lists(
    st.datetimes(datetime(1980, 1, 1), datetime(2060, 1, 1)).map(lambda t: t.replace(tzinfo=UTC)),
    min_size=1,
    max_size=20,
)


@given(MOMENTS, st.sampled_from(DATES), st.sampled_from(CLOCKS), st.sampled_from(OFFSETS))
def test_the_form_that_wrote_a_sample_is_found(moments, day, clock, zone):
    form = day + clock + (zone if clock else "")
    values = [written(moment, form) for moment in moments]
    found = find_form("x", values)
    assert found is not None and found.read == found.of == len(moments)
    wanted = [read_time(value, form) for value in values]
    readings = [[read_time(value, each) for value in values] for each in found.forms]
    assert wanted in readings
    if any(moment.day > 12 for moment in moments) or "/" not in day:
        assert readings == [wanted]
    assert all(map(readings.count, readings)) and len(set(map(tuple, readings))) == len(readings)


def test_advice_names_the_forms_that_read_a_value():
    assert advice("31/01/2013") == "--timestamp_format=%d/%m/%Y reads it as 2013-01-31"
    assert advice("1/2/2013") == (
        "--timestamp_format=%d/%m/%Y reads it as 2013-02-01, or"
        " --timestamp_format=%m/%d/%Y reads it as 2013-01-02"
    )
    assert advice(1600000000000) == "--timestamp_format=ms reads it as 2020-09-13T12:26:40"
    assert advice(1800) == (
        "--timestamp_format=year reads it as 1800-01-01, or"
        " --timestamp_format=s reads it as 1970-01-01T00:30:00"
    )
    assert advice("2013-01-31") == "--timestamp_format=iso reads it as 2013-01-31"
    for value in ("soon", "", None, [], 10**4000, "31/02/2013", "9" * 50, float("nan"), True):
        assert advice(value) == ""


@given(st.text() | st.floats() | st.integers() | st.text("0123456789+-.:TZ /amp"))
def test_any_value_may_be_asked_about(value):
    assert isinstance(advice(value), str)
    find_form("timestamp", [value] * 3)


def test_a_late_change_of_the_form_is_seen_in_the_count():
    start = datetime(2024, 1, 1)
    days = [start + timedelta(days=n) for n in range(100)]
    values = [f"{day:%d.%m.%Y}" for day in days[:95]] + [f"{day:%Y-%m-%d}" for day in days[95:]]
    found = find_form("x", values)
    assert found is not None and (found.forms, found.read) == (("%d.%m.%Y",), 95)
    assert found.example == "2024-04-05"


def test_names_of_ids():
    assert all(map(ID_NAME.search, ("_id", "docId", "url", "guid", "doi", "paper_id")))
    assert not any(map(ID_NAME.search, ("idea", "valid", "paid", "grid")))


def test_many_and_long_names_are_cut():
    text = listed([f"n{number}" for number in range(14)])
    assert text.endswith("'n11' and 2 more") and "'n12'" not in text
    assert listed(["x" * 100, 7]) == f"'{'x' * 40}', '7'"
