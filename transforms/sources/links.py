"""Warn of dangling links, which Beam's local file system silently omits from glob matches."""

from __future__ import annotations

import functools
import logging
import os
import re
from pathlib import Path

from apache_beam.io.localfilesystem import LocalFileSystem

_LOG = logging.getLogger(__name__)
_BEFORE_A_GLOB = re.compile(r"[^\[*?]*")


def dangling_links(pattern: str) -> list[str]:
    """Return the links without a target among the names that a local glob matches, sorted.

    A name without ``*``, ``?`` or ``[`` is not a glob. Beam reports such a missing file itself.
    """
    if pattern.endswith("/"):
        pattern += "*"
    fixed = _BEFORE_A_GLOB.match(pattern)
    if fixed is None or fixed[0] == pattern:
        return []
    matches = re.compile(LocalFileSystem.translate_pattern(pattern)).match
    names = (
        os.path.join(folder, name)  # noqa: PTH118 - as Beam writes it
        for folder, _, files in os.walk(os.path.dirname(fixed[0]))  # noqa: PTH120
        for name in files
    )
    return sorted(
        name
        for name in names
        if matches(name) and Path(name).is_symlink() and not Path(name).exists()
    )


def warn_of_dangling_links(option: str, pattern: str) -> None:
    """Log a warning if a glob matches links without a target."""
    if found := dangling_links(pattern):
        _warn(
            f"{option}: {pattern!r} matches {len(found)} links to files that do not exist; they are"
            f" left out. The first is {found[0]}."
        )


@functools.cache
def _warn(text: str) -> None:
    """Log a warning once in each process: a process looks the files up several times."""
    _LOG.warning("%s", text)
