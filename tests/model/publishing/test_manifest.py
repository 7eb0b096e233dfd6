import dataclasses
import hashlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import manifest_of

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.publishing import manifest
from beam_topics.model.publishing.manifest import CheckpointEntry, Manifest
from beam_topics.model.settings.options import option
from beam_topics.model.stored import wire
from beam_topics.model.stored.wire import seal, unseal
from beam_topics.model.words.settings import TokeniserSettings

ENTRY = CheckpointEntry(
    key="k",
    island=1,
    sequence=7,
    chain="c7",
    window_end=-5,
    offered=3,
    settings_digest="s",
    digest="d" * 64,
)


NAMES = st.sampled_from(["a", "settings", "sha25", "sha2560", "sha257", "t", "ключ", "{", ","])


@given(st.dictionaries(NAMES, st.sampled_from([1, None, "", "{", ",", [], {}, {"sha256": "x"}])))
def test_a_sealed_line_is_canonical_json_with_the_digest_of_the_rest(values):
    digest = hashlib.sha256(wire.canonical_json(values).encode()).hexdigest()
    assert seal(values) == f"{wire.canonical_json({**values, 'sha256': digest})}\n".encode()
    assert unseal(seal(values), "x") == values


def test_a_manifest_with_another_field_is_sealed_anew():
    first = manifest_of(3)
    assert first.to_json() is first.to_json()
    other = dataclasses.replace(first, words=first.words + 1)
    assert json.loads(other.to_json())["words"] == first.words + 1
    assert other.version != first.version


@pytest.mark.parametrize(
    "record",
    [
        ENTRY,
        manifest_of(3),
        manifest_of(4, parent=manifest_of(3).version, prequential_perplexity=None, key="ключ"),
        manifest_of(
            5,
            particle=1,
            rivals=[{"number": 1, "versions": 2, "since": -3}],
            replaced={"island": 1, "particle": 0, "versions": 3, "since": -9},
            topic_tokens=[1.5, 0.0],
            topic_documents=[2, 0],
        ),
    ],
)
def test_round_trip(record):
    data = record.to_json()
    assert type(record).from_json(data) == record
    assert data.endswith(b"\n") and data.count(b"\n") == 1
    assert json.loads(data)["sequence"] == record.sequence


def test_version_sorts_by_sequence():
    versions = [manifest_of(sequence).version for sequence in (2, 10, 100)]
    assert versions == sorted(versions)
    assert versions[0].startswith("000000000002-")


@pytest.mark.parametrize(
    "change", [{"ess": 1.0}, {"parent": "000000000001-0123456789abcdef"}, {"snapshot": "ab" * 32}]
)
def test_versions_that_differ_in_anything_have_different_names(change):
    assert manifest_of(2, **change).version != manifest_of(2).version


@pytest.mark.parametrize("at", range(0, 160, 7))
def test_every_flipped_byte_is_found(at):
    data = bytearray(ENTRY.to_json())
    data[at] ^= 1
    with pytest.raises(
        DamagedDataError, match=r"e.json does not have the content that it was written with"
    ):
        CheckpointEntry.from_json(bytes(data), "e.json")


@pytest.mark.parametrize("data", [b"", b"[]", b"3", b"{}", b"\xff", b'{"sha256":1}', b"null"])
def test_not_sealed(data):
    with pytest.raises(DamagedDataError, match=r"x does not have the content"):
        unseal(data, "x")


@pytest.mark.parametrize("values", [{"a": 1}, {"z": [1.5]}, {"a": {"sha256": "x"}, "z": "é"}, {}])
def test_a_sealed_line_is_read_in_every_spelling_of_its_values(values):
    line = seal(values)
    spelled = json.dumps(json.loads(line), indent=1).encode()
    assert spelled != line
    assert unseal(line, "x") == unseal(spelled, "x") == values


