"""Find the files of this machine that a path or a glob names: one matcher for all programs.

A path that exists is itself, whatever signs it has. A glob is matched as a shell does, and ``**``
stands for folders at any depth. A folder with a slash behind it stands for what is in it. Links
without a target are left out with a warning.
"""

from __future__ import annotations

import difflib
import functools
import glob
import logging
from pathlib import Path

from model.errors import OptionError
from model.files.regular import check_regular

_LOG = logging.getLogger(__name__)


def is_local(pattern: str) -> bool:
    """Return whether a path or glob is of this machine, and not of an object store."""
    return "://" not in pattern


def local_files(pattern: str, option: str) -> list[str]:
    """Return the files that a path or glob matches, sorted; none where it matches nothing.

    Args:
        pattern: The path or glob.
        option: The option that gives it, for the warning.
    """
    if Path(pattern).exists() and not pattern.endswith("/"):
        found = [pattern]
    else:
        # Path.glob would match names that begin with a dot.
        found = glob.glob(pattern + "*" * pattern.endswith("/"), recursive=True)  # noqa: PTH207
    gone = sorted(path for path in found if not Path(path).exists())
    if gone:
        _warn(
            f"{option}: {pattern!r} matches {len(gone)} links to files that do not exist; they are"
            f" left out. The first is {gone[0]}."
        )
    return sorted({path for path in found if path not in gone and not Path(path).is_dir()})


def matching_files(pattern: str, option: str) -> list[str]:
    """Return the files that a path or glob matches, sorted.

    Args:
        pattern: The path or glob.
        option: The option that gives it.

    Raises:
        OptionError: It matches nothing, or something that is no regular file.
    """
    found = local_files(pattern, option)
    for path in found:
        check_regular(option, path)
    if not found:
        allowed = "a path or a glob that matches at least one file"
        raise OptionError(option, pattern, allowed, _remedy(pattern))
    return found


def _remedy(pattern: str) -> str:
    place = Path(pattern)
    if place.is_dir():
        return f"It is a folder: give {place}/* for the files in it."
    if pattern[:1] in ("'", '"'):
        return "Leave out the quotes, which the shell has passed on."
    names = [path.name for path in place.parent.iterdir()] if place.parent.is_dir() else []
    near = difflib.get_close_matches(place.name, names, 1, 0.7)
    return f"Did you mean {place.parent / near[0]}?" if near else "Check the spelling."


@functools.cache
def _warn(text: str) -> None:
    """Log a warning once in each process: a process looks the files up several times."""
    _LOG.warning("%s", text)
