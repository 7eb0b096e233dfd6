"""Up to which event time documents are labelled, by the rows of trends that are written."""

from __future__ import annotations

import io
import re

from beam_topics.model.reporting.added_files import AddedFiles
from beam_topics.model.reporting.trends import rows_of_file

_FILE, _MOST_KEYS = re.compile(r"trends-.*\.jsonl"), 100


class LabelledWindows:
    """The newest window of each key in a folder of trends.

    Attributes:
        windows: The end and the start of the newest window by key, in microseconds; of the first
            100 keys.
    """

    def __init__(self, folder: str) -> None:
        self._files = AddedFiles(folder, "--trends", _FILE, self._take)
        self.windows: dict[str, tuple[int, int]] = {}

    def read(self) -> list[str]:
        """Read files that are new; see :meth:`AddedFiles.read`."""
        return self._files.read()

    def _take(self, name: str, data: bytes) -> None:
        for row in rows_of_file(io.BytesIO(data), name):
            key, window = row["key"], (row["window_end"], row["window_start"])
            if key in self.windows or len(self.windows) < _MOST_KEYS:
                self.windows[key] = max(window, self.windows.get(key, window))