def test_the_digest_of_another_part_proves_nothing():
    inner = seal({"b": 1}).decode().strip()
    stolen = json.loads(inner)["sha256"]
    with pytest.raises(DamagedDataError, match=r"x does not have the content"):
        unseal(b'{"b":2,"c":%s,"sha256":"%s"}' % (inner.encode(), stolen.encode()), "x")


def test_a_field_of_a_later_release_is_left_out_of_the_record_and_stays_in_the_bytes():
    values = json.loads(manifest_of(3).to_json())
    del values["sha256"]
    data = seal({**values, "future": [1]})
    read = Manifest.from_json(data, "m.json")
    assert read == manifest_of(3) and read.to_json() == data
    assert (
        read.version
        == f"000000000003-{hashlib.sha256(data).hexdigest()[:16]}"
        != manifest_of(3).version
    )
    assert read.repeats(manifest_of(3, release="later")) and not read.repeats(
        manifest_of(3, ess=1.0)
    )
    assert CheckpointEntry.from_json(seal({**dataclasses.asdict(ENTRY), "future": 1})) == ENTRY


def test_a_field_that_must_be_there():
    with pytest.raises(
        DamagedDataError,
        match=r"m.json was written by another release, or is damaged: it has no field 'event_time'",
    ):
        Manifest.from_json(ENTRY.to_json(), "m.json")


def test_an_absent_field_has_its_default():
    without = {name: value for name, value in dataclasses.asdict(ENTRY).items() if name != "digest"}
    with pytest.raises(
        DamagedDataError,
        match="field digest of e.json: found '', allowed is 64 lowercase hexadecimal digits",
    ):
        CheckpointEntry.from_json(seal(without), "e.json")


WRONG = [
    *(
        (name, wrong)
        for name in ("sequence", "documents", "tokens", "words", "island")
        for wrong in (-1, 2**70, 1.5, True, None, "3", [])
    ),
    *(
        (name, wrong)
        for name in ("log_evidence", "ess", "posterior")
        for wrong in ("x", None, True, [1.0])
    ),
    *((name, wrong) for name in ("settings",) for wrong in ([], None, 3)),
    *(
        ("new_words", wrong)
        for wrong in (
            3,
            [3],
            [{"topic": "\x1b[2J", "words": [], "came": [], "had": []}],
            [{"topic": 1, "words": ["w"], "came": [], "had": [0.0]}],
            [{"topic": 1, "words": ["w"], "came": [1.0], "had": [-1.0]}],
        )
    ),
    *(("times", wrong) for wrong in ([1], [2, 1], [1, 2**70], ["x", 1], 3)),
    *(("publish_every", wrong) for wrong in ({"days": 1}, {"windows": 0}, {"period": "1d"}, [])),
    *(("topic_order", wrong) for wrong in (["a"], [1, 1], [1, 2], 3, None)),
    *(("snapshot", wrong) for wrong in ("../../dev/zero", "A" * 64, "a" * 63, None)),
    *(
        ("parent", wrong)
        for wrong in ("../x", "000000000003-0123456789abcdef", "000000000009-0123456789abcdef", 3)
    ),
    ("event_time", 2**63 - 1),
    ("key", 3),
    ("island", 2),
    *(("particle", wrong) for wrong in (-1, 1.5, None)),
    *(
        (name, wrong)
        for name in ("topic_tokens", "topic_documents")
        for wrong in (3, ["x"], [-1], [None])
    ),
    *(
        ("rivals", wrong)
        for wrong in (
            3,
            [3],
            [{"number": 1, "versions": 1}],
            [{"number": -1, "versions": 1, "since": 3}],
            [{"number": 1, "versions": 0, "since": 3}],
            [{"number": 1, "versions": 1, "since": 3}] * 2,
        )
    ),
    *(
        ("replaced", wrong)
        for wrong in (
            3,
            {"island": 0},
            {"island": -1, "particle": 0, "versions": 1, "since": 3},
            {"island": 0, "particle": 0, "versions": 0, "since": 3},
            {"island": 0, "particle": 0, "versions": 1, "since": 2**63 - 1},
            {"island": 0, "particle": "\x1b", "versions": 1, "since": 1},
        )
    ),
]


