"""Documents as counts of the words that a model knows, and how much of them it knows.

Coverage has two figures: the share of the *distinct* words of a window's documents that the model
knows, and the same share of their tokens. Below 70 % of the distinct words the proportions get
worse (Yao, Mimno and McCallum 2009). The report then says that the model should be trained again.

Each worker keeps a :class:`Tally` for a window and sends it as bytes. Tallies add up. Known words
are counted by their rows, unknown ones by 64 bits of their digest. So the size of a tally follows
the window's vocabulary, not its documents: about two bytes for a known word and eight for an
unknown one. A model with hashed words knows every word, and many words have one row. Its words are
counted by their digests, and its report never asks for training.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray, IntArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.kernels import random
from beam_topics.model.kernels.first_uses import number_in_documents
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import to_iso
from beam_topics.model.words.word_list import first_uses

FEATURES = ("roots", "counts")
# The types of steps between words, as they are stored; the last one is that of words.
_TYPES = ("<u1", "<u2", "<u4", "<u8")
# Words whose digests are at hand: those that many documents have and the model does not know.
_MEMO_WORDS = 10_000


def feature_values(features: str, occurrences: FloatArray) -> FloatArray:
    """Return the features of words by their number of occurrences.

    Args:
        features: one of :data:`FEATURES`.
        occurrences: float[N].

    Returns:
        float[N].
    """
    # Square roots are correctly rounded on every processor; logarithms are not.
    return np.sqrt(occurrences) if features == "roots" else occurrences


@dataclass(frozen=True, eq=False)
class WordCounts:
    """The known words of D documents, one document after the other, each in order of first use.

    Attributes:
        rows: int64[N], rows of the snapshot, distinct within a document.
        occurrences: int64[N], how often each occurs in its document.
        offsets: int64[D + 1]; document d has rows[offsets[d]:offsets[d + 1]].
        tokens: int64[D], the number of known tokens of each document.
    """

    rows: LongArray
    occurrences: LongArray
    offsets: LongArray
    tokens: LongArray

    def document_slices(self) -> Iterator[slice]:
        """Return the slice of ``rows`` of each document."""
        return (slice(begin, end) for begin, end in pairwise(self.offsets.tolist()))

    def matrix(self, words: int, dtype: npt.DTypeLike, features: str = "counts") -> Any:
        """Return the features of the documents, a CSR matrix [D, words]."""
        # Imported here: it takes longer than all the rest of the options of a command line.
        from scipy.sparse import csr_array

        values = feature_values(features, self.occurrences.astype(dtype))
        return csr_array((values, self.rows, self.offsets), shape=(len(self.tokens), words))


@dataclass(frozen=True, eq=False)
class NumberedDocuments:
    """Documents with the rows of their words in a model, which are looked up once.

    Attributes:
        snapshot: The model.
        block: D documents, with the phrases of the model in the place of their words.
    """

    snapshot: Snapshot
    block: Block

    def __len__(self) -> int:
        return len(self.block)

    @cached_property
    def rows(self) -> LongArray:
        """int64[W], the row of each word of the block; -1 for a word that the model lacks."""
        return self.snapshot.rows_of(self.block.words)

    @cached_property
    def counts(self) -> WordCounts:
        """The words of the documents that the model knows."""
        block = self.block
        used, occurrences, offsets, _ = number_in_documents(
            block.tokens, block.offsets, len(block.words)
        )
        rows = self.rows[used]
        known = np.flatnonzero(rows >= 0)
        rows, occurrences = rows[known], occurrences[known]
        offsets = np.searchsorted(known, offsets)
        if self.snapshot.buckets:
            rows, occurrences, offsets = _joined(rows, occurrences, offsets)
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(occurrences)])
        return WordCounts(rows, occurrences, offsets, np.diff(sums[offsets]))

    def known_tokens(self) -> tuple[LongArray, LongArray]:
        """Return the rows of the known tokens, int64[n], and their bounds, int64[D + 1]."""
        rows = self.rows[self.block.tokens]
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows >= 0)])
        return rows[rows >= 0], before[self.block.offsets]

    def draw_keys(self, seed: int) -> LongArray:
        """Return int64[D, 2], the keys of the draws of each document, by its id and model key."""
        keys = [random.stream_key(seed, self.block.name(row)) for row in range(len(self))]
        return np.array(keys, np.int64).reshape(-1, 2)


def numbered(snapshot: Snapshot, block: Block) -> NumberedDocuments:
    """Return documents for a model, with its phrases in the place of their words."""
    return NumberedDocuments(snapshot, snapshot.joined(block))


def _joined(
    rows: LongArray, occurrences: LongArray, offsets: LongArray
) -> tuple[LongArray, LongArray, LongArray]:
    """Merge words of one bucket in one document, at the first of them."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    first, numbers = first_uses(owners * (int(rows.max(initial=0)) + 1) + rows)
    together = np.zeros(len(first), np.int64)
    np.add.at(together, numbers, occurrences)
    return rows[first], together, np.searchsorted(first, offsets)


