"""The bytes of the model store: operations that a folder and an object store both support.

Paths are relative to a root and use ``/``. Everything but a pointer is written once and never
changed. The operation that needs most care is :meth:`Blobs.replace_pointer`, a compare-and-set. In
a folder it is a lock around ``os.replace``; in an object store it is ``if_generation_match``
(:mod:`beam_topics.model.publishing.gcs`).

>>> import tempfile
>>> blobs = LocalBlobs(tempfile.mkdtemp())
>>> blobs.create("a/one", b"1"), blobs.create("a/one", b"1"), blobs.create("a/one", b"2")
(True, True, False)
>>> blobs.list("a")
['one']

A file has a :class:`Stamp`, which changes when the file is written or used again (``touch``).
``remove`` takes the stamp that was seen, and leaves a file that was used since. So what a writer
found in its place, and refers to now, is not removed behind it.

A model key is any text. :func:`escape_key` turns it into a name that is safe in a path.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import quote, unquote

from beam_topics.model.errors import FULL_DISK, DamagedDataError, OptionError, OutputError
from beam_topics.model.publishing.local_files import read_regular, sync_folder, write_beside

# A file system takes names of 255 bytes.
KEY_BYTES = 255


class Stamp(NamedTuple):
    """When a file was written or used last.

    Attributes:
        time: In microseconds, by the clock of the file system or of the service.
        token: What differs after each change.
    """

    time: int
    token: str


class Blobs(Protocol):
    """Named bytes under one root."""

    def where(self, path: str) -> str:
        """Return the full name of a path, for messages."""

    def check_writable(self) -> None:
        """Check, without writing anything, that files can be written under the root.

        Raises:
            OptionError: They cannot.
        """

    def read(self, path: str, most: int | None = None) -> bytes:
        """Return the bytes of a path, or the first ones, at most ``most``.

        Raises:
            FileNotFoundError: The path does not exist.
            DamagedDataError: It is not a regular file, or leads out of the root.
        """

    def exists(self, path: str) -> bool:
        """Return whether the path exists."""

    def create(self, path: str, data: bytes) -> bool:
        """Write a path that does not exist yet; return whether it holds ``data`` afterwards.

        A path that holds other bytes is left as it is.
        """

    def list(self, prefix: str) -> list[str]:
        """Return the sorted names directly in a folder; the name of a folder ends in ``/``.

        Args:
            prefix: The folder; ``""`` is the root.
        """

    def replace_pointer(self, path: str, expected: bytes | None, data: bytes) -> bool:
        """Write ``data`` if the path holds ``expected`` at this moment, and return whether it did.

        Of several callers that replace the same bytes one gets True, even if they write the same.

        Args:
            path: The path of the pointer.
            expected: The bytes that the path must hold; None if it must not exist.
            data: The new bytes.
        """

    def stamps(self, prefix: str) -> dict[str, Stamp]:
        """Return the stamps of the files directly in a folder, by name."""

    def touch(self, path: str) -> bool:
        """Change the stamp of a path; return whether the path exists."""

    def remove(self, path: str, stamp: Stamp) -> bool:
        """Remove a path if it has this stamp; return whether it is gone afterwards."""


@lru_cache(maxsize=1024)
def escape_key(key: str) -> str:
    """Return the name of the folder of a key.

    It is ``_`` for the empty key, and never a hidden or a special name.

    Raises:
        OptionError: The name would be longer than a file system allows.
    """
    name = quote(key, safe="")
    if not name:
        return "_"
    if name[0] in "._":
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > KEY_BYTES:
        raise OptionError(
            "--key_field",
            key[:60] + "...",
            f"a key of at most {KEY_BYTES} bytes once it is escaped",
            "Use a shorter field as the key.",
        )
    return name


def unescape_key(name: str) -> str:
    """Return the key of a folder; the inverse of :func:`escape_key`."""
    return "" if name == "_" else unquote(name)


def path_in(key: str, rest: str) -> str:
    """Return the path of a file of a key."""
    return f"{escape_key(key)}/{rest}"


def create_named(
    blobs: Blobs, path: str, data: bytes, same: Callable[[bytes], bool] | None = None
) -> None:
    """Write bytes that are named by their content.

    Args:
        blobs: Where the path is.
        path: The path.
        data: The bytes.
        same: A test for other bytes with the same content; None if there are no such bytes.

    Raises:
        DamagedDataError: The path holds other content.
    """
    # What is there already is used from now on, so an expiry that saw it before must not remove it.
    blobs.touch(path)
    if not blobs.create(path, data) and not (same and same(blobs.read(path))):
        raise DamagedDataError(
            f"{blobs.where(path)} is damaged: it holds other bytes than its name says. Delete it,"
            " and run again."
        )


def read_verified(blobs: Blobs, path: str, digest: str) -> bytes:
    """Return the bytes of a path and check their SHA-256.

    Args:
        blobs: Where the path is.
        path: The path.
        digest: The expected SHA-256, hex.

    Raises:
        DamagedDataError: The path is missing, or its bytes have another digest.
    """
    name = blobs.where(path)
    try:
        data = blobs.read(path)
    except FileNotFoundError as error:
        raise DamagedDataError(
            f"{name} is missing from the model store; restore it from a copy"
        ) from error
    if hashlib.sha256(data).hexdigest() != digest:
        raise DamagedDataError(
            f"{name} is damaged: its {len(data)} bytes do not have the digest {digest}; restore it"
            " from a copy"
        )
    return data


class LocalBlobs:
    """The blobs of a folder. A file is complete and on the disk before its name appears."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)

    def where(self, path: str) -> str:
        return self._path(path) if path else str(self._root)

    def check_writable(self) -> None:
        place = next(path for path in (self._root, *self._root.absolute().parents) if path.exists())
        with self._explained():
            if not place.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
            if not os.access(place, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))

    def read(self, path: str, most: int | None = None) -> bytes:
        with self._explained():
            return read_regular(self._inside(path), self.where(path), most)

    def exists(self, path: str) -> bool:
        with self._explained():
            return os.path.isfile(self._path(path))  # noqa: PTH113

    def create(self, path: str, data: bytes) -> bool:
        if self.exists(path):
            return self.read(path) == data
        return self.replace_pointer(path, None, data) or self.read(path) == data

    def list(self, prefix: str) -> list[str]:
        try:
            with self._explained():
                entries = list(os.scandir(self._root / prefix))
        except FileNotFoundError:
            return []
        return sorted(
            entry.name + "/" * entry.is_dir() for entry in entries if not entry.name.startswith(".")
        )

    def replace_pointer(self, path: str, expected: bytes | None, data: bytes) -> bool:
        target = self._path(path)
        with self._explained():
            new = write_beside(target, data)
        replaced = False
        try:
            with self._lock():
                if (self.read(path) if self.exists(path) else None) != expected:
                    return False
                os.replace(new, target)  # noqa: PTH105
                replaced = True
                sync_folder(target.rpartition("/")[0])
                return True
        finally:
            if not replaced:
                Path(new).unlink(missing_ok=True)

    def stamps(self, prefix: str) -> dict[str, Stamp]:
        found = {}
        for name in self.list(prefix):
            if not name.endswith("/") and (stamp := self._stamp(f"{prefix}/{name}")) is not None:
                found[name] = stamp
        return found

    def touch(self, path: str) -> bool:
        if not self.exists(path):
            return False
        with self._explained(), self._lock():
            target = Path(self._inside(path))
            if (before := self._stamp(path)) is None:
                return False
            os.utime(target)
            if self._stamp(path) == before:
                # The clock of a file system is coarse.
                later = target.stat().st_mtime_ns + 1
                os.utime(target, ns=(later, later))
            return True

    def remove(self, path: str, stamp: Stamp) -> bool:
        with self._explained(), self._lock():
            if (found := self._stamp(path)) is None:
                return True
            if found != stamp:
                return False
            target = Path(self._inside(path))
            target.unlink()
            sync_folder(str(target.parent))
            return True

    def _path(self, path: str) -> str:
        return f"{self._root}/{path}"

    @cached_property
    def _real_root(self) -> str:
        return os.path.realpath(self._root)

    def _inside(self, path: str) -> str:
        """Return the file of a path; a link may lead anywhere, and must stay within the store.

        Raises:
            DamagedDataError: It leads out of the store, or back to itself.
        """
        # Most paths have no link below the root, and need not be resolved from the start.
        real, parts = self._real_root, path.split("/")
        within = accumulate(parts, "{}/{}".format, initial=real)
        if ".." not in parts and not any(map(os.path.islink, within)):
            return f"{real}/{path}"
        try:
            target, root = (self._root / path).resolve(), self._root.resolve()
        except RuntimeError as error:
            raise DamagedDataError(
                f"{self.where(path)} is a link that leads back to itself; put a file there"
            ) from error
        if not target.is_relative_to(root):
            told = f"{self.where(path)} is a link out of the model store, to {target}"
            raise DamagedDataError(f"{told}; put a file there")
        return str(target)

    def _stamp(self, path: str) -> Stamp | None:
        try:
            nanoseconds = (self._root / path).stat().st_mtime_ns
        except FileNotFoundError:
            return None
        return Stamp(nanoseconds // 1000, str(nanoseconds))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors that a user can mend into errors that say how; a missing file is none."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise OutputError(
                    f"--model_store: {self._root} cannot be written: {error.strerror}. {FULL_DISK}"
                ) from error
            remedy = (
                "The system says:"
                f" {error.strerror}{f': {error.filename}' if error.filename else ''}."
            )
            raise OptionError(
                "--model_store",
                str(self._root),
                "a folder that this user may read and write",
                remedy,
            ) from error

    @contextmanager
    def _lock(self) -> Iterator[None]:
        with self._explained():
            number = os.open(self._path(".lock"), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            yield
        finally:
            os.close(number)


def blobs_at(root: str) -> Blobs:
    """Return the blobs under ``root``, a folder or ``gs://bucket/folder`` that need not exist.

    Raises:
        OptionError: ``root`` is empty, a file, or on a service that is not supported.
    """
    if root.startswith("gs://"):
        # Importing the client takes a second, so it is imported only where it is used.
        from beam_topics.model.publishing.gcs import GcsBlobs

        return GcsBlobs(root)
    if not root or "://" in root or Path(root).is_file():
        remedy = "Give a folder that all workers share, or gs://bucket/folder."
        raise OptionError(
            "--model_store", root, "a local folder or a folder of Google Cloud Storage", remedy
        )
    return LocalBlobs(root)
