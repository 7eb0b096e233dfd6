"""Mixtures: the results of inference, for single documents and in blocks.

A step of Beam costs about as much for an element as an inference method for a document. So mixtures
cross steps in blocks (:class:`MixtureBlock`): the documents that one model labelled together, as
columns. A block
holds documents of one key under one version. Which documents are in one block follows from the
runner's bundles and from sizes, never from a clock, and no result depends on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.inference.base import InferenceSettings, inference_for
from beam_topics.model.inference.features import NumberedDocuments
from beam_topics.model.inference.mixtures import MOST_PROPORTION, Groups, TopicMixture, named_groups
from beam_topics.model.stored import checks, wire

# What a block has for each document; some are empty.
_COLUMNS = ("ids", "labels", "document_groups", "words", "timestamps", "times")
_NUMBERS = ("words_known", "tokens", "proportions", "none")
# The smallest proportion. Methods that multiply probabilities would give 0 for long documents.
SMALLEST_PROPORTION = 1e-300
# Distinct words of a document that stories are found by, the first ones.
MOST_DISTINCT = 100


def posterior_mean(counts: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return the mean of the Dirichlet posterior, (n_td + alpha_t) / sum."""
    weights = counts + alpha
    result: FloatArray = weights / np.sum(weights)
    return result


def posterior_means(counts: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return :func:`posterior_mean` of many documents, float64[D, T], with the same bits."""
    weights = counts + alpha
    result: FloatArray = weights / np.sum(weights, axis=1, keepdims=True)
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
        """Yield blocks of at most so many mixtures, in their order."""
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
