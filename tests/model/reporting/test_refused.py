import pytest

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reporting.added_files import refused


def lines(*letters):
    return [
        (f"d:{n}", DeadLetter(*one[:3], "", *one[3:]).as_json().encode())
        for n, one in enumerate(letters, 1)
    ]


def test_dead_letters_are_counted_by_reason_with_the_first_as_example():
    found = refused(lines(("b", "not_json", "x"), ("a", "not_json", "y"), ("c", "missing_id", "z")))
    assert [(r.reason, r.count, r.source, r.detail) for r in found] == [
        ("not_json", 2, "a", "y"),
        ("missing_id", 1, "c", "z"),
    ]


def test_equal_ones_count_once():
    assert refused(lines(("a", "r", "x"), ("a", "r", "x")))[0].count == 1
    assert refused(lines(("a", "r", "x", 7), ("b", "r", "x")))[0].count == 8
    assert refused([]) == []


@pytest.mark.parametrize("line", [b"{}", b'"a"', b'{"source":"a","reason":1,"detail":"c"}'])
def test_what_is_not_a_dead_letter_is_refused(line):
    with pytest.raises(DamagedDataError, match="d:7 is not a dead letter"):
        refused([("d:7", line)])
