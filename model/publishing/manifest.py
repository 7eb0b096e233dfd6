"""What the model store says about its files: a :class:`Manifest` for each model version, a :class:`CheckpointEntry` for each checkpoint.

Both are one line of canonical JSON with a ``sha256`` of the rest in it, which is checked before anything else is believed:

>>> line = seal({"a": 1})
>>> unseal(line, "x.json")
{'a': 1}
>>> unseal(line.replace(b"1", b"2", 1), "x.json")
Traceback (most recent call last):
model.errors.DamagedDataError: x.json does not have the content that it was written with; restore it from a copy
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

from model import wire
from model.errors import DamagedDataError


def seal(values: dict[str, Any]) -> bytes:
    """One line of JSON that holds its own digest."""
    return wire.canonical_json({**values, "sha256": _digest(values)}).encode() + b"\n"


def unseal(data: bytes, name: str) -> dict[str, Any]:
    """The inverse of :func:`seal`; ``name`` is what an error calls the file.

    Raises:
        DamagedDataError: the digest is missing or another one.
    """
    try:
        values = json.loads(data.decode())
        if values.pop("sha256") == _digest(values):
            return dict(values)
    except (ValueError, KeyError, AttributeError, TypeError):
        pass
    raise DamagedDataError(f"{name} does not have the content that it was written with; restore it from a copy")


def _digest(values: dict[str, Any]) -> str:
    return hashlib.sha256(wire.canonical_json(values).encode()).hexdigest()


class _Sealed:
    """JSON there and back, for frozen dataclasses."""

    def to_json(self) -> bytes:
        """One sealed line; equal values have equal bytes."""
        return seal(asdict(self))  # type: ignore[call-overload]

    @classmethod
    def from_json(cls, data: bytes, name: str = "the record") -> Self:
        """The inverse of ``to_json``. Raises DamagedDataError: damaged, or of another release."""
        values = unseal(data, name)
        try:
            return cls(**values)
        except TypeError as error:
            raise DamagedDataError(f"{name} was written by another release: {error}") from error


@dataclass(frozen=True)
class CheckpointEntry(_Sealed):
    """Where a learner stood when a checkpoint was written.

    Attributes:
        key, island, sequence: whose, and after which minibatch.
        chain: h_n of that minibatch, hex. window_end: of that minibatch, microseconds. offered: after which minibatch the last version was.
        settings_digest: of the settings that the store is bound to. digest: SHA-256 of the checkpoint's bytes, hex.
    """

    key: str
    island: int
    sequence: int
    chain: str
    window_end: int
    offered: int
    settings_digest: str
    digest: str = ""


@dataclass(frozen=True)
class Manifest(_Sealed):
    """A published model version: what was learned, from which version, and by which release.

    Attributes:
        key, sequence, event_time: which model, after which minibatch, the end of its window (microseconds).
        parent: the version before it, None for the first. snapshot: the digest of its file, hex.
        island, islands: which of how many islands won. fingerprint: the learner's, hex. chain: h_n, hex.
        settings: of ``tokeniser``, ``sequence`` and ``learner``; lists of words are named by size and digest.
        topic_order: the permutation that gave the topics their parent's ids, [] when none was needed.
        changes: which words entered and left each topic's first ten since the parent (:func:`model.publishing.watching.changes`).
        documents, tokens, words: learned so far; the vocabulary's size.
        log_evidence: ln of the evidence of everything so far. posterior: ln P(w, z) of the published particle. ess: of its island.
        prequential_perplexity: over the tokens since the parent, None where there were none.
        in_sample_nmi: of the labelled documents in the learner's history, None where there are none.
        release: of this package.
    """

    key: str
    sequence: int
    event_time: int
    parent: str | None
    snapshot: str
    island: int
    islands: int
    fingerprint: str
    chain: str
    settings: dict[str, Any]
    topic_order: list[int]
    changes: list[dict[str, Any]]
    documents: int
    tokens: int
    words: int
    log_evidence: float
    prequential_perplexity: float | None
    posterior: float
    ess: float
    in_sample_nmi: float | None
    release: str

    @cached_property
    def version(self) -> str:
        """The name of the version: it sorts by sequence, and two that differ in anything have different names."""
        return f"{self.sequence:012d}-{hashlib.sha256(self.to_json()).hexdigest()[:16]}"
