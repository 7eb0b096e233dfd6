"""Groups of topics: a linear map that crosses steps, and is checked when it is read."""

import json
import re

import numpy as np
import pytest

from model.errors import DamagedDataError
from model.groups import Groups, as_they_are, named_groups

# Topics 4, 1, 2 of which 2 is merged into 4; parts -1 of 1 (hidden) and -2 of 4.
MADE = Groups((4, 1, -1, -2), (0, 1, 0, 2, 3), (1, 0), (0.25, 0.5), (2,))
SHARES = np.array([0.2, 0.5, 0.3])


def test_shares_are_moved_and_added():
    assert MADE.sums(SHARES) == pytest.approx([0.1 + 0.3, 0.375, 0.125, 0.1], abs=1e-15)
    assert MADE.sums(SHARES).sum() == pytest.approx(1.0, abs=1e-15)


def test_the_largest_are_those_that_are_not_hidden():
    assert [group for group, _ in MADE.largest(SHARES, 9)] == [0, 1, 3]
    assert MADE.largest(SHARES, 1) == [(0, pytest.approx(0.4))]
    # Equal ones are in their order.
    assert as_they_are([7, 5]).largest(np.array([0.5, 0.5]), 2) == [(0, 0.5), (1, 0.5)]


def test_groups_of_topics_as_they_are_give_the_same_array():
    assert as_they_are([3, 4, 5]).sums(SHARES) is SHARES and not MADE.trivial


def test_they_are_read_as_they_were_written():
    stored = json.loads(json.dumps(MADE.to_json()))
    assert Groups.from_json(stored, 3, "a mixture") == MADE
    assert named_groups(stored, "abcd", 3, "a mixture") == MADE
    assert named_groups(None, (), 3, "a mixture") is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ids": [4, 1, -1, 4]}, "different ids of the groups of a mixture: found 3 values"),
        ({"ids": [4, 1, -1, 10**13]}, "ids of the groups of a mixture: found 10000000000000"),
        ({"of": [0, 1, 0, 2]}, "topics of the groups of a mixture: found 4 values"),
        ({"of": [0, 1, 0, 2, 4]}, "groups of a mixture: found 4, allowed is 0 to 3"),
        ({"places": [1, 3]}, "groups of a mixture: found 3, allowed is 0 to 2"),
        ({"places": [1]}, "places of the groups of a mixture: found 1 values"),
        ({"hidden": [-1]}, "groups of a mixture: found -1"),
        ({"fractions": [0.5, -0.1]}, "fractions of the groups of a mixture: found -0.1"),
        (
            {"places": [1, 1], "fractions": [0.7, 0.7]},
            "fractions of a topic of the groups of a mixture: found 1.4",
        ),
        ({"fractions": "x"}, "field fractions of groups of a mixture"),
        ({"more": 1}, "it has a field 'more'"),
    ],
)
def test_damaged_groups_are_refused(changed, message):
    with pytest.raises(DamagedDataError, match=re.escape(message)):
        Groups.from_json({**MADE.to_json(), **changed}, 3, "a mixture")


def test_there_are_as_many_names_as_groups():
    for names in ("", "abc"):
        with pytest.raises(DamagedDataError, match=f"found {len(names)} values, allowed is 4"):
            named_groups(MADE.to_json(), names, 3, "a mixture")