@dataclass(slots=True)
class Tally:
    """Counts of documents and tokens, and the distinct words.

    Attributes:
        documents, tokens: what was counted.
        tokens_known: tokens whose word the model knows.
        known: rows of the words that the model knows; digests where the model hashes words.
        unknown: digests of the other words.
    """

    documents: int = 0
    tokens: int = 0
    tokens_known: int = 0
    known: set[int] = field(default_factory=set)
    unknown: set[int] = field(default_factory=set)

    MAGIC = b"BTv2"

    def merge(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.documents += other.documents
        self.tokens += other.tokens
        self.tokens_known += other.tokens_known
        self.known |= other.known
        self.unknown |= other.unknown

    def to_bytes(self) -> bytes:
        header = {
            "documents": self.documents,
            "tokens": self.tokens,
            "tokens_known": self.tokens_known,
        }
        steps = [_steps(self.known), _steps(self.unknown)]
        types = [f"<u{one.itemsize}" for one in steps]
        return wire.pack(self.MAGIC, {**header, "types": types}, *(one.tobytes() for one in steps))

    @classmethod
    def from_bytes(cls, data: bytes) -> Tally:
        header, words = wire.unpack(cls.MAGIC, data, 2)
        types = header.pop("types", None)
        if types not in [[one, other] for one in _TYPES for other in _TYPES]:
            checks.refuse("types of a tally", types, f"two of {', '.join(_TYPES)}")
        facts = checks.record(cls, header, "a tally", apart=("known", "unknown"))
        for name, count in facts.items():
            checks.whole(f"{name} of a tally", count)
        known, unknown = (
            set(np.cumsum(wire.array_from_bytes(steps, form), dtype=_TYPES[-1]).tolist())
            for steps, form in zip(words, types, strict=True)
        )
        return cls(**facts, known=known, unknown=unknown)


def _steps(words: set[int]) -> npt.NDArray[np.uint64]:
    """Return the first of the sorted words and the steps between them, in their narrowest type."""
    steps = np.diff(np.array(sorted(words), _TYPES[-1]), prepend=np.zeros(1, _TYPES[-1]))
    top = steps.max(initial=0)
    return steps.astype(next(form for form in _TYPES if top <= np.iinfo(form).max))


def tally_documents(documents: NumberedDocuments, windows: LongArray) -> dict[int, Tally]:
    """Tally documents by window.

    Args:
        documents: D documents.
        windows: int64[D], the number of each document's window.
    """
    return {
        window: _tally(documents, np.flatnonzero(windows == window))
        for window in np.unique(windows).tolist()
    }


def _tally(documents: NumberedDocuments, chosen: LongArray) -> Tally:
    """Return the tally of some documents, which are of one window."""
    block, snapshot = documents.block, documents.snapshot
    tokens, _ = block.tokens_of(chosen)
    known = documents.rows >= 0
    tally = Tally(len(chosen), len(tokens), int(np.count_nonzero(known[tokens])))
    used = np.unique(tokens)
    unknown = used[~known[used]]
    tally.unknown = _digests(block, unknown)
    if snapshot.buckets:
        tally.known = _digests(block, used[known[used]])
    else:
        tally.known = set(documents.rows[used[known[used]]].tolist())
    return tally


def _digests(block: Block, words: IntArray) -> set[int]:
    return set(map(_digest, block.words.taken(words)))


@lru_cache(_MEMO_WORDS)
def _digest(word: str) -> int:
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """What one model version knows of one window's documents.

    Attributes:
        key, model_version: the model.
        start, end: the window, microseconds.
        tally: of the window's documents.
        retrain_below: the share of distinct words below which to train the model again; None
            while it is being trained.
    """

    key: str
    model_version: str
    start: int
    end: int
    tally: Tally
    retrain_below: float | None

    @property
    def word_share(self) -> float | None:
        """The share of the distinct words that is known; None where there is no word."""
        words = len(self.tally.known) + len(self.tally.unknown)
        return len(self.tally.known) / words if words else None

    @property
    def token_share(self) -> float | None:
        """The share of the tokens whose word is known; None where there is no token."""
        return self.tally.tokens_known / self.tally.tokens if self.tally.tokens else None

    @property
    def retrain(self) -> bool:
        """Whether the model should be trained again."""
        return (
            self.word_share is not None
            and self.retrain_below is not None
            and self.word_share < self.retrain_below
        )

    def as_json(self) -> str:
        """Return the report as one line of JSON."""
        return wire.canonical_json(
            {
                "key": self.key,
                "model_version": self.model_version,
                "window_start": to_iso(self.start),
                "window_end": to_iso(self.end),
                "documents": self.tally.documents,
                "words": len(self.tally.known) + len(self.tally.unknown),
                "words_known": len(self.tally.known),
                "word_share": self.word_share,
                "tokens": self.tally.tokens,
                "tokens_known": self.tally.tokens_known,
                "token_share": self.token_share,
                "retrain_below": self.retrain_below,
                "retrain": self.retrain,
            }
        )

    def sentence(self) -> str:
        """Return the report as a sentence."""
        if self.word_share is None or self.token_share is None:
            return (
                f"coverage, window to {to_iso(self.end)}: {self.tally.documents} documents without"
                " a word"
            )
        below = self.retrain_below
        signal = f", below {below:.0%}: retrain" if below is not None and self.retrain else ""
        of = f" of key {self.key!r}" if self.key else ""
        return (
            f"coverage, window to {to_iso(self.end)}: version {self.model_version}{of} knows"
            f" {self.word_share:.1%} of the distinct words and {self.token_share:.1%} of the tokens"
            f" of {self.tally.documents} documents{signal}"
        )
