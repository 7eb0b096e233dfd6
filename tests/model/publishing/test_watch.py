"""What a watch sees of a store that a publisher, a restored run and a person change."""

import os
import shutil
from pathlib import Path

import pytest
from hostile import latest_path, manifest_path, stored
from made import manifest_of, random_snapshot

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing import watch
from beam_topics.model.publishing.local_files import LocalBlobs
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.watch import StoreWatch


def publish(store, sequence, parent=None, key="", **others):
    """The name of a version that is published with its model."""
    snapshot = store.put_snapshot(random_snapshot(sequence, sequence=sequence, key=key))
    made = manifest_of(sequence, parent, snapshot=snapshot, key=key)
    return store.publish(made, **others).version


def test_the_newest_version_and_the_files_of_each_key(root):
    store, seen = ModelStore(root), StoreWatch(root)
    assert (seen.read(), seen.keys, seen.seen) == ([], 0, {})
    publish(store, 2, publish(store, 1))
    publish(store, 7, key="日/本")
    assert (seen.read(), seen.keys) == ([], 2)
    assert {key: one.newest.sequence for key, one in seen.seen.items()} == {"": 2, "日/本": 7}
    found = seen.seen[""].files
    assert {part: len(files) for part, files in found.items()} == {
        "snapshots": 2,
        "checkpoints": 0,
        "manifests": 2,
        "known": 0,
    }
    names = store.blobs.list("_/snapshots")
    assert {name: stamp.size for name, stamp in found["snapshots"].items()} == {
        name: len(store.blobs.read(f"_/snapshots/{name}")) for name in names
    }


def test_where_a_run_that_resumes_goes_on(root):
    store, seen = ModelStore(root), StoreWatch(root)

    def checkpoint(sequence, island, chain="c"):
        entry = CheckpointEntry("", island, sequence, chain, sequence * 10, 0, "d")
        store.put_checkpoint(entry, b"%d" % island)
        seen.read()
        return seen.seen[""].checkpoint

    # Versions are those of two islands.
    first = publish(store, 1)
    assert checkpoint(1, 0) is None
    assert checkpoint(1, 1) == 10
    assert checkpoint(4, 0) == 10
    assert checkpoint(4, 1) == 40
    # An island whose history is another one.
    assert checkpoint(6, 0) == checkpoint(6, 1, "other") == 40
    store.roll_back(store.manifest("", first))
    seen.read()
    assert seen.seen[""].checkpoint == 10


def test_versions_that_come_are_counted_from_the_first_reading_on(root):
    store, seen = ModelStore(root), StoreWatch(root)
    parent = publish(store, 2, publish(store, 1))
    seen.read()
    assert (seen.seen[""].published, seen.seen[""].superseded) == (0, 0)
    publish(store, 5, publish(store, 4, publish(store, 3, parent)))
    for _ in range(2):
        seen.read()
        assert (seen.seen[""].published, seen.seen[""].superseded) == (3, 0)
        # LATEST may be written anew with the same version.
        store.blobs.touch("_/LATEST")


def test_a_version_that_was_given_up_is_counted(root):
    store, seen = ModelStore(root), StoreWatch(root)
    first = publish(store, 1)
    publish(store, 2, first)
    seen.read()
    # A restored run comes to another version after the first one.
    publish(store, 3, first, on_superseded=lambda *_: None)
    seen.read()
    assert (seen.seen[""].published, seen.seen[""].superseded) == (0, 1)
    publish(store, 4, seen.seen[""].newest.version)
    seen.read()
    assert (seen.seen[""].published, seen.seen[""].superseded) == (1, 1)
    store.roll_back(store.manifest("", first))
    seen.read()
    assert (seen.seen[""].newest.version, seen.seen[""].superseded) == (first, 2)


def test_a_manifest_is_read_when_latest_has_moved(tmp_path, monkeypatch):
    store, versions = stored(tmp_path)
    seen, read = StoreWatch(store.root), []
    seen.read()
    whole = LocalBlobs.read
    monkeypatch.setattr(LocalBlobs, "read", lambda *a: read.append(a[1]) or whole(*a))
    seen.read()
    assert read == []
    publish(store, 11, versions[-1])
    read.clear()
    seen.read()
    # Of the history, what is new.
    assert set(read) == {"_/LATEST", *(f"_/manifests/{seen.seen[''].newest.version}.json",)}


def test_a_damaged_key_leaves_the_others_and_what_was_seen(tmp_path):
    store, _ = stored(tmp_path)
    newest = publish(store, 4, publish(store, 3, key="b"), key="b")
    seen = StoreWatch(store.root)
    seen.read()
    latest_path(store).write_bytes(b"{}")
    publish(store, 5, newest, key="b")
    (wrong,) = seen.read()
    assert wrong.startswith("key '': ") and "LATEST" in wrong
    assert {key: one.newest.sequence for key, one in seen.seen.items()} == {"": 9, "b": 5}
    path = manifest_path(store, seen.seen[""].newest.version)
    path.unlink()
    assert len(seen.read()) == 1


def test_a_key_that_is_gone_is_not_shown(tmp_path):
    store, _ = stored(tmp_path)
    seen = StoreWatch(store.root)
    seen.read()
    whole = dict(seen.seen)
    latest_path(store).unlink()
    assert (seen.read(), seen.keys, seen.seen) == ([], 1, {})
    seen.seen = whole
    shutil.rmtree(tmp_path / "_")
    assert (seen.read(), seen.keys, seen.seen) == ([], 0, {})


def test_folders_that_are_no_keys_are_passed_over_or_told(tmp_path):
    stored(tmp_path)
    (tmp_path / "other").mkdir()
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff")).mkdir()
    seen = StoreWatch(str(tmp_path))
    (wrong,) = seen.read()
    assert "surrogates not allowed" in wrong and list(seen.seen) == [""]


def test_the_number_of_keys_that_are_read_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(watch, "MOST_KEYS", 2)
    store = ModelStore(str(tmp_path))
    for key in "abc":
        publish(store, 1, key=key)
    seen = StoreWatch(store.root)
    assert (seen.read(), seen.keys, list(seen.seen)) == ([], 3, ["a", "b"])


def test_a_store_that_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OptionError, match=r"--model_store: .*/file' was given"):
        StoreWatch(str(tmp_path / "file"))
