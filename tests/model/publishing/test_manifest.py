import dataclasses
import json

import pytest
from made import manifest_of

from model.errors import DamagedDataError
from model.publishing.manifest import CheckpointEntry, Manifest, seal, unseal

ENTRY = CheckpointEntry(key="k", island=1, sequence=7, chain="c7", window_end=-5, offered=3, settings_digest="s", digest="d")


@pytest.mark.parametrize("record", [ENTRY, manifest_of(3), manifest_of(4, parent="p", prequential_perplexity=None, key="ключ")])
def test_round_trip(record):
    data = record.to_json()
    assert type(record).from_json(data) == record
    assert data.endswith(b"\n") and data.count(b"\n") == 1
    assert json.loads(data)["sequence"] == record.sequence


def test_version_sorts_by_sequence():
    versions = [manifest_of(sequence).version for sequence in (2, 10, 100)]
    assert versions == sorted(versions)
    assert versions[0].startswith("000000000002-")


@pytest.mark.parametrize("change", [{"ess": 1.0}, {"parent": "p"}, {"snapshot": "ab" * 32}])
def test_versions_that_differ_in_anything_have_different_names(change):
    assert manifest_of(2, **change).version != manifest_of(2).version


@pytest.mark.parametrize("at", range(0, 160, 7))
def test_every_flipped_byte_is_found(at):
    data = bytearray(ENTRY.to_json())
    data[at] ^= 1
    with pytest.raises(DamagedDataError, match=r"e.json does not have the content that it was written with"):
        CheckpointEntry.from_json(bytes(data), "e.json")


@pytest.mark.parametrize("data", [b"", b"[]", b"3", b"{}", b"\xff", b'{"sha256":1}', b"null"])
def test_not_sealed(data):
    with pytest.raises(DamagedDataError, match=r"x does not have the content"):
        unseal(data, "x")


def test_of_another_release():
    values = {**dataclasses.asdict(ENTRY), "future": 1}
    with pytest.raises(DamagedDataError, match=r"m.json was written by another release: .*future"):
        CheckpointEntry.from_json(seal(values), "m.json")
    with pytest.raises(DamagedDataError, match=r"another release"):
        Manifest.from_json(ENTRY.to_json(), "m.json")
