"""Count the tokens and documents of each topic that came since the last candidate.

The head of a learner has the sums (``arrived``) and the number of documents that are in them or in
an earlier candidate (``counted``). Documents are numbered in the order in which they come. A
document is counted once: after the step that learns it, or, if it waits within the learner while a
candidate is offered, with that candidate. A head of a release without these fields does not say
what came before it, so its next candidate has no counts, unless the head stands at a candidate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from model import checks, wire
from model.learner_log.head import LearnerHead
from model.learners.base import Arrivals, Learner, LearnerSettings
from model.publishing.candidates import Candidate
from model.records import FloatArray


def count_step(
    head: LearnerHead, learner: Learner[object], state: object, settings: LearnerSettings
) -> tuple[int | None, bytes]:
    """Count the documents that the last step learned.

    Args:
        head: The head before the step.
        learner: The learner.
        state: Its state after the step.
        settings: The settings of the learner.

    Returns:
        ``counted`` and ``arrived`` of the head after the step.
    """
    counted = _counted(head)
    if counted is None:
        return head.counted, head.arrived
    return _added(head, counted, learner.arrivals(state, counted), settings)


def count_waiting(
    head: LearnerHead, learner: Learner[object], state: object, settings: LearnerSettings
) -> tuple[LearnerHead, FloatArray | None]:
    """Count the documents that wait within the learner, and begin anew.

    Args:
        head: The head at a candidate.
        learner: The learner.
        state: Its state.
        settings: The settings of the learner.

    Returns:
        The head afterwards, and float64[C, 2, T], the tokens and documents of each topic since the
        candidate before; None if they are not known.
    """
    counted = _counted(head)
    known = 0 if counted is None else counted
    new = learner.arrivals(state, known, unlearned=True)
    until, arrived = _added(head, known, new, settings)
    sums = None if counted is None else _sums(arrived, settings)
    return replace(head, counted=until, arrived=b""), sums


def _counted(head: LearnerHead) -> int | None:
    """Return the number of documents that were counted; None if it is not known."""
    if head.counted is not None or head.sequence != head.offered:
        return head.counted
    return Candidate.from_bytes(head.candidates[-1]).documents if head.candidates else 0


def _added(
    head: LearnerHead, counted: int, new: Arrivals, settings: LearnerSettings
) -> tuple[int, bytes]:
    """Return ``counted`` and ``arrived`` of a head with more documents."""
    sums = new.counts + _sums(head.arrived, settings) if head.arrived else new.counts
    return max(counted, new.until), wire.array_to_bytes(sums, "<f8")


def _sums(arrived: bytes, settings: LearnerSettings) -> FloatArray:
    shape = settings.independent_chains, 2, settings.topic_count
    if not arrived:
        return np.zeros(shape)
    flat = wire.array_from_bytes(arrived, "<f8")
    return checks.shaped("arrived of a learner's head", flat, shape[0], 2 * shape[2]).reshape(shape)
