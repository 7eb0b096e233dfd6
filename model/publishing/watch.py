"""What a model store shows from outside: the newest version and the files of each key.

A :class:`StoreWatch` reads a store repeatedly and writes nothing. It reads a manifest when
``LATEST`` has moved, and heads of checkpoints when there are others, so its cost follows the number
of keys and files.

>>> import tempfile
>>> watch = StoreWatch(tempfile.mkdtemp())
>>> watch.read(), watch.keys, watch.seen
([], 0, {})
"""

from __future__ import annotations

from dataclasses import dataclass, field

from beam_topics.model.documents.minibatch import reads_on
from beam_topics.model.errors import BeamTopicsError, OptionError, StoreConflictError
from beam_topics.model.learner_log.known import offsets_up_to
from beam_topics.model.publishing.blobs import Stamp, escape_key, path_in
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.store import ModelStore

# The folders of a key that grow while a job runs. The first keys by name are read.
PARTS, MOST_KEYS = ("snapshots", "checkpoints", "manifests", "known"), 100


@dataclass
class Seen:
    """What was seen of a key.

    Attributes:
        newest: The newest version.
        moved: The stamp of ``LATEST``.
        published: How many versions followed the newest one since the first reading of the key.
        superseded: How often the newest one was given up since then: for another of a restored
            run, or by a rollback.
        files: The stamps of the files of each part, by name.
        checkpoint: The event time of the checkpoints from which ``--resume_from=latest`` goes on,
            in microseconds; None if there are none.
        offsets: From where a new job reads each log on: up to there it is learned. Empty where
            that is not known.
    """

    newest: Manifest
    moved: Stamp
    published: int = 0
    superseded: int = 0
    files: dict[str, dict[str, Stamp]] = field(default_factory=dict)
    checkpoint: int | None = None
    offsets: dict[str, int] = field(default_factory=dict)


class StoreWatch:
    """Reads the store under ``root``, with the file of the keys that are trusted.

    Attributes:
        keys: The number of keys, with or without a version.
        seen: What was seen of the first :data:`MOST_KEYS` keys, of those that have a version.
    """

    def __init__(self, root: str, trust: str = "") -> None:
        self._store = ModelStore(root, trust)
        self.keys = 0
        self.seen: dict[str, Seen] = {}

    def read(self) -> list[str]:
        """Read the store once more.

        Returns:
            Why a key could not be read, a line each. What was seen of it before stays.

        Raises:
            OptionError: The store as a whole cannot be read.
        """
        keys, wrong = self._store.keys(), []
        self.keys = len(keys)
        self.seen = {key: seen for key, seen in self.seen.items() if key in keys}
        for key in keys[:MOST_KEYS]:
            try:
                self._read(key)
            # A folder whose name is not text belongs to no key.
            except (BeamTopicsError, OSError, UnicodeError) as error:
                wrong.append(f"key {key!r}: {error}")
        return wrong

    def _read(self, key: str) -> None:
        moved, seen = self._store.blobs.stamps(escape_key(key)).get("LATEST"), self.seen.get(key)
        if moved is None:
            self.seen.pop(key, None)
            return
        if seen is None:
            seen = self.seen[key] = Seen(self._store.manifest(key), moved)
        elif seen.moved != moved:
            newest = self._store.manifest(key)
            after = self._store.after(newest, seen.newest.version)
            seen.published += len(after)
            seen.superseded += not after and newest != seen.newest
            seen.newest, seen.moved = newest, moved
        before = seen.files.get("checkpoints")
        seen.files = {part: self._store.blobs.stamps(path_in(key, part)) for part in PARTS}
        if seen.files["checkpoints"] != before:
            seen.checkpoint, seen.offsets = self._checkpoint(seen.newest)

    def _checkpoint(self, newest: Manifest) -> tuple[int | None, dict[str, int]]:
        key = newest.key
        try:
            point, *_ = self._store.resume_point(key, "latest", newest.islands, newest=newest)
        except (OptionError, StoreConflictError):
            return None, {}
        return point.window_end, reads_on(offsets_up_to(self._store, key, point.digest))
