import io
import zlib
from typing import NamedTuple

import cramjam
import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.avro import AvroFile

SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "timestamp", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "text", "type": ["null", "string"]},
    ],
}
ROWS = [{"id": str(n), "timestamp": n, "text": f"text number {n} " * 5} for n in range(100)]
SYNC = bytes(range(16))


def avro(rows=ROWS, codec="null", schema=SCHEMA):
    out = io.BytesIO()
    fastavro.writer(out, schema, rows, codec=codec, sync_interval=500, sync_marker=SYNC)
    return out.getvalue()


class Lost(NamedTuple):
    source: str
    what: str
    error: Exception

    @property
    def detail(self):
        return f"{self.what}: {self.error}"


def items_of(data):
    blocks = AvroFile(io.BytesIO(data), "a.avro").blocks()
    return [item for _, _, items in blocks for item in items]


def read(data):
    items = items_of(data)
    return (
        [item[1] for item in items if len(item) == 2],
        [Lost(*item) for item in items if len(item) == 3],
    )


def blocks(data):
    """Where each block begins, and the end of the file."""
    starts, at = [], data.find(SYNC)
    while at >= 0:
        starts.append(at + 16)
        at = data.find(SYNC, at + 16)
    return starts


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "bzip2", "xz"])
def test_codecs(codec):
    assert read(avro(codec=codec)) == (ROWS, [])


def test_zstandard_which_fastavro_needs_another_library_for():
    payload = b"".join(encoded(row) for row in ROWS[:5])
    packed = bytes(cramjam.zstd.compress(payload))
    head = avro([]).replace(b"\x08null", b"\x12zstandard")
    assert read(head + long(5) + long(len(packed)) + packed + SYNC) == (ROWS[:5], [])


def encoded(row):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, SCHEMA, row)
    return out.getvalue()


def long(value):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", value)
    return out.getvalue()


@pytest.mark.parametrize("codec", ["null", "snappy"])
@pytest.mark.parametrize("less", [1, 8, 15, 16, 17, 40])
def test_a_size_that_is_too_small_costs_its_own_block_only(codec, less):
    data = avro(codec=codec)
    begin = blocks(data)[2]
    block = io.BytesIO(data[begin:])
    count, size = (
        fastavro.schemaless_reader(block, "long", None),
        fastavro.schemaless_reader(block, "long", None),
    )
    wrong = data[:begin] + long(count) + long(size - less) + data[begin + block.tell() :]
    rows, dead = read(wrong)
    before = len(items_of(data[:begin]))
    assert len(dead) == 1
    assert rows == ROWS[:before] + ROWS[before + count :]


def test_an_empty_file_of_records():
    assert read(avro([])) == ([], [])


def test_places_name_block_and_record():
    places = [place for place, _ in items_of(avro())]
    assert places[0] == "a.avro block 1 record 1"
    assert places[-1].startswith(f"a.avro block {len(blocks(avro())) - 1} record ")


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_a_truncated_file_loses_its_last_block_only(codec):
    data = avro(codec=codec)
    for cut in (1, 17, 30):
        rows, (letter,) = read(data[:-cut])
        assert rows == ROWS[: len(rows)]
        assert len(rows) >= 90 if cut > 1 else rows
        assert letter.source.endswith(f"-{len(data) - cut}")


def test_a_damaged_block_costs_that_block_alone():
    data = bytearray(avro(codec="deflate"))
    start, end = blocks(bytes(data))[3:5]
    data[start + 10 : start + 30] = b"\xff" * 20
    rows, (letter,) = read(bytes(data))
    lost = [row for row in ROWS if row not in rows]
    assert rows == [row for row in ROWS if row not in lost]
    assert 0 < len(lost) <= 10
    assert letter.source == f"a.avro block 4 bytes {start}-{end}"
    assert f"of the block at byte {start} cannot be read" in letter.detail


