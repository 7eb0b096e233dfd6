"""The model store: snapshots, checkpoints and manifests of any number of model keys.

The store is plain files in a folder, or objects of a bucket.

    <root>/<key>/settings.json                the settings that everything below was made with
    <root>/<key>/snapshots/<digest>           models, see model.publishing.snapshot_file
    <root>/<key>/checkpoints/<entry>          states of learners, and where each stood
    <root>/<key>/manifests/<version>.json     one for each version; it names its parent
    <root>/<key>/LATEST                       the newest version

A version is named by its sequence and digest. Files are named by their content, so writing one
twice changes nothing, and a reader checks the digest of a file before it uses the bytes. A run that
repeats an earlier one (a retry or a replay) leaves everything as it was. A run that would write
another history into the store is refused. LATEST moves forward; only :meth:`ModelStore.roll_back`
moves it back. Versions that LATEST does not lead to were abandoned, or the versions between have
expired (:mod:`model.publishing.expiry`).
"""

from __future__ import annotations

import hashlib
from typing import Any

from model.errors import DamagedDataError, OptionError, StoreConflictError
from model.publishing import snapshots
from model.publishing.binding import NO_FLAGS, Flags, check_bound, check_rhythm
from model.publishing.blobs import create_named, escape_key, path_in, read_verified, unescape_key
from model.publishing.checkpoint_store import CheckpointStore, sequence_in
from model.publishing.manifest import VERSION_FORM, Manifest, Pointer
from model.publishing.missing import missing_version
from model.publishing.sealing import seal, unseal
from model.publishing.snapshots import ModelFile
from model.snapshot import Snapshot

_REMEDIES = (
    "If the input holds only documents that came after those that were learned, add"
    " --add_documents. To finish a run that was interrupted, give the same input, the same"
    " --publish_every, --switch_margin and --switch_after, and --resume_from=latest. For a new run,"
    " give an empty model store."
)

# The settings of the run that this process learns for, and their line.
_LINES: dict[str, tuple[dict[str, Any], bytes]] = {}


def _settings_line(digest: str, settings: dict[str, Any]) -> bytes:
    """Return the line of ``settings.json``. All keys of a run have the same, and it is long."""
    held, line = _LINES.get(digest, (None, b""))
    if held is not settings:
        line = seal({"digest": digest, "settings": settings})
        _LINES.clear()
        _LINES[digest] = settings, line
    return line


