"""The checkpoints of a model store: states of learners, and the points to continue from.

    <root>/<key>/checkpoints/<entry>          where a learner stood, and its state
    <root>/<key>/known/<digest of a state>    which documents were learned since the one before

The file is a message (:mod:`beam_topics.model.stored.wire`). Its header is a sealed entry, and its
only blob is the state, whose digest the entry has. Choosing a point reads only headers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from shlex import quote

from beam_topics.model.errors import DamagedDataError, OptionError, StoreConflictError
from beam_topics.model.publishing.blobs import Blobs, create_named, path_in
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.manifest import CheckpointEntry, Manifest
from beam_topics.model.publishing.signatures import Signatures
from beam_topics.model.stored import checks, wire

_SHOWN = 5
MAGIC = b"BTP1"
ENTRY = re.compile(r"[0-9]{12,16}-[0-9]{4,16}-[0-9a-f]{16}")
# More than a header takes: a key is a name of at most 255 bytes.
_HEADER_BYTES = 8192


class CheckpointStore:
    """The checkpoints of a :class:`beam_topics.model.publishing.store.ModelStore`.

    Args:
        root: The folder or bucket.
        trust, sign: The files of keys, see :mod:`beam_topics.model.publishing.signatures`.
    """

    def __init__(self, root: str, trust: str = "", sign: str = "") -> None:
        self.root = root
        self.blobs: Blobs = blobs_at(root)
        self.signatures = Signatures(self.blobs, trust, sign)

    def put_checkpoint(self, entry: CheckpointEntry, data: bytes) -> CheckpointEntry:
        """Write the state of a learner with its entry; return the entry with its digest."""
        entry = replace(entry, digest=hashlib.sha256(data).hexdigest())
        line, path = entry.to_json(), path_in(entry.key, f"checkpoints/{entry.file_name}")
        self.signatures.write(path, line.rstrip())
        create_named(self.blobs, path, wire.pack_encoded(MAGIC, line, data))
        return entry

    def get_checkpoint(self, key: str, digest: str) -> bytes:
        """Return the state with this digest.

        Raises:
            DamagedDataError: It is missing, or does not have the content that was written.
        """
        path = self._path_of(key, digest)
        name = self.blobs.where(path)
        try:
            _, (state,) = wire.unpack(MAGIC, self.blobs.read(path), 1)
        except FileNotFoundError as error:
            raise DamagedDataError(f"{name} is missing; restore it from a copy") from error
        except DamagedDataError as error:
            raise DamagedDataError(f"{name} is damaged: {error}") from error
        if hashlib.sha256(state).hexdigest() != digest:
            raise DamagedDataError(
                f"{name} is damaged: its state of {len(state)} bytes does not have the digest"
                f" {digest}; restore it from a copy"
            )
        return state

    def put_known(self, key: str, digest: str, data: bytes) -> None:
        """Write which documents were learned between the checkpoint before and this one."""
        path = path_in(key, f"known/{digest}")
        self.signatures.write(path, data)
        self.blobs.create(path, data)

    def get_known(self, key: str, digest: str) -> bytes | None:
        """Return what :meth:`put_known` wrote; None if nothing was written."""
        path = path_in(key, f"known/{digest}")
        try:
            data = self.blobs.read(path)
        except FileNotFoundError:
            return None
        self.signatures.check(path, data)
        return data

    def known(self, key: str) -> list[str]:
        """Return the digests of checkpoints that have known documents."""
        return self.blobs.list(path_in(key, "known"))

    def replace_known(self, key: str, digest: str, data: bytes) -> None:
        """Replace the known documents of a checkpoint."""
        path = path_in(key, f"known/{digest}")
        self.signatures.remove(path)
        self.signatures.write(path, data)
        self.blobs.replace_pointer(path, self.blobs.read(path), data)

    def remove_checkpoint(self, entry: CheckpointEntry, known: bool) -> None:
        """Remove a checkpoint with its signatures, and with its known documents if ``known``."""
        names = {"checkpoints": entry.file_name} | ({"known": entry.digest} if known else {})
        for folder, name in names.items():
            path = path_in(entry.key, f"{folder}/{name}")
            if stamp := self.blobs.stamps(path_in(entry.key, folder)).get(name):
                self.blobs.remove(path, stamp)
            self.signatures.remove(path)

    def sign(self, key: str) -> int:
        """Sign what is there of a key, and return the number of files.

        All of them are read, and checked, before one is signed.
        """
        signed = self._to_sign(key)
        for name, data in signed.items():
            self.signatures.write(path_in(key, name), data)
        return len(signed)

    def _to_sign(self, key: str) -> dict[str, bytes]:
        """Return what is signed of the files of a key, by their names below it."""
        entries = [name for names in self._entries(key).values() for name in names]
        known = {f"known/{one}": self.get_known(key, one) or b"" for one in self.known(key)}
        return {f"checkpoints/{name}": self._line(key, name) for name in entries} | known

    def use_checkpoint(self, key: str, digest: str) -> bool:
        """Mark a checkpoint as used, so that no expiry removes it; return whether it is there."""
        return self.blobs.touch(self._path_of(key, digest))

    def has_checkpoint(self, entry: CheckpointEntry) -> bool:
        """Return whether there is a checkpoint of this place, whatever its digest."""
        names = self._entries(entry.key).get(entry.sequence, [])
        return entry in (replace(self._read_entry(entry.key, n), digest="") for n in names)

    def has_checkpoints(self, key: str) -> bool:
        """Return whether a key has a checkpoint."""
        return bool(self._entries(key))

    def checkpoints(self, key: str) -> list[CheckpointEntry]:
        """Return all checkpoints of a key, by sequence and island."""
        entries = self._entries(key).values()
        return [self._read_entry(key, name) for names in entries for name in names]

    def resume_point(
        self,
        key: str,
        resume_from: str,
        islands: int,
        digests: Sequence[str] = (),
        newest: Manifest | None = None,
    ) -> list[CheckpointEntry]:
        """Return the checkpoints to continue from, one for each island, after the same minibatch.

        Args:
            key: The model key.
            resume_from: A sequence number, or ``latest``: the newest one that all islands have.
            islands: The number of islands.
            digests: The digests of the settings. Checkpoints of others do not count; without
                digests all do. Of two after the same minibatch the later digest's is returned.
            newest: The newest version. Checkpoints of other documents up to it do not count.

        Raises:
            OptionError: There is no such point.
            StoreConflictError: The store holds two histories at that point.
        """
        entries = self._entries(key)

        def at_point(number: int) -> list[dict[int, CheckpointEntry]]:
            chain = newest.chain if newest and newest.sequence == number else None
            found = self._histories(key, entries.get(number, []), islands, digests)
            return [one for one in found if chain is None or one[0].chain == chain]

        # The newest first, and no more than are needed: a store may hold checkpoints of years.
        points = ((n, found) for n in sorted(entries, reverse=True) if (found := at_point(n)))
        if resume_from == "latest":
            at, histories = next(points, (0, []))
        else:
            at = int(resume_from) if resume_from.isascii() and resume_from.isdigit() else 0
            histories = at_point(at)
        if not histories:
            listed = ", ".join(map(str, sorted(n for n, _ in islice(points, _SHOWN)))) or "none"
            raise OptionError(
                "--resume_from",
                resume_from,
                f"latest, or a sequence at which all {islands} islands of key {key!r} have a"
                f" checkpoint with these settings (the newest: {listed})",
                "Give one of those, or start again with an empty model store.",
            )
        if len(histories) > 1:
            remedy = "Start again without --resume_from"
            if newest is not None and at > newest.sequence:
                command = rollback(self.root, key, newest.version)
                remedy = f"To give up both, run {command}, and start this run again"
            elif newest is not None:
                remedy = "Give --resume_from=latest"
            raise StoreConflictError(
                f"{self.root} has two histories after minibatch {at}, and neither was published."
                f" {remedy}."
            )
        return [entry for _, entry in sorted(histories[0].items())]

    def remove_checkpoints_after(self, key: str, sequence: int) -> list[str]:
        """Remove the checkpoints after a minibatch, and return their names."""
        return self._remove(key, lambda name: sequence_in(name) > sequence)

    def remove_checkpoints_of(self, key: str, island: int) -> None:
        """Remove the checkpoints of an island that runs without a version left."""
        self._remove(key, lambda name: int(name.split("-")[1]) == island)

    def _remove(self, key: str, goes: Callable[[str], bool]) -> list[str]:
        """Remove the checkpoints whose names are to go, the newest first, and return them."""
        folder = path_in(key, "checkpoints")
        found = {
            name: stamp
            for name, stamp in self.blobs.stamps(folder).items()
            if ENTRY.fullmatch(name) and goes(name)
        }
        for name, stamp in sorted(found.items(), reverse=True):
            self.blobs.remove(f"{folder}/{name}", stamp)
        return sorted(found)

    def _path_of(self, key: str, digest: str) -> str:
        """Return the path of the file that has the state with this digest."""
        short = checks.hexadecimal("the digest of a checkpoint", digest)[:16]
        folder = path_in(key, "checkpoints")
        names = [
            name
            for name in self.blobs.list(folder)
            if ENTRY.fullmatch(name) and name.endswith(f"-{short}")
        ]
        return f"{folder}/{names[0] if names else digest}"

    def _entries(self, key: str) -> dict[int, list[str]]:
        """Return the names of the entries of checkpoints by sequence, in order."""
        found: dict[int, list[str]] = {}
        for name in self.blobs.list(path_in(key, "checkpoints")):
            if ENTRY.fullmatch(name):
                found.setdefault(sequence_in(name), []).append(name)
        return found

    def _line(self, key: str, name: str) -> bytes:
        """Return the line of an entry, which is signed."""
        path = path_in(key, f"checkpoints/{name}")
        try:
            header = wire.header_of(MAGIC, self.blobs.read(path, _HEADER_BYTES))
        except DamagedDataError as error:
            raise DamagedDataError(f"{self.blobs.where(path)} is damaged: {error}") from error
        line = wire.canonical_json(header).encode()
        self.signatures.check(path, line)
        return line

    def _read_entry(self, key: str, name: str) -> CheckpointEntry:
        """Read the entry of a checkpoint, without its state."""
        where = self.blobs.where(path_in(key, f"checkpoints/{name}"))
        entry = CheckpointEntry.from_json(self._line(key, name), where)
        if entry.file_name != name or entry.key != key:
            raise DamagedDataError(
                f"{where} holds the entry {entry.file_name} of key {entry.key!r}; restore it from a"
                " copy"
            )
        return entry

    def _histories(
        self, key: str, names: list[str], islands: int, digests: Sequence[str]
    ) -> list[dict[int, CheckpointEntry]]:
        """Return the histories that have an entry of every island, each as entries by island.

        If an island has two entries, the later one was written at the end of a stream and knows of
        one more version. It is the one that is returned.
        """
        chains: dict[str, dict[int, CheckpointEntry]] = {}
        found = [self._read_entry(key, name) for name in names]
        if digests:
            found = [entry for entry in found if entry.settings_digest in digests]
            found.sort(key=lambda entry: digests.index(entry.settings_digest))
        for entry in sorted(found, key=lambda entry: entry.offered):
            if entry.island < islands:
                chains.setdefault(entry.chain, {})[entry.island] = entry
        return [one for one in chains.values() if len(one) == islands]


def rollback(root: str, key: str, version: str) -> str:
    """Return the command that makes a version the newest one again."""
    of_key = f" --model_key={quote(key)}" if key else ""
    return (
        f"beam-topics versions rollback --model_store={quote(root)}{of_key}"
        f" --model_version={version}"
    )


def sequence_in(name: str) -> int:
    """Return the sequence in the name of a version or of the entry of a checkpoint."""
    return int(name.partition("-")[0])
