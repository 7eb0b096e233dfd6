"""Groups of topics: a linear map that crosses steps, and is checked when it is read."""

import json
import re

import numpy as np
import pytest

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference.mixtures import Groups, named_groups

# Topics 4, 1, 2, 5, of which 2 is merged into 4, and 1 is hidden.
MADE = Groups((4, 1, 5), (0, 1, 0, 2), (1,))
SHARES = np.array([0.2, 0.4, 0.3, 0.1])


def test_shares_are_added():
    assert MADE.sums(SHARES).tolist() == [0.5, 0.4, 0.1]
    assert MADE.sums(SHARES).sum() == pytest.approx(1.0, abs=1e-15)


def test_the_largest_are_those_that_are_not_hidden():
    assert [group for group, _ in MADE.largest(SHARES, 9)] == [0, 2]
    assert MADE.largest(SHARES, 1) == [(0, 0.5)]
    # Equal ones are in their order.
    assert Groups((7, 5), (0, 1)).largest(np.array([0.5, 0.5]), 2) == [(0, 0.5), (1, 0.5)]


def test_groups_of_topics_as_they_are_give_the_same_array():
    assert Groups((3, 4, 5, 6), (0, 1, 2, 3)).sums(SHARES) is SHARES and not MADE.trivial


def test_they_are_read_as_they_were_written():
    stored = json.loads(json.dumps(MADE.to_json()))
    assert Groups.from_json(stored, 4, "a mixture") == MADE
    assert named_groups(stored, "abc", 4, "a mixture") == MADE
    assert named_groups(None, (), 3, "a mixture") is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ids": [4, 1, 4]}, "different ids of the groups of a mixture: found 2 values"),
        ({"ids": [4, 1, -1]}, "ids of the groups of a mixture: found -1"),
        ({"ids": [4, 1, 10**13]}, "ids of the groups of a mixture: found 10000000000000"),
        ({"of": [0, 1, 0]}, "topics of the groups of a mixture: found 3 values"),
        ({"of": [0, 1, 0, 3]}, "groups of a mixture: found 3, allowed is 0 to 2"),
        ({"hidden": [-1]}, "groups of a mixture: found -1"),
        ({"hidden": "x"}, "field hidden of groups of a mixture"),
        ({"more": 1}, "it has a field 'more'"),
    ],
)
def test_damaged_groups_are_refused(changed, message):
    with pytest.raises(DamagedDataError, match=re.escape(message)):
        Groups.from_json({**MADE.to_json(), **changed}, 4, "a mixture")


def test_there_are_as_many_names_as_groups():
    for names in ("", "abcd"):
        with pytest.raises(DamagedDataError, match=f"found {len(names)} values, allowed is 3"):
            named_groups(MADE.to_json(), names, 4, "a mixture")
