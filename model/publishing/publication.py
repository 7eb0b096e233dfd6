"""Make versions of candidates: when all islands have offered, one of them becomes the next version.

:mod:`beam_topics.model.publishing.choice` has the rule by which an island is chosen.

Candidates arrive in any order, and again after a failure. A version is made when every island has
offered the same sequence and the previous version exists, because topics are matched with those of
the parent (:mod:`beam_topics.model.publishing.succession`). What waits is in a :class:`PublishHead`
and a bag. Making a version twice changes nothing in the store.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial

from beam_topics.model import __version__
from beam_topics.model.documents.pending import Bag
from beam_topics.model.errors import DivergedError
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.publishing.catalogue import CatalogueStore, name_topics
from beam_topics.model.publishing.choice import Candidate, Rival, Standing, choose
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.snapshot import CANDIDATES, HELD, Held
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.succession import Succession
from beam_topics.model.stored import checks, wire

# What a version has as its candidate has it.
_AS_OFFERED = (
    *("sequence", "event_time", "snapshot", "island", "particle", "fingerprint", "chain"),
    *("documents", "tokens", "words", "log_evidence", "prequential_perplexity", "ess"),
    "in_sample_nmi",
)


@dataclass(frozen=True, slots=True)
class PublishHead:
    """The last version of a key, and how many candidates wait."""

    sequence: int = 0
    version: str = ""
    waiting: int = 0

    MAGIC = b"BTp1"

    def to_bytes(self) -> bytes:
        return wire.pack(self.MAGIC, asdict(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> PublishHead:
        header, _ = wire.unpack(cls.MAGIC, data, 0)
        found = cls(**checks.record(cls, header, "a publisher's head"))
        checks.whole("sequence of a publisher's head", found.sequence)
        checks.whole("candidates of a publisher's head", found.waiting)
        return found


def _replaced(last: Manifest | None, standing: Standing, best: Candidate) -> dict[str, int] | None:
    """Return the field ``replaced`` of the manifest after ``last``."""
    other = standing.replaced or (best.replaced and Rival.from_json(best.replaced, "a candidate"))
    if last is None or not other:
        return None
    found = {"island": last.island, "particle": last.particle}
    return {**found, "versions": other.versions, "since": other.since}


class Publisher:
    """Make the versions of one key."""

    def __init__(
        self,
        options: LearnOptions,
        key: str,
        store: ModelStore,
        on_superseded: Callable[[Manifest, list[str]], None] | None = None,
        held: Held = HELD,
    ) -> None:
        self._options, self._key, self._store = options, key, store
        self._on_superseded, self._held = on_superseded, held

    def handle(
        self, head: PublishHead, candidate: Candidate, bag: Bag
    ) -> tuple[PublishHead, list[tuple[int, Manifest]]]:
        """Take a candidate.

        Returns:
            The head afterwards, and the versions that can be used now, in order, each with its
            event time. Versions that an earlier job published before the candidate are among them.

        Raises:
            DivergedError: Two islands, or two attempts of one, offer different histories.
            StoreConflictError: The store holds another history.
        """
        versions: list[tuple[int, Manifest]] = []
        if head.sequence == 0 and candidate.previous:
            head, versions = self._continued(head, candidate.previous)
        if candidate.sequence <= head.sequence:
            return head, versions
        waiting = {
            (c.sequence, c.island): c
            for c in map(Candidate.from_bytes, bag.read() if head.waiting else ())
        }
        known = waiting.setdefault((candidate.sequence, candidate.island), candidate)
        if known != candidate:
            raise DivergedError(
                f"key {self._key!r}, island {candidate.island}: two candidates after minibatch"
                f" {candidate.sequence} differ"
            )
        before = head
        while group := self._next(head.sequence, waiting):
            at, manifest = self._publish(group, head.version or None)
            versions.append((at, manifest))
            head = replace(head, sequence=manifest.sequence, version=manifest.version)
        if head != before:
            rest = [c for c in waiting.values() if c.sequence > head.sequence]
            bag.clear()
            for c in rest:
                bag.add(c.to_bytes())
            return replace(head, waiting=len(rest)), versions
        if len(waiting) > head.waiting:
            bag.add(candidate.to_bytes())
        return replace(head, waiting=len(waiting)), versions

    def _continued(
        self, head: PublishHead, previous: int
    ) -> tuple[PublishHead, list[tuple[int, Manifest]]]:
        """Return the head after the versions that an earlier job published up to ``previous``.

        If ``previous`` was not published, the head stays as it is.
        """
        history = [
            manifest
            for manifest in self._store.manifests(self._key)
            if manifest.sequence <= previous
        ]
        if not history or history[-1].sequence != previous:
            return head, []
        return replace(head, sequence=previous, version=history[-1].version), [
            (m.event_time, m) for m in history
        ]

    def _next(self, after: int, waiting: dict[tuple[int, int], Candidate]) -> list[Candidate]:
        """Return the candidates of the version after ``after`` by island; none until all came."""
        group = sorted((c for c in waiting.values() if c.previous == after), key=lambda c: c.island)
        if len(group) < self._options.settings.islands:
            return []
        if len({(c.sequence, c.chain) for c in group}) > 1:
            offers = sorted((c.island, c.sequence, c.chain[:16]) for c in group)
            raise DivergedError(
                f"key {self._key!r}: islands offer different histories (island, minibatch, chain):"
                f" {offers}"
            )
        return group

    def _publish(self, group: list[Candidate], parent: str | None) -> tuple[int, Manifest]:
        """Publish the version after ``parent``.

        Returns:
            The event time at which the version travels, and the version.
        """
        last = self._store.manifest(self._key, parent) if parent else None
        standing = choose(
            last.standing() if last else None,
            [candidate.figures() for candidate in group],
            self._options.publishing,
            group[0].event_time,
        )
        best = group[standing.number]
        offered = CANDIDATES.get(
            self._name(best.snapshot), lambda: self._store.get_candidate(self._key, best.snapshot)
        )
        before, ids = None, None
        if last is not None:
            name, read = self._name(last.version), partial(self._store.get_snapshot, last)
            before, ids = self._held.get(name, read), last.ids(offered.topic_count)
        topics = Succession.of(before, ids, offered)
        manifest = self._manifest(best, standing, topics, last)
        # Before the version, so that no reader finds it without its settings and names.
        if parent is None:
            self._store.bind(self._key, self._options.binding)
            if names := self._options.settings.topic_names:
                catalogues = CatalogueStore(self._store.root, self._store.signatures)
                name_topics(catalogues, self._key, names)
        published = self._store.publish(manifest, best.base, self._on_superseded)
        for candidate in group:
            CANDIDATES.drop(self._name(candidate.snapshot))
        # The model of the newest version is held in place of its parent's.
        if parent:
            self._held.drop(self._name(parent))
        self._held.put(self._name(published.version), topics.after)
        return best.at, published

    def _manifest(
        self, best: Candidate, standing: Standing, topics: Succession, last: Manifest | None
    ) -> Manifest:
        """Return the manifest of the version that a candidate becomes after ``last``."""
        return Manifest(
            **{name: getattr(best, name) for name in _AS_OFFERED},
            key=self._key,
            parent=last.version if last else None,
            islands=self._options.settings.islands,
            settings=self._options.manifest_settings,
            topic_order=topics.order,
            new_words=topics.new_words(best.word_documents),
            posterior=best.figures()[1].log(),
            release=__version__,
            publish_every=dict([self._options.run.publish_every]),
            rivals=[rival.to_json() for rival in standing.rivals],
            replaced=_replaced(last, standing, best),
            topic_tokens=topics.placed(best.topic_tokens),
            topic_documents=topics.placed(best.topic_documents),
            events=topics.events(best),
            topic_ids=topics.stored_ids(),
            times=list(best.times),
        )

    def _name(self, name: str) -> tuple[str, str, str]:
        return self._store.root, self._key, name
