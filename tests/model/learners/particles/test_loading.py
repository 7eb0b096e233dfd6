"""Which states with one changed part are refused, and in which words.

The fuzzer (test_damaged_artefacts.py) tries the rest.
"""

from functools import cache

import numpy as np
import pytest
from corpora import learned, minibatches_of, topical
from learner_options import made

from beam_topics.model import wire
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.packed_numbers import pack_numbers, unpack_numbers

SETTINGS = made(
    learner="incremental-gibbs",
    topics=3,
    particles=4,
    initial_documents=6,
    chains=2,
    initial_sweeps=2,
    moves=6,
    newest=5,
    reservoir=4,
)
STREAM = minibatches_of(topical(30, words=30, length=12), 5)
PARTS = [
    "words",
    "evidence",
    "characters",
    "use",
    "concentration",
    "weight",
    "joint",
    "weight_exponent",
    "joint_exponent",
    "totals",
    "kinds",
    "distinct",
    "owner",
    "contents",
    "waiting",
    "history",
]
IN_HISTORY = [
    "lengths",
    "tokens",
    "arrival",
    "newest",
    "newest_position",
    "kept",
    "kept_position",
    "distinct",
    "owner",
    "contents",
]


@cache
def saved():
    return learner_for(SETTINGS).save(learned(SETTINGS, STREAM[:4]))


def load(data):
    return learner_for(SETTINGS).load(SETTINGS, "", 0, data)


def altered(part, kind, change):
    """The saved state with ``change`` applied to an array of it.

    ``kind`` says whether the array has plain values or is packed.
    """
    header, blobs = wire.unpack(b"BTo2", saved())
    inner, _, name = part.partition("/")
    at = PARTS.index(inner)
    if name:
        below, parts = wire.unpack(blobs[at][:4], blobs[at])
        parts[IN_HISTORY.index(name)] = _changed(parts[IN_HISTORY.index(name)], kind, change)
        blobs[at] = wire.pack(blobs[at][:4], below, *parts)
    else:
        blobs[at] = _changed(blobs[at], kind, change)
    return wire.pack(b"BTo2", header, *blobs)


def _changed(blob, kind, change):
    values = unpack_numbers(blob) if kind == "packed" else np.frombuffer(blob, kind).copy()
    changed = change(values)
    values = values if changed is None else changed
    return b"\x03" + values.astype("<i8").tobytes() if kind == "packed" else values.tobytes()


def put(value, at=0):
    def change(values):
        values[at] = value

    return change