@pytest.mark.parametrize(("field", "wrong"), WRONG)
def test_every_field_of_a_manifest_has_its_type(field, wrong):
    values = json.loads(manifest_of(3).to_json())
    del values["sha256"]
    with pytest.raises(
        DamagedDataError,
        match=(
            rf"field {field} of m.json: found|field topic of field changes of m.json|field entered"
            rf" of field changes|in field {field} of m.json: found"
            rf"|field {field} of m.json was written|field [a-z]+ of field {field} of m.json: found"
        ),
    ):
        Manifest.from_json(seal({**values, field: wrong}), "m.json")


@pytest.mark.parametrize(
    "data", [b'{"a":' * 100_000, b"[" * 100_000, b'{"a":' * 900 + b"1" + b"}" * 900]
)
def test_json_that_is_nested_too_deeply(data):
    with pytest.raises(
        DamagedDataError,
        match=r"^x does not have the content .*(nested too deeply|more than 32 levels)[^\n]*$",
    ):
        unseal(data, "x")


@dataclasses.dataclass(frozen=True)
class LaterTokeniser(TokeniserSettings):
    fold_case: bool = option(False, "whether capitals are small letters", absent=True)


def test_a_tokeniser_is_read_by_the_rules_of_settings(monkeypatch):
    values = TokeniserSettings(stop_words="none").to_json()
    stored = Manifest.from_json(manifest_of(3, settings={"tokeniser": values}).to_json())
    assert stored.tokeniser == TokeniserSettings(stop_words="none")
    monkeypatch.setattr(manifest, "TokeniserSettings", LaterTokeniser)
    assert stored.tokeniser.fold_case is True
    del values["stemmer"]
    with pytest.raises(DamagedDataError, match="tokeniser in field .*stemmer is missing"):
        _ = manifest_of(3, settings={"tokeniser": values}).tokeniser


@pytest.mark.parametrize(
    ("changes", "repeats"),
    [
        ({"log_evidence": math.nextafter(-123.456, 0), "posterior": -200.25000000000003}, True),
        ({"prequential_perplexity": math.nextafter(98.7, 0)}, True),
        ({"log_evidence": -123.4561}, False),
        ({"prequential_perplexity": None}, False),
        ({"ess": math.nextafter(3.5, 0)}, False),
        ({"topic_tokens": [2.5, math.nextafter(1.25, 2), 1e-18]}, True),
        ({"topic_tokens": [2.5, 1.251, 0.0]}, False),
        ({"topic_tokens": [2.5, 1.25]}, False),
        ({"topic_tokens": None}, False),
        # A run may be repeated with other settings, as long as it publishes the same.
    ],
)
def test_another_c_library_repeats_a_version(changes, repeats):
    one = manifest_of(3, topic_tokens=[2.5, 1.25, 0.0])
    assert one.repeats(manifest_of(3, **{"topic_tokens": one.topic_tokens, **changes})) is repeats


@pytest.mark.parametrize(
    ("islands", "now", "before"),
    [(1, "particle 1", "particle 0"), (2, "island 0, particle 1", "island 1, particle 0")],
)
def test_a_line_says_that_another_chain_was_published(islands, now, before):
    replaced = {"island": islands - 1, "particle": 0, "versions": 3, "since": 86_400_000_000}
    version = manifest_of(3, islands=islands, particle=1, replaced=replaced)
    assert version.replacement() == (
        f"version {version.version} comes from {now}, its parent from {before}. The new one was"
        " better in 3 versions in a row, since 1970-01-02. Topics may differ from those before."
    )
    assert manifest_of(3).replacement() == ""
