"""Blocks of tokenised documents, as columns.

Between two steps a document costs as much as its inference by a classifier, or as learning it. So
documents cross from reading to the next step in blocks. Which documents are in one block follows
from the source and from sizes, never from a clock, and no result depends on it. A block for
inference may hold any documents; one for the sequence holds those of one key and one window
(:class:`Blocks`). A document without others stays alone, in its own form.

Notation: D is the number of documents of a block, N the number of their tokens.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Generic, TypeVar

import numpy as np

from beam_topics.model import checks, wire
from beam_topics.model.records import (
    Document,
    IntArray,
    LongArray,
    Minibatch,
    TokenisedDocument,
    numbered_together,
    own_dictionary,
)
from beam_topics.model.settings import SequenceSettings

# A block ends with the document that reaches one of them.
BLOCK_DOCUMENTS, BLOCK_TOKENS = 256, 100_000
# All blocks end with the document with which they together reach one of them: this bounds what a
# reader holds.
GATHERED_DOCUMENTS, GATHERED_TOKENS = 4096, 400_000
# The characters of a text that count as a token before the text is tokenised.
TOKEN_CHARACTERS = 8

AnyDocument = TypeVar("AnyDocument", Document, TokenisedDocument)


@dataclass(frozen=True, slots=True, eq=False)
class DocumentBlock:
    """D tokenised documents.

    Attributes:
        ids: The ids of the documents.
        keys: The keys of their models.
        labels: Their labels; None without one.
        sources, groups: Their sources and their groups of trends, or None; empty where no document
            has one.
        timestamps: int64[D], their event times in microseconds.
        words: The distinct words of all documents.
        tokens: int32[N], the tokens of all documents, as indices into ``words``.
        offsets: int64[D + 1]; document d has tokens[offsets[d]:offsets[d + 1]].
        arrived: int64[D], the place of each document in the order of its source.
    """

    ids: tuple[str, ...]
    keys: tuple[str, ...]
    labels: tuple[str | None, ...]
    sources: tuple[str | None, ...]
    groups: tuple[str | None, ...]
    timestamps: LongArray
    words: tuple[str, ...]
    tokens: IntArray
    offsets: LongArray
    arrived: LongArray

    MAGIC = b"BTE3"

    @classmethod
    def of(cls, documents: Sequence[TokenisedDocument]) -> DocumentBlock:
        """Return a block of at least one document."""
        return cls.of_columns(
            documents,
            *_under_one_dictionary(
                [one.words for one in documents], [one.tokens for one in documents]
            ),
            _bounds(len(one.tokens) for one in documents),
        )

    @classmethod
    def of_columns(
        cls,
        documents: Sequence[Document | TokenisedDocument],
        words: tuple[str, ...],
        tokens: IntArray,
        offsets: LongArray,
    ) -> DocumentBlock:
        """Return at least one document as a block; words, tokens and offsets are its columns."""
        return cls(
            tuple(one.id for one in documents),
            tuple(one.key for one in documents),
            tuple(one.label for one in documents),
            _marks([one.source for one in documents]),
            _marks([one.group for one in documents]),
            np.array([one.timestamp for one in documents], np.int64),
            words,
            tokens,
            offsets,
            np.array([one.arrived for one in documents], np.int64),
        )

    @classmethod
    def joined(cls, blocks: Sequence[DocumentBlock]) -> DocumentBlock:
        """Return the documents of at least one block, one block after the other."""
        if len(blocks) == 1:
            return blocks[0]
        sizes = [len(block.ids) for block in blocks]
        return cls(
            tuple(chain.from_iterable(block.ids for block in blocks)),
            tuple(chain.from_iterable(block.keys for block in blocks)),
            tuple(chain.from_iterable(block.labels for block in blocks)),
            _joined_marks([block.sources for block in blocks], sizes),
            _joined_marks([block.groups for block in blocks], sizes),
            np.concatenate([block.timestamps for block in blocks]),
            *_under_one_dictionary([one.words for one in blocks], [one.tokens for one in blocks]),
            _bounds(np.concatenate([np.diff(block.offsets) for block in blocks]).tolist()),
            np.concatenate([block.arrived for block in blocks]),
        )

    def document(self, row: int) -> TokenisedDocument:
        """Return the document in a place of the block."""
        used, tokens = own_dictionary(self.tokens[self.offsets[row] : self.offsets[row + 1]])
        return self._document(row, tuple(self.words[word] for word in used.tolist()), tokens)

    def documents(self) -> Iterator[TokenisedDocument]:
        """Yield the documents in their order."""
        lengths, count = np.diff(self.offsets), max(len(self.words), 1)
        # A number for each word of each document.
        own = np.repeat(np.arange(len(lengths)) * count, lengths) + self.tokens
        used, numbers = own_dictionary(own)
        starts = np.searchsorted(used, np.arange(len(lengths) + 1) * count)
        words = [self.words[word] for word in (used % count).tolist()]
        tokens = numbers - np.repeat(starts[:-1], lengths).astype(np.int32)
        bounds = zip(starts.tolist(), self.offsets.tolist(), strict=True)
        for row, ((first, begin), (last, end)) in enumerate(pairwise(bounds)):
            yield self._document(row, tuple(words[first:last]), tokens[begin:end])

    def _document(self, row: int, words: tuple[str, ...], tokens: IntArray) -> TokenisedDocument:
        return TokenisedDocument(
            self.ids[row],
            int(self.timestamps[row]),
            self.labels[row],
            self.keys[row],
            words,
            tokens,
            self.sources[row] if self.sources else None,
            self.groups[row] if self.groups else None,
            int(self.arrived[row]),
        )

    def minibatch(
        self, key: str, sequence: int, window_end: int, closes_window: bool, rows: LongArray
    ) -> Minibatch:
        """Join documents under one dictionary, as :meth:`Minibatch.from_documents` does.

        Args:
            key: The model key.
            sequence: The number of the minibatch.
            window_end: The end of its window, in microseconds.
            closes_window: Whether it is the last one of its window.
            rows: int64, the places of at least one document, in the order of the minibatch.
        """
        chosen = rows.tolist()
        bounds = zip(self.offsets[rows].tolist(), self.offsets[rows + 1].tolist(), strict=True)
        parts = [self.tokens[first:last] for first, last in bounds]
        words, tokens = self.words, self.tokens
        # Short windows have one document each, whose dictionary is that of the minibatch.
        if len(self.ids) > 1:
            used, tokens = own_dictionary(np.concatenate(parts))
            words = tuple(map(self.words.__getitem__, used.tolist()))
        return Minibatch(
            key=key,
            sequence=sequence,
            window_end=window_end,
            closes_window=closes_window,
            ids=tuple(map(self.ids.__getitem__, chosen)),
            timestamps=self.timestamps[rows],
            labels=tuple(map(self.labels.__getitem__, chosen)),
            words=words,
            tokens=tokens,
            offsets=_bounds(map(len, parts)),
            sources=_marks([self.sources[row] for row in chosen]) if self.sources else (),
            groups=_marks([self.groups[row] for row in chosen]) if self.groups else (),
        )

    def to_bytes(self) -> bytes:
        header = {
            "ids": self.ids,
            "keys": self.keys,
            "labels": self.labels,
            "sources": self.sources,
            "groups": self.groups,
        }
        return wire.pack(
            self.MAGIC,
            header,
            wire.words_to_bytes(self.words),
            wire.array_to_bytes(self.tokens, "<i4"),
            *(
                wire.array_to_bytes(column, "<i8")
                for column in (self.timestamps, self.offsets, self.arrived)
            ),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> DocumentBlock:
        header, (text, numbers, *columns) = wire.unpack(cls.MAGIC, data, 5)
        apart = ("timestamps", "words", "tokens", "offsets", "arrived")
        facts = checks.record(cls, header, "a block of documents", apart=apart)
        words, tokens = wire.words_from_bytes(text), wire.array_from_bytes(numbers, "<i4")
        count = checks.whole("documents of a block", len(facts["ids"]), 1)
        times, offsets, arrived = (wire.array_from_bytes(column, "<i8") for column in columns)
        listed = {name: facts[name] for name in ("keys", "labels")}
        listed |= {"timestamps": times, "arrived": arrived}
        listed |= {name: facts[name] for name in ("sources", "groups") if facts[name]}
        for name, values in listed.items():
            checks.sized(f"{name} of a block of documents", values, count)
        checks.offsets("offsets of a block of documents", offsets, count, len(tokens))
        checks.distinct("words of a block of documents", words)
        checks.within("tokens of a block of documents", tokens, 0, len(words))
        facts |= {"offsets": offsets, "arrived": arrived}
        return cls(timestamps=times, words=words, tokens=tokens, **facts)


def _marks(marks: Sequence[str | None]) -> tuple[str | None, ...]:
    return tuple(marks) if any(mark is not None for mark in marks) else ()


def _joined_marks(
    parts: Sequence[tuple[str | None, ...]], sizes: Sequence[int]
) -> tuple[str | None, ...]:
    if not any(parts):
        return ()
    filled = (part or (None,) * size for part, size in zip(parts, sizes, strict=True))
    return tuple(chain.from_iterable(filled))


def _under_one_dictionary(
    words: Sequence[tuple[str, ...]], tokens: Sequence[IntArray]
) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct words of parts, and the tokens of all parts as indices into them."""
    if len(words) == 1:
        return words[0], tokens[0]
    distinct, numbers = numbered_together(chain.from_iterable(words))
    before = np.cumsum([0, *map(len, words)])
    places = np.concatenate(tokens) + np.repeat(before[:-1], list(map(len, tokens)))
    return distinct, numbers[places]


