from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import checks

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (lambda: checks.within("n", np.array([0, 3]), 0, 3), "n: found 3, allowed is 0 to 2"),
        (lambda: checks.within("n", np.array([-1, 2]), 0, 3), "n: found -1"),
        (lambda: checks.within("n", np.array([0]), 0, 0), "n: found 0, allowed is no number"),
        (lambda: checks.within("n", np.array([[1, 2], [255, 0]], np.uint8), 0, 9), "n: found 255"),
        (
            lambda: checks.measures("x", np.array([1.0, NAN])),
            "x: found nan, allowed is a number from 0 to",
        ),
        (lambda: checks.measures("x", np.array([INF])), "x: found inf"),
        (lambda: checks.measures("x", np.array([-1e-300])), "x: found -1e-300"),
        (
            lambda: checks.measures("x", np.array([0.5]), 0.6, 1.0),
            "x: found 0.5, allowed is a number from 0.6 to 1",
        ),
        (
            lambda: checks.ascending("a", np.array([1, 3, 2])),
            "a: found 2 after 3, allowed is an ascending order",
        ),
        (lambda: checks.ascending("a", np.array([1, 1]), strictly=True), "a: found 1 after 1"),
        (lambda: checks.sized("s", [1, 2], 3), "s: found 2 values, allowed is 3"),
        (lambda: checks.shaped("s", np.zeros(5), 2, 3), "s: found 5 values, allowed is 6"),
        (lambda: checks.offsets("o", np.array([0, 2, 1, 3]), 3, 3), "o: found 1 after 2"),
        (lambda: checks.offsets("o", np.array([1, 3]), 1, 3), "o: found 1 to 3, allowed is 0 to 3"),
        (lambda: checks.offsets("o", np.array([0, 2]), 1, 3), "o: found 0 to 2, allowed is 0 to 3"),
        (
            lambda: checks.offsets("o", np.array([], np.int64), 0, 0),
            "o: found 0 values, allowed is 1",
        ),
        (
            lambda: checks.rows_ascending("r", np.array([[1, 2], [1, 3], [1, 3]], np.uint32)),
            "r: found row 2 after row 1, allowed is distinct rows in ascending order",
        ),
        (lambda: checks.rows_ascending("r", np.array([[2, 1], [1, 9]])), "r: found row 1"),
        (lambda: checks.distinct("w", ("a", "b", "a")), "w: found 1 repeated values"),
        (lambda: checks.whole("n", True), "n: found True"),
        (lambda: checks.whole("n", 2**53), "n: found 9007199254740992"),
        (lambda: checks.number("x", NAN, 0.0, 1.0), "x: found nan"),
        (lambda: checks.number("x", "1", 0.0, 1.0), "x: found '1'"),
        (
            lambda: checks.hexadecimal("d", "A" * 64),
            "d: found 'AAA.*allowed is 64 lowercase hexadecimal digits",
        ),
        (lambda: checks.hexadecimal("d", "a" * 64 + "\n"), "d: found"),
        (lambda: checks.of_type("t", ["a", 1], list[str]), r"t: found \['a', 1\], allowed is a"),
        (lambda: checks.of_type("t", 3, str), "t: found 3, allowed is a value of type str"),
        (lambda: checks.field({}, "f"), "field f: found nothing"),
    ],
)
def test_what_is_refused(check, told):
    with pytest.raises(DamagedDataError, match=f"^{told}"):
        check()


def test_what_is_allowed():
    checks.within("n", np.array([0, 2]), 0, 3)
    checks.within("n", np.array([], np.int64), 0, 0)
    checks.measures("x", np.array([0.0, 1e100]))
    checks.ascending("a", np.array([1, 1, 2]))
    checks.offsets("o", np.array([0, 0, 3]), 2, 3)
    assert checks.shaped("s", np.arange(6), 2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert checks.hexadecimal("d", "0123456789abcdef" * 4)
    assert checks.whole("n", 2**52) == 2**52 and checks.number("x", 1, 0.0, 1.0) == 1.0


DEEP = b"[" * 32 + b"]" * 32


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b"NaN",
        b"[Infinity]",
        b"[-1e999]",
        b'"\\ud800"',
        b"9" * 5000,
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" + DEEP + b"]",
    ],
    ids=lambda data: repr(data[:12]),
)
def test_json_that_is_refused_in_one_line(data):
    with pytest.raises(DamagedDataError, match=r"^x[^\n]*$"):
        checks.parse_json(data, "x")


def test_json_that_is_read():
    assert checks.parse_json(b'{"a":[1,"\\u00e9",null,1.5]}', "x") == {"a": [1, "é", None, 1.5]}
    assert checks.parse_json(DEEP, "x")
    assert checks.parse_json(b'["' + b"[" * 50_000 + b'"]', "x")


@dataclass(frozen=True)
class Record:
    number: int
    ratio: float | None
    texts: tuple[str, ...]
    ranks: dict[str, int | None]
    anything: Any = 7


GOOD = {"number": 1, "ratio": 2, "texts": ["a"], "ranks": {"w": None}}


def test_a_record_that_fits():
    assert Record(**checks.record(Record, GOOD, "r")) == Record(1, 2, ("a",), {"w": None})
    assert checks.record(Record, {**GOOD, "later": 1}, "r", ignore_unknown=True) == checks.record(
        Record, GOOD, "r"
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        *(
            ({"number": wrong}, f"field number of r: found {wrong!r}")
            for wrong in (True, 1.0, None, 2**63)
        ),
        *(({"ratio": wrong}, "field ratio of r: found") for wrong in ("1", True, INF, 10**400, [])),
        *(({"texts": wrong}, "field texts of r: found") for wrong in ("a", ["a", 1], None)),
        *(({"ranks": wrong}, "field ranks of r: found") for wrong in ([], {"w": "x"}, {"w": True})),
        ({"later": 1}, "r was written by another release: it has a field 'later'"),
    ],
)
def test_a_record_that_does_not_fit(change, told):
    with pytest.raises(DamagedDataError, match=told.replace("[", r"\[")):
        checks.record(Record, {**GOOD, **change}, "r")


def test_a_record_that_is_not_whole():
    with pytest.raises(
        DamagedDataError,
        match="r was written by another release, or is damaged: it has no field 'number'",
    ):
        checks.record(Record, {}, "r")
    with pytest.raises(DamagedDataError, match="r: found list, allowed is an object with fields"):
        checks.record(Record, [], "r")
    with pytest.raises(
        DamagedDataError, match="it has a field 'ratio', which this one does not know"
    ):
        checks.record(Record, GOOD, "r", apart=("ratio",))


def test_lists_of_lists_have_the_type_of_their_members():
    assert checks.fits([["a"], []], list[list[str]])
    assert not checks.fits(["a"], list[list[str]])
    assert not checks.fits([[3]], list[list[str]])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), max_size=6))
def test_rows_ascend_where_their_sorted_set_is_themselves(rows):
    values = np.array(rows, np.uint32).reshape(-1, 3)
    if rows == sorted(set(rows)):
        checks.rows_ascending("r", values)
    else:
        with pytest.raises(DamagedDataError, match="distinct rows in ascending order"):
            checks.rows_ascending("r", values)
