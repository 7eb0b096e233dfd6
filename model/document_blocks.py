"""Blocks of tokenised documents, as columns.

Between two steps a document costs as much as its inference by a classifier. So the files that
``pipelines.infer`` reads cross to its inference in blocks. Which documents are in one block follows
from their file and from sizes, never from a clock, and no result depends on it. The documents of a
block may have different keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from model import checks, wire
from model.records import IntArray, LongArray, TokenisedDocument

# A block ends with the document that reaches one of them.
BLOCK_DOCUMENTS, BLOCK_TOKENS = 256, 100_000


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
        words: The words of all documents, one document after the other, each distinct within its
            document.
        starts: int64[D + 1]; document d has words[starts[d]:starts[d + 1]].
        tokens: int32[N], the tokens of all documents, as indices into the document's words.
        offsets: int64[D + 1]; document d has tokens[offsets[d]:offsets[d + 1]].
    """

    ids: tuple[str, ...]
    keys: tuple[str, ...]
    labels: tuple[str | None, ...]
    sources: tuple[str | None, ...]
    groups: tuple[str | None, ...]
    timestamps: LongArray
    words: tuple[str, ...]
    starts: LongArray
    tokens: IntArray
    offsets: LongArray

    MAGIC = b"BTE1"

    @classmethod
    def of(cls, documents: Sequence[TokenisedDocument]) -> DocumentBlock:
        """Return a block of at least one document."""
        return cls(
            tuple(one.id for one in documents),
            tuple(one.key for one in documents),
            tuple(one.label for one in documents),
            _marks([one.source for one in documents]),
            _marks([one.group for one in documents]),
            np.array([one.timestamp for one in documents], np.int64),
            tuple(chain.from_iterable(one.words for one in documents)),
            np.cumsum([0, *(len(one.words) for one in documents)]),
            np.concatenate([one.tokens for one in documents]),
            np.cumsum([0, *(len(one.tokens) for one in documents)]),
        )

    def documents(self) -> Iterator[TokenisedDocument]:
        """Yield the documents in their order."""
        none = (None,) * len(self.ids)
        marks = (self.sources or none, self.groups or none)
        starts, offsets = pairwise(self.starts.tolist()), pairwise(self.offsets.tolist())
        facts = (self.ids, self.timestamps.tolist(), self.labels, self.keys, *marks)
        for name, time, label, key, source, group, (first, last), (begin, end) in zip(
            *facts, starts, offsets, strict=True
        ):
            words, tokens = self.words[first:last], self.tokens[begin:end]
            yield TokenisedDocument(name, time, label, key, words, tokens, source, group)

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
                for column in (self.timestamps, self.starts, self.offsets)
            ),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> DocumentBlock:
        header, (text, numbers, *columns) = wire.unpack(cls.MAGIC, data, 5)
        apart = ("timestamps", "words", "starts", "tokens", "offsets")
        facts = checks.record(cls, header, "a block of documents", apart=apart)
        words, tokens = wire.words_from_bytes(text), wire.array_from_bytes(numbers, "<i4")
        count = checks.whole("documents of a block", len(facts["ids"]), 1)
        times, starts, offsets = (wire.array_from_bytes(column, "<i8") for column in columns)
        listed = {name: facts[name] for name in ("keys", "labels")} | {"timestamps": times}
        listed |= {name: facts[name] for name in ("sources", "groups") if facts[name]}
        for name, values in listed.items():
            checks.sized(f"{name} of a block of documents", values, count)
        checks.offsets("starts of a block of documents", starts, count, len(words))
        checks.offsets("offsets of a block of documents", offsets, count, len(tokens))
        checks.within("tokens of a document", tokens, 0, len(words))
        # The number of words of each token's document.
        own = np.repeat(np.diff(starts), np.diff(offsets))
        beyond = tokens >= own
        if beyond.any():
            at = int(beyond.argmax())
            checks.within("tokens of a document", tokens[at : at + 1], 0, int(own[at]))
        return cls(
            timestamps=times, words=words, starts=starts, tokens=tokens, offsets=offsets, **facts
        )


def _marks(marks: Sequence[str | None]) -> tuple[str | None, ...]:
    return tuple(marks) if any(mark is not None for mark in marks) else ()


def documents_in(data: bytes) -> list[TokenisedDocument]:
    """Return the documents of the bytes of a block, or of those of one document."""
    if data.startswith(DocumentBlock.MAGIC):
        return list(DocumentBlock.from_bytes(data).documents())
    return [TokenisedDocument.from_bytes(data)]
