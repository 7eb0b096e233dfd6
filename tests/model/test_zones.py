"""Clocks of zones, against zoneinfo (tests/model/reading/test_time_forms.py has to_utc)."""

from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.times import MAX_TIME, MIN_TIME, parse_time, shown, to_utc

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kathmandu", "America/Havana")


@given(st.integers(parse_time("1000-01-01"), parse_time("3000-01-01")), st.sampled_from(ZONES))
def test_what_a_clock_shows_leads_back_to_its_time(time, zone):
    local = shown(time, zone)
    # In an hour that is shown twice it is the first.
    assert to_utc(local, zone) <= time
    assert shown(to_utc(local, zone), zone) == local


def test_berlin():
    assert shown(parse_time("2024-07-01T00:00Z"), "Europe/Berlin") == parse_time(
        "2024-07-01T02:00Z"
    )
    assert shown(parse_time("2024-01-01T00:00Z"), "Europe/Berlin") == parse_time(
        "2024-01-01T01:00Z"
    )


def test_the_ends_of_the_calendar():
    for time in (MIN_TIME, MAX_TIME):
        assert shown(time, "Asia/Tokyo") == time and abs(to_utc(time, "Asia/Tokyo") - time) <= 4e10
