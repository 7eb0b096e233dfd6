"""A learner that leaves documents out, around another learner.

Near copies (:mod:`model.learners.near_copies`) and what a source has beyond its share
(:mod:`model.learners.source_share`) are left out before a step. What is left out depends on the
minibatches alone, as everything that is learned, and what the choice is made by is part of the
saved state. The documents are labelled like all others: labels do not come from the learner.

Documents are counted in blocks of at least :data:`BLOCK`. A flood is told, as an event, with the
first block of which at least :data:`FLOOD` is left out.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from model import checks
from model.events import DOCUMENT_IDS, FLOOD, Event
from model.learners.around import Around, Surrounded
from model.learners.base import LearnerSettings, StepInfo
from model.records import Minibatch

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


@dataclass
class Filtered(Surrounded):
    """The state of a learner, and what says which documents it learns.

    Attributes:
        flood: what was left out.
    """

    flood: Flood = field(default_factory=Flood)


class LeavingOut(Around):
    """A learner around another one; see the module's docstring.

    Attributes:
        counter: the field of :class:`StepInfo` that counts what is left out.
    """

    counter: str

    @abstractmethod
    def left_out(self, state: Filtered, minibatch: Minibatch) -> BoolArray:
        """Return whether each document is left out, bool[D], and remember the others."""

    @abstractmethod
    def memory(self, settings: LearnerSettings) -> Any:
        """Return the memory of a new learner."""

    def init(self, settings: Any, key: str, island: int, threads: int = 1) -> Filtered:
        inner = self._inner.init(settings, key, island, threads)
        return Filtered(inner, settings, self.memory(settings))

    def step(self, state: Filtered, minibatch: Minibatch) -> StepInfo:
        left_out = self.left_out(state, minibatch)
        found = int(left_out.sum())
        events = state.flood.count(minibatch, left_out, self.counter)
        if found == len(minibatch) > 0:
            info = self._nothing(state)
        else:
            info = self._inner.step(state.state, without(minibatch, left_out))
        return replace(info, events=(*events, *info.events), **{self.counter: found})

    def _nothing(self, state: Filtered) -> StepInfo:
        """Return what a step did that learned nothing."""
        summary = self._inner.summary(state.state)
        return StepInfo(
            documents=0,
            tokens=0,
            unknown_tokens=0,
            moves=0,
            resamplings=0,
            ess=summary.ess,
            log_evidence=0.0,
            words=summary.words,
        )


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
