"""The model store: snapshots, checkpoints and manifests of any number of model keys.

The store is plain files in a folder, or objects of a bucket.

    <root>/<key>/settings.json                the settings that everything below was made with
    <root>/<key>/snapshots/<digest>.avro      models, see model.publishing.snapshot_file
    <root>/<key>/checkpoints/<digest>         states of learners, each with a small .json entry
    <root>/<key>/manifests/<version>.json     one for each version; it names its parent
    <root>/<key>/LATEST                       the newest version; it only moves forward

A version is named by its sequence and digest. Files are named by their content, so writing one
twice changes nothing, and a reader checks the digest of a file before it uses the bytes. A run that
repeats an earlier one (a retry or a replay) leaves everything as it was. A run that would write
another history into the store is refused. Versions that LATEST does not lead to were abandoned and
are not listed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from itertools import islice
from typing import Any

from model import checks
from model.errors import DamagedDataError, OptionError, StoreConflictError
from model.publishing import snapshot_file
from model.publishing.binding import NO_FLAGS, Flags, check_bound
from model.publishing.blobs import blobs_at, create_named, escape_key, read_verified, unescape_key
from model.publishing.manifest import VERSION_FORM, CheckpointEntry, Manifest, Pointer, seal, unseal
from model.publishing.missing import missing_version
from model.snapshot import Snapshot

_REMEDIES = (
    "If the input holds only documents that came after those that were learned, add"
    " --add_documents. To finish a run that was interrupted, give the same input, the same"
    " --publish_every, --switch_margin and --switch_after, and --resume_from=latest. For a new run,"
    " give an empty model store."
)
_SHOWN = 5
_ENTRY = re.compile(r"[0-9]{12,16}-[0-9]{4,16}-[0-9a-f]{16}\.json")


class ModelStore:
    """The store under ``root``: cheap to make, and safe to use from several processes at once."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._blobs = blobs_at(root)
        self._parents: dict[tuple[str, str], str | None] = {}

    def keys(self) -> list[str]:
        """Return the model keys that have something in the store, sorted."""
        return sorted(
            unescape_key(name[:-1]) for name in self._blobs.list("") if name.endswith("/")
        )

    def bind(
        self, key: str, settings_digest: str, settings: dict[str, Any], flags: Flags = NO_FLAGS
    ) -> None:
        """Bind the part of a key to settings at the first use, and check them at every later use.

        Args:
            key: The model key.
            settings_digest: The digest of the settings.
            settings: The settings.
            flags: The options behind the settings, for messages. See
                :meth:`model.options.Record.flags`.

        Raises:
            StoreConflictError: The store holds what was learned with other settings.
        """
        path = _path(key, "settings.json")
        if not self._blobs.create(path, seal({"digest": settings_digest, "settings": settings})):
            data, name = self._named(path)
            check_bound(unseal(data, name), settings_digest, settings, flags, name)

    def put_snapshot(self, snapshot: Snapshot) -> str:
        """Write a model and return its digest, hex."""
        data = snapshot_file.snapshot_to_bytes(snapshot)
        digest = snapshot_file.snapshot_digest(data)
        create_named(self._blobs, _path(snapshot.key, f"snapshots/{digest}.avro"), data)
        return digest

    def get_snapshot(self, key: str, digest: str) -> Snapshot:
        """Return the model with this digest.

        Raises:
            DamagedDataError: It is missing, or does not have the content that was written.
        """
        path = _path(
            key, f"snapshots/{checks.hexadecimal('the digest of a snapshot', digest)}.avro"
        )
        return snapshot_file.snapshot_from_bytes(
            read_verified(self._blobs, path, digest), self._blobs.where(path)
        )

    def put_checkpoint(self, entry: CheckpointEntry, data: bytes) -> CheckpointEntry:
        """Write the state of a learner, then its entry; return the entry with its digest."""
        digest = hashlib.sha256(data).hexdigest()
        entry = dataclasses.replace(entry, digest=digest)
        create_named(self._blobs, _path(entry.key, f"checkpoints/{digest}"), data)
        create_named(
            self._blobs, _path(entry.key, f"checkpoints/{entry.file_name}"), entry.to_json()
        )
        return entry

    def get_checkpoint(self, key: str, digest: str) -> bytes:
        """Return the state with this digest.

        Raises:
            DamagedDataError: It is missing, or does not have the content that was written.
        """
        path = _path(key, f"checkpoints/{checks.hexadecimal('the digest of a checkpoint', digest)}")
        return read_verified(self._blobs, path, digest)

    def has_checkpoints(self, key: str) -> bool:
        """Return whether a key has a checkpoint."""
        return bool(self._entries(key))

    def checkpoints(self, key: str) -> list[CheckpointEntry]:
        """Return all checkpoints of a key, by sequence and island."""
        return [
            entry
            for names in self._entries(key).values()
            for entry in self._read_entries(key, names)
        ]

    def resume_point(self, key: str, resume_from: str, islands: int) -> list[CheckpointEntry]:
        """Return the checkpoints to continue from, one for each island, after the same minibatch.

        Args:
            key: The model key.
            resume_from: A sequence number, or ``latest``: the newest one that all islands have.
            islands: The number of islands.

        Raises:
            OptionError: There is no such point.
            StoreConflictError: The store holds two histories at that point.
        """
        entries = self._entries(key)
        # The newest first, and no more than are needed: a store may hold checkpoints of years.
        points = (
            (n, found)
            for n in sorted(entries, reverse=True)
            if (found := self._histories(key, entries[n], islands))
        )
        if resume_from == "latest":
            at, histories = next(points, (0, []))
        else:
            at = _number(resume_from) or 0
            histories = self._histories(key, entries.get(at, []), islands)
        if not histories:
            listed = ", ".join(map(str, sorted(n for n, _ in islice(points, _SHOWN)))) or "none"
            raise OptionError(
                "--resume_from",
                resume_from,
                f"latest, or a sequence at which all {islands} islands of key {key!r} have a"
                f" checkpoint (the newest: {listed})",
                "Give one of those, or start again with an empty model store.",
            )
        if len(histories) > 1:
            raise StoreConflictError(
                f"{self.root} has two histories after minibatch {at}; give --resume_from an earlier"
                " checkpoint"
            )
        return [entry for _, entry in sorted(histories[0].items())]

    def _entries(self, key: str) -> dict[int, list[str]]:
        """Return the names of the entries of checkpoints by sequence, in order."""
        found: dict[int, list[str]] = {}
        for name in self._blobs.list(_path(key, "checkpoints")):
            if _ENTRY.fullmatch(name):
                found.setdefault(_sequence(name), []).append(name)
        return found

    def _read_entries(self, key: str, names: list[str]) -> list[CheckpointEntry]:
        return [self._read_entry(key, name) for name in names]

    def _read_entry(self, key: str, name: str) -> CheckpointEntry:
        data, where = self._named(_path(key, f"checkpoints/{name}"))
        entry = CheckpointEntry.from_json(data, where)
        if entry.file_name != name or entry.key != key:
            raise DamagedDataError(
                f"{where} holds the entry {entry.file_name} of key {entry.key!r}; restore it from a"
                " copy"
            )
        return entry

    def _histories(
        self, key: str, names: list[str], islands: int
    ) -> list[dict[int, CheckpointEntry]]:
        """Return the histories that have an entry of every island, each as entries by island.

        If an island has two entries, the later one was written at the end of a stream and knows of
        one more version. It is the one that is returned.
        """
        chains: dict[str, dict[int, CheckpointEntry]] = {}
        for entry in sorted(self._read_entries(key, names), key=lambda entry: entry.offered):
            if entry.island < islands:
                chains.setdefault(entry.chain, {})[entry.island] = entry
        return [found for found in chains.values() if len(found) == islands]

    def publish(self, manifest: Manifest) -> Manifest:
        """Write a version and move LATEST to it.

        A version that is already part of the history is left as it is. If several publishers would
        follow one version with different ones, one of them succeeds.

        Returns:
            The version as the store has it: another release may have written it before.

        Raises:
            StoreConflictError: LATEST is as far or farther in another history, or is not at the
                parent of the version.
        """
        data = manifest.to_json()
        while True:
            pointer = self._pointer(manifest.key)
            newest = None if pointer is None else self._latest(manifest.key, pointer)
            if newest is not None and manifest.sequence <= newest.sequence:
                return self._replayed(manifest, newest)
            if manifest.parent != (newest and newest.version):
                raise self._conflict(
                    manifest, newest, f"which follows {manifest.parent or 'no version'}"
                )
            create_named(
                self._blobs, _path(manifest.key, f"manifests/{manifest.version}.json"), data
            )
            target = Pointer(manifest.version, hashlib.sha256(data).hexdigest()).to_json()
            if self._blobs.replace_pointer(_path(manifest.key, "LATEST"), pointer, target):
                return manifest

    def has_versions(self, key: str) -> bool:
        """Return whether a version of this key was published."""
        return self._pointer(key) is not None

    def latest(self, key: str) -> Manifest | None:
        """Return the newest version, None before the first."""
        pointer = self._pointer(key)
        return None if pointer is None else self._latest(key, pointer)

    def manifest(self, key: str, version: str = "latest") -> Manifest:
        """Return a version by its name.

        Raises:
            OptionError: There is no such version.
        """
        found = self.latest(key) if version == "latest" else self._read_manifest(key, version)
        if found is None:
            raise missing_version(self, key, version)
        return found

    def manifests(self, key: str) -> list[Manifest]:
        """Return the history up to LATEST, the oldest version first.

        It begins where older manifests were removed.
        """
        newest = self.latest(key)
        return [] if newest is None else self.history(newest)

    def history(self, last: Manifest) -> list[Manifest]:
        """Return the versions from the oldest one that exists to ``last``.

        Each parent has a smaller sequence, so the search ends.
        """
        found: list[Manifest] = [last]
        while (parent := found[-1].parent) is not None and (
            manifest := self._read_manifest(last.key, parent)
        ) is not None:
            found.append(manifest)
        return found[::-1]

    def up_to(self, last: Manifest) -> list[Manifest]:
        """Return the history up to one of the versions that LATEST leads to, the oldest first.

        Raises:
            DamagedDataError: There is no LATEST.
            OptionError: LATEST does not lead to this version.
        """
        name, newest = self._blobs.where(_path(last.key, "LATEST")), self.latest(last.key)
        if newest is None:
            raise DamagedDataError(
                f"{name} is missing although there is a version {last.version}; restore it from a"
                " copy"
            )
        found = [
            manifest for manifest in self.history(newest) if manifest.sequence <= last.sequence
        ]
        if not found or found[-1].version != last.version:
            raise OptionError(
                "--model_version",
                last.version,
                f"a version that {name} leads to",
                "A run that lost a race left this one.",
            )
        return found

    def _replayed(self, manifest: Manifest, newest: Manifest) -> Manifest:
        """Return the version of the history that this one repeats.

        A file alone proves nothing, because a publisher that lost the race for LATEST left one too.

        Raises:
            StoreConflictError: The history has another version there.
        """
        name: str | None = newest.version
        while name is not None and _sequence(name) > manifest.sequence:
            name = self._parent(manifest.key, name)
        found = None if name is None else self._read_manifest(manifest.key, name)
        if found is None or not found.repeats(manifest):
            raise self._conflict(manifest, newest, "within that history")
        return found

    def _conflict(
        self, manifest: Manifest, newest: Manifest | None, what: str
    ) -> StoreConflictError:
        at = newest.version if newest else "none"
        return StoreConflictError(
            f"{self.root}, key {manifest.key!r}, is at version {at}, and this run would publish"
            f" another one, {manifest.version}, {what}. {_REMEDIES}"
        )

    def _parent(self, key: str, version: str) -> str | None:
        """Return the version before; None before the first, and where older manifests were removed.

        It is read once, because a manifest never changes.
        """
        if (key, version) not in self._parents:
            found = self._read_manifest(key, version)
            self._parents[key, version] = found.parent if found else None
        return self._parents[key, version]

    def _pointer(self, key: str) -> bytes | None:
        try:
            return self._blobs.read(_path(key, "LATEST"))
        except FileNotFoundError:
            return None

    def _latest(self, key: str, pointer: bytes) -> Manifest:
        name = self._blobs.where(_path(key, "LATEST"))
        target = Pointer.from_json(pointer, name)
        path = _path(key, f"manifests/{target.version}.json")
        return self._named_manifest(
            key, target.version, read_verified(self._blobs, path, target.manifest)
        )

    def _read_manifest(self, key: str, version: str) -> Manifest | None:
        # Versions come from users and become part of a path.
        if not VERSION_FORM.fullmatch(version):
            return None
        try:
            return self._named_manifest(
                key, version, self._blobs.read(_path(key, f"manifests/{version}.json"))
            )
        except FileNotFoundError:
            return None

    def _named_manifest(self, key: str, version: str, data: bytes) -> Manifest:
        """Return the manifest of a version.

        Raises:
            DamagedDataError: The file holds another version.
        """
        name = self._blobs.where(_path(key, f"manifests/{version}.json"))
        manifest = Manifest.from_json(data, name)
        if manifest.version != version or manifest.key != key:
            raise DamagedDataError(
                f"{name} holds version {manifest.version} of key {manifest.key!r}; restore it from"
                " a copy"
            )
        return manifest

    def _named(self, path: str) -> tuple[bytes, str]:
        return self._blobs.read(path), self._blobs.where(path)


def _path(key: str, rest: str) -> str:
    return f"{escape_key(key)}/{rest}"


def _sequence(name: str) -> int:
    """Return the sequence in the name of a version or of the entry of a checkpoint."""
    return int(name.partition("-")[0])


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None
