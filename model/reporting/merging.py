"""Show topics that people merged as one or split: counts, tokens and shares are sums over parts.

A group is a topic with all topics that are merged into it. Groups are numbered in the order of the
places of the topics that they are named after. Where nothing is merged, everything stays as it is.

A part that is split off topic z by the words W has its words' counts n_wz, the strength s_z B(W),
and the fraction f = sum of P(w | z) over W in the version that is shown, of the shares and tokens
of z in documents, windows and versions; B(W) is the sum of B(w). The topic keeps what is left. All
of this is linear, so shares of windows are sums of shares of documents.

The topics are those of one version, the one that is shown. What earlier versions say of topics that
died since then belongs to no group.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from model.groups import Groups, sums_of, with_parts
from model.publishing.catalogue import Catalogue
from model.publishing.curves import Came, came_to
from model.publishing.manifest import Manifest
from model.publishing.topic_ids import place_of
from model.records import FloatArray, LongArray
from model.snapshot import Snapshot, TopicWordPrior


class Grouping:
    """Topics in groups.

    Args:
        catalogue: It says which topics are merged and split.
        topics: The ids of the topics of the version that is shown, by place.
        snapshot: Its model; without it no part is split off.

    Attributes:
        topics: The same ids.
        ids: For each group, the id of the topic or part that it is named after.
        of: int64[T + parts], the group of the topic in each place, and of each part.
        groups: What gives the shares of groups.
    """

    def __init__(
        self, catalogue: Catalogue, topics: Sequence[int], snapshot: Snapshot | None = None
    ) -> None:
        self.topics = list(topics)
        split = [] if snapshot is None else catalogue.parts_of(*topics)
        self._all = [*topics, *sorted(split, reverse=True)]
        roots = catalogue.roots(self._all)
        self.ids = [topic for topic in self._all if topic in set(roots)]
        group = {topic: number for number, topic in enumerate(self.ids)}
        self.of: LongArray = np.array([group[root] for root in roots], np.int64)
        self._words = [catalogue.of(part).words for part in self._all[len(topics) :]]
        place = {topic: number for number, topic in enumerate(topics)}
        self._places: LongArray = np.array(
            [place[catalogue.of(part).split or 0] for part in self._all[len(topics) :]], np.int64
        )
        self._fractions = self._fractions_of(snapshot) if snapshot is not None else np.zeros(0)
        self.groups = Groups(
            tuple(self.ids),
            tuple(self.of.tolist()),
            tuple(self._places.tolist()),
            tuple(self._fractions.tolist()),
            tuple(n for n, topic in enumerate(self.ids) if catalogue.of(topic).hidden),
        )

    def _rows(self, snapshot: Snapshot, part: int) -> LongArray:
        """Return the rows of the words of a part that a model has."""
        rows = {snapshot.numbers.get(word, -1) for word in self._words[part]} - {-1}
        return np.array(sorted(rows), np.int64)

    def _fractions_of(self, snapshot: Snapshot) -> FloatArray:
        """Return f of each part."""
        found = np.zeros(len(self._words))
        for part, place in enumerate(self._places.tolist()):
            rows = self._rows(snapshot, part)
            held = snapshot.rows(rows)[:, place] + snapshot.prior.shares(rows)[:, place]
            found[part] = held.sum() / (snapshot.normalisers[place] or 1.0)
        return found

    def fractions_in(self, topic: int) -> list[tuple[int, float]]:
        """Return the groups that a topic of the shown version is in, each with its fraction of it.

        Args:
            topic: An id. A topic that the shown version does not have is in no group.
        """
        place = place_of(topic, self.topics)
        if place is None:
            return []
        found = with_parts(np.eye(len(self.topics))[place], self._places, self._fractions)
        parts = len(self.topics) + np.flatnonzero(self._places == place)
        return [(int(self.of[at]), float(found[at])) for at in (place, *parts.tolist())]

    def parts(self) -> list[list[int]]:
        """Return the ids of the topics of each group."""
        return [
            [self._all[place] for place in np.flatnonzero(self.of == group)]
            for group in range(len(self.ids))
        ]

    def places(self) -> dict[int, int]:
        """Return the place of each topic by its id; that of a part is the place of its topic."""
        return dict(zip(self._all, [*range(len(self.topics)), *self._places.tolist()], strict=True))

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
        topics, weights = self._split_entries(snapshot)
        strength = with_parts(snapshot.prior.strength, self._places, weights)
        by_word = np.repeat(np.arange(words), np.diff(snapshot.offsets))
        pairs, inverse = np.unique(by_word * groups + self.of[topics], return_inverse=True)
        offsets = np.zeros(words + 1, np.int64)
        np.cumsum(np.bincount(pairs // groups, minlength=words), out=offsets[1:])
        prior = snapshot.prior
        return dataclasses.replace(
            snapshot,
            alpha=self.sums(snapshot.alpha),
            prior=TopicWordPrior(
                sums_of(self.of, strength, groups), prior.base, prior.unseen, prior.letters
            ),
            offsets=offsets,
            topics=(pairs % groups).astype(np.int32),
            counts=sums_of(inverse, snapshot.counts, len(pairs)),
        )

    def _split_entries(self, snapshot: Snapshot) -> tuple[LongArray, FloatArray]:
        """Return the topic or part of each entry of a model, and B(W) of each part."""
        topics = snapshot.topics.astype(np.int64)
        weights = np.zeros(len(self._words))
        for part, place in enumerate(self._places.tolist()):
            rows = self._rows(snapshot, part)
            weights[part] = snapshot.prior.base[rows].sum()
            for row in rows.tolist():
                own = topics[snapshot.offsets[row] : snapshot.offsets[row + 1]]
                own[own == place] = len(self.topics) + part
        return topics, weights

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
            if int((self.of == group).sum()) == 1 and len(self.fractions_in(one["topic"])) == 1
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
    return Grouping(catalogue, manifest.ids(snapshot.topic_count), snapshot)
