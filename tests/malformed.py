"""Files of good and malformed records, mixed: hypothesis builds wrong records, and good ones have bytes changed in them.

Every malformed record is one by construction (or by the standard library's judgement), not because our parser says so, and makes one
dead letter: a damaged Avro block here holds one record.
"""

import gzip
import io
import json
import random

import fastavro
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

SYNC = bytes(range(16))
_BATCH = 10
_SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": ["null", "string", "double", "boolean"]},
        {"name": "timestamp", "type": ["null", "double", "long", "string", {"type": "array", "items": "long"}]},
        {"name": "text", "type": ["null", "string", "bytes", "double"]},
    ],
}


def good(number):
    """A record that is as it should be."""
    return {"id": f"good{number}", "timestamp": number * 100, "text": f"Fellow citizens, «text» {number} of many"}


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
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3)
)
_CONTAINERS = st.lists(st.integers(), max_size=3) | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
_BLANK = st.text(" \t\r\n\u2003\u00a0", max_size=4)
_FAULTS = {
    "id": st.none() | st.booleans() | st.floats() | _CONTAINERS | st.just("") | st.just("a\0b") | st.just("half \ud83d"),
    "timestamp": st.none()
    | st.booleans()
    | _CONTAINERS
    | st.floats(min_value=1e13)
    | st.integers(min_value=10**13)
    | st.sampled_from(["", "never", "2001-13-01", "2001-02-30T00:00:00Z", "12345-01-01", "+", "١٢"])
    | st.text("xyz ", max_size=9),
    "text": st.none() | st.booleans() | st.integers() | _CONTAINERS | _BLANK | st.just("\0") | st.just("\udfff"),
}


def _is_json_object(line):
    try:
        return isinstance(json.loads(line.decode()), dict)
    except (ValueError, RecursionError):
        return False


def _usable(line):
    """A line is a record unless it is blank; and it must not be two."""
    return line.strip() and b"\n" not in line and not _is_json_object(line)


_ONE_FAULT = st.sampled_from(sorted(_FAULTS)).flatmap(lambda field: st.tuples(st.just(field), _FAULTS[field], st.booleans()))


def _with_fault(fault):
    field, value, is_left_out = fault
    record = {**good(0), "id": "wrong", field: value}
    return json.dumps({name: value for name, value in record.items() if not (is_left_out and name == field)}).encode()


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
    "timestamp": st.none() | st.floats(min_value=1e13) | st.just(float("nan")) | st.integers(10**13, 2**62) | st.lists(st.integers(0, 9)),
    "text": st.none() | _BLANK | st.just("a\0") | st.binary(max_size=5) | st.floats(),
}


def built_rows(count):
    """Avro records that hypothesis built."""
    faults = st.sampled_from(sorted(_ROW_FAULTS)).flatmap(lambda field: st.tuples(st.just(field), _ROW_FAULTS[field]))
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
        # A block: how many records, how many bytes, those, the marker. A size that is left or changed to the same would be no fault.
        data, end = bytearray(block), len(block) - len(SYNC)
        at = generator.randrange(1, end)
        if generator.randrange(3):
            data[at] ^= generator.randint(1, 255)
        else:
            del data[at : min(end, at + generator.randint(1, 9))]
        found.append(bytes(data))
    return found


def write_mixed(folder, count, seed=13):
    """``count`` good records and as many malformed ones, in files of every kind; the good ones."""
    generator, records = random.Random(seed), [good(number) for number in range(count)]
    half, three = count // 2, 3 * count // 10
    lines = [json.dumps(record).encode() for record in records[:half]] + built_lines(three) + mutated_lines(three)
    generator.shuffle(lines)
    middle = len(lines) // 2
    (folder / "a.jsonl").write_bytes(b"\n".join(lines[:middle]))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines[middle:]) + b"\n"))
    rest = count - 2 * three
    header, pieces = blocks(records[half:])
    pieces += [*mutated_blocks(rest // 2), _avro(built_rows(rest - rest // 2))[len(header) :]]
    generator.shuffle(pieces)
    (folder / "c.avro").write_bytes(header + b"".join(pieces))
    return records
