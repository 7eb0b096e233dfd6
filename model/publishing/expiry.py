"""Remove versions and checkpoints that are no longer needed.

An expiry first lists what can go (:meth:`Expiry.plan`) and then removes it in an order in which a
reader never finds a reference without its file, unless the file is the model of a version that
expired (:meth:`Expiry.carry_out`):

- A version that only lost its place between two rules loses its snapshot. Its manifest stays, so
  the chain of versions stays intact.
- Versions beyond all ages are removed from the oldest on, the manifest before the snapshot. The
  chain of LATEST then ends at a version whose parent is missing.
- The pointer to a classifier is removed before the classifier.

Some things stay whatever the settings say: the newest version and its parent; pinned versions;
everything with a sequence after the newest version, because candidates may wait; checkpoints from
the newest point on that LATEST has reached; settings. A file stays if it was written or used within
the time of grace before LATEST moved, by the clock of the store. It also stays if it was used after
it was listed. So an expiry may be killed and repeated at any moment, alongside any publishers.

A file ``<root>/<key>/pins/<version>.json`` pins a version.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.publishing.blobs import VERSION_FORM, Blobs, Stamp, escape_key, path_in
from beam_topics.model.publishing.checkpoint_store import ENTRY, sequence_in
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.settings import Brief, Keep
from beam_topics.model.publishing.snapshots import MAGIC
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.stored.wire import header_of, seal, unseal

_ENDING, _POINTER = ".json", ".latest"
# The length of the name of a file that is named by its digest.
_DIGEST = 64


def pinned(blobs: Blobs, key: str) -> set[str]:
    """Return the versions of a key that are pinned."""
    names = (name.removesuffix(_ENDING) for name in blobs.list(path_in(key, "pins")))
    return {name for name in names if VERSION_FORM.fullmatch(name)}


def pin(blobs: Blobs, manifest: Manifest) -> None:
    """Pin a version.

    Raises:
        OptionError: The model of the version has expired.
    """
    path = _path(manifest.key, manifest.version)
    blobs.create(path, seal({"version": manifest.version}))
    # An expiry may have read the pins before this one was there. It leaves what was used since.
    needed = (f"snapshots/{manifest.snapshot}", f"manifests/{manifest.version}.json")
    used = [blobs.touch(path_in(manifest.key, one)) for one in needed]
    if not all(used):
        unpin(blobs, manifest.key, manifest.version)
        raise OptionError(
            "--model_version",
            manifest.version,
            "a version whose model is there; this one has expired",
            "beam-topics versions list shows the versions.",
        )


def unpin(blobs: Blobs, key: str, version: str) -> None:
    """Unpin a version; a version that is not pinned stays as it is."""
    path, name = _path(key, version), f"{version}{_ENDING}"
    while (stamp := blobs.stamps(path_in(key, "pins")).get(name)) is not None:
        if blobs.remove(path, stamp):
            return


def _path(key: str, version: str) -> str:
    return path_in(key, f"pins/{version}{_ENDING}")


class Removal(NamedTuple):
    """The path of a file that can go, and its stamp when it was listed."""

    path: str
    stamp: Stamp


class Expiry:
    """The expiry of one model store."""

    def __init__(self, root: str, keep: Keep, trust: str = "") -> None:
        self._store, self._keep = ModelStore(root, trust), keep

    def expire(self, key: str) -> int:
        """Remove what can go of a key, and return the number of files."""
        return self.carry_out(self.plan(key))

    def plan(self, key: str) -> list[Removal]:
        """Return what can go of a key, in the order of removal."""
        return _Plan(self._store, key, self._keep, self._chain(key)).removals()

    def carry_out(self, plan: Iterable[Removal]) -> int:
        """Remove files that were not used since, and return their number.

        The rest of a run of manifests stays if one of them stays, because a chain ends only once.
        """
        removed, stuck = 0, False
        for path, stamp in plan:
            manifest = "/manifests/" in path
            if manifest and stuck:
                continue
            gone = self._store.blobs.remove(path, stamp)
            stuck |= manifest and not gone
            removed += gone
        return removed

    def _chain(self, key: str) -> list[Brief]:
        """Return the versions up to LATEST, in ascending order."""
        newest = self._store.latest(key)
        found: list[Brief] = []
        version = newest.version if newest else None
        # What is remembered may have been removed.
        there = set(self._store.blobs.list(path_in(key, "manifests")))
        while f"{version}{_ENDING}" in there and (brief := self._store.brief(key, str(version))):
            found.append(brief)
            version = brief.parent
        return found[::-1]


class _Plan:
    """What can go of one key, from one listing of its files."""

    def __init__(self, store: ModelStore, key: str, keep: Keep, chain: list[Brief]) -> None:
        self._store, self._key, self._keep, self._chain = store, key, keep, chain
        blobs = store.blobs
        self._files = {
            folder: blobs.stamps(path_in(key, folder))
            # A signature is written before its file, so it is listed before.
            for folder in ("signatures", "manifests", "snapshots", "checkpoints", "classifiers")
        }
        latest = blobs.stamps(escape_key(key)).get("LATEST")
        self._before = latest.time - keep.grace if latest else None
        self._newest = sequence_in(chain[-1].version) if chain else 0
        # Pins are read last: a pin that comes later marks what it needs as used.
        pins = pinned(blobs, key)
        ended = keep.ends(chain)
        self._expired = [one for one in chain[:ended] if one.version not in pins]
        # A version without a snapshot cannot stand for its period.
        whole = [one for one in chain[ended:] if one.snapshot in self._files["snapshots"]]
        kept = {one.version for one in (*keep.chosen(whole), *chain[-2:])} | pins
        self._thinned = [one for one in chain[ended:] if one.version not in kept]
        self._kept = kept

    def removals(self) -> list[Removal]:
        """Return what can go, in the order of removal."""
        if not self._chain or self._before is None:
            return []
        found = [*self._classifiers(), *self._versions(), *self._strays(), *self._checkpoints()]
        return list(dict.fromkeys([*found, *self._signatures()]))

    def _signatures(self) -> list[Removal]:
        """Return the signatures of manifests and checkpoints that an earlier expiry removed."""
        found: list[Removal] = []
        for signature in self._files["signatures"]:
            name, _, _ = signature.rpartition(".")
            is_entry = ENTRY.fullmatch(name) is not None
            is_version = VERSION_FORM.fullmatch(name.removesuffix(_ENDING)) is not None
            there = self._files["checkpoints" if is_entry else "manifests"]
            if (is_entry or is_version) and name not in there:
                found += self._old("signatures", signature)
        return found

    def _old(self, folder: str, name: str) -> list[Removal]:
        """Return a file if it is there and its time of grace has passed."""
        stamp = self._files[folder].get(name)
        if stamp is None or self._before is None or stamp.time > self._before:
            return []
        return [Removal(path_in(self._key, f"{folder}/{name}"), stamp)]

    def _versions(self) -> list[Removal]:
        """Return manifests and snapshots of versions that expired, and snapshots of thinned ones.

        A snapshot that a version refers to that stays is left out.
        """
        found: list[Removal] = []
        expired = self._expired
        for at, one in enumerate(expired):
            manifest = self._old("manifests", f"{one.version}{_ENDING}")
            if not manifest:
                # The chain must not end twice, so the versions after this one stay, too.
                expired = expired[:at]
                break
            found += manifest
        needed = self._needed({one.version for one in (*expired, *self._thinned)})
        for one in (*expired, *self._thinned):
            if one.snapshot not in needed:
                found += self._old("snapshots", one.snapshot)
        return found

    def _needed(self, without: set[str]) -> set[str]:
        """Return the snapshots of all versions but some, of those outside the chain, too."""
        names = (name.removesuffix(_ENDING) for name in self._files["manifests"])
        others = (self._store.brief(self._key, name) for name in names if name not in without)
        return {one.snapshot for one in others if one}

    def _strays(self) -> list[Removal]:
        """Return manifests that lost a race, and snapshots that no manifest refers to.

        Candidates after the newest version may wait for the other islands, so they stay.
        """
        known, found, lost = {one.version for one in self._chain} | self._kept, [], set()
        for name in self._files["manifests"]:
            version = name.removesuffix(_ENDING)
            if VERSION_FORM.fullmatch(version) and version not in known and self._is_lost(version):
                old = self._old("manifests", name)
                found += old
                lost.update([version] * len(old))
        referred = self._needed(lost) | {one.snapshot for one in self._chain}
        for digest in self._files["snapshots"]:
            if len(digest) == _DIGEST and digest not in referred:
                old = self._old("snapshots", digest)
                found += old if old and self._is_past(digest) else []
        return found

    def _is_lost(self, version: str) -> bool:
        """Return whether a version that LATEST does not lead to lost a race, or is too old.

        A version before the end of the chain was pinned once. It stays while it is young enough.
        """
        first = self._chain[0]
        if sequence_in(version) > sequence_in(first.version):
            return sequence_in(version) <= self._newest
        brief = self._store.brief(self._key, version)
        return brief is not None and self._keep.ends([brief, self._chain[-1]]) > 0

    def _is_past(self, digest: str) -> bool:
        """Return whether a snapshot is of a minibatch up to the newest version."""
        path = path_in(self._key, f"snapshots/{digest}")
        try:
            sequence = header_of(MAGIC, self._store.blobs.read(path)).get("sequence")
        except (FileNotFoundError, DamagedDataError):
            return False
        return isinstance(sequence, int) and sequence <= self._newest

    def _checkpoints(self) -> list[Removal]:
        """Return the checkpoints before the oldest point that is kept."""
        if not self._keep.checkpoints:
            return []
        names = [name for name in self._files["checkpoints"] if ENTRY.fullmatch(name)]
        islands: dict[int, set[str]] = {}
        for name in names:
            islands.setdefault(sequence_in(name), set()).add(name.split("-")[1])
        most = max(map(len, islands.values()), default=0)
        whole = sorted(point for point, found in islands.items() if len(found) == most)
        reached = [point for point in whole if point <= self._newest]
        # What came after the newest version is published again from the point before it.
        if not reached:
            return []
        first = min(reached[-1], whole[-self._keep.checkpoints :][0])
        gone = [name for name in names if sequence_in(name) < first]
        return [removal for name in gone for removal in self._old("checkpoints", name)]

    def _classifiers(self) -> list[Removal]:
        """Return the classifiers of versions without a model, each after the pointer to it."""
        gone = {one.version for one in (*self._expired, *self._thinned)}
        found: list[Removal] = []
        for version in sorted(gone):
            pointer = self._old("classifiers", f"{version}{_POINTER}")
            if pointer:
                path = pointer[0].path
                blobs = self._store.blobs
                digest = unseal(blobs.read(path), blobs.where(path)).get("digest")
                found += pointer
                found += self._old("classifiers", f"{digest}{_ENDING}")
                found += self._old("classifiers", str(digest))
                signed = self._store.signatures.of_pointer(path)
                found += [Removal(*one) for one in signed.items()]
        return found
