"""The snapshots of a model store, ``<root>/<key>/snapshots/<digest>``.

A candidate is written once. A version refers to the file of its candidate, and its manifest has the
permutation that gives the topics their published ids (``topic_order``). So a version has one file,
whichever topics it took over from its parent.
"""

from __future__ import annotations

from typing import NamedTuple

from model import checks
from model.errors import DamagedDataError
from model.publishing.alignment import reorder
from model.publishing.blobs import Blobs, create_named, path_in
from model.publishing.manifest import Manifest
from model.publishing.snapshot_file import (
    MAGIC,
    has_digest,
    is_known,
    snapshot_from_bytes,
    snapshot_to_file,
)
from model.snapshot import Snapshot


def put(blobs: Blobs, snapshot: Snapshot) -> str:
    """Write a snapshot and return its digest, hex.

    Raises:
        DamagedDataError: The store holds other contents under this digest.
    """
    file = snapshot_to_file(snapshot)
    path = path_in(snapshot.key, f"snapshots/{file.digest}")
    # Another release of the library, or of this project, packs the same contents into other bytes.
    create_named(blobs, path, file.data, lambda data: has_digest(data, file.digest))
    return file.digest


def get(blobs: Blobs, key: str, digest: str) -> Snapshot:
    """Return the snapshot with this digest.

    Raises:
        DamagedDataError: It is missing, does not have the content that was written, or has a form
            of another release.
    """
    path = path_in(key, f"snapshots/{checks.hexadecimal('the digest of a snapshot', digest)}")
    name = blobs.where(path)
    try:
        data = blobs.read(path)
    except FileNotFoundError as error:
        raise DamagedDataError(
            f"{name} is missing from the model store: it has expired (--keep, or python -m"
            " pipelines.versions), or was lost. Choose a version that python -m pipelines.versions"
            " list shows with a model, or restore it from a copy"
        ) from error
    try:
        return snapshot_from_bytes(data, name, digest)
    except DamagedDataError as error:
        # Errors of the form and of the digest name the file already.
        if name in str(error) or not is_known(data):
            raise
        raise DamagedDataError(f"{name} is damaged: {error}") from error


def exists(blobs: Blobs, key: str, digest: str) -> bool:
    """Return whether there is a snapshot with this digest."""
    return blobs.exists(path_in(key, f"snapshots/{digest}"))


def check_form(blobs: Blobs, key: str, digest: str) -> None:
    """Refuse a snapshot of another form; one that expired is passed over.

    Raises:
        DamagedDataError: Another release wrote it.
    """
    path = path_in(key, f"snapshots/{digest}")
    if blobs.exists(path):
        start = blobs.read_start(path, len(MAGIC))
        if start[:-1] == MAGIC[:-1] and start[-1:].isdigit():
            name = f"the snapshot {blobs.where(path)}"
            checks.known_form(name, int(start[-1:]), int(MAGIC[-1:]))


class ModelFile(NamedTuple):
    """What a reader of a model needs of its manifest.

    Attributes:
        snapshot: The digest of the snapshot, hex.
        topic_order: The topics of the snapshot in the order of the published ids; empty where they
            have these ids already.
        topic_ids: The id of the topic in each place; empty where it is the number of the place.
    """

    snapshot: str
    topic_order: tuple[int, ...] = ()
    topic_ids: tuple[int, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest) -> ModelFile:
        """Return that of a version."""
        return cls(manifest.snapshot, tuple(manifest.topic_order), tuple(manifest.topic_ids))


def in_published_order(snapshot: Snapshot, file: ModelFile, version: str) -> Snapshot:
    """Return the model of a candidate with the topic ids of its version.

    Raises:
        DamagedDataError: The manifest orders or names another number of topics.
    """
    if file.topic_ids:
        name = f"field topic_ids of version {version}"
        checks.sized(name, file.topic_ids, snapshot.topic_count)
    if not file.topic_order:
        return snapshot
    name = f"field topic_order of version {version}"
    checks.sized(name, file.topic_order, snapshot.topic_count)
    return reorder(snapshot, list(file.topic_order))
