"""A learner that learns the first of several near copies of a document.

It surrounds any learner. Before a step it compares each document of the minibatch with the last
documents that were learned, or with ``--duplicates=drop`` with the last ones that came, by MinHash
signatures of bounded size (:mod:`model.learners.kernels.signatures`), and leaves out those that are
near copies (:mod:`model.learners.leaving_out`). The memory of signatures is part of the saved
state.

Documents of fewer than :data:`SMALLEST` distinct words are neither compared nor remembered: short
texts are often equal by chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model import checks, wire
from model.learners.base import LearnerSettings
from model.learners.duplicates import CopySettings, Drop
from model.learners.kernels.signatures import (
    ENTRIES,
    Memory,
    find_copies,
    hash_words,
    is_copy,
    new_memory,
    restore,
    saved,
    sign,
)
from model.learners.leaving_out import BoolArray, Filtered, Flood, LeavingOut
from model.records import Minibatch
from model.word_list import text_of

SMALLEST = 8
_STATE = b"BTC1"


class WithoutNearCopies(LeavingOut):
    """A learner around another one; see the module's docstring."""

    counter = "near_copies"

    def memory(self, settings: LearnerSettings) -> Memory:
        return new_memory(_copies(settings).duplicates_remembered)

    def left_out(self, state: Filtered, minibatch: Minibatch) -> BoolArray:
        return near_copies(state, minibatch)

    def save(self, state: Filtered) -> bytes:
        signatures = wire.array_to_bytes(saved(state.memory), "<u4")
        header = {"signatures": int(state.memory.seen[0]), "flood": state.flood.to_json()}
        return wire.pack(_STATE, header, signatures, self._inner.save(state.state))

    def load(
        self, settings: LearnerSettings, key: str, island: int, data: bytes, threads: int = 1
    ) -> Filtered:
        header, (blob, inner) = wire.unpack(_STATE, data, 2)
        most = _copies(settings).duplicates_remembered
        count = checks.whole("signatures of a state", checks.field(header, "signatures"))
        signatures = wire.array_from_bytes(blob, "<u4")
        checks.sized("signatures of a state", signatures, min(count, most) * ENTRIES)
        memory = new_memory(most)
        restore(memory, signatures.reshape(-1, ENTRIES), count)
        state = self._inner.load(settings, key, island, inner, threads)
        # A state of a release that told no floods has none.
        return Filtered(state, settings, memory, Flood.from_json(header.get("flood", {})))

    def nbytes(self, state: Filtered) -> int:
        return self._inner.nbytes(state.state) + sum(part.nbytes for part in state.memory)


def near_copies(state: Filtered, minibatch: Minibatch) -> BoolArray:
    """Return whether each document is a near copy, bool[D], and remember what is compared with."""
    hashes = hash_words(text_of(minibatch.words), len(minibatch.words))
    tokens, offsets = minibatch.tokens.astype(np.int32), minibatch.offsets.astype(np.int64)
    comparable = np.array(
        [
            len(np.unique(tokens[begin:end])) >= SMALLEST
            for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        ],
        np.bool_,
    )
    least = int(np.ceil(_copies(state.settings).duplicate_similarity * ENTRIES))
    signatures = sign(hashes, tokens, offsets)
    if isinstance(state.settings.duplicates, Drop):
        return _copies_of_all(state.memory, signatures, comparable, least)
    found: BoolArray = find_copies(state.memory, signatures, comparable, least)
    return found


def _copies_of_all(memory: Memory, signatures: Any, comparable: BoolArray, least: int) -> BoolArray:
    """Return what :func:`find_copies` does, and remember copies, too."""
    copies = np.zeros(len(signatures), np.bool_)
    for d in np.flatnonzero(comparable).tolist():
        copies[d] = is_copy(memory, signatures[d], least)
        restore(memory, signatures[d : d + 1], int(memory.seen[0]) + 1)
    return copies


def _copies(settings: LearnerSettings) -> CopySettings:
    """Return how copies are found."""
    assert isinstance(settings.duplicates, CopySettings)
    return settings.duplicates
