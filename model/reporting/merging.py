"""Show topics that people merged as one: counts, tokens and shares are sums of those of its parts.

A group is a topic with all topics that are merged into it. Groups are numbered in the order of the
topics that they are named after. Where nothing is merged, everything stays as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from model.publishing.catalogue import Catalogue
from model.publishing.manifest import Manifest
from model.records import FloatArray, LongArray
from model.snapshot import Snapshot, TopicWordPrior


class Grouping:
    """Topics in groups.

    Args:
        catalogue: It says which topics are merged.
        topics: T.

    Attributes:
        ids: For each group, the topic that it is named after.
        of: int64[T], the group of each topic.
    """

    def __init__(self, catalogue: Catalogue, topics: int) -> None:
        roots = catalogue.roots(topics)
        self.ids = sorted(set(roots))
        self.of: LongArray = np.searchsorted(self.ids, roots).astype(np.int64)
        self._trivial = len(self.ids) == topics

    def sums(self, values: FloatArray | Sequence[float]) -> FloatArray:
        """Return the sum of the values of each group, in the order of topics."""
        given = np.asarray(values, np.float64)
        if self._trivial:
            return given
        return _sums(self.of, given, len(self.ids))

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """Return a model of the groups: P(w | g) is the weighted mean over its topics."""
        if self._trivial:
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
                self.sums(prior.strength), prior.base, prior.unseen, prior.characters
            ),
            offsets=offsets,
            topics=(pairs % groups).astype(np.int32),
            counts=_sums(inverse, snapshot.counts, len(pairs)),
        )

    def manifest(self, manifest: Manifest) -> Manifest:
        """Return a version with what came to the groups, under its own name.

        Words that entered and left are known of topics that are groups by themselves.
        """
        if self._trivial:
            return manifest
        found = dataclasses.replace(
            manifest,
            topic_tokens=self._summed(manifest.topic_tokens),
            changes=[self._change(one) for one in manifest.changes if self._alone(one["topic"])],
        )
        object.__setattr__(found, "stored", manifest.to_json())
        return found

    def groups_of(self, topics: Sequence[int]) -> list[int]:
        """Return the groups of topics, each once, in their order."""
        return list(dict.fromkeys(int(self.of[topic]) for topic in topics if topic < len(self.of)))

    def _summed(self, values: list[float] | None) -> list[float] | None:
        if values is None or len(values) != len(self.of):
            return values
        return self.sums(values).tolist()

    def _alone(self, topic: int) -> bool:
        return topic < len(self.of) and int((self.of == self.of[topic]).sum()) == 1

    def _change(self, change: dict[str, Any]) -> dict[str, Any]:
        return {**change, "topic": int(self.of[change["topic"]])}


def _sums(places: LongArray, values: FloatArray, count: int) -> FloatArray:
    """Return the sum of the values of each place, in their order."""
    return np.bincount(places, weights=values, minlength=count).astype(np.float64)
