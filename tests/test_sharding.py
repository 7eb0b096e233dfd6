import argparse

import pytest
from sharding import parsed, part_of

NAMES = [f"tests/test_{file}.py::test_{number}" for number in range(9) for file in "cab"]


@pytest.mark.parametrize("of", [1, 2, 4, 7, 50])
def test_each_test_is_in_one_part_and_parts_are_of_one_size(of):
    parts = [part_of(NAMES, number, of) for number in range(1, of + 1)]
    assert sorted(name for part in parts for name in part) == sorted(NAMES)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_the_order_of_collection_changes_nothing():
    assert part_of(NAMES, 2, 4) == part_of(NAMES[::-1], 2, 4)


def test_the_option():
    assert parsed("1/4") == (1, 4) and parsed("4/4") == (4, 4)


@pytest.mark.parametrize("text", ["", "1", "0/4", "5/4", "a/4", "1/", "-1/4", "1/0"])
def test_a_wrong_option_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="1/4"):
        parsed(text)
