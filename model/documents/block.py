"""Blocks: tokenised documents in columns, from the reader to the learner and to inference.

To pass a single document between two steps would cost as much as its inference, so documents move
in blocks, and a single document is a block of one. The documents of a block have one model key, and
often lie close together in time (:class:`Gathering`). Which documents share a block depends on the
source and on sizes alone, and no result depends on it.

A block has its own dictionary, the words in order of their first use. So its bytes depend on its
documents alone, and not on the worker that made them.

Notation: D is the number of documents, N the number of their tokens, W that of distinct words.

>>> texts = Document("a", 0, "a ship, the sea"), Document("b", 5, "a sea")
>>> block = Block.of_words(texts, [["ship", "sea"], ["sea"]])
>>> block.words, block.tokens.tolist(), block.offsets.tolist()
(('ship', 'sea'), [0, 1, 1], [0, 2, 3])
>>> Block.joined([block.take([1]), block]).ids
('b', 'a', 'b')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import to_iso
from beam_topics.model.words.word_list import WordList

Marks = tuple[str | None, ...]
NO_PLACES = np.zeros(0, np.int64)
NO_PLACES.flags.writeable = False
_ZERO = np.zeros(1, np.int64)
# A block ends with the document that reaches one of them.
BLOCK_DOCUMENTS, BLOCK_TOKENS = 512, 100_000
# A reader makes blocks of what it holds when it holds this much.
GATHERED_DOCUMENTS, GATHERED_TOKENS = 4096, 400_000
# The characters of a text that count as a token.
_TOKEN_CHARACTERS = 8


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Block:
    """D tokenised documents of one model key.

    Attributes:
        key: The model key.
        ids: The ids of the documents.
        timestamps: int64[D], their event times in microseconds.
        labels: Their labels; None for a document without one.
        words: The distinct words of all documents, in order of first use.
        tokens: int32[N], the tokens of all documents, as indices into ``words``.
        offsets: int64[D + 1]; document d has ``tokens[offsets[d]:offsets[d + 1]]``.
        sources, groups: Their sources and their groups of trends, or None; empty where no document
            has one.
        arrived: int64[D], the place of each document in the order of its source; empty where the
            order no longer decides.
        places: Their places in logs, as far as these are not noted yet; otherwise empty.
    """

    key: str
    ids: tuple[str, ...]
    timestamps: LongArray
    labels: Marks
    words: WordList
    tokens: IntArray
    offsets: LongArray
    sources: Marks = ()
    groups: Marks = ()
    arrived: LongArray = field(default_factory=lambda: NO_PLACES)
    places: Marks = ()

    MAGIC = b"BTd2"

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def lengths(self) -> LongArray:
        """int64[D], the number of the tokens of each document."""
        return np.diff(self.offsets)

    @classmethod
    def of(
        cls, documents: Sequence[Document], words: WordList, tokens: IntArray, offsets: LongArray
    ) -> Block:
        """Return at least one document as a block, with the columns of their words."""
        return Block(
            key=documents[0].key,
            ids=tuple(one.id for one in documents),
            timestamps=np.array([one.timestamp for one in documents], np.int64),
            labels=tuple(one.label for one in documents),
            words=words,
            tokens=tokens,
            offsets=offsets,
            sources=_marks([one.source for one in documents]),
            groups=_marks([one.group for one in documents]),
            arrived=np.array([one.arrived for one in documents], np.int64),
            places=_marks([one.place for one in documents]),
        )

    @classmethod
    def of_words(cls, documents: Sequence[Document], words: Iterable[Sequence[str]]) -> Block:
        """Return at least one document as a block, given the words of each in their order."""
        lists = list(words)
        distinct, tokens = WordList.of(list(chain.from_iterable(lists))).distinct()
        return cls.of(documents, distinct, tokens, bounds_of(map(len, lists)))

    @classmethod
    def empty(cls, key: str = "") -> Block:
        """Return a block without documents."""
        return Block(
            key=key,
            ids=(),
            timestamps=NO_PLACES,
            labels=(),
            words=WordList.of(()),
            tokens=np.zeros(0, np.int32),
            offsets=np.zeros(1, np.int64),
        )

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> Block:
        """Return the documents of at least one block of a key, one block after the other.

        Raises:
            ValueError: The blocks are of several keys.
        """
        if len(blocks) == 1:
            return blocks[0]
        if len({one.key for one in blocks}) > 1:
            raise ValueError("blocks of several model keys are joined")
        words, numbers = WordList.joined([one.words for one in blocks]).distinct()
        before = bounds_of(len(one.words) for one in blocks)[:-1].tolist()
        tokens = np.concatenate(
            [one.tokens + first for one, first in zip(blocks, before, strict=True)]
        )
        return Block(
            key=blocks[0].key,
            ids=tuple(chain.from_iterable(one.ids for one in blocks)),
            timestamps=np.concatenate([one.timestamps for one in blocks]),
            labels=tuple(chain.from_iterable(one.labels for one in blocks)),
            words=words,
            tokens=numbers[tokens],
            offsets=np.cumsum(np.concatenate([_ZERO, *(one.lengths for one in blocks)])),
            sources=_joined([one.sources for one in blocks], blocks),
            groups=_joined([one.groups for one in blocks], blocks),
            arrived=np.concatenate([one.arrived for one in blocks]),
            places=_joined([one.places for one in blocks], blocks),
        )

    def take(self, rows: npt.ArrayLike) -> Self:
        """Return some documents, in the order of their rows, with a dictionary of their own.

        Args:
            rows: int[R], places of documents.
        """
        chosen = np.asarray(rows, np.int64)
        if len(chosen) == len(self) and np.array_equal(chosen, np.arange(len(self))):
            # A window of an archive often has its order already.
            return self
        tokens, offsets = self.tokens_of(chosen)
        used, tokens = _numbers(tokens, len(self.words))
        return self._with_rows(chosen, self.words.taken(used), tokens, offsets)

    def _with_rows(
        self, rows: LongArray, words: WordList, tokens: IntArray, offsets: LongArray
    ) -> Self:
        """Return some documents, given the columns of their words."""
        places = rows.tolist()
        return replace(
            self,
            ids=tuple(map(self.ids.__getitem__, places)),
            timestamps=self.timestamps[rows],
            labels=tuple(map(self.labels.__getitem__, places)),
            words=words,
            tokens=tokens,
            offsets=offsets,
            sources=_marks([self.sources[row] for row in places]) if self.sources else (),
            groups=_marks([self.groups[row] for row in places]) if self.groups else (),
            arrived=self.arrived[rows] if len(self.arrived) else NO_PLACES,
            places=tuple(self.places[row] for row in places) if self.places else (),
        )

    def tokens_where(self, kept: npt.NDArray[np.bool_]) -> Self:
        """Return the documents with some of their tokens, with a dictionary of these.

        Args:
            kept: bool[N].
        """
        used, tokens = _numbers(self.tokens[kept], len(self.words))
        before = np.concatenate([_ZERO, np.cumsum(kept)])
        words = self.words.taken(used)
        return replace(self, words=words, tokens=tokens, offsets=before[self.offsets])

    def parts(self, rows: LongArray, bounds: LongArray) -> Iterator[Block]:
        """Yield some documents in blocks, each with a dictionary of its own.

        Args:
            rows: int64[R], places of documents.
            bounds: int64[B + 1], ascending; block b has those of ``rows[bounds[b]:bounds[b + 1]]``.
        """
        from beam_topics.model.kernels.first_uses import number_in_documents

        tokens, offsets = self.tokens_of(rows)
        used, _, ends, tokens = number_in_documents(tokens, offsets[bounds], len(self.words))
        dictionaries, block = self.words.taken(used).parts(ends), Block(**columns_of(self))
        for words, (begin, end) in zip(dictionaries, pairwise(bounds.tolist()), strict=True):
            chosen, own = rows[begin:end], offsets[begin : end + 1]
            yield block._with_rows(chosen, words, tokens[own[0] : own[-1]], own - own[0])

    def documents(self) -> Iterator[Block]:
        """Yield each document alone."""
        return self.parts(np.arange(len(self)), np.arange(len(self) + 1))

    def tokens_of(self, rows: LongArray) -> tuple[IntArray, LongArray]:
        """Return the tokens of some documents, int32[n], and their bounds, int64[R + 1]."""
        from beam_topics.model.kernels.first_uses import tokens_at

        found: tuple[IntArray, LongArray] = tokens_at(self.tokens, self.offsets, rows)
        return found

    def name(self, row: int) -> str:
        """Return what distinguishes a document from those of all keys, and names its draws."""
        return f"{self.key}\0{self.ids[row]}"

    def words_of(self, row: int) -> list[str]:
        """Return the words of a document, in their order."""
        begin, end = self.offsets[row : row + 2].tolist()
        words = self.words[:]
        return [words[word] for word in self.tokens[begin:end].tolist()]

    def content(self, row: int) -> bytes:
        """Return bytes that are equal for equal documents, whatever their neighbours."""
        return replace(self.take([row]), arrived=NO_PLACES, places=()).to_bytes()

    def order(self) -> list[int]:
        """Return the rows in the order of time, id and content."""
        times, row_of = self.timestamps.tolist(), range(len(self))
        keys = [(times[row], self.ids[row]) for row in row_of]
        if len(set(keys)) < len(keys):
            return sorted(row_of, key=lambda row: (*keys[row], self.content(row)))
        return sorted(row_of, key=keys.__getitem__)

    def dead_letter(self, row: int, source: str, reason: str, detail: str) -> DeadLetter:
        """Return the dead letter of a document: its fields, and as many of its words as fit."""
        facts = {
            "id": self.ids[row],
            "timestamp": to_iso(int(self.timestamps[row])),
            "key": self.key,
            "label": self.labels[row],
        }
        most = DeadLetter.RECORD_CHARACTERS
        words = " ".join(self.words_of(row)[:most])[:most]
        record = wire.canonical_json({**facts, "words": words})
        while words and (over := len(record) - most) > 0:
            # JSON writes a character as at most six characters.
            words = words[: -(over // 6 + 1)]
            record = wire.canonical_json({**facts, "words": words})
        return DeadLetter(source, reason, detail, record[:most])

    def to_bytes(self) -> bytes:
        header = {
            "key": self.key,
            "ids": self.ids,
            "labels": self.labels,
            "sources": self.sources,
            "groups": self.groups,
        }
        if self.places:
            header["places"] = self.places
        return wire.pack(
            self.MAGIC,
            header,
            self.words.text.tobytes(),
            wire.array_to_bytes(self.tokens, "<i4"),
            *(
                wire.array_to_bytes(column, "<i8")
                for column in (self.timestamps, self.offsets, self.arrived)
            ),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        found = cls.for_sequence(data)
        found.check_distinct()
        return found

    @classmethod
    def for_sequence(cls, data: bytes) -> Self:
        """Return the documents of bytes without looking words up: a learner checks them again."""
        header, (words, tokens, *columns) = wire.unpack(cls.MAGIC, data, 5)
        found = cls.checked(header, words, tokens, *columns)
        checks.whole("documents of a block", len(found), 1)
        return found

    @classmethod
    def checked(
        cls,
        header: dict[str, Any],
        words: bytes,
        tokens: bytes,
        timestamps: bytes,
        offsets: bytes,
        arrived: bytes = b"",
    ) -> Self:
        """Return the documents of stored columns.

        Args:
            header: The other fields.
            words: The words joined by newlines.
            tokens: int32.
            timestamps: int64.
            offsets: int64.
            arrived: int64.

        Raises:
            DamagedDataError: They are not the columns of one block.
        """
        apart = ("timestamps", "words", "tokens", "offsets", "arrived")
        what = f"a {cls.__name__.lower()}"
        facts = checks.record(cls, header, what, apart=apart)
        count = len(facts["ids"])
        facts |= {
            "words": WordList.from_bytes(words),
            "tokens": wire.array_from_bytes(tokens, "<i4"),
        }
        for name, data in (("timestamps", timestamps), ("offsets", offsets), ("arrived", arrived)):
            facts[name] = wire.array_from_bytes(data, "<i8")
        may_lack = ("sources", "groups", "arrived", "places")
        optional = [name for name in may_lack if len(facts.get(name, ()))]
        for name in ("labels", "timestamps", *optional):
            checks.sized(f"{name} of {what}", facts[name], count)
        checks.within(f"tokens of {what}", facts["tokens"], 0, len(facts["words"]))
        checks.offsets(f"offsets of {what}", facts["offsets"], count, len(facts["tokens"]))
        return cls(**facts)

    def check_distinct(self) -> None:
        """Refuse stored words that are repeated."""
        name = f"distinct words of a {type(self).__name__.lower()}"
        checks.sized(name, self.words.distinct()[0], len(self.words))


def times_in(data: bytes) -> LongArray:
    """Return int64[D], the event times of the bytes of a block, without the rest of it."""
    found: LongArray = wire.array_from_bytes(wire.blob_of(Block.MAGIC, data, 2, 5), "<i8")
    checks.whole("documents of a block", len(found), 1)
    return found


def key_and_count(data: bytes) -> tuple[str, int]:
    """Return the model key and the number of documents of the bytes of a block."""
    header = wire.header_of(Block.MAGIC, data)
    return str(checks.field(header, "key")), len(checks.field(header, "ids"))


def keyed(data: bytes) -> tuple[bytes, bytes]:
    """Return the UTF-8 bytes of the model key of a block, and the bytes of the block."""
    return key_and_count(data)[0].encode(), data


def bounds_of(lengths: Iterable[int]) -> LongArray:
    """Return int64, 0 and the sums of lengths up to each."""
    # Short windows have few documents, of which numpy takes long to make sums.
    return np.array([0, *accumulate(lengths)], np.int64)


def columns_of(block: Block) -> dict[str, Any]:
    """Return the columns of a block by their names."""
    return {name: getattr(block, name) for name in Block.__slots__}


def _numbers(tokens: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Return the distinct tokens in order of first use, and the tokens as indices into them."""
    # Imported here and above: what reads a store alone needs no kernels.
    from beam_topics.model.kernels.first_uses import number_words

    found: tuple[IntArray, IntArray] = number_words(tokens, count)
    return found


