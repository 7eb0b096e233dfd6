"""Log how far reading and learning have come.

The logger ``beam_topics.progress`` gets one INFO record after a number of tokens. Its attributes
are key, island, sequence, event_time (microseconds), documents and tokens (learned by this process
so far), words, ess and log_evidence (per token). A record about reading has the attribute ``read``
alone: the number of documents that were read since the record before it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TypeVar

from model.learner_log.outcome import Step

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


class ProgressLog:
    """Log records for a display. Nothing reads them back."""

    def __init__(self, every: int) -> None:
        self._every, self._documents, self._tokens, self._logged = every, 0, 0, -every

    def __call__(self, key: str, island: int, step: Step) -> None:
        info = step.info
        self._documents += info.documents
        self._tokens += info.tokens
        if self._tokens - self._logged < self._every:
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
