"""Topics in groups, as people see them: a linear map from shares of topics to shares of groups.

A group is a topic with those that are merged into it, without what is split off it, or such a part.
A part has the fraction f of whatever its topic has. :mod:`model.reporting.merging` makes groups of
a catalogue, and says what f is.

>>> both = Groups(ids=(0, 1, -1), of=(0, 1, 2), places=(1,), fractions=(0.25,))
>>> both.sums(np.array([0.2, 0.8])).round(3).tolist()
[0.2, 0.6, 0.2]
>>> both.largest(np.array([0.2, 0.8]), 1)
[(1, 0.6000000000000001)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from model import checks

if TYPE_CHECKING:
    from model.records import FloatArray, LongArray

# Ids of topics and parts.
_MOST_ID = 10**12
# Fractions of one topic are sums of probabilities, which are exact to this.
_SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of the T topics of a version, and of the parts that are split off them.

    Attributes:
        ids: For each group, the id of the topic or part that it is named after.
        of: The group of the topic in each place, and then of each part.
        places: The place of the topic of each part.
        fractions: f of each part.
        hidden: The numbers of the groups that are left out of lists.
    """

    ids: tuple[int, ...]
    of: tuple[int, ...]
    places: tuple[int, ...] = ()
    fractions: tuple[float, ...] = ()
    hidden: tuple[int, ...] = ()

    @property
    def trivial(self) -> bool:
        """Whether each topic is a group by itself."""
        return not self.places and len(self.ids) == len(self.of)

    def sums(self, values: FloatArray | Sequence[float]) -> FloatArray:
        """Return the sum of the values of each group.

        Args:
            values: One value for each place.
        """
        given = np.asarray(values, np.float64)
        if self.trivial:
            return given
        fractions = np.array(self.fractions, np.float64)
        spread = with_parts(given, np.array(self.places, np.int64), fractions)
        return sums_of(np.array(self.of, np.int64), spread, len(self.ids))

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
            checks.whole(f"ids of the groups of {name}", group, -_MOST_ID, _MOST_ID)
        checks.sized(f"different ids of the groups of {name}", set(groups.ids), len(groups.ids))
        checks.sized(f"places of the groups of {name}", groups.places, len(groups.fractions))
        checks.sized(f"topics of the groups of {name}", groups.of, topics + len(groups.places))
        bounds = ((groups.of, len(groups.ids)), (groups.places, topics))
        for numbers, end in (*bounds, (groups.hidden, len(groups.ids))):
            checks.within(f"groups of {name}", np.array(numbers, np.int64), 0, end)
        left = np.array(groups.fractions, np.float64)
        checks.measures(f"fractions of the groups of {name}", left, 0.0, 1.0)
        taken = sums_of(np.array(groups.places, np.int64), left, topics)
        checks.measures(f"fractions of a topic of the groups of {name}", taken, 0.0, 1 + _SLACK)
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
    """Return the groups of topics that nothing is merged into or split off.

    Args:
        ids: The ids of the topics by place.
    """
    return Groups(tuple(ids), tuple(range(len(ids))))


def with_parts(values: FloatArray, places: LongArray, fractions: FloatArray) -> FloatArray:
    """Return values of topics, less those of their parts, and then the values of the parts.

    Args:
        values: float64[T].
        places: int64[parts], the place of the topic of each part.
        fractions: float64[parts], what each part has of the value of its topic.
    """
    moved = values[places] * fractions
    return np.concatenate([values - sums_of(places, moved, len(values)), moved])


def sums_of(places: LongArray, values: FloatArray, count: int) -> FloatArray:
    """Return the sum of the values of each place, in their order."""
    return np.bincount(places, weights=values, minlength=count).astype(np.float64)
