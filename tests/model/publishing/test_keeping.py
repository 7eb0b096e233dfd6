import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.publishing.settings import DAY, Brief, Keep, Rule

THINNED = Keep((Rule(0, DAY), Rule(DAY, 30 * DAY), Rule(30 * DAY, None)))


def briefs(*times):
    return [Brief(f"{n:012}-{n:016x}", time, f"{n:064x}", None) for n, time in enumerate(times)]


def times(versions):
    return [version.event_time for version in versions]


def test_everything_is_kept_by_default():
    versions = briefs(*range(0, 100 * DAY, DAY))
    assert Keep().chosen(versions) == versions
    assert Keep().ends(versions) == 0
    assert Keep().chosen([]) == [] and Keep().ends([]) == 0


def test_an_age_keeps_all_up_to_it_and_ends_the_chain_there():
    versions = briefs(*range(0, 10 * DAY, DAY))
    keep = Keep((Rule(0, 3 * DAY),))
    assert times(keep.chosen(versions)) == [6 * DAY, 7 * DAY, 8 * DAY, 9 * DAY]
    assert keep.ends(versions) == 6


def test_all_of_a_day_one_a_day_of_a_month_one_a_month_for_ever():
    hour = DAY // 24
    versions = briefs(*range(0, 100 * DAY, 6 * hour))
    kept = times(THINNED.chosen(versions))
    newest = versions[-1].event_time
    assert [t for t in kept if newest - t <= DAY] == [
        newest - n * 6 * hour for n in range(4, -1, -1)
    ]
    # The last of each day, and of each thirty days.
    assert [t for t in kept if DAY < newest - t <= 30 * DAY] == [
        (day + 1) * DAY - 6 * hour for day in range(69, 98)
    ]
    assert [t for t in kept if newest - t > 30 * DAY] == [
        30 * DAY - 6 * hour,
        60 * DAY - 6 * hour,
    ]
    assert THINNED.ends(versions) == 0


@given(st.lists(st.integers(0, 200), min_size=1, max_size=60), st.data())
def test_thinning_again_and_again_keeps_what_thinning_once_keeps(days, data):
    """Periods are aligned, and each is a multiple of the one before."""
    versions = briefs(*(DAY * day // 2 for day in sorted(days)))
    left: list = []
    for number, version in enumerate(versions):
        left.append(version)
        if number == len(versions) - 1 or data.draw(st.booleans()):
            left = THINNED.chosen(left)
    assert left[-1] == versions[-1]
    assert set(THINNED.chosen(versions)) <= set(left)
    assert THINNED.chosen(left) == left


@pytest.mark.parametrize("keep", [Keep((Rule(0, 1),)), Keep((Rule(DAY, DAY),))])
def test_the_newest_version_is_always_kept(keep):
    versions = briefs(0, 5 * DAY)
    assert keep.chosen(versions) == versions[1:]
    assert keep.ends(versions) == 1
