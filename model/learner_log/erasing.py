"""Take documents out of a model key's part of a store: checkpoints, and which documents are known.

Known documents are hashes of a window and an id, in the order in which the documents came. So the
place of an erased document among them identifies it among those at hand. Its hash becomes 0.

A checkpoint that changes gets another digest, and so another name. The checkpoints after it name
it, so they are rewritten, too, and those that they replace are removed at the end. A job whose last
checkpoint is gone cannot write another one (:mod:`beam_topics.model.learner_log.log`), so it brings
nothing back. Where the documents at hand cannot be told apart, the checkpoint is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.learner_log.head import (
    LearnerHead,
    checkpoint_from_bytes,
    checkpoint_to_bytes,
)
from beam_topics.model.learner_log.known import Segment, hashes_in
from beam_topics.model.learner_log.options import settings_in
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.base import HoldsDocuments
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.erasure import Erased

# Hashes that are looked for together, and at most; a million take about a second.
_TOGETHER, MOST_HASHES = 1 << 20, 1 << 27


@dataclass
class _Known:
    """What a file of known documents holds: its length, and the places of erased documents."""

    before: str
    count: int
    places: set[int] = field(default_factory=set)


class KeyErasure:
    """The erasure of documents from one model key.

    Args:
        store: The model store.
        key: The model key.
        erased: The documents.
    """

    def __init__(self, store: ModelStore, key: str, erased: Erased) -> None:
        self._store, self._key, self._erased = store, key, erased
        self._bound = store.bound(key)
        self._entries = sorted(store.checkpoints(key), key=lambda e: (e.sequence, e.offered))
        self._known: dict[str, _Known] = {}

    def run(self, writes: bool) -> list[str]:
        """Erase the documents.

        Args:
            writes: Whether anything is written; else it is checked and counted only.

        Returns:
            What was removed, and what stays, a line each.

        Raises:
            DamagedDataError: Something that is stored is damaged.
            OptionError: The store is signed, and nothing signs what changes; or too many hashes
                would be looked for.
        """
        if not self._known:
            self._find()
        self._writes = writes
        # The digests of checkpoints that are written again; "" for those that are removed.
        self._new: dict[str, str] = {}
        # The most documents that are not at hand in a checkpoint.
        self._apart = 0
        at_hand = sum(map(self._checkpoint, self._entries))
        # Places are needed while an old checkpoint is there, so those of other names come first.
        moved = {digest: new for digest in self._known if (new := self._new.get(digest))}
        self._write_known(moved)
        for entry in reversed(self._entries if writes else []):
            if entry.digest in self._new:
                self._store.remove_checkpoint(entry, known=bool(self._new[entry.digest]))
        self._write_known({digest: digest for digest in self._known if digest not in moved})
        return [line for number, line in self._report(at_hand) if number]

    def _report(self, at_hand: int) -> Iterator[tuple[int, str]]:
        """Yield lines with what each counts."""
        again = sum(map(bool, self._new.values()))
        gone = len(self._new) - again
        hashes = sum(len(one.places) for one in self._known.values())
        about = f"key {self._key!r}: "
        yield hashes, f"{about}{hashes} known documents removed"
        yield (
            again,
            f"{about}{again} checkpoints written again; {at_hand} documents at hand"
            " in them removed, with their tokens in all counts",
        )
        yield (
            gone,
            f"{about}{gone} checkpoints removed: filters leave documents out, so it is"
            " not known which documents at hand they are. A run cannot continue from there",
        )
        yield (
            self._apart,
            f"{about}{self._apart} documents or fewer are not at hand in a checkpoint: their words"
            " and sums of counts stay in it",
        )
        yield from self._report_on_versions(about)

    def _report_on_versions(self, about: str) -> Iterator[tuple[int, str]]:
        """Yield which versions have counts of the documents, or name them in an event."""
        first = min((at for digest in self._known for at in self._arrivals(digest)), default=None)
        versions = self._store.manifests(self._key)
        counted = [one for one in versions if first is not None and one.documents > first]
        yield (
            len(counted),
            f"{about}{len(counted)} versions from"
            f" {counted[0].version if counted else ''} on were learned with documents that"
            " are erased: they hold words and sums of counts. To be rid of these, train into"
            " a new model store without the documents, or let the versions expire",
        )
        for one in versions:
            named = any(self._erased.others(event["ids"]) != event["ids"] for event in one.events)
            yield (
                named,
                f"key {self._key!r}: an event of version {one.version} names a"
                " document that is erased; the name of a version is the digest of its bytes,"
                " so it stays until the version expires (beam-topics versions expire)",
            )

    def _find(self) -> None:
        """Read the known documents, and find the erased ones among them."""
        for digest in self._store.known(self._key):
            segment = self._segment(digest)
            self._known[digest] = _Known(segment.before, len(segment.hashes))
        pairs = self._pairs() if self._known else iter(())
        while some := list(islice(pairs, _TOGETHER)):
            wanted = hashes_in(some)
            order = np.argsort(wanted)
            wanted = wanted[order]
            for digest, known in self._known.items():
                hashes = self._segment(digest).hashes
                at = np.searchsorted(wanted, hashes)
                places = np.flatnonzero(np.take(wanted, at, mode="clip") == hashes)
                known.places.update(places.tolist())
                for one in order[at[places]].tolist():
                    self._erased.holds(some[one][1])

    def _pairs(self) -> Iterator[tuple[int, str]]:
        """Return the windows and ids that the documents may be known by."""
        sequence = SequenceSettings.from_json(self._bound["settings"]["sequence"], "sequence")
        windows, places = self._windows(sequence), self._erased.places
        untimed = sum(time is None for _, time in places)
        if untimed * len(windows) > MOST_HASHES:
            raise OptionError(
                "--ids",
                f"{untimed:,} ids without times",
                f"{MOST_HASHES // len(windows):,} where documents are of {len(windows):,} windows",
                "Write the time of the document after each id, with a tab between them.",
            )
        return (
            (window, name)
            for name, time in places
            for window in (windows if time is None else [sequence.window_number(time)])
        )

    def _windows(self, sequence: SequenceSettings) -> range:
        """Return the numbers of the windows of all documents that were learned."""
        newest = self._store.latest(self._key)
        times = list(newest.times) if newest else []
        for entry in self._entries[-1:]:
            data = self._store.get_checkpoint(self._key, entry.digest)
            times += checkpoint_from_bytes(data)[0].times
        if not times:
            return range(0)
        first, last = sequence.window_number(min(times)), sequence.window_number(max(times))
        return range(first, last + 1)

    def _segment(self, digest: str) -> Segment:
        data = self._store.get_known(self._key, digest)
        return Segment.from_bytes(data or b"")

    def _chain(self, digest: str) -> Iterator[str]:
        """Yield the files of known documents up to a checkpoint, the newest first."""
        while digest in self._known:
            yield digest
            digest = self._known[digest].before

    def _came(self, digest: str) -> int:
        return sum(self._known[one].count for one in self._chain(digest))

    def _arrivals(self, digest: str) -> list[int]:
        """Return how many documents came before each erased one up to a checkpoint."""
        end, found = self._came(digest), []
        for one in self._chain(digest):
            end -= self._known[one].count
            found += [end + place for place in sorted(self._known[one].places)]
        return found

    def _checkpoint(self, entry: CheckpointEntry) -> int:
        """Write a checkpoint again, if it changes; return how many documents at hand left."""
        stored = self._store.get_checkpoint(self._key, entry.digest)
        head, data = checkpoint_from_bytes(stored)
        of_first = [
            e.digest
            for e in self._entries
            if not e.island and (e.sequence, e.chain) == (entry.sequence, entry.chain)
        ]
        digest = entry.digest if not entry.island else next(iter(of_first), "")
        new, found = self._without_ids(head), 0
        settings = settings_in(self._settings_of(entry))
        learner = learner_for(settings)
        arrivals = np.array(self._arrivals(digest), np.int64)
        if len(arrivals) and isinstance(learner, HoldsDocuments):
            state = learner.load(settings, self._key, entry.island, data)
            erased = learner.erase(state, arrivals, self._came(digest))
            if erased is None:
                self._new[entry.digest] = ""
                return 0
            found, data = erased, learner.save(state)
            new = replace(new, witness=learner.witness(state))
        self._apart = max(self._apart, len(arrivals) - found)
        written = checkpoint_to_bytes(new, data)
        if written != stored:
            self._store.signatures.check_signs(self._key)
            self._new[entry.digest] = self._put(entry, written)
        return found

    def _put(self, entry: CheckpointEntry, data: bytes) -> str:
        if not self._writes:
            return entry.digest
        return self._store.put_checkpoint(replace(entry, digest=""), data).digest

    def _settings_of(self, entry: CheckpointEntry) -> dict[str, Any]:
        """Return the settings that a checkpoint was learned with; the store may go on from them."""
        before: dict[str, Any] = self._bound.get("before", self._bound)
        own = entry.settings_digest == self._bound["digest"]
        return dict((self._bound if own else before)["settings"])

    def _without_ids(self, head: LearnerHead) -> LearnerHead:
        """Return a head without the documents in its events, and with the checkpoint before it."""
        offered = [Candidate.from_bytes(data) for data in head.candidates]
        return replace(
            head,
            events=tuple(self._events(head.events)),
            candidates=tuple(replace(o, events=self._events(o.events)).to_bytes() for o in offered),
            checkpoint=self._new.get(head.checkpoint, head.checkpoint),
        )

    def _events(self, events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**event, "ids": self._erased.others(event["ids"])} for event in events]

    def _write_known(self, names: dict[str, str]) -> None:
        """Write known documents without the erased ones, under other digests or the same ones."""
        for digest, new in names.items():
            one = self._known[digest]
            if not one.places and new == digest and not self._new.get(one.before):
                continue
            self._store.signatures.check_signs(self._key)
            if self._writes:
                segment = self._segment(digest)
                hashes: npt.NDArray[np.uint64] = segment.hashes.copy()
                hashes[sorted(one.places)] = 0
                before = self._new.get(one.before) or one.before
                data = replace(segment, before=before, hashes=hashes).to_bytes()
                put = self._store.replace_known if new == digest else self._store.put_known
                put(self._key, new, data)
