"""Show topics that people merged as one: counts, tokens and shares are sums over its parts.

A group is a topic with all topics that are merged into it. Groups are numbered in the order of the
places of the topics that they are named after. Where nothing is merged, everything stays as it is.

The topics are those of one version, the one that is shown. What earlier versions say of topics that
died since then belongs to no group.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from model.groups import Groups, sums_of
from model.publishing.catalogue import Came, Catalogue, came_to
from model.publishing.manifest import Manifest
from model.publishing.succession import place_of
from model.records import FloatArray, LongArray
from model.snapshot import Snapshot, TopicWordPrior


class Grouping:
    """Topics in groups.

    Args:
        catalogue: It says which topics are merged.
        topics: The ids of the topics of the version that is shown, by place.

    Attributes:
        topics: The same ids.
        ids: For each group, the id of the topic that it is named after.
        of: int64[T], the group of the topic in each place.
        groups: What gives the shares of groups.
    """

    def __init__(self, catalogue: Catalogue, topics: Sequence[int]) -> None:
        self.topics = list(topics)
        roots = catalogue.roots(self.topics)
        self.ids = [topic for topic in self.topics if topic in set(roots)]
        group = {topic: number for number, topic in enumerate(self.ids)}
        self.of: LongArray = np.array([group[root] for root in roots], np.int64)
        self.groups = Groups(
            tuple(self.ids),
            tuple(self.of.tolist()),
            tuple(n for n, topic in enumerate(self.ids) if catalogue.of(topic).hidden),
        )

    def parts(self) -> list[list[int]]:
        """Return the ids of the topics of each group."""
        return [
            [self.topics[place] for place in np.flatnonzero(self.of == group)]
            for group in range(len(self.ids))
        ]

    def places(self) -> dict[int, int]:
        """Return the place of each topic by its id."""
        return {topic: place for place, topic in enumerate(self.topics)}

    def own(self, manifest: Manifest) -> npt.NDArray[np.bool_]:
        """Return bool[T], whether a version has the same topic as the shown one in each place."""
        return np.array(manifest.ids(len(self.topics))) == np.array(self.topics)

    def sums(self, values: FloatArray | Sequence[float]) -> FloatArray:
        """Return the sum of the values of each group.

        Args:
            values: One value for each place.
        """
        return self.groups.sums(values)

    def of_version(self, manifest: Manifest, snapshot: Snapshot) -> Snapshot:
        """Return the model of a version by groups, without the topics that died later."""
        own = self.own(manifest)
        if own.all():
            return self.snapshot(snapshot)
        kept = own[snapshot.topics]
        offsets = np.append(0, np.cumsum(kept))[snapshot.offsets]
        return self.snapshot(
            dataclasses.replace(
                snapshot,
                offsets=offsets,
                topics=snapshot.topics[kept],
                counts=snapshot.counts[kept],
            )
        )

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """Return a model of the groups: P(w | g) is the weighted mean over its topics."""
        if self.groups.trivial:
            return snapshot
        groups, words = len(self.ids), len(snapshot.words)
        by_word = np.repeat(np.arange(words), np.diff(snapshot.offsets))
        pairs, inverse = np.unique(by_word * groups + self.of[snapshot.topics], return_inverse=True)
        offsets = np.zeros(words + 1, np.int64)
        np.cumsum(np.bincount(pairs // groups, minlength=words), out=offsets[1:])
        prior = snapshot.prior
        return dataclasses.replace(
            snapshot,
            alpha=self.sums(snapshot.alpha),
            prior=TopicWordPrior(
                sums_of(self.of, prior.strength, groups), prior.base, prior.unseen, prior.letters
            ),
            offsets=offsets,
            topics=(pairs % groups).astype(np.int32),
            counts=sums_of(inverse, snapshot.counts, len(pairs)),
        )

    def came(self, manifest: Manifest) -> Came | None:
        """Return what came to each group with a version; None if it is not known."""
        found = came_to(manifest, self.topics)
        return found and found._replace(tokens=self.sums(found.tokens))

    def changes(self, manifest: Manifest) -> list[dict[str, Any]]:
        """Return the words that entered and left groups with a version.

        They are known of topics that are groups by themselves.
        """
        return [
            {**one, "topic": group}
            for one in manifest.changes
            for group in self.groups_of([one["topic"]])
            if int((self.of == group).sum()) == 1
        ]

    def groups_of(self, topics: Sequence[int]) -> list[int]:
        """Return the groups of topics, each once, in their order.

        Args:
            topics: Ids. Those that the shown version does not have are passed over.
        """
        places = (place_of(topic, self.topics) for topic in topics)
        return list(dict.fromkeys(int(self.of[place]) for place in places if place is not None))


def grouping_of(catalogue: Catalogue, manifest: Manifest, snapshot: Snapshot) -> Grouping:
    """Return the groups of the topics of a version.

    Args:
        catalogue: It says which topics are merged.
        manifest: The version.
        snapshot: Its model.
    """
    return Grouping(catalogue, manifest.ids(snapshot.topic_count))
