"""What the model store says about its files: a :class:`Manifest` for each model version, a
:class:`CheckpointEntry` for each checkpoint.

Both are one line of canonical JSON with a ``sha256`` of the rest in it, which is checked before
anything else is believed:

>>> line = seal({"a": 1})
>>> unseal(line, "x.json")
{'a': 1}
>>> unseal(line.replace(b"1", b"2", 1), "x.json")
Traceback (most recent call last): model.errors.DamagedDataError: x.json does not have the content
that it was written with; restore it from a copy
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

from model import checks, wire
from model.errors import DamagedDataError
from model.settings import TokeniserSettings

VERSION_FORM = re.compile(r"[0-9]{12,16}-[0-9a-f]{16}")
# Ends of windows may lie outside the years 1 to 9999, and a date can still be printed.
_LATEST_TIME = 2**62
# Fields for people to read, whose last bits are those of a C library.
_LOGARITHMS = frozenset({"log_evidence", "posterior", "prequential_perplexity", "in_sample_nmi"})
_LAST_BITS = 1e-9


def seal(values: dict[str, Any]) -> bytes:
    """One line of JSON that holds its own digest."""
    return wire.canonical_json({**values, "sha256": _digest(values)}).encode() + b"\n"


def unseal(data: bytes, name: str) -> dict[str, Any]:
    """The inverse of :func:`seal`; ``name`` is what an error calls the file.

    Raises:
        DamagedDataError: the digest is missing or another one.
    """
    damaged = f"{name} does not have the content that it was written with; restore it from a copy"
    try:
        values = checks.parse_json(data, name)
    except DamagedDataError as error:
        raise DamagedDataError(f"{damaged}: {error}") from error
    if isinstance(values, dict) and values.pop("sha256", None) == _digest(values):
        return values
    raise DamagedDataError(damaged)


def _digest(values: dict[str, Any]) -> str:
    return hashlib.sha256(wire.canonical_json(values).encode()).hexdigest()


class _Sealed:
    """JSON there and back, for frozen dataclasses. Fields of another release are left out
    (docs/formats.md).
    """

    def to_json(self) -> bytes:
        """One sealed line; equal values have equal bytes."""
        stored = {item.name: getattr(self, item.name) for item in fields(self) if item.init}  # type: ignore[arg-type]
        return seal(stored)

    @classmethod
    def from_json(cls, data: bytes, name: str = "the record") -> Self:
        """The inverse of ``to_json``. Raises DamagedDataError: damaged, or of another release."""
        found = cls(**checks.record(cls, unseal(data, name), name, ignore_unknown=True))
        found.check(name)
        return found

    def check(self, name: str) -> None:
        """Refuse values that no record of this kind has. Raises DamagedDataError."""


@dataclass(frozen=True)
class CheckpointEntry(_Sealed):
    """Where a learner stood when a checkpoint was written.

    Attributes:
        key, island, sequence: whose, and after which minibatch. chain: h_n of that minibatch, hex.
        window_end: of that minibatch, microseconds. offered: after which minibatch the last version
        was. settings_digest: of the settings that the store is bound to. digest: SHA-256 of the
        checkpoint's bytes, hex.
    """

    key: str
    island: int
    sequence: int
    chain: str
    window_end: int
    offered: int
    settings_digest: str
    digest: str = ""

    @property
    def file_name(self) -> str:
        """Of the entry in the store."""
        return f"{self.sequence:012d}-{self.island:04d}-{self.digest[:16]}.json"

    def check(self, name: str) -> None:
        for field_name in ("sequence", "island", "offered"):
            checks.whole(f"field {field_name} of {name}", getattr(self, field_name))
        checks.hexadecimal(f"field digest of {name}", self.digest)


@dataclass(frozen=True)
class Pointer(_Sealed):
    """What ``LATEST`` holds.

    Attributes:
        version: the newest. manifest: SHA-256 of its manifest's bytes, hex.
    """

    version: str
    manifest: str

    def check(self, name: str) -> None:
        sequence_of(self.version, f"field version of {name}")
        checks.hexadecimal(f"field manifest of {name}", self.manifest)


@dataclass(frozen=True)
class Manifest(_Sealed):
    """A published model version: what was learned, from which version, and by which release.

    Attributes:
        key, sequence, event_time: which model, after which minibatch, the end of its window
        (microseconds). parent: the version before it, None for the first. snapshot: the digest of
        its file, hex. stored: the bytes that it was read from, no part of them; empty for one that
        was made just now. island, islands: which of how many islands won. fingerprint: the
        learner's, hex. chain: h_n, hex. settings: of ``tokeniser``, ``sequence`` and ``learner``;
        lists of words are named by size and digest. topic_order: the permutation that gave the
        topics their parent's ids, [] when none was needed. changes: which words entered and left
        each topic's first ten since the parent (:func:`model.publishing.topic_changes.changes`).
        documents, tokens, words: learned so far; the vocabulary's size. log_evidence: ln of the
        evidence of everything so far. posterior: ln P(w, z) of the published particle. ess: of its
        island. prequential_perplexity: over the tokens scored since the parent; None for the first
        version, and where there were none. in_sample_nmi: of the labelled documents in the
        learner's history, None where there are none. release: of this package.
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
    stored: bytes = field(default=b"", init=False, compare=False, repr=False)

    @classmethod
    def from_json(cls, data: bytes, name: str = "the record") -> Self:
        """The manifest in a file's bytes, which it keeps: its version is theirs. Raises
        DamagedDataError.
        """
        found = super().from_json(data, name)
        object.__setattr__(found, "stored", data)
        return found

    def to_json(self) -> bytes:
        """The bytes that it was read from, with fields that this release does not know; else one
        sealed line.
        """
        return self.stored or super().to_json()

    @property
    def tokeniser(self) -> TokeniserSettings:
        """The settings that made the words. Raises DamagedDataError: the manifest has none, or
        others than there are.
        """
        name = f"tokeniser in field settings of version {self.version}"
        return TokeniserSettings.from_json(self.settings.get("tokeniser"), name)

    @cached_property
    def version(self) -> str:
        """The name of the version: it sorts by sequence, and two that differ in anything have
        different names.

        It is a digest of the stored bytes, whatever fields they have, or, before it is stored, of
        the bytes that will be.
        """
        return f"{self.sequence:012d}-{hashlib.sha256(self.to_json()).hexdigest()[:16]}"

    def repeats(self, other: Manifest) -> bool:
        """Whether a stored manifest says the same as one that was made just now: in all fields
        that both have, but the release.

        Figures that are logarithms are compared up to their last bits, which differ between C
        libraries.
        """
        theirs, ours = json.loads(self.to_json()), json.loads(other.to_json())
        return all(
            _alike(name, theirs[name], ours[name])
            for name in theirs.keys() & ours.keys() - {"sha256", "release"}
        )

    def check(self, name: str) -> None:
        for field_name in ("sequence", "island", "islands", "documents", "tokens", "words"):
            checks.whole(f"field {field_name} of {name}", getattr(self, field_name))
        checks.whole(f"field event_time of {name}", self.event_time, -_LATEST_TIME, _LATEST_TIME)
        checks.hexadecimal(f"field snapshot of {name}", self.snapshot)
        if (
            self.parent is not None
            and sequence_of(self.parent, f"field parent of {name}") >= self.sequence
        ):
            checks.refuse(
                f"field parent of {name}",
                self.parent,
                f"a version with a sequence below {self.sequence}",
            )
        for change in self.changes:
            checks.record(_Change, change, f"field changes of {name}", ignore_unknown=True)


@dataclass(frozen=True)
class _Change:
    """One of :func:`model.publishing.topic_changes.changes`."""

    topic: int
    entered: dict[str, int]
    left: dict[str, int | None]


def _alike(name: str, theirs: Any, ours: Any) -> bool:
    """Whether two values of one field say the same."""
    if name in _LOGARITHMS and isinstance(theirs, float) and isinstance(ours, float):
        return math.isclose(theirs, ours, rel_tol=_LAST_BITS)
    return bool(theirs == ours)


def sequence_of(version: str, name: str) -> int:
    """The sequence in a version's name. Raises DamagedDataError: it does not have the form of a
    version.
    """
    if not VERSION_FORM.fullmatch(version):
        checks.refuse(
            name, repr(version), "a version: 12 digits or more, a hyphen and 16 hexadecimal digits"
        )
    return checks.whole(name, int(version.partition("-")[0]))
