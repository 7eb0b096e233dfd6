"""The filter that keeps the first of several near copies of a document.

It compares each document of a minibatch with the last documents that were kept, or with
``--duplicates=drop`` with the last ones that came, by MinHash signatures of bounded size
(:mod:`model.learners.filters.kernels.signatures`), and leaves out those that are near copies.

Documents of fewer than :data:`SMALLEST` distinct words are neither compared nor remembered: short
texts are often equal by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from model import checks, wire
from model.learners.base import LearnerSettings
from model.learners.filters.floods import BoolArray, Flood, LeavingOut
from model.learners.filters.kernels.signatures import (
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
from model.learners.filters.settings import CopySettings, Drop
from model.records import Minibatch
from model.word_list import text_of

SMALLEST = 8
_STATE = b"BTC2"


@dataclass
class NearCopies(LeavingOut):
    """The filter that leaves near copies out, with the signatures of what it compares with.

    Attributes:
        settings: what a near copy is.
        memory: the signatures.
    """

    counter: ClassVar[str] = "near_copies"

    settings: CopySettings
    memory: Memory
    flood: Flood = field(default_factory=Flood)

    @classmethod
    def new(cls, settings: LearnerSettings) -> Self:
        assert isinstance(settings.duplicates, CopySettings)
        return cls(settings.duplicates, new_memory(settings.duplicates.duplicates_remembered))

    def left_out(self, minibatch: Minibatch) -> BoolArray:
        hashes = hash_words(text_of(minibatch.words), len(minibatch.words))
        tokens, offsets = minibatch.tokens.astype(np.int32), minibatch.offsets.astype(np.int64)
        comparable = np.array(
            [
                len(np.unique(tokens[begin:end])) >= SMALLEST
                for begin, end in pairwise(offsets.tolist())
            ],
            np.bool_,
        )
        least = int(np.ceil(self.settings.duplicate_similarity * ENTRIES))
        signatures = sign(hashes, tokens, offsets)
        if isinstance(self.settings, Drop):
            return _copies_of_all(self.memory, signatures, comparable, least)
        found: BoolArray = find_copies(self.memory, signatures, comparable, least)
        return found

    def to_bytes(self) -> bytes:
        signatures = wire.array_to_bytes(saved(self.memory), "<u4")
        header = {"signatures": int(self.memory.seen[0]), "flood": self.flood.to_json()}
        return wire.pack(_STATE, header, signatures)

    @classmethod
    def from_bytes(cls, settings: LearnerSettings, data: bytes) -> Self:
        header, (blob,) = wire.unpack(_STATE, data, 1)
        found = cls.new(settings)
        most = found.settings.duplicates_remembered
        count = checks.whole("signatures of a state", checks.field(header, "signatures"))
        signatures = wire.array_from_bytes(blob, "<u4")
        checks.sized("signatures of a state", signatures, min(count, most) * ENTRIES)
        restore(found.memory, signatures.reshape(-1, ENTRIES), count)
        found.flood = Flood.from_json(checks.field(header, "flood"))
        return found

    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.memory)


def _copies_of_all(memory: Memory, signatures: Any, comparable: BoolArray, least: int) -> BoolArray:
    """Return what :func:`find_copies` does, and remember copies, too."""
    copies = np.zeros(len(signatures), np.bool_)
    for d in np.flatnonzero(comparable).tolist():
        copies[d] = is_copy(memory, signatures[d], least)
        restore(memory, signatures[d : d + 1], int(memory.seen[0]) + 1)
    return copies
