import tracemalloc

import cramjam
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored.wire import Column, pack_columns, unpack_columns

FLOATS = st.lists(st.floats(width=64) | st.integers(0, 2**33).map(float), max_size=40)


@given(FLOATS, st.lists(st.integers(0, 2**32 - 1), max_size=40), st.binary(), st.booleans())
def test_round_trip(floats, whole, data, repeats):
    arrays = [np.array(floats, np.float64), np.array(whole, np.int64)]
    given = [*(Column.of(values, repeats) for values in arrays), Column.of_bytes(data)]
    lengths = [len(floats), len(whole), len(data)]
    found = unpack_columns("it", pack_columns(given), lengths)
    assert found == [column.content for column in given]
    for values, content in zip(arrays, found, strict=False):
        assert np.array_equal(content.values.astype(values.dtype), values, equal_nan=True)
    assert found[2].body == data


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 255], "<u1"),
        ([0, 256], "<u2"),
        ([2**16], "<u4"),
        ([0.0, 255.0], "<u1"),
        ([2.0**32 - 1], "<u4"),
        ([2.0**32], "<f8"),
        ([0.5], "<f8"),
        ([-1.0], "<f8"),
        ([float("nan")], "<f8"),
        ([], "<u1"),
    ],
)
def test_the_narrowest_type_that_holds_all_values(values, kind):
    assert Column.of(np.array(values)).content.values.dtype == np.dtype(kind)


def test_columns_that_would_unpack_to_too_much_are_left_as_they_are():
    zeros = [Column.of(np.zeros(10**6))]
    (packed,) = pack_columns(zeros)
    assert len(packed) == 10**6 + 2
    assert unpack_columns("it", [packed], [10**6]) == [zeros[0].content]
    # Beside bytes that cannot be packed, they may be.
    noise = Column.of_bytes(np.random.default_rng(0).bytes(10**5))
    assert len(pack_columns([*zeros, noise])[0]) < 10**4


def packed(data, kind=0, how=3):
    return bytes([kind, how]) + bytes(cramjam.zstd.compress(data))


@pytest.mark.parametrize(
    ("data", "length", "told"),
    [
        *(
            case
            for case in (
                (packed(bytes(10**7)), 10**7, "size of the columns of it: found 10000000, allowed"),
                (packed(b"abc"), 4, "bytes of a column of it: found another number, allowed is 4"),
                (packed(b"abc") + b"x", 3, "a column of it cannot be unpacked: "),
                (packed(b"abc")[:-1], 3, "a column of it cannot be unpacked: "),
                (packed(b"")[:-1], 0, "a column of it cannot be unpacked: "),
                (packed(b"abc", kind=4), 3, "type of a column of it: found 04 0"),
            )
        ),
        (packed(b"abc"), 2, "a column of it cannot be unpacked: .*buffer"),
        (b"\0\1abc", 3, "type of a column of it: found 00 01"),
        (b"\0\3abc", 3, "a column of it cannot be unpacked"),
        (b"\0\0abc", 4, "bytes of a column of it: found another number, allowed is 4"),
        (packed(b"abc", how=5), 3, "type of a column of it: found 00 05"),
        (b"\0", 0, "type of a column of it: found 00"),
        (packed(b"abc", kind=1, how=4), 1, "a column of it cannot be unpacked"),
        (packed(b"a", kind=1, how=4), 1, "bytes of a column of it: found another"),
    ],
)
def test_damaged_columns_are_refused(data, length, told):
    with pytest.raises(DamagedDataError, match=told):
        unpack_columns("it", [data], [length])


def test_a_bomb_is_not_unpacked_beyond_what_is_declared():
    bomb = packed(bytes(10**8))
    tracemalloc.start()
    try:
        with pytest.raises(DamagedDataError, match="cannot be unpacked"):
            unpack_columns("it", [bomb], [100])
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()
