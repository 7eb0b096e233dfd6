"""Temporary files, and those that a process left which was killed before it could move its file to
its place.

A file is written beside its place, under a name that begins with :data:`PREFIX`, and then moved. A
process that is killed between the two leaves the temporary file for ever. So the first write of a
process into a folder also removes what others have left there. A temporary file counts as left when
it is a day older than the one that was just written. Both times are the file system's, so no clock
is asked; a writer that lives is done within seconds.

Object stores need nothing of this: an upload that is not finished leaves no object.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PREFIX = ".new-"
OLD_SECONDS = 86_400

_LOOKED_AT: set[Path] = set()


def remove_leftovers(written: Path) -> None:
    """Remove old temporary files beside the one that was just written, once for each folder and
    process.

    What may not be removed, because it is another user's, is left.
    """
    if written.parent in _LOOKED_AT:
        return
    _LOOKED_AT.add(written.parent)
    with contextlib.suppress(OSError):
        oldest = written.stat().st_mtime - OLD_SECONDS
        with os.scandir(written.parent) as entries:
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
