import dataclasses
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from made import random_snapshot, snapshot_of

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.publishing.snapshots import (
    MAGIC,
    Facts,
    snapshot_from_bytes,
    snapshot_to_file,
)
from beam_topics.model.stored import wire
from beam_topics.model.words.character_model import CharacterModel, StoredCharacters


def same(one, two):
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(two, field.name)
        if dataclasses.is_dataclass(a):
            same(a, b)
        elif isinstance(a, np.ndarray):
            assert a.dtype == b.dtype and np.array_equal(a, b), field.name
        else:
            assert a == b, field.name


@settings(max_examples=60)
@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(0, 6), st.integers(1, 4)),
        elements=st.floats(0, 1e12, allow_subnormal=True) | st.just(0.0),
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.floats(1e-6, 100),
)
def test_round_trip(counts, key, alpha):
    words = tuple(f"wörd {w}\0" for w in range(len(counts)))
    before = (
        snapshot_of(counts, words=words, key=key, alpha=alpha)
        if len(counts)
        else snapshot_of(np.zeros((1, counts.shape[1])), alpha=alpha)
    )
    file = snapshot_to_file(before)
    after = snapshot_from_bytes(file.data, "it", file.digest)
    same(before, after)
    assert snapshot_to_file(after) == file


def spelled_snapshot():
    """A snapshot with a distribution over strings."""
    snapshot = random_snapshot()
    letters = CharacterModel.fit(snapshot.words)
    return dataclasses.replace(snapshot, prior=dataclasses.replace(snapshot.prior, letters=letters))


def test_the_spelling_of_a_stored_model_is_read_where_it_is_used():
    before = spelled_snapshot()
    file = snapshot_to_file(before)
    after = snapshot_from_bytes(file.data, "it", file.digest)
    assert isinstance(after.prior.letters, StoredCharacters)
    assert "characters" not in vars(after.prior)
    words = ["unseen", *before.words]
    assert after.prior.unseen_base(words).tolist() == before.prior.unseen_base(words).tolist()
    assert snapshot_to_file(after) == file


def test_a_damaged_spelling_is_told_with_its_file_where_it_is_used():
    header, packed = wire.unpack(MAGIC, snapshot_to_file(spelled_snapshot()).data)
    contents = wire.unpack_columns("it", packed, Facts(**header).lengths())
    damaged = bytearray(contents[-1].body)
    damaged[0] ^= 1
    packed[-1] = wire.pack_columns([wire.Column.of_bytes(bytes(damaged))])[0]
    prior = snapshot_from_bytes(wire.pack(MAGIC, header, *packed), "it").prior
    with pytest.raises(DamagedDataError, match="^it is damaged: "):
        prior.unseen_base(["unseen"])


def test_every_field_changes_the_digest():
    base = random_snapshot()
    others = [
        dataclasses.replace(base, key="other"),
        dataclasses.replace(base, sequence=4),
        dataclasses.replace(base, event_time=6),
        dataclasses.replace(base, fingerprint="f1"),
        dataclasses.replace(base, alpha=base.alpha * 2),
        dataclasses.replace(base, counts=base.counts + 1),
        dataclasses.replace(base, words=(*base.words[:-1], "other")),
        dataclasses.replace(base, prior=dataclasses.replace(base.prior, unseen=0.01)),
        dataclasses.replace(
            base, prior=dataclasses.replace(base.prior, strength=base.prior.strength * 2)
        ),
        dataclasses.replace(base, prior=dataclasses.replace(base.prior, base=base.prior.base / 2)),
        dataclasses.replace(base, buckets=9),
        dataclasses.replace(base, tokeniser=dataclasses.replace(base.tokeniser, min_length=3)),
    ]
    digests = {snapshot_to_file(snapshot).digest for snapshot in (base, *others)}
    assert len(digests) == 1 + len(others)
    assert snapshot_to_file(random_snapshot()).digest in digests


@pytest.mark.parametrize("length", [0, 3, 50, 200, -40, -1])
def test_truncated_file(length):
    file = snapshot_to_file(random_snapshot())
    with pytest.raises(DamagedDataError, match="BTz4"):
        snapshot_from_bytes(file.data[:length], "x", file.digest)


