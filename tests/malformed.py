"""Files of good and malformed records, mixed.

hypothesis builds wrong records, and changes bytes of good ones. Every malformed record is one by
construction (or by the standard library's judgement), not because our parser says so. It makes one
dead letter: a damaged Avro block here holds one record.
"""

import csv
import gzip
import io
import json
import random

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

SYNC = bytes(range(16))
_BATCH = 10
_SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": ["null", "string", "double", "boolean"]},
        {
            "name": "timestamp",
            "type": ["null", "double", "long", "string", {"type": "array", "items": "long"}],
        },
        {"name": "text", "type": ["null", "string", "bytes", "double"]},
    ],
}


def good(number):
    """A record that is as it should be."""
    return {
        "id": f"good{number}",
        "timestamp": 10_000 + number * 100,
        "text": f"Fellow citizens, «text» {number} of many",
    }


def drawn(strategy, count):
    """So many values of a strategy, the same ones every time."""
    found = []

    @settings(
        max_examples=count // _BATCH + 1,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(strategy, min_size=_BATCH, max_size=_BATCH))
    def collect(batch):
        found.extend(batch)

    collect()
    return [found[at % len(found)] for at in range(count)]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3),
)
_CONTAINERS = st.lists(st.integers(), max_size=3) | st.dictionaries(
    st.text(max_size=3), st.integers(), max_size=2
)
_BLANK = st.text(" \t\r\n\u2003\u00a0", max_size=4)
_FAULTS = {
    "id": st.none()
    | st.booleans()
    | st.floats()
    | _CONTAINERS
    | st.just("")
    | st.just("a\0b")
    | st.just("half \ud83d"),
    "timestamp": st.none()
    | st.booleans()
    | _CONTAINERS
    | st.floats(min_value=1e13)
    | st.integers(min_value=10**13)
    | st.sampled_from(["", "never", "2001-13-01", "2001-02-30T00:00:00Z", "12345-01-01", "+", "١٢"])
    | st.text("xyz ", max_size=9),
    "text": st.none()
    | st.booleans()
    | st.integers()
    | _CONTAINERS
    | _BLANK
    | st.just("\0")
    | st.just("\udfff"),
}


def _is_json_object(line):
    try:
        return isinstance(json.loads(line.decode()), dict)
    except (ValueError, RecursionError):
        return False


def _usable(line):
    """A line is a record unless it is blank; and it must not be two."""
    return line.strip() and b"\n" not in line and not _is_json_object(line)


_ONE_FAULT = st.sampled_from(sorted(_FAULTS)).flatmap(
    lambda field: st.tuples(st.just(field), _FAULTS[field], st.booleans())
)


def _with_fault(fault):
    field, value, is_left_out = fault
    record = {**good(0), "id": "wrong", field: value}
    return json.dumps(
        {name: value for name, value in record.items() if not (is_left_out and name == field)}
    ).encode()


_LINES = st.one_of(
    _ONE_FAULT.map(_with_fault),
    _JSON.map(lambda value: json.dumps(value).encode()).filter(_usable),
    st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass")).filter(_usable),
    st.binary(min_size=1, max_size=40).filter(_usable),
    st.integers(1, 5000).map(lambda depth: b'{"a":' * depth),
)


def built_lines(count):
    """JSON lines that hypothesis built."""
    return drawn(_LINES, count)


def mutated_lines(count, seed=11):
    """Good lines with a few bytes changed, until they are no JSON objects."""
    generator, found = random.Random(seed), []
    while len(found) < count:
        line = bytearray(json.dumps(good(len(found)), ensure_ascii=False).encode())
        for _ in range(generator.randint(1, 4)):
            _mutate(generator, line)
        if _usable(bytes(line)):
            found.append(bytes(line))
    return found


def _mutate(generator, data):
    at = generator.randrange(len(data) + 1)
    kind = generator.randrange(4)
    if kind == 0:
        data[at : at + 1] = bytes([generator.randrange(256)])
    elif kind == 1:
        del data[at : at + generator.randint(1, 5)]
    elif kind == 2:
        data[at:at] = generator.randbytes(generator.randint(1, 5))
    elif at:
        del data[at:]


_ROW_FAULTS = {
    "id": st.none() | st.just("") | st.just("\0") | st.floats() | st.booleans(),
    "timestamp": st.none()
    | st.floats(min_value=1e13)
    | st.just(float("nan"))
    | st.integers(10**13, 2**62)
    | st.lists(st.integers(0, 9)),
    "text": st.none() | _BLANK | st.just("a\0") | st.binary(max_size=5) | st.floats(),
}


def built_rows(count):
    """Avro records that hypothesis built."""
    faults = st.sampled_from(sorted(_ROW_FAULTS)).flatmap(
        lambda field: st.tuples(st.just(field), _ROW_FAULTS[field])
    )
    return [{**good(0), "id": "wrong", field: value} for field, value in drawn(faults, count)]


def blocks(rows):
    """(header, [block]) of an Avro file with a record in each block, with a checksum (snappy's)."""
    empty = _avro([])
    return empty, [_avro([row])[len(empty) :] for row in rows]


