"""The result of a call of a session, and the log of the progress of reading and learning.

The logger ``beam_topics.progress`` gets one INFO record after a number of tokens. Its attributes
are key, island, sequence, event_time (microseconds), documents and tokens (learned by this process
so far), words, ess and log_evidence (per token). A record about reading has the attribute ``read``
alone: the number of documents that were read since the record before it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from beam_topics.model.learner_log.head import LearnerHead
from beam_topics.model.learners.base import StepInfo
from beam_topics.model.publishing.choice import Candidate


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


PROGRESS = logging.getLogger("beam_topics.progress")
_READ_TOGETHER = 10_000

T = TypeVar("T")


def counted(items: Iterable[T], kind: type) -> Iterator[T]:
    """Yield the items of an input that has an end, and log the number of its documents.

    Args:
        items: Documents and others.
        kind: The class of documents.
    """
    number = 0
    for item in items:
        number += isinstance(item, kind)
        if number == _READ_TOGETHER:
            PROGRESS.info("read", extra={"read": number})
            number = 0
        yield item
    PROGRESS.info("read", extra={"read": number})


# Tokens between two records.
PROGRESS_TOKENS = 20_000


class ProgressLog:
    """Log records for a display. Nothing reads them back."""

    def __init__(self) -> None:
        self._documents, self._tokens, self._logged = 0, 0, -PROGRESS_TOKENS

    def __call__(self, key: str, island: int, step: Step) -> None:
        info = step.info
        self._documents += info.documents
        self._tokens += info.tokens
        if self._tokens - self._logged < PROGRESS_TOKENS:
            return
        self._logged = self._tokens
        figures = {
            "key": key,
            "island": island,
            "sequence": step.sequence,
            "event_time": step.window_end,
            "documents": self._documents,
            "tokens": self._tokens,
            "words": info.words,
            "ess": info.ess,
            "log_evidence": info.log_evidence / max(info.scored_tokens, 1),
        }
        PROGRESS.info(
            "minibatch %d of key %r, island %d", step.sequence, key, island, extra=figures
        )
