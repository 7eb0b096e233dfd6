"""The model store: snapshots, checkpoints and manifests of any number of model keys.

The store is plain files in a folder, or objects of a bucket.

    <root>/<key>/settings.json                the settings that everything below was made with
    <root>/<key>/snapshots/<digest>           models, see model.publishing.snapshots
    <root>/<key>/checkpoints/<entry>          states of learners, and where each stood
    <root>/<key>/manifests/<version>.json     one for each version; it names its parent
    <root>/<key>/LATEST                       the newest version

A version is named by its sequence and digest. Files are named by their content, so writing one
twice changes nothing, and a reader checks the digest of a file before it uses the bytes. A run that
repeats an earlier one (a retry or a replay) leaves everything as it was. A run that would write
another history into the store is refused. LATEST moves forward, with two exceptions. A run that a
runner restored may supersede versions of its own that it does not come to again
(:meth:`ModelStore.publish`), and :meth:`ModelStore.roll_back` moves it back. Versions that LATEST
does not lead to were abandoned, or the versions between have expired
(:mod:`beam_topics.model.publishing.expiry`).

LATEST makes a history part of the store. What a run leaves there that published nothing binds no
other run: settings without a version are replaced, and so are checkpoints
(:meth:`beam_topics.model.publishing.checkpoint_store.CheckpointStore.remove_checkpoints_of`).

The first version of a key binds its part of the store to settings (:class:`Binding`); a run with
other ones is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from beam_topics.model.errors import DamagedDataError, OptionError, StoreConflictError
from beam_topics.model.publishing.blobs import (
    VERSION_FORM,
    create_named,
    escape_key,
    path_in,
    read_verified,
    unescape_key,
)
from beam_topics.model.publishing.checkpoint_store import CheckpointStore, rollback, sequence_in
from beam_topics.model.publishing.manifest import Manifest, Pointer
from beam_topics.model.publishing.settings import Brief, Publication
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.publishing.snapshots import (
    MAGIC,
    ModelFile,
    has_digest,
    snapshot_from_bytes,
    snapshot_to_file,
)
from beam_topics.model.settings.options import MISSING, Option
from beam_topics.model.stored import checks, wire
from beam_topics.model.stored.wire import seal, unseal
from beam_topics.model.words.settings import TokeniserSettings

# For each path in the settings the option behind it; see model.options.Record.flags.
Flags = Mapping[str, Option]
_MOST_DIFFERENCES = 5
_MOST_CHARACTERS = 80
_SHOWN = 5
_REMEMBERED = 100_000
_REMEDIES = (
    "To learn what the input holds beyond those that were learned, add --add_documents: documents"
    " that were learned are known and left out. To finish a run that was interrupted, give the same"
    " input, the same --publish_every, and --resume_from=latest. For a new run, give an empty model"
    " store."
)


@dataclass(frozen=True)
class Binding:
    """The settings that the first version of a key binds its part of a store to.

    Attributes:
        digest: The digest of the settings.
        settings: The settings.
        flags: The options behind the settings, for messages. See
            :meth:`beam_topics.model.settings.options.Record.flags`.
    """

    digest: str
    settings: dict[str, Any]
    flags: Flags = field(default_factory=dict)

    @cached_property
    def line(self) -> bytes:
        """The contents of ``settings.json``; all keys of a run have the same, and it is long."""
        return seal({"digest": self.digest, "settings": self.settings})


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested settings under dotted names, with the values as JSON.

    In JSON a tuple and a list are equal.
    """
    flat: dict[str, str] = {}
    for name, value in values.items():
        flat |= (
            _flat(value, f"{prefix}{name}.")
            if isinstance(value, dict)
            else {f"{prefix}{name}": wire.canonical_json(value)}
        )
    return flat


