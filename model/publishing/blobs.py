"""The bytes of the model store: operations that a folder and an object store both support.

Paths are relative to a root and use ``/``. Everything but a pointer is written once and never
changed. The operation that needs most care is :meth:`Blobs.replace_pointer`, a compare-and-set: a
lock around ``os.replace`` in a folder (:mod:`beam_topics.model.publishing.local_files`), and
``if_generation_match`` in an object store (:mod:`beam_topics.model.publishing.gcs`).

A file has a :class:`Stamp`, which changes when the file is written or used again (``touch``).
``remove`` takes the stamp that was seen, and leaves a file that was used since. So a file that a
writer found in place and now refers to is not removed.

A model key is any text. :func:`escape_key` turns it into a name that is safe in a path.
:func:`sequence_of` reads the name of a version.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Protocol
from urllib.parse import quote, unquote

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.stored import checks

# A file system takes names of 255 bytes.
KEY_BYTES = 255
VERSION_FORM = re.compile(r"[0-9]{12,16}-[0-9a-f]{16}")


class Stamp(NamedTuple):
    """When a file was written or used last, and its size.

    Attributes:
        time: In microseconds, by the clock of the file system or of the service.
        token: What differs after each change.
        size: In bytes.
    """

    time: int
    token: str
    size: int


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
        # A replay finds most files there. It need not write them again.
        absent = not self.exists(path)
        return (absent and self.replace_pointer(path, None, data)) or self.read(path) == data

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
    """Write bytes that are named by their content; ``same`` tests others with the same content.

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


def sequence_of(version: str, name: str) -> int:
    """Return the sequence in the name of a version.

    Raises:
        DamagedDataError: The name does not have the form of a version.
    """
    if not VERSION_FORM.fullmatch(version):
        checks.refuse(
            name, repr(version), "a version: 12 digits or more, a hyphen and 16 hexadecimal digits"
        )
    return checks.whole(name, int(version.partition("-")[0]))
