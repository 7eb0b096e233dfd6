"""Which states with one changed part are refused, and in which words.

The fuzzer (test_damaged_artefacts.py) tries the rest.
"""

from functools import cache

import numpy as np
import pytest
from corpora import learned, minibatches_of, topical
from learner_options import made

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.states import pack_numbers, unpack_numbers
from beam_topics.model.stored import wire

SETTINGS = made(
    learner="incremental-gibbs",
    topics=3,
    particles=4,
    initial_documents=6,
    chains=2,
    initial_sweeps=2,
    moves=6,
    reservoir=9,
    max_words=40,
)
STREAM = minibatches_of(topical(30, words=30, length=12), 5)
MAGIC = b"BTQ1"
PARTS = [
    "words",
    "weight",
    "joint",
    "exponent",
    "totals",
    "distinct",
    "owner",
    "contents",
    "page distinct",
    "page owner",
    "topics",
    "waiting",
    "waiting tokens",
    "lengths",
    "tokens",
    "arrival",
    "units",
    "positions",
]


@cache
def saved():
    return learner_for(SETTINGS).save(learned(SETTINGS, STREAM[:4]))


def load(data):
    return learner_for(SETTINGS).load(SETTINGS, "", 0, data)


def altered(part, change):
    """The saved state with ``change`` applied to an array of it."""
    header, blobs = wire.unpack(MAGIC, saved())
    at = PARTS.index(part)
    kind = {"weight": "<f8", "joint": "<f8", "exponent": "<i8"}.get(part)
    values = np.frombuffer(blobs[at], kind).copy() if kind else unpack_numbers(blobs[at]).copy()
    changed = change(values)
    values = values if changed is None else changed
    blobs[at] = values.tobytes() if kind else b"\x03" + values.astype("<i8").tobytes()
    return wire.pack(MAGIC, header, *blobs)


def put(value, at=0):
    def change(values):
        values[at] = value

    return change


WRONG = [
    ("tokens", put(10**6), r"tokens of documents: found 1000000, allowed is 0 to \d+"),
    ("tokens", put(-1), "tokens of documents: found -1"),
    ("lengths", put(2**40), "lengths of documents: found 1099511627776"),
    ("lengths", put(-1), "lengths of documents: found -1"),
    ("arrival", put(2**31), "arrivals of documents: found 2147483648"),
    ("arrival", lambda values: values[::-1], "arrivals of documents: found .* after .*ascending"),
    ("units", put(99), "documents of the units of the reservoir: found 99"),
    ("units", put(-1), "documents of the units of the reservoir: found -1"),
    ("units", lambda values: np.full_like(values, values[0]), "distinct units of the reservoir"),
    ("units", lambda values: values[:-1], "positions of the units of the reservoir: found 9"),
    ("positions", put(2**31), "positions of the units of the reservoir: found 2147483647"),
    ("positions", put(-(2**62)), "positions of the units of the reservoir: found"),
    ("owner", put(7), "particles' choices of a row: found 7"),
    ("page owner", put(4), "particles' choices of a row: found 4, allowed is 0 to 3"),
    ("page distinct", put(2**40), "contents of a row: found 1099511627776, allowed is 1 to 4"),
    ("page distinct", put(0), "contents of a row: found 0"),
    ("topics", put(3), "entries of a table: found 3, allowed is 0 to 2"),
    ("topics", put(-1), "entries of a table: found -1"),
    ("topics", lambda values: values[:-1], r"entries of a table: found \d+ values"),
    ("topics", np.zeros_like, "more tokens of word number .* in a topic than were counted"),
    ("contents", put(2**31), "not the sums over its words"),
    ("contents", put(2**62), "entries of a table: found 4611686018427387904"),
    ("totals", put(2**40), "the tokens of the state's topics are not the sums over its words"),
    ("weight", put(np.nan), "weights of particles: found"),
    ("weight", put(-1.0), "weights of particles: found"),
    ("weight", put(0.9), "sum of the particles' weights: found"),
    ("joint", put(np.nan), "joint probabilities: found"),
    ("joint", put(1.0), "joint probabilities: found"),
    ("exponent", put(2**62), "exponents of joint probabilities: found"),
    ("waiting", lambda values: np.array([1]), "lengths of waiting documents"),
]


@pytest.mark.parametrize(("part", "change", "told"), WRONG)
def test_a_part_that_is_out_of_bounds_is_refused(part, change, told):
    with pytest.raises(DamagedDataError, match=told):
        load(altered(part, change))


def test_what_was_not_changed_is_loaded():
    assert learner_for(SETTINGS).save(load(altered("joint", lambda values: None))) == saved()


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("sequence", -1, "sequence of a saved learner: found -1"),
        ("tokens", 1.5, "tokens of a saved learner: found 1.5"),
        ("scored", True, "scored of a saved learner: found True"),
        ("documents", None, "documents of a saved learner: found None"),
        ("seen", -1, "units seen: found -1"),
        ("ess", "nan", "ess of a saved learner: found nan"),
        ("ess", "0x1p99999", "ess of a saved learner: found '0x1p99999'"),
        ("ess", 3, "ess of a saved learner: found 3"),
        ("evidence", [], "evidence of a saved learner: found 0"),
        ("evidence", 3, "evidence of a saved learner: found 3"),
        ("labels", [1], "labels of documents: found"),
        ("waiting", [], "initial batch is incomplete|documents of the state"),
    ],
)
def test_a_field_that_is_out_of_bounds_is_refused(field, value, told):
    header, blobs = wire.unpack(MAGIC, saved())
    with pytest.raises(DamagedDataError, match=told):
        load(wire.pack(MAGIC, {**header, field: value}, *blobs))
    del header[field]
    with pytest.raises(DamagedDataError, match=f"field {field}: found nothing"):
        load(wire.pack(MAGIC, header, *blobs))


def test_words_that_come_twice_are_refused():
    header, blobs = wire.unpack(MAGIC, saved())
    words = wire.words_from_bytes(blobs[0])
    blobs[0] = wire.words_to_bytes((words[1], *words[1:]))
    with pytest.raises(DamagedDataError, match="words of a saved learner: found"):
        load(wire.pack(MAGIC, header, *blobs))


def test_packed_numbers_come_back():
    for values in ([], [0, 255], [256], [65_536], [2**40]):
        assert unpack_numbers(pack_numbers(np.array(values, np.int64))).tolist() == values
    with pytest.raises(DamagedDataError, match="does not name its type"):
        unpack_numbers(b"\x04")
