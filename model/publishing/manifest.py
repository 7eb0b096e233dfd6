"""Records of the model store: a manifest for each version, an entry for each checkpoint.

Each is one sealed line (:mod:`beam_topics.model.stored.wire`). The digest is checked before
anything else is used.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import numpy as np

from beam_topics.model.publishing.blobs import sequence_of
from beam_topics.model.publishing.choice import Standing, rivals_from_json
from beam_topics.model.publishing.events import events_from_json
from beam_topics.model.publishing.settings import Publication
from beam_topics.model.stored import checks
from beam_topics.model.stored.wire import seal, unseal
from beam_topics.model.times import to_iso
from beam_topics.model.words.settings import TokeniserSettings

# Fields for people to read. Their last bits depend on the C library.
_LOGARITHMS = frozenset({"log_evidence", "posterior", "prequential_perplexity", "in_sample_nmi"})
_LAST_BITS = 1e-9
# New words come from documents that an erasure may have taken away.
_NOT_COMPARED = frozenset({"sha256", "release", "publish_every", "new_words"})


class _Sealed:
    """Reading and writing of frozen dataclasses as sealed JSON.

    Fields of another release are ignored (docs/formats.md).
    """

    def to_json(self) -> bytes:
        """Return one sealed line; equal values have equal bytes."""
        stored = {item.name: getattr(self, item.name) for item in fields(self) if item.init}  # type: ignore[arg-type]
        return seal(stored)

    @classmethod
    def from_json(cls, data: bytes, name: str = "the record") -> Self:
        """Read the line that ``to_json`` wrote.

        Raises:
            DamagedDataError: It is damaged, or of another release.
        """
        found = cls(**checks.record(cls, unseal(data, name), name, ignore_unknown=True))
        found.check(name)
        return found

    def check(self, name: str) -> None:
        """Refuse values that no record of this kind has.

        Raises:
            DamagedDataError: A value is out of range.
        """


@dataclass(frozen=True)
class CheckpointEntry(_Sealed):
    """Where a learner stood when a checkpoint was written.

    Attributes:
        key: The model key.
        island: The number of the island.
        sequence: The minibatch after which the checkpoint was written.
        chain: h_n of that minibatch, hex.
        window_end: The end of its window, in microseconds.
        offered: The minibatch after which the last version was offered.
        settings_digest: The digest of the settings that the store is bound to.
        digest: SHA-256 of the state of the learner, hex.
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
        """Return the name of the checkpoint in the store."""
        return f"{self.sequence:012d}-{self.island:04d}-{self.digest[:16]}"

    def check(self, name: str) -> None:
        for field_name in ("sequence", "island", "offered"):
            checks.whole(f"field {field_name} of {name}", getattr(self, field_name))
        checks.hexadecimal(f"field digest of {name}", self.digest)


@dataclass(frozen=True)
class Pointer(_Sealed):
    """The contents of ``LATEST``.

    Attributes:
        version: The newest version.
        manifest: SHA-256 of the bytes of its manifest, hex.
        base: The version that was the newest one when the run began that moved the pointer here;
            "" for none.
    """

    version: str
    manifest: str
    base: str = ""

    def check(self, name: str) -> None:
        sequence_of(self.version, f"field version of {name}")
        checks.hexadecimal(f"field manifest of {name}", self.manifest)