def _bounds(lengths: Iterable[int]) -> LongArray:
    # Short windows have few documents, of which numpy takes long to make sums.
    return np.array([0, *accumulate(lengths)], np.int64)


def to_bytes(documents: Sequence[TokenisedDocument]) -> bytes:
    """Return the bytes of a document alone, or of a block of several."""
    alone = len(documents) == 1
    return documents[0].to_bytes() if alone else DocumentBlock.of(documents).to_bytes()


def is_block(data: bytes) -> bool:
    """Return whether bytes are those of a block, and not of a document alone."""
    return data.startswith(DocumentBlock.MAGIC)


def documents_in(data: bytes) -> list[TokenisedDocument]:
    """Return the documents of the bytes of a block, or of those of one document."""
    if is_block(data):
        return list(DocumentBlock.from_bytes(data).documents())
    return [TokenisedDocument.from_bytes(data)]


def block_of(parts: Iterable[bytes]) -> DocumentBlock:
    """Return all documents of parts, at least one, which are blocks or documents alone."""
    blocks, alone = list[DocumentBlock](), list[TokenisedDocument]()
    for data in parts:
        if is_block(data):
            blocks.append(DocumentBlock.from_bytes(data))
        else:
            alone.append(TokenisedDocument.from_bytes(data))
    return DocumentBlock.joined([*blocks, DocumentBlock.of(alone)] if alone else blocks)


