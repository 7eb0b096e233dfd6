"""The root of a model store: a folder of this machine, or a folder of a bucket.

Files of a folder are read only if they are regular, and written whole. A file is written under a
name that begins with :data:`PREFIX` in its folder, and then renamed. A process that is killed
between the two leaves the temporary file behind. So the first write of a process into a folder also
removes old temporary files there. A temporary file is old if it is a day older than the one that
was just written. Both times come from the file system, and no clock is read. A live writer finishes
within seconds. Object stores need none of this: an unfinished upload leaves no object.

>>> import tempfile
>>> blobs = blobs_at(tempfile.mkdtemp())
>>> blobs.create("a/one", b"1"), blobs.create("a/one", b"1"), blobs.create("a/one", b"2")
(True, True, False)
>>> blobs.list("a")
['one']
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryFile

from beam_topics.model.errors import FULL_DISK, DamagedDataError, OptionError, OutputError
from beam_topics.model.publishing.blobs import Blobs, Stamp

PREFIX = ".new-"
OLD_SECONDS = 86_400
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOKED_AT: set[str] = set()


class LocalBlobs(Blobs):
    """The blobs of a folder. A file is complete and on the disk before its name appears.

    Args:
        root: The folder.
        option: The option that names it, for messages.
    """

    def __init__(self, root: str, option: str = "--model_store") -> None:
        self._root, self._option = Path(root), option

    def where(self, path: str) -> str:
        return f"{self._root}/{path}" if path else str(self._root)

    def check_writable(self) -> None:
        place = next(path for path in (self._root, *self._root.absolute().parents) if path.exists())
        with self._explained():
            if not place.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
            # Rights do not say it: nobody can write into /proc.
            try:
                TemporaryFile(dir=place).close()
            except OSError as error:
                raise PermissionError(error.errno, error.strerror, str(place)) from error

    def read(self, path: str, most: int | None = None) -> bytes:
        with self._explained():
            return read_regular(self._inside(path), self.where(path), most)

    def exists(self, path: str) -> bool:
        with self._explained():
            return os.path.isfile(self._inside(path))  # noqa: PTH113

    def list(self, prefix: str) -> list[str]:
        try:
            with self._explained():
                entries = list(os.scandir(self._inside(prefix)))
        except FileNotFoundError:
            return []
        return sorted(
            entry.name + "/" * entry.is_dir() for entry in entries if not entry.name.startswith(".")
        )

    def replace_pointer(self, path: str, expected: bytes | None, data: bytes) -> bool:
        folder, _, name = path.rpartition("/")
        # A link in the place of the file itself is replaced.
        target = f"{self._inside(folder)}/{name}"
        with self._explained():
            new = write_temporary(target, data)
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
        files = (name for name in self.list(prefix) if not name.endswith("/"))
        return {name: stamp for name in files if (stamp := self._stamp(f"{prefix}/{name}"))}

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
            fault = f"{self.where(path)} is a link out of the model store, to {target}"
            raise DamagedDataError(f"{fault}; put a file there")
        return str(target)

    def _stamp(self, path: str) -> Stamp | None:
        try:
            found = Path(self._inside(path)).stat()
        except FileNotFoundError:
            return None
        return Stamp(found.st_mtime_ns // 1000, str(found.st_mtime_ns), found.st_size)

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
                    f"{self._option}: {self._root} cannot be written: {error.strerror}. {FULL_DISK}"
                ) from error
            where = f": {error.filename}" if error.filename else ""
            remedy = f"The system says: {error.strerror}{where}."
            allowed = "a folder that this user may read and write"
            raise OptionError(self._option, str(self._root), allowed, remedy) from error

    @contextmanager
    def _lock(self) -> Iterator[None]:
        with self._explained():
            number = os.open(self._inside(".lock"), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            yield
        finally:
            os.close(number)


def blobs_at(root: str, option: str = "--model_store") -> Blobs:
    """Return the blobs under ``root``, a folder or ``gs://bucket/folder`` that need not exist.

    Args:
        root: The folder.
        option: The option that names it, for messages.

    Raises:
        OptionError: ``root`` is empty, a file, or on a service that is not supported.
    """
    if root.startswith("gs://"):
        # Importing the client takes a second, so it is imported only where it is used.
        from beam_topics.model.publishing.gcs import GcsBlobs

        return GcsBlobs(root, option)
    found = LocalBlobs(root, option)
    remedy = "Give a folder that all workers share, or gs://bucket/folder."
    with found._explained():
        exists, is_file = Path(root).exists(), Path(root).is_file()
    if dangling := not exists and os.path.islink(root):  # noqa: PTH114
        remedy = f"It is a link to nothing: mkdir {shlex.quote(os.path.realpath(root))}"
    if not root or "://" in root or is_file or dangling:
        allowed = "a local folder or a folder of Google Cloud Storage"
        raise OptionError(option, root, allowed, remedy)
    return found


def read_regular(path: str, name: str, most: int | None = None) -> bytes:
    """Return the first bytes of a regular file, or all; another kind may have no end, or block."""
    # Without O_NONBLOCK a named pipe would wait here for its writer.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise DamagedDataError(
            f"{name} is not a regular file; the model store holds files and folders only"
        )
    with os.fdopen(number, "rb") as file:
        return file.read(most)


def write_temporary(target: str, data: bytes) -> str:
    """Write a complete file under a temporary name in the folder of ``target``; return its name.

    The folder is made where it does not exist. The mask of the process decides who may read the
    file, as for any file.
    """
    folder = target.rpartition("/")[0]
    # The name of a file that is renamed at once; no result has it.
    name = f"{folder}/{PREFIX}{os.urandom(8).hex()}"
    try:
        number = os.open(name, _NEW_FILE, 0o666)
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        number = os.open(name, _NEW_FILE, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(number, rest) :]
        os.fsync(number)
    except BaseException:
        os.unlink(name)  # noqa: PTH108
        raise
    finally:
        os.close(number)
    remove_leftovers(name)
    return name


def remove_leftovers(written: str) -> None:
    """Remove old temporary files next to ``written``, once for each folder and process.

    Files that must not be removed, because they belong to another user, are left.
    """
    folder = Path(written).parent
    if str(folder) in _LOOKED_AT:
        return
    _LOOKED_AT.add(str(folder))
    with contextlib.suppress(OSError):
        oldest = Path(written).stat().st_mtime - OLD_SECONDS
        for path in folder.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                found = path.lstat()
                if stat.S_ISREG(found.st_mode) and found.st_mtime < oldest:
                    path.unlink()


def sync_folder(folder: str) -> None:
    """Wait until the names in a folder are on the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
