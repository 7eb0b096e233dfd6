"""Topics in groups, as people see them: a linear map from shares of topics to shares of groups.

A group is a topic with those that are merged into it. :mod:`model.reporting.merging` makes groups
of a catalogue.

>>> both = Groups(ids=(0, 2), of=(0, 0, 1))
>>> both.sums(np.array([0.25, 0.5, 0.25])).tolist()
[0.75, 0.25]
>>> both.largest(np.array([0.25, 0.5, 0.25]), 1)
[(0, 0.75)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from model import checks

if TYPE_CHECKING:
    from model.records import FloatArray, LongArray

_MOST_ID = 10**12


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of the T topics of a version.

    Attributes:
        ids: For each group, the id of the topic that it is named after.
        of: The group of the topic in each place.
        hidden: The numbers of the groups that are left out of lists.
    """

    ids: tuple[int, ...]
    of: tuple[int, ...]
    hidden: tuple[int, ...] = ()

    @property
    def trivial(self) -> bool:
        """Whether each topic is a group by itself."""
        return len(self.ids) == len(self.of)

    def sums(self, values: FloatArray | Sequence[float]) -> FloatArray:
        """Return the sum of the values of each group.

        Args:
            values: One value for each place.
        """
        given = np.asarray(values, np.float64)
        if self.trivial:
            return given
        return sums_of(np.array(self.of, np.int64), given, len(self.ids))

    def largest(
        self, values: FloatArray, most: int | None = None, least: float = 0.0
    ) -> list[tuple[int, float]]:
        """Return the largest groups that are not hidden, with their values; ties by group.

        Args:
            values: One value for each place. A group whose value is 0 is left out.
            most: The most groups; None for all.
            least: The least value of a group after the first one.
        """
        found, hidden = self.sums(values), set(self.hidden)
        order = np.argsort(-found, kind="stable")
        order = order[found[order] > 0]
        listed = [group for group in order.tolist() if group not in hidden][:most]
        pairs = zip(listed, found[listed].tolist(), strict=True)
        return [pair for at, pair in enumerate(pairs) if not at or pair[1] >= least]

    def to_json(self) -> dict[str, object]:
        """Return the fields that are not empty."""
        return {name: list(value) for name, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, values: object, topics: int, name: str) -> Groups:
        """Read what :meth:`to_json` returned.

        Args:
            values: Parsed JSON.
            topics: T.
            name: What they belong to, for messages.

        Raises:
            DamagedDataError: The values are no groups of T topics.
        """
        groups = cls(**checks.record(cls, values, f"groups of {name}"))
        for group in groups.ids:
            checks.whole(f"ids of the groups of {name}", group, 0, _MOST_ID)
        checks.sized(f"different ids of the groups of {name}", set(groups.ids), len(groups.ids))
        checks.sized(f"topics of the groups of {name}", groups.of, topics)
        for numbers in (groups.of, groups.hidden):
            checks.within(f"groups of {name}", np.array(numbers, np.int64), 0, len(groups.ids))
        return groups


def named_groups(values: object, names: Sequence[str], topics: int, name: str) -> Groups | None:
    """Read groups that have names, or none.

    Args:
        values: Parsed JSON of :meth:`Groups.to_json`, or None.
        names: The names of the groups, of the topics where there are no groups, or none.
        topics: T.
        name: What they belong to, for messages.

    Raises:
        DamagedDataError: The values are no groups of T topics, or there are not as many names.
    """
    groups = None if values is None else Groups.from_json(values, topics, name)
    if names or groups is not None:
        checks.sized(f"names of {name}", names, topics if groups is None else len(groups.ids))
    return groups


def as_they_are(ids: Sequence[int]) -> Groups:
    """Return the groups of topics that nothing is merged into.

    Args:
        ids: The ids of the topics by place.
    """
    return Groups(tuple(ids), tuple(range(len(ids))))


def sums_of(places: LongArray, values: FloatArray, count: int) -> FloatArray:
    """Return the sum of the values of each place, in their order."""
    return np.bincount(places, weights=values, minlength=count).astype(np.float64)
