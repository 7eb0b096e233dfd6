"""The files of a folder of the model store: read only if regular, written whole.

A file is written under a name that begins with :data:`PREFIX` in its folder, and then renamed. A
process that is killed between the two leaves the temporary file behind. So the first write of a
process into a folder also removes old temporary files there. A temporary file is old if it is a day
older than the one that was just written. Both times come from the file system, and no clock is
read. A live writer finishes within seconds.

Object stores need none of this: an unfinished upload leaves no object.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from beam_topics.model.errors import DamagedDataError

PREFIX = ".new-"
OLD_SECONDS = 86_400
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOKED_AT: set[str] = set()


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


def write_beside(target: str, data: bytes) -> str:
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
    """Remove old temporary files beside ``written``, once for each folder and process.

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
