"""The records that flow between the steps.

A :class:`Document` is a text as it was read, and a :class:`TokenisedDocument` has its words. The
documents of a window that a learner takes in one step are a :class:`Minibatch`, and as a link of
their chain a :class:`NumberedMinibatch`. What inference says of a document is a
:class:`TopicMixture`. A record that could not be processed becomes a :class:`DeadLetter`, so every
record that is read is kept. A snapshot has a module of its own (:mod:`beam_topics.model.snapshot`).

Each record is immutable and has explicit, deterministic, versioned bytes
(:mod:`beam_topics.model.wire`). Times are whole microseconds since 1970-01-01 UTC and may be
negative. Values are checked where a record is read (:mod:`beam_topics.model.checks`), so later
stages need not check them.

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

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model import checks, wire
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.times import to_iso

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
# Rounding may make a proportion larger than 1.
MOST_PROPORTION = 1.0 + 1e-9
_MOST_ID = 10**12


def numbered_together(words: Iterable[str]) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct words in order of first use, and the number of each of the words."""
    words = list(words)
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return tuple(numbers), np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))


def own_dictionary(tokens: IntArray | LongArray) -> tuple[IntArray | LongArray, IntArray]:
    """Return the distinct tokens in order of first use, and the tokens as indices into them.

    Args:
        tokens: Numbers of at least 0; the largest times twice their count is less than 2**63.
    """
    count = len(tokens)
    bits = count.bit_length()
    # A token and its place make one number, because numbers are sorted much faster than places.
    both = np.sort((tokens.astype(np.int64) << bits) + np.arange(count))
    values, places = both >> bits, both & ((1 << bits) - 1)
    is_new, is_first = np.ones(count, np.bool_), np.zeros(count, np.bool_)
    is_new[1:] = values[1:] != values[:-1]
    firsts = places[is_new]
    is_first[firsts] = True
    ranks = np.cumsum(is_first, dtype=np.int32)[firsts] - 1
    numbers = np.empty(count, np.int32)
    numbers[places] = ranks[np.cumsum(is_new) - 1]
    return tokens[is_first], numbers