def _differences(theirs: dict[str, str], ours: dict[str, str], flags: Flags) -> list[str]:
    """Return what differs, named by option.

    If the kind of a part differs, the fields of the part are left out.
    """
    for at, option in flags.items():
        if option.absent not in (None, MISSING) and not at.endswith(".kind"):
            absent = wire.canonical_json(option.absent)
            theirs, ours = {at: absent, **theirs}, {at: absent, **ours}
    differing = [at for at in sorted(theirs | ours) if theirs.get(at) != ours.get(at)]
    parts = tuple(at.removesuffix("kind") for at in differing if at.endswith(".kind"))
    shown = [
        at
        for at in differing
        if not any(at.startswith(part) and at != f"{part}kind" for part in parts)
    ]
    names = {at: flags[at].flag if at in flags else at for at in shown}
    values = {at: [_shown(one.get(at), flags.get(at)) for one in (theirs, ours)] for at in shown}
    return [f"{names[at]} is {values[at][0]} there and {values[at][1]} here" for at in shown]


def _shown(text: str | None, option: Option | None) -> str:
    """Return a value for a message: as users write it, and short, as a vocabulary can be long."""
    if text is None:
        return "absent"
    if option is not None and option.unit and text.isdecimal():
        return str(option.shown(int(text)))
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."