class ModelStore(CheckpointStore):
    """The store under ``root``: cheap to make, and safe to use from several processes at once."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
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
        path = path_in(key, "settings.json")
        if not self._blobs.create(path, _settings_line(settings_digest, settings)):
            name = self._blobs.where(path)
            bound = unseal(self._blobs.read(path), name)
            check_bound(bound, settings_digest, settings, flags, name)

    def settings(self, key: str) -> dict[str, Any]:
        """Return the settings that the part of a key is bound to, lists of words included.

        Raises:
            OptionError: The key has nothing in the store.
            DamagedDataError: The file is damaged.
        """
        path = path_in(key, "settings.json")
        try:
            bound: dict[str, Any] = unseal(self._blobs.read(path), self._blobs.where(path))
        except FileNotFoundError as error:
            raise missing_version(self, key, "latest") from error
        return dict(bound["settings"])

    def check_start(self, key: str, learned: int, every: tuple[str, int]) -> None:
        """Check that a run can continue or repeat what is published, before it learns anything.

        Args:
            key: The model key.
            learned: As in :func:`model.publishing.binding.check_rhythm`.
            every: How often the run publishes.

        Raises:
            StoreConflictError: The run would publish at other times than the store has versions.
            DamagedDataError: The newest version has a form of another release.
        """
        if (newest := self.latest(key)) is not None:
            snapshots.check_form(self._blobs, key, newest.snapshot)
            check_rhythm(newest, learned, every, self._blobs.where(escape_key(key)))

    def put_snapshot(self, snapshot: Snapshot) -> str:
        """Write the model of a candidate and return its digest, hex."""
        return snapshots.put(self._blobs, snapshot)

    def get_candidate(self, key: str, digest: str) -> Snapshot:
        """Return the model with this digest, with the topic ids of the learner that made it.

        Raises:
            DamagedDataError: It is missing, or does not have the content that was written.
        """
        return snapshots.get(self._blobs, key, digest)

    def get_snapshot(self, manifest: Manifest) -> Snapshot:
        """Return the model of a version, with the published topic ids.

        Raises:
            DamagedDataError: It is missing, does not have the content that was written, or has
                other topics than the manifest.
        """
        return self.get_model(manifest.key, manifest.version, ModelFile.of(manifest))

    def get_model(self, key: str, version: str, file: ModelFile) -> Snapshot:
        """Return the model of a version whose manifest was read before.

        Args:
            key: The model key.
            version: The name of the version, for messages.
            file: What the manifest says of the model.

        Raises:
            DamagedDataError: As :meth:`get_snapshot`.
        """
        return snapshots.in_published_order(self.get_candidate(key, file.snapshot), file, version)

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
                self._blobs, path_in(manifest.key, f"manifests/{manifest.version}.json"), data
            )
            target = Pointer(manifest.version, hashlib.sha256(data).hexdigest()).to_json()
            if self._blobs.replace_pointer(path_in(manifest.key, "LATEST"), pointer, target):
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
        found = self.latest(key) if version == "latest" else self.find(key, version)
        if found is None:
            raise missing_version(self, key, version)
        return found

    def manifests(self, key: str) -> list[Manifest]:
        """Return the history up to LATEST, the oldest version first.

        It begins where older manifests were removed.
        """
        newest = self.latest(key)
        return [] if newest is None else self.history(newest)

    def has_model(self, manifest: Manifest) -> bool:
        """Return whether the model of a version is there, and not expired."""
        return snapshots.exists(self._blobs, manifest.key, manifest.snapshot)

    def roll_back(self, manifest: Manifest) -> list[str]:
        """Make an earlier version the newest one, and remove the checkpoints after it.

        LATEST moves first, so an attempt that was cut off can be repeated.

        Returns:
            The names of the checkpoints that were removed.

        Raises:
            OptionError: LATEST does not lead to this version, or its model has expired.
            StoreConflictError: LATEST moved meanwhile.
        """
        pointer = self._pointer(manifest.key)
        self.up_to(manifest)
        self.get_snapshot(manifest)
        digest = hashlib.sha256(manifest.to_json()).hexdigest()
        target, path = Pointer(manifest.version, digest).to_json(), path_in(manifest.key, "LATEST")
        if pointer != target and not self._blobs.replace_pointer(path, pointer, target):
            raise StoreConflictError(
                f"{self._blobs.where(path)} moved meanwhile: a job publishes. Stop the job first."
            )
        return self.remove_checkpoints_after(manifest.key, manifest.sequence)

    def history(self, last: Manifest) -> list[Manifest]:
        """Return the versions from the oldest one that exists to ``last``.

        The chain begins with the first version, or with one whose parent has expired. Each parent
        has a smaller sequence, so the search ends.
        """
        found: list[Manifest] = [last]
        while (parent := found[-1].parent) is not None and (
            manifest := self.find(last.key, parent)
        ) is not None:
            found.append(manifest)
        return found[::-1]

    def up_to(self, last: Manifest) -> list[Manifest]:
        """Return the history up to one of the versions that LATEST leads to, the oldest first.

        Raises:
            DamagedDataError: There is no LATEST.
            OptionError: LATEST does not lead to this version.
        """
        name, newest = self._blobs.where(path_in(last.key, "LATEST")), self.latest(last.key)
        if newest is None:
            raise DamagedDataError(
                f"{name} is missing although there is a version {last.version}; restore it from a"
                " copy"
            )
        chain = self.history(newest)
        found = [manifest for manifest in chain if manifest.sequence <= last.sequence]
        if not found and chain[0].parent is not None:
            # The versions between this one and those that LATEST leads to have expired.
            return self.history(last)
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
        while name is not None and sequence_in(name) > manifest.sequence:
            name = self._parent(manifest.key, name)
        found = None if name is None else self.find(manifest.key, name)
        if found is None or not found.repeats(manifest):
            first = self.history(newest)[0]
            expired = found is None and first.parent is not None
            what = f"; its versions before {first.version} have expired" if expired else ""
            raise self._conflict(manifest, newest, f"within that history{what}")
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
            found = self.find(key, version)
            self._parents[key, version] = found.parent if found else None
        return self._parents[key, version]

    def _pointer(self, key: str) -> bytes | None:
        try:
            return self._blobs.read(path_in(key, "LATEST"))
        except FileNotFoundError:
            return None

    def _latest(self, key: str, pointer: bytes) -> Manifest:
        name = self._blobs.where(path_in(key, "LATEST"))
        target = Pointer.from_json(pointer, name)
        path = path_in(key, f"manifests/{target.version}.json")
        return self._named_manifest(
            key, target.version, read_verified(self._blobs, path, target.manifest)
        )

    def find(self, key: str, version: str) -> Manifest | None:
        """Return a version by its name; None if there is none."""
        # Versions come from users and become part of a path.
        if not VERSION_FORM.fullmatch(version):
            return None
        try:
            return self._named_manifest(
                key, version, self._blobs.read(path_in(key, f"manifests/{version}.json"))
            )
        except FileNotFoundError:
            return None

    def _named_manifest(self, key: str, version: str, data: bytes) -> Manifest:
        """Return the manifest of a version.

        Raises:
            DamagedDataError: The file holds another version.
        """
        name = self._blobs.where(path_in(key, f"manifests/{version}.json"))
        manifest = Manifest.from_json(data, name)
        if manifest.version != version or manifest.key != key:
            raise DamagedDataError(
                f"{name} holds version {manifest.version} of key {manifest.key!r}; restore it from"
                " a copy"
            )
        return manifest
