"""The head of a learner and the checkpoint, which is a head with a saved state.

The head is all that is committed at each minibatch, a few hundred bytes. The state of a learner is
(checkpoint, log): the checkpoint is a file in the model store, and the log holds the minibatches
since. The head names both. It also says what a replay must reproduce: the fingerprint (settings,
island, release and minibatches) and the witness (the bits of the evidence and of each particle's
posterior).

Live learners stay in the process, so that a bundle need not load the previous checkpoint. A
learner is checked out (removed under a lock) before it is touched, and checked in only when its
step succeeded, so no other thread and no second attempt can see a learner whose step failed
half-way. A learner may be ahead of a bundle that was rolled back, so the caller compares it with
the committed head before it is used.

All learners of a process share one bound in bytes. Beyond it, the least recently used learner is
packed: its saved state, the bytes that a checkpoint would hold, replaces it. Loading them gives the
same bits. If packed states do not fit either, the oldest ones are dropped; such a learner is
restored from its checkpoint and its log.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners.base import ALGORITHM_VERSION, LearnerSettings
from beam_topics.model.publishing.blobs import sequence_of
from beam_topics.model.publishing.events import events_from_json
from beam_topics.model.settings.options import MEGABYTE
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
            start of the first window; before that, None.
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


@dataclass(frozen=True, slots=True)
class Live:
    """The state of a learner, and the head at which it stands.

    Attributes:
        state: The state, or its saved bytes where the learner is packed.
        head: The head of its log.
        nbytes: The bytes that the state takes in memory.
        save: Returns the saved bytes of a state; None where the learner is packed.
    """

    state: Any
    head: LearnerHead
    nbytes: int
    save: Callable[[Any], bytes] | None

    @property
    def packed(self) -> bool:
        """Whether the state is its saved bytes."""
        return self.save is None

    def stands_at(self, head: LearnerHead) -> bool:
        """Return whether it stands exactly where a head does."""
        names = ("sequence", "fingerprint", "witness")
        return all(getattr(self.head, name) == getattr(head, name) for name in names)

    def pack(self) -> Live:
        """Return the learner with its saved bytes in place of its state."""
        assert self.save is not None
        data = self.save(self.state)
        return replace(self, state=data, nbytes=len(data), save=None)


class LiveLearners:
    """The most recently used learners of a process.

    The last one is kept even if it is larger than the bound.
    """

    def __init__(self) -> None:
        # Both are in the order of use.
        self._live: OrderedDict[Hashable, Live] = OrderedDict()
        self._packed: OrderedDict[Hashable, Live] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def check_out(self, name: Hashable) -> Live | None:
        """Take a learner out; no other caller can have it until it is checked in."""
        with self._lock:
            return self._take(name)

    def check_in(self, name: Hashable, live: Live, most_mb: float) -> None:
        """Put a learner back, and pack or drop the least recently used ones beyond the bound.

        Args:
            name: The name of the learner.
            live: The learner.
            most_mb: The megabytes that all learners of the process may take.
        """
        with self._lock:
            self._take(name)
            self._put(self._live, name, live)
        while (surplus := self._surplus(most_mb * MEGABYTE)) is not None:
            surplus_name, found = surplus
            # Saving takes milliseconds, so the other threads are not kept waiting.
            packed = found.pack()
            with self._lock:
                if surplus_name not in self._live:
                    self._put(self._packed, surplus_name, packed)

    def heads(self) -> dict[Any, LearnerHead]:
        """Return the head of each learner by its name."""
        with self._lock:
            return {name: live.head for name, live in [*self._live.items(), *self._packed.items()]}

    def clear(self) -> None:
        """Drop all learners."""
        with self._lock:
            self._live.clear()
            self._packed.clear()
            self._bytes = 0

    def _take(self, name: Hashable) -> Live | None:
        found = self._live.pop(name, None) or self._packed.pop(name, None)
        self._bytes -= found.nbytes if found else 0
        return found

    def _put(self, held: OrderedDict[Hashable, Live], name: Hashable, live: Live) -> None:
        held[name] = live
        self._bytes += live.nbytes

    def _surplus(self, most: float) -> tuple[Hashable, Live] | None:
        """Take out the learner to pack next; without one, drop packed ones beyond the bound."""
        with self._lock:
            if self._bytes > most and len(self._live) > 1:
                name, live = self._live.popitem(last=False)
                self._bytes -= live.nbytes
                return name, live
            while self._bytes > most and self._packed:
                self._bytes -= self._packed.popitem(last=False)[1].nbytes
            return None

    def __len__(self) -> int:
        return len(self._live) + len(self._packed)


# One instance for the process: a runner may make and drop instances of a step at any time.
LIVE_LEARNERS = LiveLearners()