class ModelStore(CheckpointStore):
    """The store under ``root``: cheap to make, and safe to use from several processes at once."""

    def __init__(self, root: str, trust: str = "", sign: str = "") -> None:
        super().__init__(root, trust, sign)
        self._briefs: dict[tuple[str, str], Brief] = {}
        # The version of each key to which this object moved LATEST last.
        self._moved: dict[str, str] = {}

    def keys(self) -> list[str]:
        """Return the model keys that have something in the store, sorted."""
        return sorted(unescape_key(name[:-1]) for name in self.blobs.list("") if name.endswith("/"))

    def bind(self, key: str, binding: Binding) -> None:
        """Bind the part of a key to settings, before its first version is published.

        Settings that a run without a version left there are replaced.

        Raises:
            StoreConflictError: There is a version that was learned with other settings.
        """
        path = path_in(key, "settings.json")
        while not self.blobs.create(path, binding.line):
            if self.has_versions(key):
                self.check_settings(key, binding)
                return
            self.blobs.replace_pointer(path, self.blobs.read(path), binding.line)

    def rebind(self, key: str, binding: Binding) -> None:
        """Bind the part of a key to settings that go on from those that it is bound to."""
        path = path_in(key, "settings.json")
        while True:
            data = self.blobs.read(path)
            bound = unseal(data, self.blobs.where(path))
            if bound["digest"] == binding.digest:
                return
            new = {"digest": binding.digest, "settings": binding.settings, "before": bound}
            if self.blobs.replace_pointer(path, data, seal(new)):
                return

    def check_settings(self, key: str, binding: Binding) -> None:
        """Check settings against those of the versions of a key, if there are any.

        Fields of the file other than the settings and their digest are ignored (docs/formats.md).

        Raises:
            StoreConflictError: There is a version that was learned with other settings; the error
                lists the first differences.
            DamagedDataError: The file holds no settings.
        """
        path = path_in(key, "settings.json")
        if not self.has_versions(key) or not self.blobs.exists(path):
            return
        name = self.blobs.where(path)
        bound = unseal(self.blobs.read(path), name)
        stored: Any = bound.get("settings")
        if not checks.fits(stored, dict[str, Any]):
            checks.refuse(f"field settings of {name}", repr(stored), "an object with settings")
        same = wire.canonical_json(stored) == wire.canonical_json(binding.settings)
        if same and bound.get("digest") == binding.digest:
            return
        theirs, ours = _flat(stored), _flat(binding.settings)
        listed = "; ".join(_differences(theirs, ours, binding.flags)[:_MOST_DIFFERENCES])
        digests = f"{bound.get('digest')} there, {binding.digest} here: another release"
        listed = listed or f"they are equal, but their digests are not ({digests})"
        raise StoreConflictError(
            f"{name} was written with other settings: {listed}. Give the same settings, or use an"
            " empty model store."
        )

    def settings(self, key: str) -> dict[str, Any]:
        """Return the settings that the part of a key is bound to, lists of words included."""
        return dict(self.bound(key)["settings"])

    def bound(self, key: str) -> dict[str, Any]:
        """Return the contents of ``settings.json``: the settings and their digest.

        ``before`` has those from which they go on, if they do (:meth:`rebind`).

        Raises:
            OptionError: The key has nothing in the store.
            DamagedDataError: The file is damaged.
        """
        path = path_in(key, "settings.json")
        try:
            bound: dict[str, Any] = unseal(self.blobs.read(path), self.blobs.where(path))
        except FileNotFoundError as error:
            raise missing_version(self, key, "latest") from error
        return bound

    def check_start(self, newest: Manifest, learned: int, every: Publication) -> None:
        """Check that a run can continue or repeat what is published, before it learns anything.

        Args:
            newest: The newest version of the store.
            learned: The sequence of the last version that the run does not make again; 0 if it
                starts at the beginning.
            every: How often the run publishes.

        Raises:
            StoreConflictError: The run begins before the newest version, and would publish at other
                times than the store has versions.
            DamagedDataError: The newest version has a form of another release.
        """
        path = path_in(newest.key, f"snapshots/{newest.snapshot}")
        if self.blobs.exists(path):
            start = self.blobs.read(path, len(MAGIC))
            if start[:-1] == MAGIC[:-1] and start[-1:].isdigit():
                name = f"the snapshot {self.blobs.where(path)}"
                checks.known_form(name, int(start[-1:]), int(MAGIC[-1:]))
        if newest.sequence <= learned or newest.rhythm in (None, every):
            return
        raise StoreConflictError(
            f"{self.blobs.where(escape_key(newest.key))} has versions up to {newest.version} that"
            f" were published with --publish_every={newest.rhythm}, and this run would make them"
            f" again with --publish_every={Publication(*every)}. Give the same --publish_every. To"
            " learn what the input holds beyond those that were learned, add --add_documents, with"
            " any --publish_every. For a new run, give an empty model store."
        )

    def put_snapshot(self, snapshot: Snapshot) -> str:
        """Write the model of a candidate and return its digest, hex.

        Raises:
            DamagedDataError: The store holds other contents under this digest.
        """
        file = snapshot_to_file(snapshot)
        path = path_in(snapshot.key, f"snapshots/{file.digest}")
        # Another release of the library, or of this project, packs the same contents into other
        # bytes.
        create_named(self.blobs, path, file.data, lambda data: has_digest(data, file.digest))
        return file.digest

    def get_candidate(self, key: str, digest: str) -> Snapshot:
        """Return the model with this digest, with the topic ids of the learner that made it.

        Raises:
            DamagedDataError: It is missing, does not have the content that was written, or has a
                form of another release.
        """
        path = path_in(key, f"snapshots/{checks.hexadecimal('the digest of a snapshot', digest)}")
        name = self.blobs.where(path)
        try:
            data = self.blobs.read(path)
        except FileNotFoundError as error:
            raise DamagedDataError(
                f"{name} is missing from the model store: it has expired (--keep, or beam-topics"
                " versions), or was lost. Choose a version that beam-topics versions list shows"
                " with a model, or restore it from a copy"
            ) from error
        try:
            return snapshot_from_bytes(data, name, digest)
        except DamagedDataError as error:
            # Errors of the form and of the digest name the file already.
            if name in str(error) or not data.startswith(MAGIC):
                raise
            raise DamagedDataError(f"{name} is damaged: {error}") from error

    def get_snapshot(self, manifest: Manifest) -> Snapshot:
        """Return the model of a version, with the published topic ids.

        Raises:
            DamagedDataError: It is missing, does not have the content that was written, or has
                other topics than the manifest.
        """
        return self.get_model(manifest.key, manifest.version, ModelFile.of(manifest))

    def get_model(self, key: str, version: str, file: ModelFile) -> Snapshot:
        """Return the model of a version whose manifest was read before."""
        return file.published(self.get_candidate(key, file.snapshot), version)

    def publish(
        self,
        manifest: Manifest,
        base: str = "",
        on_superseded: Callable[[Manifest, list[str]], None] | None = None,
    ) -> Manifest:
        """Write a version and move LATEST to it.

        A version that is already part of the history is left as it is. If several publishers would
        follow one version with different ones, one of them succeeds.

        A runner may restore a run to a state before some of its versions, and late documents may
        then lead to others. Such versions are superseded: LATEST moves from the last of them to the
        new one. They are those that follow the parent of the new version, where the last run that
        moved LATEST began at the same ``base``, and the parent is that base or later.

        A worker that the runner gave up may publish for a while alongside its replacement, which
        supersedes its versions. The former moved LATEST to the parent of its next version itself,
        so it was not restored to that state. It supersedes nothing and is refused.

        Args:
            manifest: The version.
            base: The newest version when the run began, "" for none.
            on_superseded: Called with the version and the names of those that it superseded. None
                if the run supersedes nothing, because no runner restores it.

        Returns:
            The version as the store has it: another release may have written it before.

        Raises:
            StoreConflictError: LATEST is in another history, and not at the parent of the version.
        """
        data = manifest.to_json()
        while True:
            pointer = self._pointer(manifest.key)
            newest = None if pointer is None else self._latest(manifest.key, pointer)
            found = self._at(newest, manifest.sequence) if newest else None
            path = path_in(manifest.key, f"manifests/{manifest.version}.json")
            if found and found.repeats(manifest):
                if found.version == manifest.version:
                    self.signatures.write(path, data)
                if pointer is not None and found == newest:
                    self.signatures.write(path_in(manifest.key, "LATEST"), pointer)
                return found
            abandoned: list[str] = []
            if manifest.parent != (newest and newest.version):
                abandoned = self.after(newest, manifest.parent) if newest else []
                restored = on_superseded is not None and self._began(pointer, base, manifest)
                if restored and newest and self._moved.get(manifest.key, "") == manifest.parent:
                    raise self._replaced(newest, manifest)
                if not abandoned or not restored:
                    named, parent = manifest.version, manifest.parent
                    raise self._conflict(manifest.key, newest, named, manifest.sequence, parent)
            self.signatures.write(path, data)
            create_named(self.blobs, path, data)
            target = Pointer(manifest.version, hashlib.sha256(data).hexdigest(), base).to_json()
            if self.signatures.move(path_in(manifest.key, "LATEST"), pointer, target):
                self._moved[manifest.key] = manifest.version
                if on_superseded is not None and abandoned:
                    on_superseded(manifest, abandoned)
                return manifest

    def _to_sign(self, key: str) -> dict[str, bytes]:
        names = self.blobs.list(path_in(key, "manifests"))
        found = [self.find(key, name.removesuffix(".json")) for name in names]
        manifests = {f"manifests/{one.version}.json": one.to_json() for one in found if one}
        fitted = (f"classifiers/{name}" for name in self.blobs.list(path_in(key, "classifiers")))
        pointers = ["LATEST", "catalogue/LATEST", *(x for x in fitted if x.endswith(".latest"))]
        held = {name: self.signatures.pointer(path_in(key, name)) for name in pointers}
        there = {name: data for name, data in held.items() if data is not None}
        return manifests | super()._to_sign(key) | there

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
        return self.blobs.exists(path_in(manifest.key, f"snapshots/{manifest.snapshot}"))

    def with_models(self, last: Manifest) -> list[Manifest]:
        """Return a version after those before it that have a model; see :meth:`up_to`."""
        return [one for one in self.up_to(last) if one == last or self.has_model(one)]

    def roll_back(self, manifest: Manifest) -> list[str]:
        """Make an earlier version the newest one, and remove the checkpoints after it.

        LATEST moves first, so an attempt that was cut off can be repeated.

        Returns:
            The names of the checkpoints that were removed.

        Raises:
            OptionError: LATEST does not lead to this version, its model has expired, or the store
                is signed and this object does not sign.
            StoreConflictError: LATEST moved meanwhile.
        """
        self.signatures.check_signs(manifest.key)
        pointer = self._pointer(manifest.key)
        self.up_to(manifest)
        self.get_snapshot(manifest)
        digest = hashlib.sha256(manifest.to_json()).hexdigest()
        # No run began here, so none takes the versions up to this one for its own.
        target = Pointer(manifest.version, digest, manifest.version).to_json()
        path = path_in(manifest.key, "LATEST")
        if pointer != target and not self.signatures.move(path, pointer, target):
            raise StoreConflictError(
                f"{self.blobs.where(path)} moved meanwhile: a job publishes. Stop the job first."
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
        name, newest = self.blobs.where(path_in(last.key, "LATEST")), self.latest(last.key)
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

    def check_offer(self, key: str, base: str, sequence: int, chain: str, offered: int) -> None:
        """Check a version of a run that repeats the history up to its base, before it is written.

        Args:
            key: The model key.
            base: The newest version when the run began.
            sequence: The minibatch after which the version would be made.
            chain: h_n of that minibatch, hex.
            offered: The sequence of the version before, 0 for none.

        Raises:
            StoreConflictError: The history has no such version.
        """
        newest = self.manifest(key, base)
        found = self._at(newest, sequence)
        parent = sequence_in(found.parent or "0") if found else None
        if found is None or found.chain != chain or parent != offered:
            before = self._at(newest, offered)
            named, follows = f"after minibatch {sequence}", before.version if before else None
            raise self._conflict(key, newest, named, sequence, follows)

    def check_history(self, known: Manifest, chain: str) -> None:
        """Refuse an input whose documents up to a version are not those that it was made from.

        ``chain`` is h_n of the input, hex: after the minibatch of the version, or at its end.
        """
        if known.chain != chain:
            raise StoreConflictError(
                f"{self.root}, key {known.key!r}, is at version {known.version}, and this input"
                f" holds other documents up to there, or fewer. {_REMEDIES}"
            )

    def _began(self, pointer: bytes | None, base: str, manifest: Manifest) -> bool:
        """Return whether the run that moved LATEST began at ``base``, and a version follows it."""
        if pointer is None:
            return False
        moved = Pointer.from_json(pointer, self.blobs.where(path_in(manifest.key, "LATEST")))
        parent = sequence_in(manifest.parent or "0")
        return moved.base == base and sequence_in(base or "0") <= parent

    def _at(self, last: Manifest, sequence: int) -> Manifest | None:
        """Return the version after a minibatch in the history up to ``last``; None if none is.

        A file alone proves nothing, because a publisher that lost the race for LATEST left one too.
        """
        if last.sequence < sequence:
            return None
        name: str | None = last.version
        while name is not None and sequence_in(name) > sequence:
            name = self._parent(last.key, name)
        found = None if name is None else self.find(last.key, name)
        return found if found is not None and found.sequence == sequence else None

    def after(self, last: Manifest, parent: str | None) -> list[str]:
        """Return the names of the versions from ``last`` back to the one after ``parent``.

        There are none if ``parent`` is not in the history.
        """
        found: list[str] = []
        name: str | None = last.version
        while name is not None and name != parent:
            found.append(name)
            name = self._parent(last.key, name)
        return found if name == parent else []

    def _conflict(
        self, key: str, newest: Manifest | None, named: str, sequence: int, parent: str | None
    ) -> StoreConflictError:
        """Return the error of a version that the history up to ``newest`` does not take."""
        found = f"another one, {named}, which follows {parent or 'no version'}"
        rest, first = "", self.history(newest)[0] if newest else None
        if first is not None and first.parent is not None and sequence < first.sequence:
            found += f", and its versions before {first.version} have expired"
        elif newest is not None and parent is not None and self.after(newest, parent):
            rest = (
                f" To give up the versions after {parent}, stop the job that made them, run"
                f" {rollback(self.root, key, parent)}, and start this run again."
            )
        return StoreConflictError(
            f"{self.root}, key {key!r}, is at version {newest.version if newest else 'none'}, and"
            f" this run would publish {found}. {_REMEDIES}{rest}"
        )

    def _replaced(self, newest: Manifest, manifest: Manifest) -> StoreConflictError:
        """Return the error of a worker in whose place another one publishes."""
        return StoreConflictError(
            f"another worker of this job publishes: {self.root}, key {manifest.key!r}, is at its"
            f" version {newest.version}, and this worker would publish {manifest.version}, which"
            f" follows {manifest.parent}. The job goes on from there without this worker. If this"
            " comes again and again, two jobs publish into the store: stop one of them."
        )

    def _parent(self, key: str, version: str) -> str | None:
        """Return the version before; None before the first, and where manifests were removed."""
        found = self.brief(key, version)
        return found.parent if found else None

    def brief(self, key: str, version: str) -> Brief | None:
        """Return the brief of a version; None if there is no manifest.

        A manifest is read once, because it never changes. It may have been removed since.
        """
        known = self._briefs.get((key, version))
        if known is None and (found := self.find(key, version)):
            known = Brief(version, found.event_time, found.snapshot, found.parent)
            if len(self._briefs) >= _REMEMBERED:
                self._briefs.clear()
            self._briefs[key, version] = known
        return known

    def _pointer(self, key: str) -> bytes | None:
        return self.signatures.pointer(path_in(key, "LATEST"))

    def _latest(self, key: str, pointer: bytes) -> Manifest:
        name = self.blobs.where(path_in(key, "LATEST"))
        target = Pointer.from_json(pointer, name)
        path = path_in(key, f"manifests/{target.version}.json")
        return self._named_manifest(
            key, target.version, read_verified(self.blobs, path, target.manifest)
        )

    def find(self, key: str, version: str) -> Manifest | None:
        """Return a version by its name; None if there is none."""
        # Versions come from users and become part of a path.
        if not VERSION_FORM.fullmatch(version):
            return None
        try:
            return self._named_manifest(
                key, version, self.blobs.read(path_in(key, f"manifests/{version}.json"))
            )
        except FileNotFoundError:
            return None

    def _named_manifest(self, key: str, version: str, data: bytes) -> Manifest:
        """Return the manifest of a version."""
        path = path_in(key, f"manifests/{version}.json")
        self.signatures.check(path, data)
        name = self.blobs.where(path)
        manifest = Manifest.from_json(data, name)
        if manifest.version != version or manifest.key != key:
            raise DamagedDataError(
                f"{name} holds version {manifest.version} of key {manifest.key!r}; restore it from"
                " a copy"
            )
        return manifest


def settings_of_keys(store: ModelStore) -> TokeniserSettings | None:
    """Return the tokeniser that finds the key of a text; None where texts have no keys."""
    if store.has_versions(""):
        return None
    key = next(filter(store.has_versions, store.keys()), "")
    found = store.manifest(key).tokeniser if key else None
    return found if found is not None and found.has_keys else None


def missing_version(store: ModelStore, key: str, version: str) -> OptionError:
    """Return the error that names the option to correct.

    A store that was moved is reported as ``--model_store``, and not as ``--model_version``.
    """
    keys = list(islice(filter(store.has_versions, store.keys()), _SHOWN))
    if not keys:
        return OptionError(
            "--model_store",
            store.root,
            "a folder with a published model",
            "Correct the path, or train a model first.",
        )
    if not store.has_versions(key):
        allowed = f"a key with a model in {store.root}, such as {', '.join(map(repr, keys))}"
        return OptionError("--model_key", key, allowed, "Give one of those with --model_key.")
    newest = ", ".join(manifest.version for manifest in store.manifests(key)[-_SHOWN:])
    allowed = f"latest, or a version of key {key!r} in {store.root} (the newest: {newest})"
    return OptionError("--model_version", version, allowed, "Correct the version.")
