"""The files of a folder of the model store: read only if regular, written whole."""

from __future__ import annotations

import os
import stat

from model.errors import DamagedDataError
from model.files.leftovers import PREFIX, made_now, remove_leftovers

_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read_regular(path: str, name: str, most: int = -1) -> bytes:
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

    The folder is made where it does not exist.
    """
    folder = target.rpartition("/")[0]
    # The name of a file that is renamed at once; no result has it.
    name = f"{folder}/{PREFIX}{os.urandom(8).hex()}"
    try:
        number = os.open(name, _NEW_FILE, 0o644)
    except FileNotFoundError:
        make_folder(folder)
        number = os.open(name, _NEW_FILE, 0o644)
    try:
        # The mask of the process may hide the file from other users of a shared folder.
        os.fchmod(number, 0o644)
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


def make_folder(folder: str) -> None:
    """Make a folder, and those above it where there are none."""
    try:
        os.mkdir(folder)  # noqa: PTH102
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    except FileExistsError:
        if not os.path.isdir(folder):  # noqa: PTH112
            raise
        # Another process made it meanwhile.
        return
    made_now(folder)


def sync_folder(folder: str) -> None:
    """Wait until the names in a folder are on the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
