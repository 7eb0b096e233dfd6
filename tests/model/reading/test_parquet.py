import datetime
import io
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.child import Request
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.reading.tables import TableFile

DAY = datetime.datetime(2001, 1, 31, 12)
MICROS = 980942400000000


def parquet(columns, rows_in_group=3, **options):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, row_group_size=rows_in_group, **options)
    return out.getvalue()


def open_table(data, *wanted):
    request = Request("parquet", "a.parquet", 10**7, wanted or ("id", "text"))
    return TableFile(io.BytesIO(data), request)


def documents(data, settings=None):
    return list(read_file(io.BytesIO(data), "a.parquet", settings or ReadSettings()))


def columns(count, **others):
    made = {
        "id": [f"d{n}" for n in range(count)],
        "timestamp": list(range(10_000, 10_000 + count)),
        "text": [f"text {n}" for n in range(count)],
    }
    return made | others


def test_rows_have_their_group_and_number():
    made = list(open_table(parquet(columns(5))).records())
    assert made[0] == ("a.parquet row group 1 row 1", {"id": "d0", "text": "text 0"})
    assert made[3] == ("a.parquet row group 2 row 1", {"id": "d3", "text": "text 3"})
    assert [record["id"] for _, record in made] == [f"d{n}" for n in range(5)]


def test_a_table_without_rows():
    assert list(open_table(parquet(columns(0))).records()) == []


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_by_their_type(unit, zone):
    kind = pa.timestamp(unit, zone)
    day = DAY.replace(tzinfo=datetime.UTC) if zone else DAY
    made = documents(parquet(columns(1, timestamp=pa.array([day], kind)), coerce_timestamps=None))
    assert [item.timestamp for item in made] == [MICROS]


def test_dates_by_their_type():
    for kind in (pa.date32(), pa.date64()):
        (made,) = documents(parquet(columns(1, timestamp=pa.array([DAY.date()], kind))))
        assert made.timestamp == MICROS - MICROS % 86_400_000_000


def test_a_time_out_of_pythons_range_costs_its_record():
    times = pa.array([2**62, 5], pa.timestamp("us"))
    letter, good = documents(parquet(columns(2, timestamp=times)))
    assert letter.reason == "timestamp_range" and good.timestamp == 5


def test_other_numbers_are_in_the_unit_that_is_set():
    assert open_table(parquet(columns(1)), "timestamp").time_unit("timestamp") is None
    assert open_table(
        parquet(columns(1, timestamp=pa.array([1], pa.timestamp("ms")))), "timestamp"
    ).time_unit("timestamp") == Fraction(1000)


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("text", [["a"]], "wrong_type"),
        ("text", [{"a": "b"}], "wrong_type"),
        ("text", [b"a"], "wrong_type"),
        ("text", [7], "wrong_type"),
        ("text", [None], "missing_text"),
        ("text", [" "], "empty_text"),
        ("id", [[1]], "wrong_type"),
        ("id", [1.5], "wrong_type"),
        ("id", [Decimal("1.50")], "wrong_type"),
        ("id", [None], "missing_id"),
        ("timestamp", [[1]], "bad_timestamp"),
        ("timestamp", [True], "bad_timestamp"),
        ("timestamp", [None], "missing_timestamp"),
        ("timestamp", ["01/31/2001"], "timestamp_format"),
        ("timestamp", [980942400000], "timestamp_format"),
        ("label", [[1]], "wrong_type"),
    ],
)
def test_columns_of_other_types_are_dead_letters(name, values, reason):
    (letter,) = documents(parquet(columns(1, **{name: values})))
    assert (letter.source, letter.reason) == ("a.parquet row group 1 row 1", reason)


def test_dictionaries_large_strings_and_whole_numbers():
    made = documents(
        parquet(
            columns(
                2,
                id=[1, 2],
                text=pa.array(["one two", "one two"], pa.large_string()),
                label=pa.array(["x", None]).dictionary_encode(),
            )
        )
    )
    first, second = 10_000 * 1_000_000, 10_001 * 1_000_000
    assert made == [Document("1", first, "one two", "x"), Document("2", second, "one two", None)]


