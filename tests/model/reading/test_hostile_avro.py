"""Small Avro files that try to crash, to hang or to fill the memory of a reader.

Each is read in a process with limits.
"""

import io
import json
import zlib

import fastavro
import pytest
from limited import limited

from model.dead_letters import DeadLetter
from model.reading import avro
from model.reading.codecs import CODECS
from model.reading.files import open_avro
from model.reading.settings import ParseSettings, ReadSettings

SYNC = bytes(range(16))
FIELDS = [
    {"name": "id", "type": "string"},
    {"name": "timestamp", "type": "long"},
    {"name": "text", "type": "string"},
]
GOOD = b"\x02a\x02\x06one"
# A line for each item: a document's id, or a dead letter's place, reason and detail.
READ = """
import sys
from model.dead_letters import DeadLetter
from model.reading.files import read_file
from model.reading.settings import ReadSettings
import io
stream = io.BytesIO(sys.stdin.buffer.read())
for number, item in enumerate(read_file(stream, "a.avro", ReadSettings())):
    if number < 20:
        dead = isinstance(item, DeadLetter)
        print(f"{item.source}: {item.reason}: {item.detail}" if dead else item.id)
"""


def long(value):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", value)
    return out.getvalue()


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return long(len(data)) + data


def header(schema, codec="null"):
    schema = schema if isinstance(schema, str) else json.dumps(schema)
    return (
        b"Obj\x01"
        + long(2)
        + text("avro.schema")
        + text(schema)
        + text("avro.codec")
        + text(codec)
        + b"\0"
        + SYNC
    )


def block(count, payload):
    return long(count) + long(len(payload)) + payload + SYNC


def with_field(*fields):
    """The schema of a document with fields more."""
    extra = [{"name": f"x{n}", "type": kind} for n, kind in enumerate(fields)]
    return {"type": "record", "name": "Document", "fields": FIELDS + extra}


def read(data, **limits):
    return limited(READ, data, **limits).splitlines()


def deflate(data):
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


NODE = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}


def chain(depth):
    return b"\x02" * depth + b"\0"


def doubling(times):
    """A field of a type that holds two of another type, which holds two, and so on: no bytes."""
    fields = [
        {
            "name": "r0",
            "type": {"type": "record", "name": "R0", "fields": [{"name": "x", "type": "null"}]},
        }
    ]
    for n in range(1, times + 1):
        inner = [{"name": side, "type": f"R{n - 1}"} for side in "ab"]
        fields.append(
            {"name": f"r{n}", "type": {"type": "record", "name": f"R{n}", "fields": inner}}
        )
    return {"type": "record", "name": "Top", "fields": FIELDS + fields}


NULLS = with_field({"type": "array", "items": "null"})
DEEP_TYPES = "".join('{"type":"array","items":' for _ in range(5000)) + '"int"' + "}" * 5000
DEEP_JSON = '{"type":"record","name":"R","fields":' + "[" * 200_000 + "]" * 200_000 + "}"
NO_BYTES = {
    "type": "record",
    "name": "Nothing",
    "fields": [{"name": name, "type": "null"} for name in ("id", "timestamp", "text")],
}

# The file, and what is said of it.
HOSTILE = {
    "values that are nested 5,000 deep": (
        header(with_field(NODE)) + block(1, GOOD + chain(5000)),
        (
            "a.avro block 1 bytes {start}-{end}: too_large: records 1 to 1 of the block at byte"
            " {start} cannot be read: the values of a record are nested deeper than 100 levels"
        ),
    ),
    "a type that is nothing but itself": (
        header(with_field({"type": "record", "name": "E", "fields": [{"name": "e", "type": "E"}]}))
        + block(1, GOOD),
        "the values of a record are nested deeper than 100 levels",
    ),
    "a schema that doubles 40 times": (
        header(doubling(40)) + block(1, GOOD),
        (
            "too_large: records 1 to 1 of the block at byte {start} cannot be read: a record holds"
            " more than 100 values without bytes"
        ),
    ),
    "an array of 2**40 nulls": (
        header(NULLS) + block(1, GOOD + long(2**40) + b"\0"),
        (
            "too_large: records 1 to 1 of the block at byte {start} cannot be read: a record holds"
            " more than 100 values without bytes"
        ),
    ),
    "2**40 records without bytes": (
        header(NO_BYTES) + block(2**40, b""),
        (
            "a.avro block 1 bytes {start}-{end}: too_large: records 1 to 1099511627776 of the block"
            " at byte {start} cannot be read: the block says that it holds 1099511627776 records,"
            " in 0 bytes; a record takes a byte at least"
        ),
    ),
    "2**40 records in a byte": (
        header(NO_BYTES) + block(2**40, b"\0"),
        (
            "a.avro block 1 record 1: missing_id: the record has no field 'id', 'timestamp',"
            " 'text'; it has no fields. Name"
        ),
    ),
    "a block of deflate that becomes four gigabytes": (
        None,
        f"cannot be read: it unpacks to more than {2**26} bytes",
    ),
    "a schema of 5,000 arrays": (
        header(DEEP_TYPES),
        "a.avro: too_large: the file cannot be read: its schema is nested deeper than",
    ),
    "a schema of 100 arrays": (
        header("".join('{"type":"array","items":' for _ in range(200)) + '"int"' + "}" * 200),
        (
            "a.avro: too_large: the file cannot be read: its schema is nested deeper than 128"
            " levels of JSON"
        ),
    ),
    "a schema of 200,000 brackets": (
        header(DEEP_JSON),
        "a.avro: too_large: the file cannot be read: its schema is nested deeper than a JSON",
    ),
    "a schema of more than a megabyte": (
        header(with_field() | {"doc": "x" * 2**20}),
        "a.avro: too_large: the file cannot be read: its header is longer than 1048576 bytes",
    ),
    "a logical type that is a list": (
        header(with_field()).replace(b'"long"', b'{"type":"long","logicalType":["x"]}'),
        "a.avro: damaged: the file cannot be read",
    ),
}


