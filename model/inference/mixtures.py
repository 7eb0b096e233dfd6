"""What inference says of documents: the shares of their topics, and groups of topics.

:class:`Groups` are topics as people see them: a group is a topic with those that are merged into
it. They are a linear map from shares of topics to shares of groups.
:mod:`beam_topics.model.reporting.shown` makes them of a catalogue.

>>> both = Groups(ids=(0, 2), of=(0, 0, 1))
>>> both.sums(np.array([0.25, 0.5, 0.25])).tolist()
[0.75, 0.25]
>>> both.largest(np.array([0.25, 0.5, 0.25]), 1)
[(0, 0.75)]

A Beam step costs about as much per element as an inference method per document, so mixtures pass
between steps in blocks (:class:`MixtureBlock`): the documents that one model labelled together, as
columns. A block holds documents of one key under one version. Which documents share a block
depends on the runner's bundles and on sizes, never on a clock, and no result depends on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.inference.base import InferenceSettings, inference_for
from beam_topics.model.stored import checks, wire

if TYPE_CHECKING:
    from beam_topics.model.inference.features import NumberedDocuments

# Rounding may make a proportion larger than 1.
MOST_PROPORTION = 1.0 + 1e-9
_MOST_ID = 10**12
# What a block has for each document; some are empty.
_COLUMNS = ("ids", "labels", "document_groups", "words", "timestamps", "times")
_NUMBERS = ("words_known", "tokens", "proportions", "none")
# The smallest proportion. Methods that multiply probabilities would give 0 for long documents.
SMALLEST_PROPORTION = 1e-300
# Distinct words of a document that stories are found by, the first ones.
MOST_DISTINCT = 100


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
            DamagedDataError: The values are not groups of T topics.
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
        DamagedDataError: The values are not groups of T topics, or the names are not as many.
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
            proportions are 0 (:func:`beam_topics.model.inference.mixtures.make_mixtures`).
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


def posterior_mean(counts: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return the mean of the Dirichlet posterior, (n_td + alpha_t) / sum, along the last axis."""
    weights = counts + alpha
    result: FloatArray = weights / np.sum(weights, axis=-1, keepdims=True)
    return result


def softmax(logs: FloatArray) -> FloatArray:
    """Return exp(logs), normalised along the last axis, none below :data:`SMALLEST_PROPORTION`."""
    weights = np.exp(logs - np.max(logs, axis=-1, keepdims=True))
    result: FloatArray = np.maximum(
        weights / np.sum(weights, axis=-1, keepdims=True), SMALLEST_PROPORTION
    )
    return result


