"""The topics of a version as people see them: groups and parts of a catalogue, with their names.

Everything that shows, labels or exports a version goes by :class:`Shown`, so a part has the same
share everywhere. A group is a topic with all topics that are merged into it: its counts, tokens and
shares are sums over its parts. Groups are numbered in the order of the places of the topics that
they are named after. Where nothing is merged, everything stays as it is. A hidden topic is left out
of lists that people read; its share is counted.

The topics are those of one version, the one that is shown. What earlier versions say of topics that
died since then belongs to no group.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.inference.mixtures import Groups, sums_of
from beam_topics.model.publishing.catalogue import (
    Came,
    Catalogue,
    CatalogueStore,
    Curves,
    came_to,
    curves,
)
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.succession import place_of
from beam_topics.model.reporting.names import mean_length, model_names
from beam_topics.model.reporting.relevance import (
    WordStatistics,
    distances,
    marks_of,
    word_statistics,
)


class Shown:
    """The groups of a version, by a catalogue: which topics are merged or hidden, and their names.

    Attributes:
        topics: The ids of the topics of the version, by place.
        ids: For each group, the id of the topic or part that it is named after.
        of: int64[T], the group of the topic in each place.
        groups: The same as a map from shares of topics to shares of groups.
        snapshot: The model of the groups.
    """

    def __init__(self, catalogue: Catalogue, manifest: Manifest, snapshot: Snapshot) -> None:
        self.catalogue, self.manifest = catalogue, manifest
        self.topics = manifest.ids(snapshot.topic_count)
        roots = catalogue.roots(self.topics)
        self.ids = [topic for topic in self.topics if topic in set(roots)]
        group = {topic: number for number, topic in enumerate(self.ids)}
        self.of: LongArray = np.array([group[root] for root in roots], np.int64)
        self.groups = Groups(
            tuple(self.ids),
            tuple(self.of.tolist()),
            tuple(n for n, topic in enumerate(self.ids) if catalogue.of(topic).hidden),
        )
        self.snapshot = self._grouped(snapshot)

    @classmethod
    def stored(
        cls, store: ModelStore, manifest: Manifest, snapshot: Snapshot | None = None
    ) -> Self:
        """Return the groups of a stored version by the newest catalogue of its key."""
        catalogue = CatalogueStore(store.root, store.signatures).latest(manifest.key)[1]
        return cls(catalogue, manifest, snapshot or store.get_snapshot(manifest))

    @property
    def given(self) -> dict[int, str]:
        """The names of the catalogue, by id."""
        return self.catalogue.names()

    @cached_property
    def statistics(self) -> WordStatistics:
        """Those of the words of the groups."""
        return word_statistics(self.snapshot)

    @cached_property
    def marks(self) -> list[str]:
        """The mark of each group (:mod:`beam_topics.model.reporting.relevance`)."""
        return marks_of(self.snapshot, self.statistics, self.distances, self.ids)

    @cached_property
    def distances(self) -> FloatArray:
        """The Hellinger distances between the groups, float64[n, n]."""
        return distances(self.snapshot)

    @cached_property
    def by_words(self) -> list[str]:
        """The name of each group by the model alone; empty where it has no word."""
        return model_names(self.snapshot, self.statistics, mean_length(self.manifest))

    @cached_property
    def names(self) -> list[str]:
        """The name of each group: that of the catalogue, else the one of the model alone."""
        return [
            self.given.get(topic) or self.by_words[group] or f"topic {topic}"
            for group, topic in enumerate(self.ids)
        ]

    @cached_property
    def hidden(self) -> list[bool]:
        """Whether each group is left out of lists."""
        return [group in self.groups.hidden for group in range(len(self.ids))]

    def groups_of(self, topics: Sequence[int]) -> list[int]:
        """Return the groups of topics, each once, in their order; ids that died are passed over."""
        places = (place_of(topic, self.topics) for topic in topics)
        return list(dict.fromkeys(int(self.of[place]) for place in places if place is not None))

    def came(self, manifest: Manifest) -> Came | None:
        """Return what came to each group with a version; None if it is not known."""
        found = came_to(manifest, self.topics)
        return found and found._replace(tokens=self.groups.sums(found.tokens))

    def new_words(self, manifest: Manifest) -> list[tuple[int, str, float, float]]:
        """Return the new words of a version: group, word, tokens that came, and tokens before."""
        return [
            (group, *counted)
            for one in manifest.new_words
            for group in self.groups_of([one["topic"]])
            for counted in zip(one["words"], one["came"], one["had"], strict=True)
        ]

    def curves(self, history: Sequence[Manifest], most: int) -> Curves:
        """Return what came to each group over event time, in at most so many periods."""
        found = curves(history, len(self.topics), most)
        shares = np.stack([self.groups.sums(period) for period in found.shares])
        return Curves(found.first, found.last, shares)

    def of_version(self, manifest: Manifest, snapshot: Snapshot) -> Snapshot:
        """Return the model of a version by groups, without the topics that died later."""
        own = np.array(manifest.ids(len(self.topics))) == np.array(self.topics)
        if own.all():
            return self._grouped(snapshot)
        kept = own[snapshot.topics]
        return self._grouped(
            dataclasses.replace(
                snapshot,
                offsets=np.append(0, np.cumsum(kept))[snapshot.offsets],
                topics=snapshot.topics[kept],
                counts=snapshot.counts[kept],
            )
        )

    def _grouped(self, snapshot: Snapshot) -> Snapshot:
        """Return a model of the groups: P(w | g) is the weighted mean over its topics."""
        if self.groups.trivial:
            return snapshot
        groups, words = len(self.ids), len(snapshot.words)
        cells = snapshot.count_rows * groups + self.of[snapshot.topics]
        pairs, inverse = np.unique(cells, return_inverse=True)
        offsets = np.zeros(words + 1, np.int64)
        np.cumsum(np.bincount(pairs // groups, minlength=words), out=offsets[1:])
        prior = snapshot.prior
        return dataclasses.replace(
            snapshot,
            alpha=self.groups.sums(snapshot.alpha),
            prior=TopicWordPrior(
                sums_of(self.of, prior.strength, groups), prior.base, prior.unseen, prior.letters
            ),
            offsets=offsets,
            topics=(pairs % groups).astype(np.int32),
            counts=sums_of(inverse, snapshot.counts, len(pairs)),
        )
