"""Files that try to crash, to hang or to fill the memory of a reader, and processes that end."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import zlib

import fastavro
import pytest

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import SourceError
from beam_topics.model.reading import child, tables
from beam_topics.model.reading.child import Request
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.settings import ParseSettings, ReadSettings
from beam_topics.model.reading.tables import TableFile

SYNC = bytes(range(16))
FIELDS = [
    {"name": "id", "type": "string"},
    {"name": "timestamp", "type": "long"},
    {"name": "text", "type": "string"},
]
GOOD = b"\x02a\x02\x06one"


def long(value):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", value)
    return out.getvalue()


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return long(len(data)) + data


def header(schema, codec="null"):
    schema = schema if isinstance(schema, str) else json.dumps(schema)
    about = text("avro.schema") + text(schema) + text("avro.codec") + text(codec)
    return b"Obj\x01" + long(2) + about + b"\0" + SYNC


def block(count, payload):
    return long(count) + long(len(payload)) + payload + SYNC


def with_field(*fields):
    """The schema of a document with fields more."""
    extra = [{"name": f"x{n}", "type": kind} for n, kind in enumerate(fields)]
    return {"type": "record", "name": "Document", "fields": FIELDS + extra}


def read(data, **settings):
    """A document's id for each item, or a dead letter's place, reason and detail."""
    found = read_file(io.BytesIO(data), "a.avro", ReadSettings(**settings))
    return [
        f"{item.source}: {item.reason}: {item.detail}" if isinstance(item, DeadLetter) else item.id
        for item in found
    ]


NODE = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}


TREE = {
    "type": "record",
    "name": "Tree",
    "fields": [{"name": "parts", "type": {"type": "array", "items": "Tree"}}],
}


def doubling(times):
    """A field of a type that holds two of another type, which holds two, and so on: no bytes."""
    bottom = {"type": "record", "name": "R0", "fields": [{"name": "x", "type": "null"}]}
    fields = [{"name": "r0", "type": bottom}]
    for n in range(1, times + 1):
        inner = [{"name": side, "type": f"R{n - 1}"} for side in "ab"]
        record = {"type": "record", "name": f"R{n}", "fields": inner}
        fields.append({"name": f"r{n}", "type": record})
    return {"type": "record", "name": "Top", "fields": FIELDS + fields}


def bomb():
    engine = zlib.compressobj(wbits=-15)
    return (engine.compress(bytes(2**24)) + engine.flush(zlib.Z_FULL_FLUSH)) * 256 + engine.flush()


NULLS = with_field({"type": "array", "items": "null"})
DEEP_JSON = '{"type":"record","name":"R","fields":' + "[" * 200_000 + "]" * 200_000 + "}"
ITSELF = {"type": "record", "name": "E", "fields": [{"name": "e", "type": "E"}]}
IN_AB = {"type": "record", "name": "B", "fields": [{"name": "a", "type": ["A", "B"]}]}
AB_FIELDS = [{"name": "u", "type": ["null", IN_AB]}, {"name": "b", "type": "B"}]
AB = {"type": "record", "name": "A", "namespace": "x", "fields": AB_FIELDS}
NO_BYTES = {
    "type": "record",
    "name": "Nothing",
    "fields": [{"name": name, "type": "null"} for name in ("id", "timestamp", "text")],
}
MEMORY = "it takes more than 8"

# The file, and what is said of it.
HOSTILE = {
    "values that are nested 5,000 deep": (
        header(with_field(NODE)) + block(1, GOOD + b"\x02" * 5000 + b"\0"),
        "a.avro block 1 bytes 327-5354: damaged: records 1 to 1 of the block at byte 327 cannot",
    ),
    "values in arrays that are nested 100,000 deep": (
        header(with_field(TREE)) + block(1, GOOD + b"\x02" * 100_000 + b"\0" * 100_001),
        "cannot be read: RecursionError",
    ),
    "a type that is nothing but itself": (
        header(with_field(ITSELF)) + block(1, GOOD),
        "DamagedDataError: each E of its schema holds another one, for ever)",
    ),
    "types that hold one another, behind a choice": (
        header(with_field(AB)) + block(1, GOOD + b"\0"),
        "DamagedDataError: each x.B of its schema holds another one, for ever)",
    ),
    "a schema that doubles 40 times": (header(doubling(40)) + block(1, GOOD), MEMORY),
    "an array of 2**40 nulls": (header(NULLS) + block(1, GOOD + long(2**40) + b"\0"), MEMORY),
    "2**40 records without bytes": (
        header(NO_BYTES) + block(2**40, b""),
        "too_large: records 1 to 1099511627776 of the block at byte 206 cannot be read: the block"
        " says that it holds 1099511627776 records, in 0 bytes; a record takes a byte at least",
    ),
    "2**40 records in a byte": (
        header(NO_BYTES) + block(2**40, b"\0"),
        "a.avro block 1 record 1: missing_id: the record has no field 'id', 'timestamp', 'text'",
    ),
    "a block of deflate that becomes four gigabytes": (
        header(with_field(), "deflate") + block(1, bomb()),
        MEMORY,
    ),
    "a schema of 5,000 arrays": (
        header("".join('{"type":"array","items":' for _ in range(5000)) + '"int"' + "}" * 5000),
        "a.avro: damaged: the file cannot be read: this is not an Avro file",
    ),
    "a schema of 200,000 brackets": (
        header(DEEP_JSON),
        "a.avro: damaged: the file cannot be read: this is not an Avro file",
    ),
    "a logical type that is a list": (
        header(with_field()).replace(b'"long"', b'{"type":"long","logicalType":["x"]}'),
        "a.avro: damaged: the file cannot be read",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_a_dead_letter_that_says_why(name):
    data, said = HOSTILE[name]
    assert said in "\n".join(read(data))


def test_what_is_around_a_hostile_block_is_read():
    empty, bad = b"\0", long(2**40) + b"\0"
    data = (
        header(NULLS)
        + block(1, GOOD + empty)
        + block(2, GOOD + empty + GOOD + bad)
        + block(1, GOOD + long(3) + empty)
    )
    assert read(data).count("a") == 3


def test_what_is_around_values_that_are_too_deep_is_read():
    good, bad = block(1, GOOD + b"\0"), block(1, GOOD + b"\x02" * 10**6 + b"\0")
    first, second, letter, last = read(header(with_field(NODE)) + good + good + bad + good)
    assert (first, second, last) == ("a", "a", "a") and "RecursionError" in letter


def test_a_process_that_hangs_is_ended():
    limited = "from beam_topics.model.reading import child; child.SECONDS = 1; child.limit_time(0)"
    code = f"{limited}\nwhile True: pass"
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGXCPU


def test_honest_files_with_arrays_maps_and_recursion_are_read():
    schema = with_field(
        {"type": "array", "items": ["null", "string"]}, {"type": "map", "values": "double"}, NODE
    )
    more = {"x0": [None, "tag"] * 300, "x1": {"a": 0.5}, "x2": {"next": {"next": None}}}
    rows = [{"id": str(n), "timestamp": n, "text": "x", **more} for n in range(5)]
    out = io.BytesIO()
    fastavro.writer(out, schema, rows, codec="deflate")
    assert read(out.getvalue()) == [row["id"] for row in rows]


def test_a_record_that_is_much_larger_than_a_document_is_not_passed_on():
    data = header(with_field()) + block(1, b"\x02a\x02" + text("x" * 65_000_000)) + block(1, GOOD)
    letter, good = read(data, parse=ParseSettings(max_document_bytes=100))
    assert good == "a"
    assert letter.startswith("a.avro block 1 record 1: too_large: the record cannot be read")


def good_file(path):
    path.write_bytes(header(with_field()) + block(1, GOOD) * 100_000)
    return path.open("rb")


def ended_by(number, path):
    """The last items of a file whose process gets a signal."""
    with good_file(path) as stream:
        table = TableFile(stream, Request("avro", "a.avro", 100))
        items = table.records()
        assert next(items)[1]["id"] == "a"
        os.kill(table._process.pid, number)
        return list(items)


def test_the_limits_follow_the_bytes():
    assert [child.memory_of(size) // 10**6 for size in (0, 10**7, 10**9)] == [830, 910, 1500]
    assert [child.seconds_of(size) for size in (0, 999_999, 10**9)] == [30, 34, 5030]


def test_a_block_has_time_for_each_of_its_records(monkeypatch):
    """A row group of a million rows takes longer than a small one."""
    limits = []
    monkeypatch.setattr(child, "limit_time", limits.append)
    answers = child._Answers(io.BytesIO(), 10**7, 500)
    answers.begin(1, 0)
    for n in range(3000):
        answers.add((f"a.parquet row {n}", {"text": "x" * 970}))
    assert len(limits) == 3 and all(
        b - a >= 10**6 for a, b in zip([500, *limits], limits, strict=False)
    )


def test_a_process_that_takes_too_long_is_a_dead_letter(tmp_path):
    letter = ended_by(signal.SIGXCPU, tmp_path / "a.avro")[-1]
    assert (letter.source, letter.reason) == ("a.avro", "too_large")
    assert "more than 30 seconds of the processor and 5 more for each megabyte" in letter.detail


def test_a_process_that_is_killed_is_an_error_and_no_dead_letter(tmp_path):
    with pytest.raises(SourceError, match=r"a signal \(9\), for a reason outside of the file"):
        ended_by(signal.SIGKILL, tmp_path / "a.avro")


def test_a_process_that_nobody_reads_is_ended(tmp_path):
    with good_file(tmp_path / "a.avro") as stream:
        table = TableFile(stream, Request("avro", "a.avro", 100))
        next(table.records())
        process = table._process
        del table
    assert process.poll() == -signal.SIGKILL


@pytest.fixture
def started(monkeypatch):
    """The processes that are started, beginning with none that waits."""
    processes, start = [], subprocess.Popen
    monkeypatch.setattr(tables, "_WAITING", [])
    monkeypatch.setattr(
        subprocess,
        "Popen",
        lambda *given, **more: processes.append(start(*given, **more)) or processes[-1],
    )
    return processes


SOUND = header(with_field()) + block(1, GOOD)


def test_many_small_files_are_read_in_one_process(started):
    assert [read(SOUND) for _ in range(30)] == [["a"]] * 30
    assert len(started) == 1


def test_a_file_that_ends_its_process_costs_that_file_alone(started, tmp_path):
    """The files behind it are read in another process."""
    assert read(SOUND) == ["a"]
    assert ended_by(signal.SIGXCPU, tmp_path / "a.avro")[-1].reason == "too_large"
    assert [read(SOUND), read(SOUND)] == [["a"], ["a"]]
    assert [process.poll() for process in started] == [-signal.SIGXCPU, None]


def test_no_file_is_read_behind_one_with_a_fault(started):
    assert "damaged" in read(header(with_field()) + block(9, GOOD))[-1]
    assert "damaged" in read(b"no table")[-1]
    assert read(SOUND) == ["a"]
    assert [process.poll() is None for process in started] == [False, False, True]


@pytest.mark.parametrize("ended", [0, -signal.SIGTERM])
def test_a_process_that_has_ended_while_it_waited_costs_nothing(started, ended):
    assert read(SOUND) == ["a"]
    if ended:
        started[0].terminate()
    else:
        tables._WAITING[0].asking.shutdown(socket.SHUT_WR)
    started[0].wait()
    assert read(SOUND) == ["a"]
    assert [process.poll() for process in started] == [ended, None]


def test_two_files_are_read_at_the_same_time(started):
    with io.BytesIO(SOUND) as one, io.BytesIO(SOUND) as two:
        request = Request("avro", "a.avro", 100)
        first, second = TableFile(one, request).records(), TableFile(two, request).records()
        assert next(first) == next(second)
    assert len(started) == 2


def test_each_file_has_its_own_time(monkeypatch):
    limits = []
    monkeypatch.setattr(child.resource, "setrlimit", lambda _, limit: limits.append(limit[0]))
    monkeypatch.setattr(child, "_SPENT", [7])
    child.limit_time(10**6)
    assert limits == [7 + 30 + 5]


def test_it_reads_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "__init__.py").write_text("raise RuntimeError")
    monkeypatch.chdir(tmp_path)
    assert read(header(with_field()) + block(1, GOOD)) == ["a"]


def test_units_are_those_of_times():
    assert tables.UNITS["d"] == 86_400 * tables.UNITS["s"]