@dataclass(frozen=True)
class Manifest(_Sealed):
    """A published version: what was learned, from which version, and by which release.

    Attributes:
        key: The model key.
        sequence: The minibatch after which the version was made.
        event_time: The end of the window of that minibatch, in microseconds.
        parent: The version before it, None for the first.
        snapshot: The digest of the snapshot of the candidate, hex.
        island: The island whose candidate was published.
        islands: The number of islands.
        fingerprint: The fingerprint of the learner, hex.
        chain: h_n, hex.
        settings: The settings of ``tokeniser``, ``sequence`` and ``learner``. Lists of words are
            replaced by size and digest.
        topic_order: The permutation that gives the topics of the snapshot the places of those of
            the parent: its topic ``topic_order[i]`` is in place ``i`` of the version. [] if none is
            needed.
        topic_ids: The id of the topic in each place
            (:mod:`beam_topics.model.publishing.succession`). [] if each is the number of its place.
        new_words: The words that are new since the parent, with their counts
            (:func:`beam_topics.model.publishing.succession.new_words`), by the id of their topic.
        documents: The number of documents learned so far.
        tokens: The number of tokens learned so far.
        words: The size of the vocabulary.
        log_evidence: The logarithm of the evidence of everything so far.
        prequential_perplexity: Over the tokens scored since the parent; None for the first version,
            and without such tokens.
        posterior: ln P(w, z) of the published particle.
        ess: The effective sample size of its island.
        in_sample_nmi: For the labelled documents in the history of the learner; None without them.
        release: The release of this package.
        particle: The particle of the island that was published; 0 where particles are resampled.
        rivals: The islands that are better than the published one
            (:class:`beam_topics.model.publishing.choice.Rival`).
        replaced: If the parent comes from another island or particle: its ``island`` and
            ``particle``, in how many ``versions`` in a row the new one was better, and ``since``
            when, the event time of the first of them. None otherwise.
        topic_tokens: The number of tokens of each topic that came since the parent, by the topics
            that they had when they were learned. Variational learners give expected numbers. None
            if it is not known.
        topic_documents: The same for documents, by the topic with most of their tokens. Documents
            without a known word have no topic.
        events: What the learner noted since the parent
            (:class:`beam_topics.model.publishing.events.Event` as JSON), with the ids of the
            published topics and their first words; and their births and deaths.
        publish_every: How often versions were published: ``{"windows": N}``, or ``{"period":
            microseconds of event time}``; empty if it is not known.
        times: The times of the earliest and the latest document so far, in microseconds; empty if
            they are not known.
        stored: The bytes that the manifest was read from, empty for a new one. It is not stored.
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
    documents: int
    tokens: int
    words: int
    log_evidence: float
    prequential_perplexity: float | None
    posterior: float
    ess: float
    in_sample_nmi: float | None
    release: str
    particle: int = 0
    rivals: list[dict[str, Any]] = field(default_factory=list)
    replaced: dict[str, Any] | None = None
    topic_tokens: list[float] | None = None
    topic_documents: list[int] | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    publish_every: dict[str, int] = field(default_factory=dict)
    topic_ids: list[int] = field(default_factory=list)
    new_words: list[dict[str, Any]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    stored: bytes = field(default=b"", init=False, compare=False, repr=False)

    @classmethod
    def from_json(cls, data: bytes, name: str = "the record") -> Self:
        """Read a manifest and keep its bytes, from which its version is computed.

        Raises:
            DamagedDataError: It is damaged, or of another release.
        """
        found = super().from_json(data, name)
        object.__setattr__(found, "stored", data)
        return found

    def to_json(self) -> bytes:
        """Return the bytes that the manifest was read from, or one sealed line for a new one.

        The stored bytes keep fields that this release does not know.
        """
        return self.stored or self._sealed

    @cached_property
    def _sealed(self) -> bytes:
        """The line of a new manifest. It is asked for several times, and settings are long."""
        return super().to_json()

    @property
    def tokeniser(self) -> TokeniserSettings:
        """Return the settings of the tokeniser.

        Raises:
            DamagedDataError: The manifest has none, or fields that do not exist.
        """
        name = f"tokeniser in field settings of version {self.version}"
        return TokeniserSettings.from_json(self.settings.get("tokeniser"), name)

    @cached_property
    def version(self) -> str:
        """Return the name of the version.

        Names sort by sequence, and versions that differ in anything have different names. The name
        is a digest of the stored bytes, whatever fields they have. Before the version is stored, it
        is a digest of the bytes to be stored.
        """
        return f"{self.sequence:012d}-{hashlib.sha256(self.to_json()).hexdigest()[:16]}"

    @property
    def until(self) -> int:
        """The time of the latest document; the end of its window if it is not known."""
        return self.times[1] if self.times else self.event_time

    @property
    def rhythm(self) -> Publication | None:
        """How often versions were published; None if it is not known."""
        return next((Publication(*one) for one in self.publish_every.items()), None)

    def ids(self, topics: int) -> list[int]:
        """Return the id of the topic in each place.

        Raises:
            DamagedDataError: The version has ids for another number of topics.
        """
        if not self.topic_ids:
            return list(range(topics))
        checks.sized(f"field topic_ids of version {self.version}", self.topic_ids, topics)
        return self.topic_ids

    def repeats(self, other: Manifest) -> bool:
        """Return whether two manifests agree in all fields that both have.

        The release and the settings by which the island was chosen may differ.

        Figures that are logarithms are compared up to their last bits, which differ between C
        libraries.
        """
        theirs, ours = json.loads(self.to_json()), json.loads(other.to_json())
        both = theirs.keys() & ours.keys() - _NOT_COMPARED
        return all(_alike(name, theirs[name], ours[name]) for name in both)

    def check(self, name: str) -> None:
        for field_name in ("sequence", "island", "islands", "documents", "tokens", "words"):
            checks.whole(f"field {field_name} of {name}", getattr(self, field_name))
        checks.whole(
            f"field event_time of {name}", self.event_time, -checks.LATEST_TIME, checks.LATEST_TIME
        )
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
        checks.whole(f"field particle of {name}", self.particle)
        self._check_topics(name)
        for kind, every in self.publish_every.items():
            if kind not in ("windows", "period"):
                checks.refuse(f"field publish_every of {name}", kind, "windows or period")
            checks.whole(f"{kind} in field publish_every of {name}", every, 1)
        self._check_choice(name)
        for field_name in ("topic_tokens", "topic_documents"):
            counts = np.array(getattr(self, field_name) or [], np.float64)
            checks.measures(f"field {field_name} of {name}", counts)
        events_from_json(self.events, f"field events of {name}", ignore_unknown=True)
        checks.span(f"field times of {name}", self.times)
        for one in self.new_words:
            where = f"field new_words of {name}"
            checks.record(_NewWords, one, where, ignore_unknown=True)
            for what in ("came", "had"):
                checks.sized(f"{what} in {where}", one[what], len(one["words"]))
                checks.measures(f"{what} in {where}", np.array(one[what], np.float64))

    def _check_topics(self, name: str) -> None:
        if sorted(self.topic_order) != list(range(len(self.topic_order))):
            checks.refuse(f"field topic_order of {name}", self.topic_order, "a permutation")
        for place, topic in enumerate(self.topic_ids):
            found = checks.whole(f"field topic_ids of {name}", topic)
            if found % len(self.topic_ids) != place:
                allowed = f"{place} more than a multiple of {len(self.topic_ids)}"
                checks.refuse(f"place {place} in field topic_ids of {name}", topic, allowed)

    def _check_choice(self, name: str) -> None:
        checks.whole(f"field island of {name}", self.island, 0, max(1, self.islands))
        rivals_from_json(self.rivals, f"field rivals of {name}")
        if self.replaced is not None:
            where = f"field replaced of {name}"
            before = checks.record(_Replaced, self.replaced, where, ignore_unknown=True)
            for what in ("island", "particle"):
                checks.whole(f"{what} in field replaced of {name}", before[what])
            checks.whole(f"versions in field replaced of {name}", before["versions"], 1)
            since, bound = f"since in field replaced of {name}", checks.LATEST_TIME
            checks.whole(since, before["since"], -bound, bound)

    def standing(self) -> Standing:
        """Return what :func:`~beam_topics.model.publishing.choice.choose` needs for a version."""
        return Standing(self.island, rivals_from_json(self.rivals, "field rivals"))

    def replacement(self) -> str:
        """Return a line about the island or particle that was replaced; "" if there is none."""
        if self.replaced is None:
            return ""
        before, versions = self.replaced, self.replaced["versions"]
        names = [
            f"island {island}, particle {particle}" if self.islands > 1 else f"particle {particle}"
            for island, particle in (
                (self.island, self.particle),
                (before["island"], before["particle"]),
            )
        ]
        return (
            f"version {self.version} comes from {names[0]}, its parent from {names[1]}. The new one"
            f" was better in {versions} version{'s' * (versions > 1)} in a row, since"
            f" {to_iso(before['since'])[:10]}. Topics may differ from those before."
        )


@dataclass(frozen=True)
class _Replaced:
    """The field ``replaced`` of a manifest."""

    island: int
    particle: int
    versions: int
    since: int


@dataclass(frozen=True)
class _NewWords:
    """One item of :func:`beam_topics.model.publishing.succession.new_words`."""

    topic: int
    words: list[str]
    came: list[float]
    had: list[float]


def _alike(name: str, theirs: Any, ours: Any) -> bool:
    """Return whether two values of one field are equal, up to the last bits of logarithms.

    Expected numbers of tokens are sums of exponentials, so they have other last bits, too.
    """
    if name in _LOGARITHMS and isinstance(theirs, float) and isinstance(ours, float):
        return math.isclose(theirs, ours, rel_tol=_LAST_BITS)
    if name == "topic_tokens" and isinstance(theirs, list) and isinstance(ours, list):
        return len(theirs) == len(ours) and all(
            math.isclose(one, other, rel_tol=_LAST_BITS, abs_tol=_LAST_BITS)
            for one, other in zip(theirs, ours, strict=True)
        )
    if name == "events":
        # An erasure takes ids out of what a learner offers again.
        theirs, ours = ([{**one, "ids": []} for one in events] for events in (theirs, ours))
    return bool(theirs == ours)


# The least share of a topic in use, as a part of the mean share.
PART = 0.2


def topics_in_use(tokens: Sequence[float] | None) -> int | None:
    """Return the number of topics in use; None where it is not known or where no token came.

    With shares s_t of the tokens that came since the parent, exp(- sum s_t ln s_t) is the effective
    number of topics. A topic is in use if its share is at least :data:`PART` of what each of so
    many equal topics would have.
    """
    total = math.fsum(tokens or ())
    if tokens is None or not total:
        return None
    shares = [count / total for count in tokens]
    entropy = -math.fsum(share * math.log(share) for share in shares if share > 0)
    return sum(share >= PART * math.exp(-entropy) for share in shares)