@dataclass(frozen=True, slots=True, eq=False)
class MixtureBlock:
    """The mixtures of D documents.

    Attributes:
        key, model_version, method: Those of all the mixtures.
        ids: The ids of the documents.
        labels: Their labels; None without one.
        document_groups: The groups of trends that the documents name, or None; empty if none does.
        words: Their words with counts (:func:`words_of`), for stories; empty where these are not
            wanted.
        timestamps: int64[D], the event times of the documents in microseconds.
        times: int64[D], the event times of the mixtures in the stream, in microseconds.
        words_known: int64[D].
        tokens: int64[D].
        proportions: float64[D, T].
        topic_ids: The ids of the topics by place; empty where each is the number of its place.
        none: float64[D], the shares of :mod:`beam_topics.model.inference.serving`; empty where they
            were not computed.
        names: The names of the topics, or of the groups; empty where they are not wanted.
        groups: The groups that are named; None where each topic is one.
    """

    key: str
    model_version: str
    method: str
    ids: tuple[str, ...]
    labels: tuple[str | None, ...]
    timestamps: LongArray
    times: LongArray
    words_known: LongArray
    tokens: LongArray
    proportions: FloatArray
    none: FloatArray
    topic_ids: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    groups: Groups | None = None
    document_groups: tuple[str | None, ...] = ()
    words: tuple[dict[str, int], ...] = ()

    MAGIC = b"BTu3"

    @classmethod
    def of(
        cls,
        block: Block,
        proportions: FloatArray,
        words_known: LongArray,
        *,
        model_version: str,
        method: str,
        times: LongArray | None = None,
    ) -> MixtureBlock:
        """Return the mixtures of at least one document.

        A document without a known word has no topic: its proportions are 0. This is the one place
        that says so; rows, trends, reports and the estimator follow from the numbers.

        Args:
            block: D documents.
            proportions: float64[D, T], what the method found.
            words_known: int64[D], the number of known tokens.
            model_version: The version that inferred them.
            method: The name of the method.
            times: int64[D], the event times of the mixtures in the stream, in microseconds; None
                for those of the documents.
        """
        return cls(
            block.key,
            model_version,
            method,
            block.ids,
            block.labels,
            block.timestamps,
            block.timestamps if times is None else times,
            words_known,
            block.lengths,
            np.where(words_known[:, None] > 0, proportions, 0.0),
            np.zeros(0),
            document_groups=block.groups,
        )

    def parts(self, most: int) -> Iterator[MixtureBlock]:
        """Yield blocks of at most ``most`` mixtures, in their order."""
        for begin in range(0, len(self.ids), most):
            here = slice(begin, begin + most)
            yield replace(self, **{name: getattr(self, name)[here] for name in _COLUMNS + _NUMBERS})

    def shown(self) -> Groups:
        """Return the groups that are named, or the topics as groups of one."""
        return self.groups or Groups(self.ids_of_topics(), tuple(range(self.proportions.shape[1])))

    def ids_of_topics(self) -> tuple[int, ...]:
        """Return the id of the topic in each place."""
        return self.topic_ids or tuple(range(self.proportions.shape[1]))

    def mixtures(self) -> Iterator[TopicMixture]:
        """Yield the mixtures in their order."""
        columns = (self.timestamps, self.words_known, self.tokens)
        none = self.none.tolist() or [None] * len(self.ids)
        for place, (timestamp, known, tokens) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            yield TopicMixture(
                self.key,
                self.ids[place],
                timestamp,
                self.model_version,
                self.method,
                self.proportions[place],
                known,
                tokens,
                none[place],
                self.names,
                self.topic_ids,
                self.groups,
            )

    def to_bytes(self) -> bytes:
        header: dict[str, Any] = {
            "key": self.key,
            "model_version": self.model_version,
            "method": self.method,
            "ids": self.ids,
            "labels": self.labels,
            "topic_ids": self.topic_ids,
            "names": self.names,
        }
        if self.document_groups:
            header["document_groups"] = self.document_groups
        if self.words:
            header["words"] = self.words
        if self.groups is not None:
            header["groups"] = self.groups.to_json()
        columns = (self.timestamps, self.times, self.words_known, self.tokens)
        return wire.pack(
            self.MAGIC,
            header,
            *(wire.array_to_bytes(column, "<i8") for column in columns),
            wire.array_to_bytes(self.proportions, "<f8"),
            wire.array_to_bytes(self.none, "<f8"),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> MixtureBlock:
        header, (*blobs, last) = wire.unpack(cls.MAGIC, data, 6)
        apart = ("timestamps", "times", "words_known", "tokens", "proportions")
        groups = header.pop("groups", None)
        facts = checks.record(cls, header, "a block of mixtures", apart=(*apart, "none", "groups"))
        count = checks.whole("mixtures of a block", len(facts["ids"]), 1)
        checks.sized("labels of a block of mixtures", facts["labels"], count)
        if facts.get("document_groups"):
            checks.sized("groups of documents of a block", facts["document_groups"], count)
        if facts.get("words"):
            checks.sized("words of a block of mixtures", facts["words"], count)
        *columns, flat = (
            wire.array_from_bytes(blob, form)
            for blob, form in zip(blobs, ["<i8"] * 4 + ["<f8"], strict=True)
        )
        for name, column in zip(apart, columns, strict=False):
            checks.sized(f"{name} of a block of mixtures", column, count)
        proportions = checks.shaped(
            "proportions of a block of mixtures", flat, count, len(flat) // count
        )
        checks.measures("proportions of a mixture", proportions, 0.0, MOST_PROPORTION)
        places = proportions.shape[1]
        checks.topic_ids("topic_ids of a block of mixtures", facts.get("topic_ids", ()), places)
        none = wire.array_from_bytes(last, "<f8")
        if len(none):
            checks.sized("none of a block of mixtures", none, count)
            checks.measures("none of a mixture", none, 0.0, 1.0)
        facts["none"] = none
        names = facts.get("names", ())
        facts["groups"] = named_groups(groups, names, places, "a block of mixtures")
        return cls(**facts, **dict(zip(apart, [*columns, proportions], strict=True)))  # type: ignore[arg-type]


def words_of(block: Block) -> tuple[dict[str, int], ...]:
    """Return the first :data:`MOST_DISTINCT` distinct words of each document with their counts."""
    found, words = [], list(block.words)
    for begin, end in pairwise(block.offsets.tolist()):
        counts = Counter(block.tokens[begin:end].tolist())
        found.append({words[one]: n for one, n in islice(counts.items(), MOST_DISTINCT)})
    return tuple(found)


def inferred(
    settings: InferenceSettings,
    prepared: object,
    documents: NumberedDocuments,
    model_version: str,
    *,
    times: LongArray | None = None,
) -> MixtureBlock:
    """Return the mixtures of at least one document by a method.

    Args:
        settings: The settings of the method.
        prepared: What the method prepared of the model.
        documents: D documents.
        model_version: The version of the model.
        times: As of :meth:`MixtureBlock.of`.
    """
    return MixtureBlock.of(
        documents.block,
        inference_for(settings).infer(prepared, documents),
        documents.counts.tokens,
        model_version=model_version,
        method=settings.kind,
        times=times,
    )
