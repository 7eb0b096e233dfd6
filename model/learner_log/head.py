"""The head of a learner and the checkpoint, which is a head with a saved state.

The head is all that is committed at each minibatch, a few hundred bytes. The state of a learner is
(checkpoint, log): the checkpoint is a file in the model store, and the log holds the minibatches
since. The head names both. It also says what a replay must come to: the fingerprint (settings,
island, release and minibatches) and the witness (the bits of the evidence and of each particle's
posterior).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners.base import ALGORITHM_VERSION, LearnerSettings
from beam_topics.model.publishing.blobs import sequence_of
from beam_topics.model.publishing.events import events_from_json
from beam_topics.model.stored import checks, wire

_CHECKPOINT = b"BTl1"
# Chain, fingerprint, witness, arrivals and seal; candidates come before the seal.
_FEWEST_BLOBS = 5


def fingerprinter(settings: LearnerSettings, island: int) -> Callable[[bytes], bytes]:
    """Return a function from h_n to the fingerprint of the learner.

    The fingerprint is H(settings that change what is learned, island, algorithm version, h_n).
    """
    # The settings are serialised once: they may hold a whole vocabulary.
    canonical = settings.canonical().encode()
    return lambda chain: wire.digest(
        canonical, str(island).encode(), str(ALGORITHM_VERSION).encode(), chain
    )


@dataclass(frozen=True, slots=True)
class LearnerHead:
    """The state of one learner in a stream.

    Attributes:
        sequence: The number of the last minibatch that was learned.
        chain: h_n of that minibatch.
        fingerprint: The fingerprint after it.
        witness: The witness after it.
        checkpoint_sequence: The last minibatch that the checkpoint holds; 0 before the first.
        checkpoint: The digest of the checkpoint, hex; "" before the first.
        log_count: The number of minibatches in the log.
        log_tokens: The number of tokens in the log.
        gaps: The number of entries of the gap bag, which came too early.
        window_end: The end of the window of the last minibatch.
        offered: The sequence of the last candidate.
        since: The end of the window of the last candidate. Before the first candidate it is the
            begin of the first window; before that, None.
        windows: The number of windows that closed since. With ``since`` it decides when the next
            candidate is due.
        log_evidence: The log evidence at the last candidate.
        scored_tokens: The scored tokens at the last candidate.
        candidates: The bytes of the candidates since the checkpoint, preceded by the last one
            before it.
        counted: The number of documents whose topics were counted, in the order in which they came.
        arrived: The tokens and documents of each topic that were counted since the last candidate,
            the bytes of float64[C, 2, T]
            (:meth:`beam_topics.model.learners.base.Learner.arrivals`); empty for none.
        events: What the stream did since the last candidate
            (:class:`beam_topics.model.publishing.events.Event` as JSON).
        base: The newest version of the store when the run began, "" for none. A run writes nothing
            before it has come to this version, and a checkpoint does not have it.
        times: The times of the earliest and the latest document so far, in microseconds; empty for
            none.
    """

    sequence: int
    chain: bytes
    fingerprint: bytes
    witness: bytes
    checkpoint_sequence: int = 0
    checkpoint: str = ""
    log_count: int = 0
    log_tokens: int = 0
    gaps: int = 0
    window_end: int = 0
    offered: int = 0
    since: int | None = None
    windows: int = 0
    log_evidence: float = 0.0
    scored_tokens: int = 0
    candidates: tuple[bytes, ...] = ()
    counted: int = 0
    arrived: bytes = b""
    events: tuple[dict[str, Any], ...] = ()
    base: str = ""
    times: tuple[int, ...] = ()

    MAGIC = b"BTh3"

    def to_bytes(self) -> bytes:
        header = wire.canonical_json({name: getattr(self, name) for name in _NUMBERS}).encode()
        blobs = (self.chain, self.fingerprint, self.witness, self.arrived, *self.candidates)
        return wire.pack_encoded(self.MAGIC, header, *blobs, _seal(header, blobs))

    @classmethod
    def from_bytes(cls, data: bytes) -> LearnerHead:
        header, found = wire.unpack(cls.MAGIC, data)
        if len(found) < _FEWEST_BLOBS:
            checks.refuse("parts of a learner's head", len(found), f"{_FEWEST_BLOBS} or more")
        *blobs, seal = found
        if seal != _seal(wire.canonical_json(header).encode(), blobs):
            raise DamagedDataError(
                "a learner's head does not have the content that it was written with"
            )
        chain, fingerprint, witness, arrived, *candidates = blobs
        facts = checks.record(cls, header, "a learner's head", apart=_BLOBS)
        head = cls(
            chain=chain,
            fingerprint=fingerprint,
            witness=witness,
            arrived=arrived,
            candidates=tuple(candidates),
            **facts,
        )
        head.check()
        return head

    def check(self) -> None:
        """Refuse counts and digests that no learner has.

        Raises:
            DamagedDataError: A value is out of range.
        """
        for name in _COUNTS:
            checks.whole(f"{name} of a learner's head", getattr(self, name))
        for name in ("checkpoint_sequence", "offered"):
            checks.whole(f"{name} of a learner's head", getattr(self, name), 0, self.sequence + 1)
        checks.measures("arrived of a learner's head", wire.array_from_bytes(self.arrived, "<f8"))
        events_from_json(self.events, "events of a learner's head")
        checks.span("times of a learner's head", self.times)
        checks.sized("chain of a learner's head", self.chain, wire.DIGEST_BYTES)
        checks.sized("fingerprint of a learner's head", self.fingerprint, wire.DIGEST_BYTES)
        if self.checkpoint:
            checks.hexadecimal("checkpoint of a learner's head", self.checkpoint)
        checks.whole("base of a learner's head", self._base_sequence)

    @property
    def at_base(self) -> bool:
        """Whether what the learner has offered reaches the base, so that it writes checkpoints."""
        return self.offered >= self._base_sequence

    @property
    def is_base(self) -> bool:
        """Whether the learner stands at the base."""
        return self.sequence == self._base_sequence

    @property
    def _base_sequence(self) -> int:
        return sequence_of(self.base, "base of a learner's head") if self.base else 0


_COUNTS = ("sequence", "log_count", "log_tokens", "gaps", "windows", "scored_tokens", "counted")
# The fields that are stored as blobs, and those of the header.
_BLOBS = ("chain", "fingerprint", "witness", "arrived", "candidates")
_NUMBERS = tuple(item.name for item in fields(LearnerHead) if item.name not in _BLOBS)


def _seal(header: bytes, blobs: Iterable[bytes]) -> bytes:
    # With a wrong count, every minibatch that follows would go to the gap bag without an error.
    return wire.digest(header, *blobs)


def checkpoint_to_bytes(head: LearnerHead, state: bytes) -> bytes:
    """Return a checkpoint: the saved state of a learner and its head without log, gaps and base.

    The ``checkpoint`` in that head is the one before, so the candidates of a whole history can be
    found again.
    """
    saved = replace(head, log_count=0, log_tokens=0, gaps=0, base="")
    return wire.pack(_CHECKPOINT, {}, saved.to_bytes(), state)


def checkpoint_from_bytes(data: bytes) -> tuple[LearnerHead, bytes]:
    """Read the bytes that :func:`checkpoint_to_bytes` wrote.

    Raises:
        DamagedDataError: The bytes are not a checkpoint.
    """
    _, (head, state) = wire.unpack(_CHECKPOINT, data, 2)
    return LearnerHead.from_bytes(head), state
