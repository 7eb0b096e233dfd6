"""Choose what is published among models that never meet, and change the choice rarely.

Particles that are never resampled, and the learners of several islands, are independent samplers.
Their topics drift apart, so a version of another sampler has other topics. A version therefore
comes from the same sampler as its parent, unless another one was better by a margin in several
versions in a row (:func:`choose`). The first version comes from the best.

A sampler is compared by a probability P: a particle by P(w, z), an island by its evidence. With the
log loss L = -log2 P, another sampler is better by the margin m if P is larger and

    L - L' >= m L

where L is that of the sampler that is published. Only the exponents of the probabilities are used,
which are whole numbers of bits, so the decision has the same bits on every machine.

Every island of a model key offers one :class:`Candidate` after the same minibatches, and
:mod:`beam_topics.model.publishing.publication` chooses. A candidate refers to the snapshot that
the island wrote, and has the figures that choose between islands and those that describe the
version. It names its learner's previous candidate, so versions are made in order although
candidates arrive in any order.

What the rule remembers is a :class:`Standing`. It is part of what was published: of the learner's
last candidate for particles, of the parent's manifest for islands. So a choice depends only on the
chain of versions and the new figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from beam_topics.model.publishing.blobs import sequence_of
from beam_topics.model.publishing.events import events_from_json
from beam_topics.model.publishing.settings import PublishSettings
from beam_topics.model.scaled import Scaled
from beam_topics.model.stored import checks, wire


@dataclass(frozen=True, slots=True)
class Rival:
    """A sampler that is better than the published one by the margin.

    Attributes:
        number: the particle or island.
        versions: in how many versions in a row.
        since: the event time of the first of them, in microseconds.
    """

    number: int
    versions: int
    since: int

    def to_json(self) -> dict[str, int]:
        """Return a dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: object, name: str) -> Rival:
        """Read what :meth:`to_json` returned."""
        found = cls(**checks.record(cls, values, name, ignore_unknown=True))
        checks.whole(f"number in {name}", found.number)
        checks.whole(f"versions in {name}", found.versions, 1)
        return found


@dataclass(frozen=True, slots=True)
class Standing:
    """What is published, and what is better.

    Attributes:
        number: the particle or island that is published.
        rivals: those that are better by the margin, in ascending order.
        replaced: the one that was published before, if this version changed it. Its ``versions``
            and ``since`` say how long the new one was better.
    """

    number: int
    rivals: tuple[Rival, ...] = ()
    replaced: Rival | None = None


def choose(
    before: Standing | None,
    figures: Sequence[tuple[Scaled, ...]],
    settings: PublishSettings,
    event_time: int,
) -> Standing:
    """Return what the next version comes from.

    Args:
        before: the standing of the version before; None chooses the best.
        figures: for each particle or island the probability that compares them, and others that
            decide between equal ones for the first version.
        settings: margin and number of versions.
        event_time: that of the next version, in microseconds.

    Raises:
        DamagedDataError: what was published is none of them.
    """
    ranked = sorted(
        range(len(figures)), key=lambda n: ([one.order() for one in figures[n]], -n), reverse=True
    )
    if before is None:
        return Standing(ranked[0])
    checks.whole("number of what is published", before.number, 0, len(figures))
    known = {rival.number: rival for rival in before.rivals}
    published = figures[before.number][0]
    rivals = [
        Rival(
            n,
            known[n].versions + 1 if n in known else 1,
            known[n].since if n in known else event_time,
        )
        for n in ranked
        if is_better(figures[n][0], published, settings.margin)
    ]
    for rival in rivals:
        if rival.versions >= settings.versions:
            replaced = Rival(before.number, rival.versions, rival.since)
            return Standing(rival.number, (), replaced)
    return Standing(before.number, tuple(sorted(rivals, key=lambda rival: rival.number)))


def is_better(other: Scaled, published: Scaled, margin: float) -> bool:
    """Return whether a probability is larger than the published one by the margin."""
    if not published < other:
        return False
    if not published.mantissa:
        return True
    return other.exponent - published.exponent >= margin * max(0, -published.exponent)


def rivals_from_json(values: Sequence[Any], name: str) -> tuple[Rival, ...]:
    """Read a list of rivals.

    Raises:
        DamagedDataError: a field is missing or impossible, or a rival is there twice.
    """
    found = tuple(Rival.from_json(one, name) for one in values)
    checks.distinct(f"numbers in {name}", [str(rival.number) for rival in found])
    return found


@dataclass(frozen=True, slots=True)
class Candidate:
    """The offer of one island.

    Other fields are those of :class:`beam_topics.model.publishing.manifest.Manifest`, with the
    offer before in the place of the parent.

    Attributes:
        previous: The sequence of the previous offer of this learner, 0 for the first.
        at: The event time that the reference travels with. It is later only at the end of the
            stream, and where a job sends the offers of an earlier job again.
        witness: The witness of the learner, hex.
        evidence: A :class:`beam_topics.model.scaled.Scaled` in hex, which decides which
            island is published.
        posterior: A :class:`beam_topics.model.scaled.Scaled` in hex, which decides between
            equal evidence.
        rivals: Particles that are better (:class:`Rival`).
        replaced: The particle that was offered before, if it was another one.
        events: As :class:`beam_topics.model.publishing.events.Event`, with the topic numbers of the
            snapshot.
        base: The newest version of the store when the run of the learner began, "" for none.
        word_documents: The words that may be new, and how many of the documents since the previous
            offer that the learner has at hand have each
            (:mod:`beam_topics.model.publishing.succession`); None where it has none at hand.
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
    times: tuple[int, ...] = ()
    word_documents: dict[str, int] | None = None

    MAGIC = b"BTk1"

    def to_bytes(self) -> bytes:
        return wire.pack(self.MAGIC, {item.name: getattr(self, item.name) for item in fields(self)})

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
        checks.span("times of a candidate", found.times)
        events_from_json(found.events, "events of a candidate")
        for name in ("topic_tokens", "topic_documents"):
            checks.measures(f"{name} of a candidate", np.array(getattr(found, name), np.float64))
        for documents in (found.word_documents or {}).values():
            checks.whole("word_documents of a candidate", documents)
        for text in (found.evidence, found.posterior):
            Scaled.from_hex(text)
        return found

    def figures(self) -> tuple[Scaled, Scaled]:
        """Return evidence and posterior, by which islands are compared."""
        return Scaled.from_hex(self.evidence), Scaled.from_hex(self.posterior)

    def standing(self) -> Standing:
        """Return what :func:`choose` needs for an offer."""
        replaced, name = self.replaced, "a candidate"
        rivals = rivals_from_json(self.rivals, f"field rivals of {name}")
        before = replaced and Rival.from_json(replaced, f"field replaced of {name}")
        return Standing(self.particle, rivals, before or None)