def test_text_that_is_not_utf_8_costs_its_record():
    binary = pa.array([b"good one", b"caf\xe9", b"good two"])
    text = pa.Array.from_buffers(pa.string(), 3, binary.buffers())
    made = documents(parquet(columns(3, text=text)))
    assert [type(item) for item in made] == [Document, DeadLetter, Document]
    assert made[1].reason == "invalid_utf8"


def test_fields_that_are_not_there_are_told_once():
    (letter,) = documents(parquet({"id": ["a"] * 9, "body": ["x y"] * 9, "at": [1] * 9}))
    assert (letter.source, letter.reason) == ("a.parquet", "schema")
    assert letter.detail.startswith(
        "the file has no field 'timestamp', 'text'; it has 'id', 'body', 'at'."
    )


def test_a_name_that_two_columns_have_is_refused():
    table = pa.Table.from_arrays(
        [pa.array(["a"]), pa.array([1]), pa.array(["x"]), pa.array(["y"])],
        ["id", "timestamp", "text", "text"],
    )
    out = io.BytesIO()
    pq.write_table(table, out)
    (letter,) = documents(out.getvalue())
    assert letter.detail == "the file has more than one field 'text'"


@pytest.mark.parametrize("data", [b"PAR1", b"hello, this is not Parquet", parquet(columns(1))[:-5]])
def test_what_is_no_parquet(data):
    with pytest.raises(DamagedDataError, match="this is not a Parquet file: "):
        open_table(data)
    (letter,) = documents(data)
    assert (letter.source, letter.reason) == ("a.parquet", "damaged")
    assert documents(b"") == []


def test_a_bad_cell_costs_its_row():
    far = pa.array([[0], [2**62], [0]], pa.list_(pa.timestamp("us")))
    first, letter, last = open_table(parquet(columns(3, more=far)), "id", "more").records()
    assert (first[1]["id"], last[1]["id"]) == ("d0", "d2")
    assert (letter.source, letter.reason) == ("a.parquet row group 1 row 2", "damaged")
    assert letter.detail.startswith("the row cannot be read: ")


def test_a_row_group_that_cannot_be_read_costs_itself():
    data = bytearray(parquet(columns(9), compression="none", use_dictionary=False))
    at = data.find(b"text 4") - 60
    data[at : at + 66] = b"\xff" * 66
    made = documents(bytes(data))
    ids = [item.id for item in made if isinstance(item, Document)]
    assert ids[:3] == ["d0", "d1", "d2"] and ids[-3:] == ["d6", "d7", "d8"]
    (letter,) = (item for item in made if isinstance(item, DeadLetter))
    assert (letter.source, letter.reason) == ("a.parquet row group 2", "damaged")


@given(st.integers(0, 10**6), st.integers(1, 255))
@settings(max_examples=25, deadline=None)
def test_a_changed_byte_is_never_an_exception(at, mask):
    data = bytearray(WHOLE)
    data[at % len(data)] ^= mask
    for item in documents(bytes(data)):
        assert isinstance(item, (Document, DeadLetter))


WHOLE = parquet(columns(20), rows_in_group=7, compression="snappy")


def repeated(text, rows, compression="zstd"):
    """One text in a dictionary, to which all rows refer."""
    indices = pa.array([0] * rows, pa.int32())
    texts = pa.DictionaryArray.from_arrays(indices, pa.array([text]))
    made = columns(rows) | {"text": texts}
    options = {"dictionary_pagesize_limit": 2**31 - 1, "store_schema": False}
    return parquet(made, rows, compression=compression, **options)


@pytest.mark.parametrize("size", [2**10, 100_000, pytest.param(5_000_000, marks=pytest.mark.slow)])
def test_a_text_that_a_dictionary_repeats_can_be_read(size):
    made = documents(repeated("a" * size, 300))
    assert [len(item.text) for item in made] == [size] * 300


def test_a_file_of_kilobytes_that_would_take_gigabytes_is_a_dead_letter():
    data = repeated("a" * 2**25, 3000)
    assert len(data) < 10**5
    (letter,) = open_table(data).records()
    assert letter.reason == "too_large"
    assert "it takes more than 830 MB of memory, the limit for its file. Write" in letter.detail
    # Other columns can be read.
    assert len(list(open_table(data, "id").records())) == 3000