@pytest.mark.parametrize("size", [b"\xff" * 12, b"\xfe\xff\xff\xff\x0f", b"\x01"])
def test_a_damaged_block_head_costs_that_block_alone(size):
    data = avro()
    start, end = blocks(data)[3:5]
    damaged = data[:start] + size + data[start + len(size) :]
    rows, (letter,) = read(damaged)
    lost = [row for row in ROWS if row not in rows]
    assert rows == [row for row in ROWS if row not in lost]
    assert 0 < len(lost) <= 10
    assert letter.source == f"a.avro block 4 bytes {start}-{end}"


def test_a_damaged_marker_costs_the_blocks_on_both_sides():
    data = bytearray(avro())
    end = blocks(bytes(data))[4]
    data[end - 5] ^= 0xFF
    rows, (letter,) = read(bytes(data))
    assert 80 <= len(rows) < 100 and rows == [row for row in ROWS if row in rows]
    assert letter.detail.endswith("the marker after it is not this file's")


@pytest.mark.parametrize(
    ("count", "said"), [(2, "bytes follow its 2 records"), (4, "records 4 to 4 of the block")]
)
def test_a_wrong_count_is_noticed(count, said):
    payload = b"".join(encoded(row) for row in ROWS[:3])
    rows, (letter,) = read(avro([]) + long(count) + long(len(payload)) + payload + SYNC)
    assert rows == ROWS[: min(count, 3)]
    assert said in letter.detail


def test_a_wrong_snappy_checksum_is_noticed():
    data = bytearray(avro(ROWS[:3], "snappy"))
    data[-17] ^= 1
    rows, (letter,) = read(bytes(data))
    assert rows == []
    assert "checksum" in letter.detail


def test_a_deflate_block_that_ends_early_is_noticed():
    payload = zlib.compress(encoded(ROWS[0]), wbits=-15)[:-3]
    head = avro([], "deflate")
    rows, (letter,) = read(head + long(1) + long(len(payload)) + payload + SYNC)
    assert rows == []
    assert "incomplete or truncated" in letter.detail


def test_times_out_of_pythons_range_do_not_fail_their_block():
    rows = [{"id": "a", "timestamp": 2**62, "text": "x"}, ROWS[0]]
    assert read(avro(rows)) == (rows, [])


DAMAGED_SCHEMAS = [avro().replace(b".schema", b".schemb"), avro().replace(b"fields", b"fieldz")]


@pytest.mark.parametrize(
    "data", [b"Obj", b"Obj\x01", b"hello, this is not Avro", avro()[:60], *DAMAGED_SCHEMAS]
)
def test_what_is_not_avro(data):
    with pytest.raises(DamagedDataError, match="not an Avro file"):
        AvroFile(io.BytesIO(data), "a")


def test_an_unknown_codec():
    with pytest.raises(DamagedDataError, match="its codec is 'zzzz'; known are null, deflate"):
        AvroFile(io.BytesIO(avro().replace(b"\x08null", b"\x08zzzz")), "a")


def test_schema_questions():
    source = AvroFile(io.BytesIO(avro()), "a")
    assert "id" in source.names and "body" not in source.names
    assert source.units == {"timestamp": "us"}
    kind = ["null", {"type": "long", "logicalType": "timestamp-millis"}]
    millis = {"type": "record", "name": "R", "fields": [{"name": "t", "type": kind}]}
    assert AvroFile(io.BytesIO(avro([], schema=millis)), "a").units == {"t": "ms"}
    assert AvroFile(io.BytesIO(avro(["a"], schema="string")), "a").names == ()


@given(st.integers(0, 10**6), st.integers(0, 255))
@settings(max_examples=200)
def test_one_changed_byte_never_raises_and_costs_at_most_one_block(where, value):
    data = bytearray(avro(codec="deflate"))
    first = blocks(bytes(data))[0]
    data[first + where % (len(data) - first)] = value
    rows, dead = read(bytes(data))
    assert len([row for row in ROWS if row in rows]) >= 80
    assert len(dead) <= 2
