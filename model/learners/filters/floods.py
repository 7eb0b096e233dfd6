"""Filters that leave documents out, and floods of what they leave out.

Documents are counted in blocks of at least :data:`BLOCK`. A flood is told, as an event, with the
first block of which at least :data:`FLOOD_SHARE` is left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from model import checks
from model.events import DOCUMENT_IDS, FLOOD, Event
from model.records import Minibatch
from model.snapshot import Snapshot

BLOCK = 100
FLOOD_SHARE = 0.25

BoolArray = npt.NDArray[np.bool_]


@dataclass
class Flood:
    """What was left out of the block that is being counted.

    Attributes:
        came: documents of the block.
        left: those that were left out.
        ids: the first of these.
        told: whether the last complete block was of a flood.
    """

    came: int = 0
    left: int = 0
    ids: list[str] = field(default_factory=list)
    told: bool = False

    def count(self, minibatch: Minibatch, left_out: BoolArray, by: str) -> tuple[Event, ...]:
        """Count a minibatch, and return the event of a flood that begins."""
        self.came += len(minibatch)
        self.left += int(left_out.sum())
        self.ids += [minibatch.ids[d] for d in np.flatnonzero(left_out)[:DOCUMENT_IDS]]
        del self.ids[DOCUMENT_IDS:]
        if self.came < BLOCK:
            return ()
        share, begins = self.left / self.came, not self.told
        told = share >= FLOOD_SHARE
        event = Event(FLOOD, self.left, by=by, figures={"share": share}, ids=list(self.ids))
        self.came, self.left, self.ids, self.told = 0, 0, [], told
        return (event,) if told and begins else ()

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for JSON."""
        return {"came": self.came, "left": self.left, "ids": self.ids, "told": self.told}

    @classmethod
    def from_json(cls, values: object) -> Flood:
        """Read what :meth:`to_json` returned.

        Raises:
            DamagedDataError: a field is missing or impossible.
        """
        found = cls(**checks.record(cls, values, "a flood"))
        checks.whole("came of a flood", found.came)
        checks.whole("left of a flood", found.left, 0, found.came + 1)
        checks.whole("ids of a flood", len(found.ids), 0, DOCUMENT_IDS + 1)
        return found


class LeavingOut(ABC):
    """A filter that leaves documents out.

    Attributes:
        flood: what was left out of the block that is being counted.
        events: the flood that the last minibatch told, if any.
    """

    counter: ClassVar[str]
    flood: Flood
    events: tuple[Event, ...] = ()

    @abstractmethod
    def left_out(self, minibatch: Minibatch) -> BoolArray:
        """Return whether each document is left out, bool[D], and remember the others."""

    def take(self, minibatch: Minibatch) -> Minibatch:
        left_out = self.left_out(minibatch)
        self.events = self.flood.count(minibatch, left_out, self.counter)
        return without(minibatch, left_out)

    def published(self, snapshot: Snapshot) -> Snapshot:
        return snapshot


def without(minibatch: Minibatch, left_out: BoolArray) -> Minibatch:
    """Return the minibatch without some of its documents."""
    if not left_out.any():
        return minibatch
    kept = [
        document
        for document, out in zip(minibatch.documents(), left_out.tolist(), strict=True)
        if not out
    ]
    return Minibatch.from_documents(
        minibatch.key, minibatch.sequence, minibatch.window_end, minibatch.closes_window, kept
    )
