"""What an island offers for publication: a reference to the snapshot that it wrote, and the figures
that decide and describe.

Every island of a model key offers one :class:`Candidate` after the same minibatches;
:mod:`model.publishing.publication` chooses. A candidate names the one that its learner offered
before, so versions can be made in their order although candidates arrive in any.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from model import checks, wire
from model.scaled import Scaled


@dataclass(frozen=True, slots=True)
class Candidate:
    """One island's offer.

    Attributes:
        key, island, sequence: whose, after which minibatch. previous: the sequence of this
        learner's offer before, 0 for the first. event_time: the end of the minibatch's window. at:
        the event time that its reference travels with; later only at the stream's end,
            and where a job sends on what the one before it offered.
        snapshot: digest, hex. chain: h_n, hex. fingerprint, witness: the learner's, hex. evidence,
        posterior: hex of :class:`model.scaled.Scaled`; they decide which island is published.
        documents, tokens, words, log_evidence, ess, in_sample_nmi: as in
        :class:`model.learners.base.Summary`. prequential_perplexity: over the tokens scored since
        the offer before; None for the first offer, and where there were none.
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
        """The greatest is published: by evidence, then posterior, then the lowest island."""
        evidence, posterior = (Scaled.from_hex(text) for text in (self.evidence, self.posterior))
        return evidence.order(), posterior.order(), -self.island
