import io

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.errors import DamagedDataError
from model.reading import avro_limits
from model.reading.avro_limits import (
    EMPTY_VALUES,
    NESTING,
    SCHEMA_NESTING,
    check_nesting,
    measure,
    read_long,
    shape_of,
)
from model.reading.codecs import LimitError

NODE = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}


def record(*types):
    return {
        "type": "record",
        "name": "R",
        "fields": [{"name": f"f{n}", "type": kind} for n, kind in enumerate(types)],
    }


def shape(schema):
    return shape_of(fastavro.parse_schema(schema))


def long(value):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", value)
    return out.getvalue()


@st.composite
def schema_and_value(draw, depth=3):
    """A schema, and a value of it."""
    kinds = ["null", "boolean", "long", "double", "string", "bytes", "fixed", "enum"]
    kind = draw(st.sampled_from(kinds + ["record", "array", "map", "union"] * (depth > 0)))
    name = f"N{draw(st.integers(0, 10**9))}"
    if kind in kinds:
        named = {
            "fixed": {"type": "fixed", "name": name, "size": 3},
            "enum": {"type": "enum", "name": name, "symbols": ["A", "B"]},
        }
        values = {
            "null": st.none(),
            "boolean": st.booleans(),
            "long": st.integers(-(2**63), 2**63 - 1),
            "double": st.floats(allow_nan=False),
            "string": st.text(max_size=9),
            "bytes": st.binary(max_size=9),
            "fixed": st.binary(min_size=3, max_size=3),
            "enum": st.sampled_from("AB"),
        }
        return named.get(kind, kind), draw(values[kind])
    schema, value = draw(schema_and_value(depth=depth - 1))
    if kind == "record":
        fields = [("a", schema, value), ("b", *draw(schema_and_value(depth=depth - 1)))]
        made = {
            "type": "record",
            "name": name,
            "fields": [{"name": field, "type": inner} for field, inner, _ in fields],
        }
        return made, {field: inner for field, _, inner in fields}
    if kind == "union":
        return (
            (["null", schema], draw(st.sampled_from([None, value])))
            if isinstance(schema, str) and schema != "null"
            else (schema, value)
        )
    times = draw(st.integers(0, 3))
    return {"type": kind, "items" if kind == "array" else "values": schema}, (
        [value] * times if kind == "array" else {str(n): value for n in range(times)}
    )


@given(schema_and_value())
@settings(max_examples=300, deadline=None)
def test_a_value_is_measured_as_fastavro_reads_it(made):
    schema, value = made
    try:
        parsed = fastavro.parse_schema(schema)
    except fastavro.schema.SchemaParseException:
        return
    out = io.BytesIO(b"ab")
    out.seek(2)
    fastavro.schemaless_writer(out, parsed, value)
    data = out.getvalue()
    assert measure(data + b"more", 2, shape_of(parsed)) == len(data)
    if len(data) > 2:
        with pytest.raises(DamagedDataError):
            measure(data[:-1], 2, shape_of(parsed))


@given(schema_and_value(), st.binary(max_size=30))
@settings(max_examples=300, deadline=None)
def test_rubbish_is_measured_as_fastavro_reads_it_or_refused(made, data):
    try:
        parsed = fastavro.parse_schema(made[0])
    except fastavro.schema.SchemaParseException:
        return
    try:
        end = measure(data, 0, shape_of(parsed))
    except DamagedDataError:
        return
    stream = io.BytesIO(data)
    try:
        fastavro.schemaless_reader(stream, parsed, None)
    except (IndexError, UnicodeDecodeError):
        # An enum of which there is no such symbol, a text that is no text: of the value, not of its
        # size.
        return
    assert stream.tell() == end


@pytest.mark.parametrize(
    ("schema", "direct"),
    [
        ("string", True),
        (record("string", ["null", "long"], {"type": "fixed", "name": "F", "size": 8}), True),
        ({"type": "array", "items": "string"}, False),
        (record({"type": "map", "values": "string"}), False),
        (NODE, False),
        (record("string", NODE), False),
        (record(*["null"] * EMPTY_VALUES), True),
        (record(*["null"] * (EMPTY_VALUES + 1)), False),
        (record(*[["null", "string"]] * 1000), True),
    ],
)
def test_only_what_has_no_bound_is_measured(schema, direct):
    assert shape(schema).needs_measuring is not direct


