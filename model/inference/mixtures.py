"""What inference says of a document: the shares of its topics, and groups of topics.

:class:`Groups` are topics as people see them: a group is a topic with those that are merged into
it. They are a linear map from shares of topics to shares of groups.
:mod:`beam_topics.model.reporting.shown` makes them of a catalogue.

>>> both = Groups(ids=(0, 2), of=(0, 0, 1))
>>> both.sums(np.array([0.25, 0.5, 0.25])).tolist()
[0.75, 0.25]
>>> both.largest(np.array([0.25, 0.5, 0.25]), 1)
[(0, 0.75)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.stored import checks, wire

# Rounding may make a proportion larger than 1.
MOST_PROPORTION = 1.0 + 1e-9
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
        (found,) = self.largest_rows(np.asarray(values, np.float64)[None], least)
        return found[:most]

    def largest_rows(self, values: FloatArray, least: float = 0.0) -> list[list[tuple[int, float]]]:
        """Return :meth:`largest` of many documents.

        Args:
            values: float64[D, T], one value for each document and place.
            least: The least value of a group after the first one.
        """
        found = values if self.trivial else np.stack(list(map(self.sums, values)))
        if self.hidden:
            found = found.copy()
            found[:, list(self.hidden)] = 0.0
        order = np.argsort(-found, axis=1, kind="stable")
        ranked = np.take_along_axis(found, order, axis=1)
        counts = ((ranked > 0) & (ranked >= least)).sum(axis=1)
        counts = np.maximum(counts, ranked[:, 0] > 0)
        widest = int(counts.max(initial=0))
        rows = zip(order[:, :widest].tolist(), ranked[:, :widest].tolist(), strict=True)
        return [
            list(zip(places[:count], shares[:count], strict=True))
            for (places, shares), count in zip(rows, counts.tolist(), strict=True)
        ]

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


def sums_of(places: LongArray, values: FloatArray, count: int) -> FloatArray:
    """Return the sum of the values of each place, in their order."""
    return np.bincount(places, weights=values, minlength=count).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class TopicMixture:
    """The topic proportions of one document under one model version.

    Attributes:
        key: The model key.
        id: The id of the document.
        timestamp: Its event time in microseconds.
        model_version: The name of the version.
        method: The name of the inference method.
        proportions: float64[T], with sum 1. A document without a known word has no topic, and its
            proportions are 0 (:func:`beam_topics.model.inference.mixture_blocks.make_mixtures`).
        words_known: The number of tokens whose word the model knows.
        tokens: The number of tokens of the document.
        none: The share of :mod:`beam_topics.model.inference.serving`; None where it was not
            computed.
        names: The name of each topic, or of each group; empty where names are not wanted.
        topic_ids: The id of the topic in each place; empty where each is the number of its place.
        groups: The groups that are named; None where each topic is one.
    """

    key: str
    id: str
    timestamp: int
    model_version: str
    method: str
    proportions: FloatArray
    words_known: int
    tokens: int
    none: float | None = None
    names: tuple[str, ...] = ()
    topic_ids: tuple[int, ...] = ()
    groups: Groups | None = None

    MAGIC = b"BTx1"

    def to_bytes(self) -> bytes:
        fields = ("key", "id", "timestamp", "model_version", "method", "words_known", "tokens")
        header = {name: getattr(self, name) for name in (*fields, "none", "names", "topic_ids")}
        header["groups"] = self.groups and self.groups.to_json()
        header = {name: value for name, value in header.items() if value not in (None, ())}
        return wire.pack(self.MAGIC, header, wire.array_to_bytes(self.proportions, "<f8"))

    @classmethod
    def from_bytes(cls, data: bytes) -> TopicMixture:
        header, (blob,) = wire.unpack(cls.MAGIC, data, 1)
        groups = header.pop("groups", None)
        facts = checks.record(cls, header, "a mixture", apart=("proportions", "groups"))
        proportions, names = wire.array_from_bytes(blob, "<f8"), facts.get("names", ())
        checks.measures("proportions of a mixture", proportions, 0.0, MOST_PROPORTION)
        if facts.get("none") is not None:
            checks.number("none of a mixture", facts["none"], 0.0, 1.0)
        checks.topic_ids("topic_ids of a mixture", facts.get("topic_ids") or (), len(proportions))
        facts["groups"] = named_groups(groups, names, len(proportions), "a mixture")
        return cls(proportions=proportions, **facts)

    def shown(self) -> Groups:
        """Return the groups that are named, or the topics as groups of one."""
        places = range(len(self.proportions))
        return self.groups or Groups(tuple(self.topic_ids or places), tuple(places))
