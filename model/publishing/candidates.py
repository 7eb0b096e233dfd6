"""Candidates: what an island offers for publication.

A candidate refers to the snapshot that the island wrote. It has the figures that choose between
islands and those that describe the version. Every island of a model key offers one
:class:`Candidate` after the same minibatches, and :mod:`beam_topics.model.publishing.publication`
chooses. A candidate names the one that its learner offered before, so versions are made in their
order although candidates arrive in any order.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from beam_topics.model import checks, wire
from beam_topics.model.events import events_from_json
from beam_topics.model.publishing.choice import Rival, Standing, rivals_from_json
from beam_topics.model.publishing.manifest import sequence_of
from beam_topics.model.scaled import Scaled


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
        evidence: A :class:`beam_topics.model.scaled.Scaled` in hex, which decides which island is
            published.
        posterior: A :class:`beam_topics.model.scaled.Scaled` in hex, which decides between equal
            evidence.
        documents: As in :class:`beam_topics.model.learners.base.Summary`, like the fields up to
            in_sample_nmi.
        prequential_perplexity: Over the tokens scored since the previous offer; None for the first
            offer, and without such tokens.
        particle: The particle of the island that is offered; 0 where particles are resampled.
        rivals: Particles that are better (:class:`beam_topics.model.publishing.choice.Rival`).
        replaced: The particle that was offered before, if it was another one.
        topic_tokens: The number of tokens of each topic that came since the previous offer.
        topic_documents: The same for documents, by the topic with most of their tokens.
        events: What the stream did since the previous offer
            (:class:`beam_topics.model.events.Event` as JSON), with the topic numbers of the
            snapshot.
        base: The newest version of the store when the run of the learner began, "" for none.
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
    particle: int
    rivals: list[dict[str, int]]
    replaced: dict[str, int] | None
    topic_tokens: list[float]
    topic_documents: list[int]
    events: list[dict[str, Any]]
    base: str

    MAGIC = b"BTk1"

    def to_bytes(self) -> bytes:
        return wire.pack(self.MAGIC, {name: getattr(self, name) for name in _FIELDS})

    @classmethod
    def from_bytes(cls, data: bytes) -> Candidate:
        header, _ = wire.unpack(cls.MAGIC, data, 0)
        found = cls(**checks.record(cls, header, "a candidate"))
        for name, value in (
            ("sequence", found.sequence),
            ("previous", found.previous),
            ("island", found.island),
            ("particle", found.particle),
        ):
            checks.whole(f"{name} of a candidate", value)
        if found.base:
            sequence_of(found.base, "base of a candidate")
        found.standing()
        events_from_json(found.events, "events of a candidate")
        for name in ("topic_tokens", "topic_documents"):
            checks.measures(f"{name} of a candidate", np.array(getattr(found, name), np.float64))
        for text in (found.evidence, found.posterior):
            Scaled.from_hex(text)
        return found

    def figures(self) -> tuple[Scaled, Scaled]:
        """Return evidence and posterior, by which islands are compared."""
        return Scaled.from_hex(self.evidence), Scaled.from_hex(self.posterior)

    def standing(self) -> Standing:
        """Return what :func:`~beam_topics.model.publishing.choice.choose` needs for an offer."""
        replaced, name = self.replaced, "a candidate"
        rivals = rivals_from_json(self.rivals, f"field rivals of {name}")
        before = replaced and Rival.from_json(replaced, f"field replaced of {name}")
        return Standing(self.particle, rivals, before or None)


_FIELDS = tuple(item.name for item in fields(Candidate))