@dataclass(frozen=True, slots=True)
class Document:
    """A text as it was read.

    Attributes:
        id: The id of the document.
        timestamp: Its event time in microseconds.
        text: Its text.
        label: Its label, or None.
        key: The key of the model that it belongs to; ``""`` if there is one model for all.
        source: Its author or other source, or None.
        group: The group of trends that it counts in, or None.
        arrived: Its place in the order of its source, which decides between documents of one id.
    """

    id: str
    timestamp: int
    text: str
    label: str | None = None
    key: str = ""
    source: str | None = None
    group: str | None = None
    # Not part of what a document is: its order decides and is forgotten.
    arrived: int = field(default=0, compare=False)

    MAGIC = b"BTt1"

    def to_bytes(self) -> bytes:
        return wire.pack(self.MAGIC, _facts(self), self.text.encode())

    @classmethod
    def from_bytes(cls, data: bytes) -> Document:
        header, (text,) = wire.unpack(cls.MAGIC, data, 1)
        try:
            return cls(**checks.record(cls, {**header, "text": text.decode()}, "a document"))
        except UnicodeDecodeError as error:
            raise DamagedDataError(f"a document's text is not UTF-8: {error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class TokenisedDocument:
    """A document as tokens.

    Attributes:
        id: The id of the document.
        timestamp: Its event time in microseconds.
        label: Its label, or None.
        key: The key of the model that it belongs to.
        words: The distinct words in order of first use.
        tokens: int32 indices into ``words``.
        source, group, arrived: As of a :class:`Document`.
    """

    id: str
    timestamp: int
    label: str | None
    key: str
    words: tuple[str, ...]
    tokens: IntArray
    source: str | None = None
    group: str | None = None
    arrived: int = 0

    MAGIC = b"BTd1"

    def to_bytes(self) -> bytes:
        return wire.pack(
            self.MAGIC,
            _facts(self),
            wire.words_to_bytes(self.words),
            wire.array_to_bytes(self.tokens, "<i4"),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> TokenisedDocument:
        header, (text, numbers) = wire.unpack(cls.MAGIC, data, 2)
        facts = checks.record(cls, header, "a document", apart=("words", "tokens"))
        words, tokens = wire.words_from_bytes(text), wire.array_from_bytes(numbers, "<i4")
        checks.within("tokens of a document", tokens, 0, len(words))
        return cls(words=words, tokens=tokens, **facts)

    def order(self) -> tuple[int, str, bytes]:
        """Return the sort key of documents: time, id, content.

        Windows are sorted by the digest of the content in place of the content, because
        fingerprints depend on that order.
        """
        return self.timestamp, self.id, self.to_bytes()

    @classmethod
    def from_words(cls, document: Document, words: Iterable[str]) -> TokenisedDocument:
        """Return the document with its words numbered in the order of their first use."""
        distinct, tokens = numbered_together(words)
        return cls(
            document.id,
            document.timestamp,
            document.label,
            document.key,
            distinct,
            tokens,
            document.source,
            document.group,
            document.arrived,
        )


def _facts(document: Document | TokenisedDocument) -> dict[str, Any]:
    """Return the header of a document, without fields that have their defaults."""
    facts = {name: getattr(document, name) for name in ("id", "timestamp", "label", "key")}
    arrived = document.arrived or None
    marks = {"source": document.source, "group": document.group, "arrived": arrived}
    return facts | {name: mark for name, mark in marks.items() if mark is not None}


@dataclass(frozen=True, slots=True, eq=False)
class Minibatch:
    """Documents of one window that a learner takes in one step, in the order that all learners see.

    Attributes:
        key: The model key.
        sequence: 1, 2, 3, ... within the key.
        window_end: The end of the event-time window, in microseconds.
        closes_window: Whether this is the last minibatch of its window. Models are published after
            such a minibatch.
        ids: The id of each document.
        timestamps: int64, the event time of each document in microseconds.
        labels: The label of each document, or None.
        words: The distinct words of the minibatch in order of first use.
        tokens: int32 indices into ``words``, one document after the other.
        offsets: int64, one more than documents. Document d is
            ``tokens[offsets[d]:offsets[d + 1]]``.
        sources, groups: Those of each document, or None; empty if no document has one.
    """

    key: str
    sequence: int
    window_end: int
    closes_window: bool
    ids: tuple[str, ...]
    timestamps: LongArray
    labels: tuple[str | None, ...]
    words: tuple[str, ...]
    tokens: IntArray
    offsets: LongArray
    sources: tuple[str | None, ...] = ()
    groups: tuple[str | None, ...] = ()

    MAGIC = b"BTm1"

    def __len__(self) -> int:
        return len(self.ids)

    def to_bytes(self) -> bytes:
        names = ("key", "sequence", "window_end", "closes_window", "ids", "labels")
        marks = {"sources": self.sources, "groups": self.groups}
        header = {name: getattr(self, name) for name in names}
        header |= {name: values for name, values in marks.items() if values}
        return wire.pack(
            self.MAGIC,
            header,
            wire.words_to_bytes(self.words),
            wire.array_to_bytes(self.timestamps, "<i8"),
            wire.array_to_bytes(self.tokens, "<i4"),
            wire.array_to_bytes(self.offsets, "<i8"),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Minibatch:
        header, (text, *blobs) = wire.unpack(cls.MAGIC, data, 4)
        facts = checks.record(
            cls, header, "a minibatch", apart=("timestamps", "words", "tokens", "offsets")
        )
        words = wire.words_from_bytes(text)
        timestamps, tokens, offsets = (
            wire.array_from_bytes(blob, kind)
            for blob, kind in zip(blobs, ("<i8", "<i4", "<i8"), strict=True)
        )
        checks.whole("sequence of a minibatch", facts["sequence"])
        checks.sized("labels of a minibatch", facts["labels"], len(facts["ids"]))
        for name in ("sources", "groups"):
            if facts.get(name):
                checks.sized(f"{name} of a minibatch", facts[name], len(facts["ids"]))
        checks.sized("timestamps of a minibatch", timestamps, len(facts["ids"]))
        checks.distinct("words of a minibatch", words)
        checks.within("tokens of a minibatch", tokens, 0, len(words))
        checks.offsets("offsets of a minibatch", offsets, len(facts["ids"]), len(tokens))
        return cls(timestamps=timestamps, words=words, tokens=tokens, offsets=offsets, **facts)

    def documents(self) -> Iterable[TokenisedDocument]:
        """Yield the documents, each with a dictionary of its own."""
        for d, (first, last) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            used, tokens = own_dictionary(self.tokens[first:last])
            words = tuple(self.words[w] for w in used)
            yield TokenisedDocument(
                self.ids[d],
                int(self.timestamps[d]),
                self.labels[d],
                self.key,
                words,
                tokens,
                self.sources[d] if self.sources else None,
                self.groups[d] if self.groups else None,
            )

    @classmethod
    def from_documents(
        cls,
        key: str,
        sequence: int,
        window_end: int,
        closes_window: bool,
        documents: Iterable[TokenisedDocument],
    ) -> Minibatch:
        """Join documents, in the given order, under one dictionary."""
        documents = list(documents)
        words, numbers = numbered_together(
            chain.from_iterable(document.words for document in documents)
        )
        parts: list[IntArray] = []
        first = 0
        for document in documents:
            last = first + len(document.words)
            parts.append(numbers[first:last][document.tokens])
            first = last
        offsets = np.array([0, *accumulate(map(len, parts))], np.int64)
        sources = tuple(document.source for document in documents)
        groups = tuple(document.group for document in documents)
        return cls(
            key=key,
            sequence=sequence,
            window_end=window_end,
            closes_window=closes_window,
            ids=tuple(document.id for document in documents),
            timestamps=np.array([document.timestamp for document in documents], np.int64),
            labels=tuple(document.label for document in documents),
            words=words,
            tokens=np.concatenate(parts).astype(np.int32, copy=False)
            if parts
            else np.zeros(0, np.int32),
            offsets=offsets,
            sources=sources if any(source is not None for source in sources) else (),
            groups=groups if any(group is not None for group in groups) else (),
        )


@dataclass(frozen=True, slots=True)
class NumberedMinibatch:
    """A minibatch with its link of the chain: fingerprint_n = H(fingerprint_n-1, payload).

    An empty ``payload`` marks the end of the stream after minibatch ``sequence``. Learners then
    publish what they have.

    Attributes:
        sequence: The number of the minibatch.
        previous: The fingerprint of the minibatch before it, 32 bytes.
        fingerprint: Its own fingerprint, 32 bytes.
        payload: The bytes of the minibatch.
    """

    sequence: int
    previous: bytes
    fingerprint: bytes
    payload: bytes

    MAGIC = b"BTn1"

    def to_bytes(self) -> bytes:
        return wire.pack(
            self.MAGIC, {"sequence": self.sequence}, self.previous, self.fingerprint, self.payload
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> NumberedMinibatch:
        header, (previous, fingerprint, payload) = wire.unpack(cls.MAGIC, data, 3)
        for link in (previous, fingerprint):
            checks.sized("link of a numbered minibatch", link, wire.DIGEST_BYTES)
        return cls(
            checks.whole("sequence of a numbered minibatch", checks.field(header, "sequence")),
            previous,
            fingerprint,
            payload,
        )

    @classmethod
    def link(cls, sequence: int, previous: bytes, payload: bytes) -> NumberedMinibatch:
        """Return the next link of the chain after ``previous``."""
        return cls(sequence, previous, wire.digest(previous, payload), payload)

    @classmethod
    def end(cls, sequence: int, fingerprint: bytes) -> NumberedMinibatch:
        """Return the end marker after minibatch ``sequence``."""
        return cls(sequence, fingerprint, fingerprint, b"")

    @property
    def is_end(self) -> bool:
        """Return whether this is an end marker."""
        return not self.payload

    def minibatch(self) -> Minibatch:
        """Return the minibatch.

        Raises:
            DamagedDataError: The payload does not hash to the fingerprint.
        """
        if wire.digest(self.previous, self.payload) != self.fingerprint:
            raise DamagedDataError(
                f"minibatch {self.sequence} does not have the fingerprint that it was sent with"
            )
        return Minibatch.from_bytes(self.payload)


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

    def top_topics(self, most: int) -> list[tuple[int, float]]:
        """Return the ids and shares of the largest topics or groups that are not hidden.

        A document without a known word has none. Ties are in the order of places.
        """
        shown = self.shown()
        return [(shown.ids[at], share) for at, share in shown.largest(self.proportions, most)]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that could not be processed: where it came from, why, and as much of it as fits.

    Attributes:
        source: The file and the place (``data.jsonl:17``, ``data.avro block 3``), or the stage that
            refused the record.
        reason: One of a few fixed words (``not_json``, ``missing_id``, ...), which also name
            counters.
        detail: A sentence for a person.
        record: The first :data:`RECORD_CHARACTERS` characters of the record.
    """

    source: str
    reason: str
    detail: str
    record: str

    RECORD_CHARACTERS = 2000

    @classmethod
    def of(cls, document: TokenisedDocument, source: str, reason: str, detail: str) -> DeadLetter:
        """Make a dead letter of a document that was read.

        It has the fields of the document and as many of its words as fit.
        """
        fields = {
            "id": document.id,
            "timestamp": to_iso(document.timestamp),
            "key": document.key,
            "label": document.label,
        }
        words = " ".join(document.words[w] for w in document.tokens[: cls.RECORD_CHARACTERS])[
            : cls.RECORD_CHARACTERS
        ]
        record = wire.canonical_json({**fields, "words": words})
        while words and (over := len(record) - cls.RECORD_CHARACTERS) > 0:
            # JSON writes a character as at most six characters.
            words = words[: -(over // 6 + 1)]
            record = wire.canonical_json({**fields, "words": words})
        return cls(source, reason, detail, record[: cls.RECORD_CHARACTERS])

    def as_json(self) -> str:
        """Return the dead letter as canonical JSON."""
        return wire.canonical_json(asdict(self))
