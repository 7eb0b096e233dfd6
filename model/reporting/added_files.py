"""Files that are added to a folder while it is watched, each of which is read once."""

from __future__ import annotations

import re
from collections.abc import Callable

from beam_topics.model.errors import BeamTopicsError
from beam_topics.model.publishing.local_files import blobs_at

# What is read of a file and in one reading, in bytes; a file of ours is little more than 32 MB.
_FILE_BYTES, _READING_BYTES = 2**26, 2**28


class AddedFiles:
    """The files of a folder.

    Args:
        folder: The folder.
        option: The option that names it.
        names: The form of their names.
        take: Takes the name and the bytes of a file.

    Attributes:
        waiting: The number of files that the next readings take.
    """

    def __init__(
        self, folder: str, option: str, names: re.Pattern[str], take: Callable[[str, bytes], None]
    ) -> None:
        self._blobs, self._option = blobs_at(folder, option), option
        self._names, self._take = names, take
        self._taken: set[str] = set()
        self.waiting = 0

    def read(self) -> list[str]:
        """Take files that are new, up to 256 MB of them.

        Returns:
            Why a file could not be taken, a line each. It is not read again.

        Raises:
            OptionError: The folder cannot be read.
        """
        names, size, wrong = set(filter(self._names.fullmatch, self._blobs.list(""))), 0, []
        self._taken &= names
        for name in sorted(names - self._taken):
            if size >= _READING_BYTES:
                break
            self._taken.add(name)
            try:
                data = self._blobs.read(name, _FILE_BYTES)
                size += len(data)
                self._take(name, data)
            except (BeamTopicsError, OSError, UnicodeError) as error:
                wrong.append(f"{self._option.strip('-').replace('_', ' ')}: {error}")
        self.waiting = len(names - self._taken)
        return wrong