def doubling(times, leaf):
    """A record that holds two of the one before, which holds two of the one before it, ..."""
    fields = [
        {
            "name": "r0",
            "type": {"type": "record", "name": "R0", "fields": [{"name": "x", "type": leaf}]},
        }
    ]
    for n in range(1, times + 1):
        inner = [{"name": side, "type": f"R{n - 1}"} for side in "ab"]
        fields.append(
            {"name": f"r{n}", "type": {"type": "record", "name": f"R{n}", "fields": inner}}
        )
    return {"type": "record", "name": "Top", "fields": fields}


def test_bounds_of_types_that_are_used_again():
    assert not shape(doubling(5, "null")).needs_measuring
    assert shape(doubling(6, "null")).needs_measuring
    assert not shape(doubling(17, "int")).needs_measuring
    assert shape(doubling(18, "int")).needs_measuring
    # Far deeper than Python recurses.
    assert shape(doubling(5000, "int")).values > 2**5000


def nested(depth):
    """A chain of so many nodes."""
    return b"\x02" * (depth - 1) + b"\0"


def test_the_nesting_of_values():
    # A node and the union that it is a branch of are a level each.
    most = NESTING // 2
    assert measure(nested(most), 0, shape(NODE)) == most
    with pytest.raises(
        LimitError, match=f"the values of a record are nested deeper than {NESTING} levels"
    ):
        measure(nested(most + 1), 0, shape(NODE))
    endless = {"type": "record", "name": "E", "fields": [{"name": "e", "type": "E"}]}
    with pytest.raises(LimitError, match="nested deeper"):
        measure(b"", 0, shape(endless))


@pytest.mark.parametrize(
    "item",
    [
        "null",
        {"type": "fixed", "name": "F", "size": 0},
        {"type": "record", "name": "N", "fields": []},
    ],
)
def test_values_without_bytes(item):
    items = shape({"type": "array", "items": item})
    assert measure(long(EMPTY_VALUES) + b"\0", 0, items) == 3
    for count in (EMPTY_VALUES + 1, 2**40, -(2**40)):
        with pytest.raises(
            LimitError, match=f"a record holds more than {EMPTY_VALUES} values without bytes"
        ):
            measure(long(count) + b"\0\0", 0, items)
    pairs = shape({"type": "array", "items": record("null", "null")})
    with pytest.raises(LimitError, match="values without bytes"):
        measure(long(2**40) + b"\0", 0, pairs)


def test_a_null_that_a_byte_stands_for_is_not_without_bytes():
    many = 10 * EMPTY_VALUES
    assert (
        measure(
            long(many) + bytes(many) + b"\0",
            0,
            shape({"type": "array", "items": ["null", "string"]}),
        )
        == many + 3
    )
    assert (
        measure(long(many) + bytes(many) + b"\0", 0, shape({"type": "map", "values": "null"}))
        == many + 3
    )


@pytest.mark.parametrize("item", ["boolean", {"type": "array", "items": "long"}, "string"])
def test_the_number_of_values(item, monkeypatch):
    monkeypatch.setattr(avro_limits, "VALUES", 1000)
    items = shape({"type": "array", "items": item})
    for count, is_allowed in ((999, True), (1000, False)):
        data = long(count) + bytes(count) + b"\0"
        if is_allowed:
            assert measure(data, 0, items) == len(data)
        else:
            with pytest.raises(LimitError, match="a record holds more than 1000 values"):
                measure(data, 0, items)


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 9 + b"\x02", b"\xff" * 11])
def test_numbers_that_are_none(data):
    with pytest.raises(DamagedDataError, match="a number ends too late or not at all"):
        read_long(data, 0)


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers(value):
    assert read_long(b"a" + long(value) + b"b", 1) == (value, 1 + len(long(value)))


def test_the_nesting_of_a_schema():
    schema = "string"
    for _ in range(SCHEMA_NESTING - 1):
        schema = [schema]
    check_nesting(schema)
    with pytest.raises(
        LimitError, match=f"its schema is nested deeper than {SCHEMA_NESTING} levels of JSON"
    ):
        check_nesting([schema])


@pytest.mark.parametrize("size", [-1, "x", None, 1.5, True])
def test_a_fixed_type_of_no_size(size):
    with pytest.raises(DamagedDataError, match="a fixed type of"):
        shape({"type": "fixed", "name": "F", "size": size})
