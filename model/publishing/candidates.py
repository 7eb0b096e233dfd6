"""Candidates: what an island offers for publication.

A candidate refers to the snapshot that the island wrote. It has the figures that choose between
islands and those that describe the version. Every island of a model key offers one
:class:`Candidate` after the same minibatches, and :mod:`model.publishing.publication` chooses. A
candidate names the one that its learner offered before, so versions are made in their order
although candidates arrive in any order.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from model import checks, wire
from model.scaled import Scaled


@dataclass(frozen=True, slots=True)
class Candidate:
    """The offer of one island.

    Attributes:
        key: The model key.
        island: The number of the island.
        sequence: The minibatch after which the snapshot was made.
        previous: The sequence of the previous offer of this learner, 0 for the first.
        event_time: The end of the window of the minibatch, in microseconds.
        at: The event time that the reference travels with. It is later only at the end of the
            stream, and where a job sends the offers of an earlier job again.
        snapshot: The digest of the snapshot, hex.
        chain: h_n, hex.
        fingerprint: The fingerprint of the learner, hex.
        witness: The witness of the learner, hex.
        evidence: A :class:`model.scaled.Scaled` in hex, which decides which island is published.
        posterior: A :class:`model.scaled.Scaled` in hex, which decides between equal evidence.
        documents: As in :class:`model.learners.base.Summary`, like the fields up to in_sample_nmi.
        prequential_perplexity: Over the tokens scored since the previous offer; None for the first
            offer, and without such tokens.
    """

    key: str
    island: int
    sequence: int
    previous: int
    event_time: int
    at: int
    snapshot: str
    chain: str
    fingerprint: str
    witness: str
    evidence: str
    posterior: str
    documents: int
    tokens: int
    words: int
    log_evidence: float
    ess: float
    in_sample_nmi: float | None
    prequential_perplexity: float | None

    MAGIC = b"BTk1"

    def to_bytes(self) -> bytes:
        return wire.pack(self.MAGIC, asdict(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Candidate:
        header, _ = wire.unpack(cls.MAGIC, data, 0)
        found = cls(**checks.record(cls, header, "a candidate"))
        for name, value in (
            ("sequence", found.sequence),
            ("previous", found.previous),
            ("island", found.island),
        ):
            checks.whole(f"{name} of a candidate", value)
        for text in (found.evidence, found.posterior):
            Scaled.from_hex(text)
        return found

    def rank(self) -> tuple[tuple[float, float], tuple[float, float], int]:
        """Return the rank; the greatest is published.

        It orders by evidence, then posterior, then the lowest island.
        """
        evidence, posterior = (Scaled.from_hex(text) for text in (self.evidence, self.posterior))
        return evidence.order(), posterior.order(), -self.island
