"""What the states of learners have in common: evidence, and parts of how they are saved."""

from __future__ import annotations

import operator
from collections import deque
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners.base import LearnerSettings
from beam_topics.model.scaled import Scaled
from beam_topics.model.stored import checks, wire

# The minibatches whose evidence is kept, to compare islands.
EVIDENCE_WINDOW = 20
_SIZES = ("<u1", "<u2", "<u4", "<i8")
_NAME = "a saved learner"


@dataclass(kw_only=True, eq=False)
class KeepsEvidence:
    """A state with the probability of what was scored.

    Attributes:
        scored: tokens that ``evidence`` covers.
        evidence: P of them, each minibatch given all before it.
        recent: the evidence of the last minibatches.
    """

    scored: int = 0
    evidence: Scaled = field(default_factory=lambda: Scaled.of(1.0))
    recent: deque[Scaled] = field(default_factory=lambda: deque(maxlen=EVIDENCE_WINDOW))

    def score(self, found: Scaled, tokens: int) -> None:
        """Add the probability of a minibatch of ``tokens`` tokens."""
        self.scored += tokens
        self.evidence = self.evidence * found
        self.recent.append(found)

    @property
    def recent_evidence(self) -> Scaled:
        """Return the evidence of the last minibatches together."""
        return reduce(operator.mul, self.recent, Scaled.of(1.0))

    def evidence_to_json(self) -> list[str]:
        """Return the evidence of all and of the last minibatches."""
        return [one.to_bytes().hex() for one in (self.evidence, *self.recent)]

    def load_evidence(self, header: dict[str, Any]) -> None:
        """Set what :meth:`evidence_to_json` returned, the field ``evidence``."""
        name = f"evidence of {_NAME}"
        found = checks.of_type(name, checks.field(header, "evidence"), list[str])
        checks.whole(name, len(found), 1, EVIDENCE_WINDOW + 2)
        self.evidence, *recent = map(Scaled.from_hex, found)
        self.recent.extend(recent)


def settings_digest(settings: LearnerSettings) -> str:
    """Return a digest of the settings that a saved state belongs to."""
    return wire.digest(settings.canonical().encode()).hex()


def unpack_state(
    magic: bytes, data: bytes, settings: LearnerSettings, blobs: int
) -> tuple[dict[str, Any], list[bytes]]:
    """Return the header and the parts of a saved state.

    Raises:
        DamagedDataError: it is damaged, or was saved with other settings.
    """
    header, found = wire.unpack(magic, data, blobs)
    if header.get("settings") != settings_digest(settings):
        raise DamagedDataError(
            f"{_NAME} does not fit these settings; it was made with others, or is damaged"
        )
    return header, found


def load_facts(state: object, header: dict[str, Any], names: tuple[str, ...]) -> None:
    """Set whole numbers of a header, 0 or more, as attributes of the same names."""
    for name in names:
        setattr(state, name, checks.whole(f"{name} of {_NAME}", checks.field(header, name)))


def pack_numbers(values: Any) -> bytes:
    """Return non-negative integers in the smallest of four types that holds them all.

    The first byte names the type.
    """
    array = np.asarray(values)
    top = int(array.max(initial=0))
    kind = next((k for k, size in enumerate(_SIZES[:3]) if top <= np.iinfo(np.dtype(size)).max), 3)
    return bytes([kind]) + wire.array_to_bytes(array, _SIZES[kind])


def unpack_numbers(data: bytes) -> LongArray:
    """Return the integers that :func:`pack_numbers` wrote, as a flat int64 array."""
    return numbers_of(data).astype(np.int64)


def numbers_of(data: bytes) -> npt.NDArray[Any]:
    """Return the integers in the type that was stored, without a copy.

    Raises:
        DamagedDataError: the first byte names no type, or the length does not fit it.
    """
    if not data or data[0] >= len(_SIZES):
        raise DamagedDataError("an array in a learner's state does not name its type")
    return wire.array_from_bytes(data[1:], _SIZES[data[0]])


def pack_counts(counts: IntArray) -> list[bytes]:
    """Return int[W, T] as bytes: how many topics each word has, which, and their counts."""
    words, topics = np.nonzero(counts)
    lengths = np.bincount(words, minlength=len(counts))
    return [*map(pack_numbers, (lengths, topics, counts[words, topics]))]


def unpack_counts(name: str, blobs: list[bytes], words: int, topics: int, most: int) -> IntArray:
    """Return what :func:`pack_counts` wrote, int32[words, topics], of counts up to ``most``.

    Raises:
        DamagedDataError: the bytes are no such counts; ``name`` says what they should be.
    """
    lengths, columns, counts = map(unpack_numbers, blobs)
    checks.sized(f"lengths of {name}", lengths, words)
    checks.within(f"lengths of {name}", lengths, 0, topics + 1)
    checks.sized(f"topics of {name}", columns, int(lengths.sum()))
    checks.sized(name, counts, len(columns))
    checks.within(f"topics of {name}", columns, 0, topics)
    checks.within(name, counts, 1, most + 1)
    rows = np.repeat(np.arange(words), lengths)
    checks.ascending(f"topics of {name}", rows * topics + columns, strictly=True)
    found = np.zeros((words, topics), np.int32)
    found[rows, columns] = counts
    return found
