"""The topics of a version as people see them: groups and parts of a catalogue, with their names.

Everything that shows, labels or exports a version goes by :class:`Shown`, so a part has the same
share everywhere (:mod:`model.reporting.merging`). A hidden topic is left out of lists that people
read; its share is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.publishing.catalogue import Catalogue, Curves, curves
from model.publishing.manifest import Manifest
from model.reporting.merging import Grouping, grouping_of
from model.reporting.names import mean_length, model_names
from model.reporting.relevance import word_statistics
from model.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Shown:
    """The groups of a version.

    Attributes:
        catalogue: What people say of the topics.
        grouping: The groups.
        snapshot: The model of the groups.
        manifest: The version.
    """

    catalogue: Catalogue
    grouping: Grouping
    snapshot: Snapshot
    manifest: Manifest

    @property
    def ids(self) -> list[int]:
        """For each group, the id of the topic or part that it is named after."""
        return self.grouping.ids

    @property
    def given(self) -> dict[int, str]:
        """The names of the catalogue, by id."""
        return self.catalogue.names()

    @cached_property
    def names(self) -> list[str]:
        """The name of each group: that of the catalogue, else the one of the model alone."""
        whole, length = self.snapshot, mean_length(self.manifest)
        words = model_names(whole, word_statistics(whole), length)
        return [
            self.given.get(topic) or words[group] or f"topic {topic}"
            for group, topic in enumerate(self.ids)
        ]

    @cached_property
    def hidden(self) -> list[bool]:
        """Whether each group is left out of lists."""
        return [group in self.grouping.groups.hidden for group in range(len(self.ids))]

    def curves(self, history: Sequence[Manifest], most: int) -> Curves:
        """Return what came to each group over event time.

        Args:
            history: The versions up to this one, the oldest first.
            most: The largest number of periods.
        """
        found = curves(history, len(self.grouping.topics), most)
        shares = np.stack([self.grouping.sums(period) for period in found.shares])
        return Curves(found.first, found.last, shares)


def shown_of(catalogue: Catalogue, manifest: Manifest, snapshot: Snapshot) -> Shown:
    """Return a version as people see it.

    Args:
        catalogue: What people say of the topics.
        manifest: The version.
        snapshot: Its model.
    """
    grouping = grouping_of(catalogue, manifest, snapshot)
    return Shown(catalogue, grouping, grouping.snapshot(snapshot), manifest)
