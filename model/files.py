"""Find the files of this machine that a path or a glob names: one matcher for all programs.

A path that exists stands for itself, whatever characters it has. A glob is matched as in a shell,
and ``**`` matches folders at any depth. A folder with a trailing slash stands for its contents. A
glob skips what this and other tools keep next to documents (:func:`is_marker`, :func:`is_store`).
Links without a target are skipped with a warning. Pipes, devices and sockets are refused, because
they may have no end or may block.

>>> kind_of("/dev/null")
'a device'
"""

from __future__ import annotations

import difflib
import functools
import glob
import logging
import os
import re
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path

from beam_topics.model.errors import OptionError

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


_LOG = logging.getLogger(__name__)


def literal_part(pattern: str) -> str:
    """Return the path that a pattern is, or the beginning of it that matches itself alone.

    >>> literal_part("a[[]1]/b*/c")
    'a[1]/b'
    """
    if Path(pattern).exists():
        return pattern
    begin = re.match(r"(?:\[[*?\[]\]|[^*?\[])*", pattern)
    return re.sub(r"\[([*?\[])\]", r"\1", begin[0]) if begin else ""


def folder_of(patterns: Iterable[str]) -> str:
    """Return the innermost folder that holds all that some patterns may match.

    >>> folder_of(["data/a/*.txt", "./data/b//1.txt"]), folder_of(["*.txt"])
    ('data', '.')
    >>> folder_of(["a[[]1]/*"])
    'a[1]'
    """
    fixed = map(literal_part, patterns)
    folders = [os.path.normpath(os.path.dirname(path)) for path in fixed]  # noqa: PTH120
    if len(set(map(os.path.isabs, folders))) > 1:
        folders = list(map(os.path.abspath, folders))
    return os.path.commonpath(folders) or "."


def path_within(folder: str, name: str) -> str:
    """Return the path of a file within a folder, or its whole name where the folder is empty."""
    return os.path.relpath(name, folder) if folder else name


def is_local(pattern: str) -> bool:
    """Return whether a path or glob is of this machine, and not of an object store."""
    return "://" not in pattern


# What Spark and others write next to the parts of a table.
_MARKER = re.compile(
    r"_SUCCESS|_(committed|started)_.*|_(common_)?metadata|\..*|.*\.crc", re.DOTALL
)


def is_marker(path: str) -> bool:
    """Return whether a file is hidden, or a mark or checksum of a tool that writes tables."""
    return _MARKER.fullmatch(Path(path).name) is not None


@functools.lru_cache(2**12)
def is_store(folder: str) -> bool:
    """Return whether a folder is a model store, or that of a run, with its dead letters."""
    place = Path(folder)
    kept = (one for root in (place, place / "models") for one in root.glob("*/manifests"))
    is_run = place.suffix == ".topics" and (place / "run.yaml").is_file()
    return is_run or any((one.parent / "settings.json").is_file() for one in kept)


def _is_skipped(path: str, pattern: str) -> bool:
    """Return whether a file that a glob matches is a marker, or in a store that it found."""
    begin = literal_part(pattern).count("/")
    folders = list(map(str, Path(path).parents))[: path.count("/") - begin]
    return is_marker(path) or any(map(is_store, folders))


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
        every = glob.glob(pattern + "*" * pattern.endswith("/"), recursive=True)  # noqa: PTH207
        found = [path for path in every if not _is_skipped(path, pattern)]
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
        OptionError: It matches nothing, or something other than a regular file.
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
        inner = shlex.quote(f"{glob.escape(str(place))}/*")
        return f"It is a folder: give {inner} for the files in it."
    if pattern[:1] in ("'", '"'):
        return "Leave out the quotes, which the shell has passed on."
    names = [path.name for path in place.parent.iterdir()] if place.parent.is_dir() else []
    near = difflib.get_close_matches(place.name, names, 1, 0.7)
    return (
        f"Did you mean {shlex.quote(str(place.parent / near[0]))}?"
        if near
        else "Check the spelling."
    )


@functools.cache
def _warn(text: str) -> None:
    """Log a warning once in each process: a process looks the files up several times."""
    _LOG.warning("%s", text)