def _marks(marks: Sequence[str | None]) -> Marks:
    return tuple(marks) if any(mark is not None for mark in marks) else ()


def _joined(parts: Sequence[Marks], blocks: Sequence[Block]) -> Marks:
    if not any(parts):
        return ()
    filled = (part or (None,) * len(block) for part, block in zip(parts, blocks, strict=True))
    return tuple(chain.from_iterable(filled))


class Gathering:
    """Documents that wait until their blocks end."""

    def __init__(self) -> None:
        self._waiting: list[Document] = []
        self._tokens = 0

    def add(self, document: Document) -> list[list[Document]]:
        """Add a document; return the documents of each block if all end with it."""
        self._waiting.append(document)
        self._tokens += _tokens_of(document)
        if len(self._waiting) < GATHERED_DOCUMENTS and self._tokens < GATHERED_TOKENS:
            return []
        return self.rest()

    def rest(self) -> list[list[Document]]:
        """End all blocks; return the documents of each, in the order of their times."""
        waiting, self._waiting, self._tokens = self._waiting, [], 0
        found: list[list[Document]] = []
        of_key: dict[str, tuple[list[Document], int]] = {}
        for document in sorted(waiting, key=attrgetter("timestamp")):
            block, tokens = of_key.get(document.key, ([], BLOCK_TOKENS))
            if tokens >= BLOCK_TOKENS or len(block) >= BLOCK_DOCUMENTS:
                block, tokens = [], 0
                found.append(block)
            block.append(document)
            of_key[document.key] = block, tokens + _tokens_of(document)
        return found


def _tokens_of(document: Document) -> int:
    return -(-len(document.text) // _TOKEN_CHARACTERS)