def _avro(rows):
    out = io.BytesIO()
    fastavro.writer(out, _SCHEMA, rows, codec="snappy", sync_marker=SYNC)
    return out.getvalue()


def mutated_blocks(count, seed=12):
    """Blocks of good records, each with its payload or its size changed."""
    generator, found = random.Random(seed), []
    for block in blocks([good(number) for number in range(count)])[1]:
        # A block: how many records, how many bytes, those, the marker. A size that is left or
        # changed to the same would be no fault.
        data, end = bytearray(block), len(block) - len(SYNC)
        at = generator.randrange(1, end)
        if generator.randrange(3):
            data[at] ^= generator.randint(1, 255)
        else:
            del data[at : min(end, at + generator.randint(1, 9))]
        found.append(bytes(data))
    return found


_BAD_TIMES = st.sampled_from(
    ["", "never", "12/31/2001", "31.12.2001", "980942400000", "1" * 20, "2001-13-01"]
)
_CELL_FAULTS = {
    "id": st.sampled_from(["", "\0", "a\0b"]),
    "timestamp": _BAD_TIMES | st.text("xyz ", max_size=9),
    "text": st.sampled_from(["", " ", "\t \u2003", "\0"]),
}
_COLUMN_FAULTS = {
    "id": st.none() | st.sampled_from(["", "\0"]),
    "timestamp": st.none() | st.floats(min_value=1e13) | st.just(float("nan")),
    "text": st.none() | st.sampled_from(["", " ", "\0"]),
}


def _cells(record):
    out = io.StringIO(newline="")
    csv.writer(out).writerow(record[name] for name in ("id", "timestamp", "text"))
    return out.getvalue().encode()


def _with_faults(faults, count):
    chosen = st.sampled_from(sorted(faults)).flatmap(
        lambda field: st.tuples(st.just(field), faults[field])
    )
    return [{**good(0), "id": "wrong", field: value} for field, value in drawn(chosen, count)]


def built_rows_of_csv(count):
    """CSV rows with a wrong field, invalid UTF-8, a wrong number of fields, or a quote too many."""
    rows = [_cells(record) for record in _with_faults(_CELL_FAULTS, count)]
    others = [
        b"wrong,0,caf\xe9\n",
        b"wrong,0\n",
        b"wrong,0,text,more\n",
        b'wrong,0,"te"xt\n',
        b'wrong,0,"text\n" \n',
    ]
    rows[::2] = [others[at % len(others)] for at in range(len(rows[::2]))]
    return rows


def _columns(records):
    return pa.table(
        {
            "id": pa.array([record["id"] for record in records], pa.string()),
            "timestamp": pa.array([record["timestamp"] for record in records], pa.float64()),
            "text": pa.array([record["text"] for record in records], pa.string()),
        }
    )


def write_mixed(folder, count, seed=13):
    """``count`` good records and as many malformed ones, in files of every kind; the good ones."""
    generator, records = random.Random(seed), [good(number) for number in range(count)]
    tenth, three = count // 10, 3 * count // 10
    lines = (
        [json.dumps(record).encode() for record in records[: 4 * tenth]]
        + built_lines(three)
        + mutated_lines(three)
    )
    generator.shuffle(lines)
    middle = len(lines) // 2
    (folder / "a.jsonl").write_bytes(b"\n".join(lines[:middle]))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines[middle:]) + b"\n"))
    _write_avro(folder / "c.avro", records[4 * tenth : 7 * tenth], tenth, generator)
    items = [
        json.dumps(record, indent=1).encode() for record in records[7 * tenth : 8 * tenth]
    ] + built_items(tenth)
    generator.shuffle(items)
    first = items.index(next(item for item in items if item.startswith(b"{")))
    items[0], items[first] = items[first], items[0]
    (folder / "d.json.gz").write_bytes(gzip.compress(b"[\n" + b",\n".join(items) + b"]"))
    rows = [_cells(record) for record in records[8 * tenth : 9 * tenth]] + built_rows_of_csv(tenth)
    generator.shuffle(rows)
    (folder / "e.csv").write_bytes(b"id,timestamp,text\n" + b"".join(rows))
    rest = records[9 * tenth :] + _with_faults(_COLUMN_FAULTS, count - 2 * three - 3 * tenth)
    generator.shuffle(rest)
    pq.write_table(_columns(rest), folder / "f.parquet", row_group_size=300)
    return records


def built_items(count):
    """Items of a JSON array: records with a fault, and what is no record."""
    return drawn(
        _ONE_FAULT.map(_with_fault) | _JSON.map(lambda value: json.dumps(value).encode()), count
    )


def _write_avro(path, records, malformed, generator):
    header, pieces = blocks(records)
    pieces += [
        *mutated_blocks(malformed // 2),
        _avro(built_rows(malformed - malformed // 2))[len(header) :],
    ]
    generator.shuffle(pieces)
    path.write_bytes(header + b"".join(pieces))
