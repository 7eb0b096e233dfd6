"""Where a run begins on a key: before its first minibatch, or at a checkpoint of the model store.

:func:`find_start` makes every check that needs no document: the settings, the times of publication,
and the checkpoint to continue from. A program calls it before the run, and the steps call it when
the first document of a key arrives.

Whether the documents are those of the store is known by the chain of minibatches, which
:class:`SequenceStart` compares as soon as it reaches the newest version. Where the whole input is
sequenced before any of it is learned, this is before any key has written anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from model.learner_log.options import LearnOptions
from model.publishing.manifest import CheckpointEntry, Manifest
from model.publishing.store import ModelStore
from model.records import NumberedMinibatch
from model.sequencing import SequenceHead, chain_start


class Start(NamedTuple):
    """Where a run begins on a key.

    Attributes:
        newest: The newest version; None if nothing was published.
        entries: The checkpoint of each island; none if the run begins before the first minibatch.
    """

    newest: Manifest | None
    entries: list[CheckpointEntry]


def find_start(options: LearnOptions, key: str) -> Start:
    """Return where a run begins on a key, and check that the store takes it.

    A key without a checkpoint begins anew, and so does one without a version where documents are
    added.

    Raises:
        StoreConflictError: The store holds what was learned with other settings, or versions that
            were published at other times.
        OptionError: There is no such point to resume from.
    """
    store, run, digest = ModelStore(options.store), options.run, options.settings_digest()
    newest = store.latest(key)
    if newest is not None:
        store.check_settings(key, options.binding)
    entries: list[CheckpointEntry] = []
    if (newest or run.resume_from) and run.start and store.has_checkpoints(key):
        islands = options.settings.islands
        entries = store.resume_point(key, run.start, islands, digest, newest)
    if newest is not None:
        store.check_start(newest, entries[0].offered if entries else 0, run.publish_every)
    return Start(newest, entries)


@dataclass
class SequenceStart:
    """Where the sequences of a run begin.

    Attributes:
        options: The options of the run.
    """

    options: LearnOptions
    _known: dict[str, Manifest] = field(default_factory=dict)

    def head(self, key: str) -> SequenceHead:
        """Return the first head of a key.

        Raises:
            StoreConflictError: See :func:`find_start`.
            OptionError: There is no such point to resume from.
        """
        options, start = self.options, find_start(self.options, key)
        if options.run.add_documents and start.entries:
            entry = start.entries[0]
            return SequenceHead(entry.sequence, bytes.fromhex(entry.chain), closed=entry.window_end)
        if start.newest is not None:
            self._known[key] = start.newest
        return SequenceHead(0, chain_start(key, options.tokeniser, options.sequence))

    def check(self, key: str, link: NumberedMinibatch) -> None:
        """Refuse documents other than those of the newest version, or fewer.

        Args:
            key: The model key.
            link: The next minibatch or the end marker.

        Raises:
            StoreConflictError: They are others, or fewer.
        """
        known = self._known.get(key)
        if known is not None and (link.is_end or link.sequence == known.sequence):
            ModelStore(self.options.store).check_history(known, link.fingerprint.hex())
            del self._known[key]
