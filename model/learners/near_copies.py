"""A learner that learns the first of several near copies of a document.

It surrounds any learner. Before a step it compares each document of the minibatch with the last
documents that were learned, by MinHash signatures of bounded size
(:mod:`model.learners.kernels.signatures`), and leaves out those that are near copies. What is left
out depends on the minibatches alone, as everything that is learned, and the memory of signatures is
part of the saved state.

Documents of fewer than :data:`SMALLEST` distinct words are neither compared nor remembered: short
texts are often equal by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from model import checks, wire
from model.learners.base import Arrivals, Learner, LearnerSettings, StepInfo, Summary
from model.learners.duplicates import CountOnce
from model.learners.kernels.signatures import (
    ENTRIES,
    Memory,
    find_copies,
    hash_words,
    new_memory,
    restore,
    saved,
    sign,
)
from model.records import Minibatch
from model.snapshot import Snapshot

SMALLEST = 8
_STATE = b"BTC1"


@dataclass
class Filtered:
    """The state of a learner, and the signatures of what it learned.

    Attributes:
        state: the state of the learner within.
        memory: the last signatures.
        settings: the settings of the learner, which say how copies are found.
    """

    state: Any
    memory: Memory
    settings: LearnerSettings


class WithoutNearCopies:
    """A learner around another one; see the module's docstring.

    Args:
        inner: the learner that learns what is left.
    """

    def __init__(self, inner: Learner[Any]) -> None:
        self._inner = inner

    def init(self, settings: Any, key: str, island: int, threads: int = 1) -> Filtered:
        state = self._inner.init(settings, key, island, threads)
        return Filtered(state, new_memory(_copies(settings).duplicates_remembered), settings)

    def step(self, state: Filtered, minibatch: Minibatch) -> StepInfo:
        copies = near_copies(state, minibatch)
        found = int(copies.sum())
        if found == len(minibatch) > 0:
            return self._nothing(state, found)
        if found:
            kept = [
                document
                for document, copy in zip(minibatch.documents(), copies.tolist(), strict=True)
                if not copy
            ]
            minibatch = Minibatch.from_documents(
                minibatch.key,
                minibatch.sequence,
                minibatch.window_end,
                minibatch.closes_window,
                kept,
            )
        return replace(self._inner.step(state.state, minibatch), near_copies=found)

    def _nothing(self, state: Filtered, found: int) -> StepInfo:
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
            near_copies=found,
        )

    def snapshot(self, state: Filtered, chain: int | None = None) -> Snapshot:
        return self._inner.snapshot(state.state, chain)

    def summary(self, state: Filtered, chain: int | None = None) -> Summary:
        return self._inner.summary(state.state, chain)

    def arrivals(self, state: Filtered, after: int, unlearned: bool = False) -> Arrivals:
        return self._inner.arrivals(state.state, after, unlearned)

    def witness(self, state: Filtered) -> bytes:
        return self._inner.witness(state.state)

    def save(self, state: Filtered) -> bytes:
        signatures = wire.array_to_bytes(saved(state.memory), "<u4")
        header = {"signatures": int(state.memory.seen[0])}
        return wire.pack(_STATE, header, signatures, self._inner.save(state.state))

    def load(
        self, settings: LearnerSettings, key: str, island: int, data: bytes, threads: int = 1
    ) -> Filtered:
        header, (blob, inner) = wire.unpack(_STATE, data, 2)
        most = _copies(settings).duplicates_remembered
        count = checks.whole("signatures of a state", checks.field(header, "signatures"))
        signatures = wire.array_from_bytes(blob, "<u4")
        checks.sized("signatures of a state", signatures, min(count, most) * ENTRIES)
        state = Filtered(
            self._inner.load(settings, key, island, inner, threads),
            new_memory(most),
            settings,
        )
        restore(state.memory, signatures.reshape(-1, ENTRIES), count)
        return state

    def nbytes(self, state: Filtered) -> int:
        return self._inner.nbytes(state.state) + sum(part.nbytes for part in state.memory)


def near_copies(state: Filtered, minibatch: Minibatch) -> Any:
    """Return whether each document is a near copy, bool[D], and remember the others."""
    text = np.frombuffer(wire.words_to_bytes(minibatch.words), np.uint8)
    hashes = hash_words(text, len(minibatch.words))
    tokens, offsets = minibatch.tokens.astype(np.int32), minibatch.offsets.astype(np.int64)
    comparable = np.array(
        [
            len(np.unique(tokens[begin:end])) >= SMALLEST
            for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        ],
        np.bool_,
    )
    least = int(np.ceil(_copies(state.settings).duplicate_similarity * ENTRIES))
    return find_copies(state.memory, sign(hashes, tokens, offsets), comparable, least)


def _copies(settings: LearnerSettings) -> CountOnce:
    """Return how copies are found."""
    assert isinstance(settings.duplicates, CountOnce)
    return settings.duplicates
