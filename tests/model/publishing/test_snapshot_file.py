import dataclasses
import io
from contextlib import suppress

import fastavro
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from made import random_snapshot, snapshot_of

from model.errors import DamagedDataError
from model.publishing.snapshot_file import snapshot_digest, snapshot_from_bytes, snapshot_to_bytes


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
    data = snapshot_to_bytes(before)
    after = snapshot_from_bytes(data)
    same(before, after)
    assert snapshot_to_bytes(after) == data


def test_any_avro_tool_reads_it():
    snapshot = snapshot_of([[1.5, 0], [0, 0], [2, 3]], words=("sea", "sun", "ice"))
    records = list(fastavro.reader(io.BytesIO(snapshot_to_bytes(snapshot))))
    assert records == [
        {"word": "sea", "base": 1 / 3, "topics": [0], "counts": [1.5]},
        {"word": "sun", "base": 1 / 3, "topics": [], "counts": []},
        {"word": "ice", "base": 1 / 3, "topics": [0, 1], "counts": [2.0, 3.0]},
    ]


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
    digests = {snapshot_digest(snapshot_to_bytes(snapshot)) for snapshot in (base, *others)}
    assert len(digests) == 1 + len(others)
    assert snapshot_digest(snapshot_to_bytes(random_snapshot())) in digests


@pytest.mark.parametrize("length", [0, 3, 50, 200, -40, -1])
def test_truncated_file(length):
    data = snapshot_to_bytes(random_snapshot())
    with pytest.raises(DamagedDataError, match=r"x.avro is not a whole snapshot"):
        snapshot_from_bytes(data[:length], "x.avro")


def test_flipped_bytes_never_raise_anything_else():
    data = snapshot_to_bytes(random_snapshot(words=4, topics=2))
    for at in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[at] ^= 0x41
        with suppress(DamagedDataError):
            snapshot_from_bytes(bytes(damaged))


def test_other_version():
    data = snapshot_to_bytes(random_snapshot())
    for version, told in ((1, "An older release wrote it: use that"), (7, "A later release")):
        other = data.replace(b'"version":2', b'"version":%d' % version)
        said = rf"the snapshot s has form {version}, and this release reads form 2\. {told}"
        with pytest.raises(DamagedDataError, match=said):
            snapshot_from_bytes(other, "s")


def test_the_version_is_looked_at_before_the_schema():
    data = snapshot_to_bytes(random_snapshot()).replace(b'"version":2', b'"version":1')
    with pytest.raises(DamagedDataError, match="the snapshot s has form 1"):
        snapshot_from_bytes(data.replace(b"TopicCounts", b"TopicCountz"), "s")


def test_a_tokeniser_without_a_field_that_must_be_there_is_refused():
    data = snapshot_to_bytes(random_snapshot()).replace(b'"min_length"', b'"max_widths"')
    with pytest.raises(DamagedDataError, match="the tokeniser of s.max_widths is not known here"):
        snapshot_from_bytes(data, "s")