WRONG = [
    (
        "history/tokens",
        "packed",
        put(10**6),
        r"tokens of documents: found 999999, allowed is -1 to \d+",
    ),
    ("history/tokens", "packed", put(-1), "tokens of documents: found -2"),
    ("history/lengths", "packed", put(2**40), "lengths of documents: found 1099511627776"),
    ("history/lengths", "packed", put(-1), "lengths of documents: found -1"),
    ("history/arrival", "packed", put(2**31), "arrivals of documents: found 2147483648"),
    (
        "history/arrival",
        "packed",
        lambda values: values[::-1],
        "arrivals of documents: found .* after .*ascending",
    ),
    ("history/newest", "packed", put(-1), "documents of the newest units: found -1"),
    ("history/newest", "packed", put(99, -1), "documents of the newest units: found 99"),
    (
        "history/newest_position",
        "packed",
        put(2**31),
        "positions of the newest units: found 2147483647, allowed is -1 to -1",
    ),
    (
        "history/kept",
        "packed",
        put(2**62, -1),
        "documents of the units of the reservoir: found 4611686018427387904",
    ),
    (
        "history/kept_position",
        "packed",
        put(-(2**62)),
        "positions of the units of the reservoir: found -4611686018427387905",
    ),
    (
        "history/kept",
        "packed",
        lambda values: values[:-1],
        "positions of the units of the reservoir: found 4 values, allowed is 3",
    ),
    ("history/owner", "packed", put(4), "particles' choices of a row: found 4, allowed is 0 to 3"),
    ("history/owner", "packed", put(-1), "particles' choices of a row: found -1"),
    (
        "history/distinct",
        "packed",
        put(2**40),
        "contents of a row: found 1099511627776, allowed is 1 to 4",
    ),
    ("history/distinct", "packed", put(0), "contents of a row: found 0"),
    ("history/contents", "packed", put(3), "entries of a table: found 3, allowed is 0 to 2"),
    ("history/contents", "packed", put(-1), "entries of a table: found -1"),
    (
        "history/contents",
        "packed",
        lambda values: values[:-1],
        r"entries of a table: found \d+ values",
    ),
    (
        "history/contents",
        "packed",
        lambda values: np.zeros_like(values),
        "more tokens of word number .* in a topic than were counted",
    ),
    ("owner", "packed", put(7), "particles' choices of a row: found 7"),
    (
        "contents",
        "packed",
        put(2**31),
        "no tables for its tokens, or more tables than tokens|not the sums over its words",
    ),
    ("contents", "packed", put(2**62), "entries of a table: found 4611686018427387904"),
    (
        "totals",
        "<i8",
        put(2**40),
        "the tokens of the state's topics are not the sums over its words",
    ),
    ("totals", "<i8", put(-1), "tokens of a topic: found -1"),
    (
        "kinds",
        "<i8",
        put(2**40),
        "tables of a topic: found 1099511627776, allowed is 0 to 268435455",
    ),
    (
        "kinds",
        "<i8",
        lambda values: values + 1,
        "the tables of the state's topics are not the sums over its words",
    ),
    *(
        ("weight", "<f8", put(value), "weights of particles: found")
        for value in (np.nan, np.inf, -1.0)
    ),
    ("weight", "<f8", put(0.9), "sum of the particles' weights: found"),
    ("weight_exponent", "<i8", put(-(2**63)), "exponents of weights: found"),
    *(
        ("joint", "<f8", put(value), "joint probabilities: found")
        for value in (np.nan, 0.0, 1.0, -0.5)
    ),
    ("joint_exponent", "<i8", put(2**62), "exponents of joint probabilities: found"),
    *(
        ("concentration", "<f8", put(value), "concentrations: found")
        for value in (np.nan, 0.0, -1.0, 1e300)
    ),
    *(("use", "<f8", put(value), "uses of words: found") for value in (np.nan, -1.0)),
    ("use", "<f8", lambda values: values[:-1], r"uses of words: found \d+ values"),
    ("evidence", "<f8", put(np.nan), "mantissa of a scaled number: found nan"),
    (
        "evidence",
        "<f8",
        lambda values: values[:-1],
        "bytes of a scaled number: found 8 values, allowed is 16",
    ),
]


@pytest.mark.parametrize(("part", "kind", "change", "told"), WRONG)
def test_a_part_that_is_out_of_bounds_is_refused(part, kind, change, told):
    with pytest.raises(DamagedDataError, match=told):
        load(altered(part, kind, change))


def test_what_was_not_changed_is_loaded():
    assert learner_for(SETTINGS).save(load(altered("use", "<f8", lambda values: None))) == saved()


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("sequence", -1, "sequence of a learner's state: found -1"),
        ("tokens", 1.5, "tokens of a learner's state: found 1.5"),
        ("scored", True, "scored of a learner's state: found True"),
        ("documents", None, "documents of a learner's state: found None"),
        ("ess", "nan", "ess of a learner's state: found nan"),
        ("ess", "0x1p99999", "ess of a learner's state: found '0x1p99999'"),
        ("ess", 3, "ess of a learner's state: found 3"),
    ],
)
def test_a_field_that_is_out_of_bounds_is_refused(field, value, told):
    header, blobs = wire.unpack(b"BTo2", saved())
    with pytest.raises(DamagedDataError, match=told):
        load(wire.pack(b"BTo2", {**header, field: value}, *blobs))
    del header[field]
    with pytest.raises(DamagedDataError, match=f"field {field}: found nothing"):
        load(wire.pack(b"BTo2", header, *blobs))


@pytest.mark.parametrize(
    "words",
    [
        lambda words: [words[1], *words[1:]],
        lambda words: [*words, *(f"x{n}" for n in range(50_000))],
    ],
)
def test_words_that_no_vocabulary_has_are_refused(words):
    header, blobs = wire.unpack(b"BTo2", saved())
    blobs[0] = wire.words_to_bytes(tuple(words(list(wire.words_from_bytes(blobs[0])))))
    with pytest.raises(DamagedDataError, match="words of the vocabulary: found"):
        load(wire.pack(b"BTo2", header, *blobs))


def test_packed_numbers_come_back():
    for values in ([], [0, 255], [256], [65_536], [2**40]):
        assert unpack_numbers(pack_numbers(np.array(values, np.int64))).tolist() == values
    with pytest.raises(DamagedDataError, match="does not name its type"):
        unpack_numbers(b"\x04")
