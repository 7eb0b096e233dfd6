"""Regular files, as opposed to pipes, devices and sockets, which may have no end or may block.

>>> kind_of("/dev/null")
'a device'
"""

from __future__ import annotations

import stat
from pathlib import Path

from model.errors import OptionError

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def kind_of(path: str) -> str | None:
    """Return what a local path is, with its article; None for a regular file or a missing one."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return None
    return next((name for is_one, name in _KINDS if is_one(mode)), None)


def check_regular(option: str, path: str) -> None:
    """Check that a local path is not something other than a regular file, without opening it.

    Raises:
        OptionError: It is.
    """
    if (kind := kind_of(path)) is not None:
        remedy = f"It is {kind}. Write what it gives to a file, and name that."
        raise OptionError(option, path, "a regular file", remedy)


# More than the seeds of all words of a large model.
MOST_BYTES = 2**25


def read_text(option: str, path: str, allowed: str) -> str:
    """Read a small local file of UTF-8 text, with or without a byte order mark.

    Args:
        option: The option that names the file.
        path: The file.
        allowed: What the file should be, as a phrase.

    Raises:
        OptionError: It is not a regular file, cannot be read, is not UTF-8, or is too large.
    """
    check_regular(option, path)
    place = Path(path)
    try:
        size = place.stat().st_size
        text = place.read_text(encoding="utf-8-sig") if size <= MOST_BYTES else ""
    except (OSError, ValueError) as error:
        raise OptionError(option, path, allowed, f"It cannot be read: {error}.") from error
    if size > MOST_BYTES:
        raise OptionError(option, path, allowed, f"It has more than {MOST_BYTES:,} bytes.")
    return text