def test_flipped_bytes_never_raise_anything_else():
    snapshot = random_snapshot(words=4, topics=2)
    file = snapshot_to_file(snapshot)
    for at in range(0, len(file.data), 3):
        damaged = bytearray(file.data)
        damaged[at] ^= 0x41
        with suppress(DamagedDataError):
            snapshot_from_bytes(bytes(damaged))
        # Of what the digest covers, nothing can be changed.
        with suppress(DamagedDataError):
            same(snapshot_from_bytes(bytes(damaged), "x", file.digest), snapshot)


def test_the_digest_is_that_of_the_contents_and_not_of_the_packed_bytes(monkeypatch):
    snapshot = random_snapshot(words=300)
    file = snapshot_to_file(snapshot)
    monkeypatch.setattr(wire, "MOST", 0)
    monkeypatch.setattr(wire, "SLACK", 0)
    plain = snapshot_to_file(snapshot)
    monkeypatch.undo()
    assert plain.digest == file.digest and len(plain.data) > len(file.data)
    for data in (plain.data, file.data):
        same(snapshot_from_bytes(data, "x", file.digest), snapshot)
    with pytest.raises(DamagedDataError, match="x is damaged: its .* do not have the digest 00"):
        snapshot_from_bytes(file.data, "x", "00" * 32)


def test_counts_are_small_where_they_are_whole():
    generator = np.random.default_rng(0)
    counts = generator.integers(0, 3, (2000, 20)).astype(float)
    whole, halves = (
        len(snapshot_to_file(snapshot_of(made)).data) for made in (counts, counts * 0.3)
    )
    assert whole < halves < 4 * whole < 8 * np.count_nonzero(counts)


def test_other_version():
    data = snapshot_to_file(random_snapshot()).data
    for form, told in ((2, "An older release wrote it: use that"), (7, "A later release")):
        other = data.replace(b"BTz4", b"BTz%d" % form)
        said = rf"a record 'BTz' has form {form}, and this release reads form 4\. {told}"
        with pytest.raises(DamagedDataError, match=said):
            snapshot_from_bytes(other, "s")


def test_a_tokeniser_without_a_field_that_must_be_there_is_refused():
    data = snapshot_to_file(random_snapshot()).data.replace(b'"min_length"', b'"max_widths"')
    with pytest.raises(DamagedDataError, match="the tokeniser of s.max_widths is not known here"):
        snapshot_from_bytes(data, "s")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("words", 10**9, "size of the columns of s: found .*, allowed is at most"),
        ("entries", 10**9, "size of the columns of s: found .*, allowed is at most"),
        ("entries", 3, "a column of s cannot be unpacked"),
        ("text", -1, "text of s: found -1"),
        ("topics", 0, "topics of s: found 0"),
        ("buckets", 31, "buckets of s: found 31, allowed is .* 0 to 30"),
        ("unseen", 1.5, "unseen of s: found 1.5"),
    ],
)
def test_a_header_that_does_not_fit_is_refused_before_anything_is_unpacked(field, value, told):
    header, blobs = wire.unpack(MAGIC, snapshot_to_file(random_snapshot()).data)
    with pytest.raises(DamagedDataError, match=told):
        snapshot_from_bytes(wire.pack(MAGIC, {**header, field: value}, *blobs), "s")


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        (1, [0.0, 0.5], "base of s: found 0.0"),
        (2, [2, 2], "entries of the words of s: found 4, allowed is 3"),
        (2, [0.5, 2.5], "entries of the words of s: found floats"),
        (3, [0, 0, 2], "topics of s: found 2, allowed is 0 to 1"),
        (3, [1, 1, 0], "topics of a word of s"),
        (4, [1.0, float("nan"), 2.0], "counts of s: found nan"),
        (4, [1.0, -1.0, 2.0], "counts of s: found -1.0"),
        (5, [0.0, 1.0], "alpha of s: found 0,"),
        (6, [1.0, float("inf")], "strength of s: found inf"),
    ],
)
def test_a_column_with_an_impossible_value_is_refused(column, values, told):
    snapshot = snapshot_of([[1.0, 0.0], [4.0, 2.0]])
    header, packed = wire.unpack(MAGIC, snapshot_to_file(snapshot).data)
    packed[column] = wire.pack_columns([wire.Column.of(np.array(values))])[0]
    with pytest.raises(DamagedDataError, match=told):
        snapshot_from_bytes(wire.pack(MAGIC, header, *packed), "s")
