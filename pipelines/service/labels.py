"""What a run writes of labelled documents beside the store that is served."""

from __future__ import annotations

import logging
from pathlib import Path

from beam_topics.model.errors import BeamTopicsError
from beam_topics.model.reporting.now import Newest
from beam_topics.pipelines.cli.arguments import labels_beside

_KINDS = "trends", "stories"
_LOGGER = logging.getLogger("beam_topics.service")


class Labels:
    """The newest windows of trends and stories, from files that a run adds meanwhile.

    A file has its whole content when it has its name, so it is read once. One thread at a time
    calls :meth:`refresh` and reads ``newest``. Where the store is no folder ``models`` of this
    machine, there is nothing.
    """

    def __init__(self, store: str) -> None:
        self._folder, self._known = labels_beside(store).get("trends"), set[str]()
        self.newest = Newest()

    def refresh(self) -> None:
        """Read the files that are new. One that cannot be read is logged, and left out."""
        if self._folder is None:
            return
        paths = [p for kind in _KINDS for p in Path(self._folder).glob(f"{kind}-*.jsonl")]
        for path in sorted(paths):
            if path.name not in self._known:
                self._known.add(path.name)
                try:
                    with path.open("rb") as stream:
                        self.newest.take(stream, str(path))
                except (BeamTopicsError, OSError) as error:
                    _LOGGER.warning("%s was left out: %s", path, error)
