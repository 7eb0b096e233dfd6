"""A model store with a history of three versions, and ways to damage it and seal it again."""

import hashlib
import json
import shutil
from pathlib import Path

from made import manifest_of, random_snapshot

from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.stored.wire import seal
from beam_topics.model.words.settings import TokeniserSettings


def stored(root):
    """(store, versions): a history of three versions with their snapshots."""
    store, parent, versions = ModelStore(str(root)), None, []
    for sequence in (2, 5, 9):
        snapshot = store.put_snapshot(random_snapshot(sequence, sequence=sequence))
        settings = {"tokeniser": TokeniserSettings(stop_words="none").to_json()}
        parent = store.publish(
            manifest_of(sequence, parent, snapshot=snapshot, settings=settings)
        ).version
        versions.append(parent)
    return store, versions


def manifest_path(store, version):
    return Path(store.root, "_", "manifests", f"{version}.json")


def latest_path(store):
    return Path(store.root, "_", "LATEST")


def resealed(path, **changes):
    """The file with some of its fields changed, its seal made good."""
    values = json.loads(path.read_bytes())
    del values["sha256"]
    path.write_bytes(seal({**values, **changes}))


def pointed(store, version):
    """LATEST leads to this version, whatever its file holds."""
    data = manifest_path(store, version).read_bytes()
    latest_path(store).write_bytes(
        seal({"version": version, "manifest": hashlib.sha256(data).hexdigest()})
    )


def copied(store, source, target):
    """The manifest of one version under the name of another."""
    shutil.copy(manifest_path(store, source), manifest_path(store, target))