def bomb():
    engine = zlib.compressobj(wbits=-15)
    return (engine.compress(bytes(2**24)) + engine.flush(zlib.Z_FULL_FLUSH)) * 256 + engine.flush()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_a_dead_letter_that_says_why(name):
    data, said = HOSTILE[name]
    data = header(with_field(), "deflate") + block(1, bomb()) if data is None else data
    start = data.find(SYNC) + len(SYNC)
    assert said.format(start=start, end=len(data)) in "\n".join(read(data))


def test_what_is_around_a_hostile_block_is_read():
    empty, bad = b"\0", long(2**40) + b"\0"
    data = (
        header(NULLS)
        + block(1, GOOD + empty)
        + block(2, GOOD + empty + GOOD + bad)
        + block(1, GOOD + long(3) + empty)
    )
    documents = [line for line in read(data) if line == "a"]
    assert len(documents) == 3


def test_honest_files_with_arrays_maps_and_recursion_are_read():
    schema = with_field(
        {"type": "array", "items": ["null", "string"]}, {"type": "map", "values": "double"}, NODE
    )
    rows = [
        {
            "id": str(n),
            "timestamp": n,
            "text": "x",
            "x0": [None, "tag"] * 300,
            "x1": {"a": 0.5},
            "x2": {"next": {"next": None}},
        }
        for n in range(5)
    ]
    out = io.BytesIO()
    fastavro.writer(out, schema, rows, codec="deflate")
    assert read(out.getvalue()) == [row["id"] for row in rows]


class Counting(io.BytesIO):
    """Counts the bytes that are read."""

    total = 0

    def read(self, size=-1):
        data = super().read(size)
        self.total += len(data)
        return data


@pytest.mark.parametrize("codec", ["null", "deflate"])
@pytest.mark.parametrize("count", [0, 1, 2**40])
def test_blocks_that_claim_one_another_are_read_in_proportion_to_the_file(
    codec, count, monkeypatch
):
    """Each of 2,000 heads says that its block ends where the file ends.

    To read each of them to there would be to read 40 MB.
    """
    monkeypatch.setattr(avro, "_CHUNK", 64)
    start, number = header(with_field(), codec), 2000
    head = len(long(count)) + 4
    sizes = [(head + len(SYNC)) * (number - n) - head - len(SYNC) for n in range(number)]
    stream = Counting(start + b"".join(long(count) + _four_bytes(size) + SYNC for size in sizes))
    items = list(avro.AvroFile(stream, "a.avro").records())
    assert len(items) >= number - 1 and all(isinstance(item, DeadLetter) for item in items)
    assert stream.total < 300 * number


def _four_bytes(value):
    """A long that takes four bytes, whatever it is."""
    number = 2 * value
    return bytes(
        [number & 127 | 128, number >> 7 & 127 | 128, number >> 14 & 127 | 128, number >> 21]
    )


def test_a_block_that_is_too_long_is_not_read():
    data = header(with_field()) + block(10, GOOD * 10) + block(1, GOOD)
    items = list(avro.AvroFile(io.BytesIO(data), "a.avro", max_block=len(GOOD) * 10 - 1).records())
    assert [items[0].reason, items[1][1]["id"], len(items)] == ["too_large", "a", 2]
    assert (
        items[0].detail
        == f"the block at byte {len(header(with_field()))} cannot be read: it is longer than 69"
        " bytes"
    )


@pytest.mark.parametrize("codec", CODECS)
def test_the_limit_of_a_block_follows_the_largest_document(codec):
    """A document as large as is allowed can be read from a block."""
    source = open_avro(
        io.BytesIO(header(with_field(), codec)),
        "a",
        ReadSettings(ParseSettings(max_document_bytes=2**27)),
    )
    assert source._max_block == 2**28
