"""Remove temporary files of processes that were killed before they could rename them.

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
from pathlib import Path

PREFIX = ".new-"
OLD_SECONDS = 86_400

_LOOKED_AT: set[str] = set()


def made_now(folder: str) -> None:
    """Note that this process has just made a folder, which has no old files."""
    _LOOKED_AT.add(folder)


def remove_leftovers(written: str) -> None:
    """Remove old temporary files beside ``written``, once for each folder and process.

    Files that must not be removed, because they belong to another user, are left.
    """
    folder = os.path.dirname(written)  # noqa: PTH120
    if folder in _LOOKED_AT:
        return
    _LOOKED_AT.add(folder)
    with contextlib.suppress(OSError):
        oldest = Path(written).stat().st_mtime - OLD_SECONDS
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(PREFIX):
                    _remove_if_older(entry, oldest)


def _remove_if_older(entry: os.DirEntry[str], oldest: float) -> None:
    with contextlib.suppress(OSError):
        if (
            entry.is_file(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_mtime < oldest
        ):
            Path(entry).unlink()
