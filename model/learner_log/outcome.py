"""What a call of a session comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from model.learner_log.head import LearnerHead
from model.learners.base import StepInfo
from model.publishing.candidates import Candidate


class Step(NamedTuple):
    """The figures of a step, with the number and the window of its minibatch."""

    sequence: int
    window_end: int
    info: StepInfo


@dataclass(slots=True)
class Outcome:
    """The result of one call of :meth:`Session.handle`.

    Attributes:
        head: The head afterwards.
        candidates: The candidates to publish.
        steps: The figures of each step, for progress and counters.
        restores: 1 if the learner was restored from its checkpoint and its log.
        unpacked: 1 if the learner was loaded from its saved bytes in memory.
        checkpoints: The number of checkpoints that were written.
        repeats: The number of minibatches that had been learned already.
        gaps: The number of minibatches that came before their turn.
    """

    head: LearnerHead
    candidates: list[Candidate] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    restores: int = 0
    unpacked: int = 0
    checkpoints: int = 0
    repeats: int = 0
    gaps: int = 0