def times_in(data: bytes) -> list[int]:
    """Return the event times of the documents of a block, or of one document."""
    if not is_block(data):
        return [wire.header_of(TokenisedDocument.MAGIC, data)["timestamp"]]
    _, (_, _, times, *_) = wire.unpack(DocumentBlock.MAGIC, data, 5)
    found: list[int] = wire.array_from_bytes(times, "<i8").tolist()
    checks.whole("documents of a block", len(found), 1)
    return found


def count_in(data: bytes) -> int:
    """Return the number of the documents of a block, or 1 of a document alone."""
    return len(wire.header_of(DocumentBlock.MAGIC, data)["ids"]) if is_block(data) else 1


def by_key(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Yield the documents of a block, or one document, by the keys of their models.

    Each part has its key, its earliest time and its bytes. Words and tokens are only parsed where a
    block has several keys.
    """
    if not is_block(data):
        header = wire.header_of(TokenisedDocument.MAGIC, data)
        yield header["key"], header["timestamp"], data
        return
    keys = wire.header_of(DocumentBlock.MAGIC, data)["keys"]
    if len(set(keys)) == 1:
        yield keys[0], min(times_in(data)), data
        return
    parts: dict[str, list[TokenisedDocument]] = {}
    for document in DocumentBlock.from_bytes(data).documents():
        parts.setdefault(document.key, []).append(document)
    for key, documents in parts.items():
        yield key, min(document.timestamp for document in documents), to_bytes(documents)


@dataclass(frozen=True)
class Blocks:
    """Which documents share a block.

    Attributes:
        windows: Those of one key and of one window of these settings; None for any.
    """

    windows: SequenceSettings | None = None

    def place(self, document: Document | TokenisedDocument) -> Hashable:
        """Return what the documents of a block have in common."""
        if self.windows is None:
            return None
        return document.key, self.windows.window_number(document.timestamp)


class Gathering(Generic[AnyDocument]):
    """Documents that wait until their block ends.

    Args:
        blocks: Which documents share a block.
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._groups: dict[Hashable, list[AnyDocument]] = {}
        self._tokens: dict[Hashable, int] = {}
        self._documents = self._all_tokens = 0

    def add(self, document: AnyDocument) -> list[list[AnyDocument]]:
        """Add a document; return the documents of each block that ends with it."""
        place, size = self._blocks.place(document), _size(document)
        group = self._groups.setdefault(place, [])
        group.append(document)
        tokens = self._tokens[place] = self._tokens.get(place, 0) + size
        self._documents += 1
        self._all_tokens += size
        if self._documents >= GATHERED_DOCUMENTS or self._all_tokens >= GATHERED_TOKENS:
            return self.rest()
        if len(group) < BLOCK_DOCUMENTS and tokens < BLOCK_TOKENS:
            return []
        self._documents -= len(group)
        self._all_tokens -= self._tokens.pop(place)
        return [self._groups.pop(place)]

    def rest(self) -> list[list[AnyDocument]]:
        """End all blocks; return the documents of each."""
        found = list(self._groups.values())
        self._groups, self._tokens, self._documents, self._all_tokens = {}, {}, 0, 0
        return found


def _size(document: Document | TokenisedDocument) -> int:
    """Return the number of the tokens of a document; that of a text is estimated."""
    if isinstance(document, TokenisedDocument):
        return len(document.tokens)
    return -(-len(document.text) // TOKEN_CHARACTERS)


def gathered(
    documents: Iterable[TokenisedDocument], windows: SequenceSettings
) -> Iterator[tuple[int, bytes]]:
    """Yield documents in blocks of one key and one window, each after its earliest time."""
    gathering: Gathering[TokenisedDocument] = Gathering(Blocks(windows))
    for document in documents:
        yield from map(_timed, gathering.add(document))
    yield from map(_timed, gathering.rest())


def _timed(documents: Sequence[TokenisedDocument]) -> tuple[int, bytes]:
    return min(document.timestamp for document in documents), to_bytes(documents)
