"""Corpora for the benchmarks, read from ``BEAM_TOPICS_DATA`` and prepared as the papers say."""

from __future__ import annotations

import gzip
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from beam_topics.model.arrays import LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch

SUBSETS = {
    "diff3": ("rec.sport.baseball", "sci.space", "alt.atheism"),
    "rel3": ("talk.politics.misc", "talk.politics.guns", "talk.politics.mideast"),
    "sim3": ("comp.graphics", "comp.os.ms-windows.misc", "comp.windows.x"),
}
RARE = "<rare>"
_LETTERS = re.compile(r"[a-z]+")


def data_folder() -> Path:
    """Where the corpora are.

    Raises:
        SystemExit: they are not there.
    """
    folder = Path(os.environ.get("BEAM_TOPICS_DATA", "../shared/data"))
    if not folder.is_dir():
        raise SystemExit(f"The corpora are not at {folder}: set BEAM_TOPICS_DATA to their folder.")
    return folder


def records(name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of one corpus."""
    with gzip.open(data_folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def stop_words() -> frozenset[str]:
    """MALLET's English list."""
    return frozenset((data_folder() / "words" / "stop-mallet-en.txt").read_text().split())


def letters_of(text: str) -> list[str]:
    """Return the runs of the letters a to z, in lower case."""
    return _LETTERS.findall(text.lower())


def content_words(text: str, stop: frozenset[str]) -> list[str]:
    """Return the runs of at least two letters that are no stop words, in lower case."""
    return [word for word in letters_of(text) if len(word) > 1 and word not in stop]


def may_words(text: str, stop: frozenset[str]) -> list[str]:
    """Return the words of a post as May et al. (2014) prepare them.

    The header and every line without an inner space are dropped. The rest is split at non-letters
    and lower-cased, and stop words are dropped.
    """
    return [word for word in _LETTERS.findall(may_body(text).lower()) if word not in stop]


def may_body(text: str) -> str:
    """Return the lines of a post that :func:`may_words` reads."""
    body = text.partition("\n\n")[2]
    return "\n".join(line for line in body.splitlines() if " " in line.strip())


def newsgroups(subset: str) -> tuple[Block, Block]:
    """Return the training and the test documents of diff3, rel3, sim3 or subset20.

    Words that training has once become one type.
    """
    stop = stop_words()
    split: dict[str, list[tuple[str, str, list[str]]]] = {"train": [], "test": []}
    taken: Counter[str] = Counter()
    for record in records("20news-bydate"):
        label = record["label"]
        if subset == "subset20":
            if taken[label] == 100:
                continue
            taken[label] += 1
            side = "test" if taken[label] % 10 == 0 else "train"
        elif label in SUBSETS[subset]:
            side = record["split"]
        else:
            continue
        split[side].append((record["id"], label, may_words(record["text"], stop)))
    seen = Counter(word for _, _, words in split["train"] for word in words)

    def tokenised(side: str) -> Block:
        return Block.of_words(
            [Document(name, 0, "", label) for name, label, _ in split[side]],
            ([word if seen[word] > 1 else RARE for word in words] for *_, words in split[side]),
        )

    return tokenised("train"), tokenised("test")


def newsgroup_words(subset: str, least: int) -> Block:
    """Return all documents of a subset, with the words that at least ``least`` of them have.

    The training and the test part are joined.
    """
    stop, taken, found = stop_words(), Counter[str](), []
    for record in records("20news-bydate"):
        label = record["label"]
        taken[label] += 1
        if (subset == "subset20" and taken[label] <= 100) or label in SUBSETS.get(subset, ()):
            found.append(record)
    return with_words(frequent(block_of(found, lambda text: may_words(text, stop)), least))


def abstracts(every: int, start: int = 0) -> Block:
    """Return one in ``every`` of arXiv's abstracts, in the order of time.

    The words are runs of letters in lower case, without stop words.
    """
    stop = stop_words()
    chosen = islice(records("arxiv-cs-1994-2019"), start, None, every)
    return block_of(chosen, lambda text: content_words(text, stop))


def block_of(found: Iterable[Mapping[str, Any]], words: Callable[[str], Sequence[str]]) -> Block:
    """Return records as documents.

    Args:
        found: At least one record.
        words: Returns the words of a text.
    """
    rows = [(Document(one["id"], 0, "", one.get("label")), words(one["text"])) for one in found]
    return Block.of_words([document for document, _ in rows], [some for _, some in rows])


def part(documents: Block, first: int = 0, last: int | None = None, every: int = 1) -> Block:
    """Return the documents ``first:last:every``."""
    return documents.take(np.arange(len(documents))[first:last:every])


def shuffled(documents: Block, seed: int) -> Block:
    """Return the documents in the order of one run; the papers shuffle their streams."""
    return documents.take(np.random.default_rng(seed).permutation(len(documents)))


def with_words(documents: Block) -> Block:
    """Return the documents that have words."""
    return documents.take(np.flatnonzero(documents.lengths))


def frequent(documents: Block, least: int, most: float = math.inf) -> Block:
    """Return the documents with the words that so many of them have."""
    having = Counter(word for one in documents.documents() for word in one.words)
    return with_these(documents, {word for word, n in having.items() if least <= n <= most})


def with_these(documents: Block, words: Container[str]) -> Block:
    """Return the documents with these of their words."""
    return documents.tokens_where(
        np.array([word in words for word in documents.words], bool)[documents.tokens]
    )


def vocabulary(documents: Block) -> tuple[str, ...]:
    """Return the distinct words, sorted."""
    return tuple(sorted(documents.words))


def texts_of(documents: Block) -> list[list[str]]:
    """Return the words of each document."""
    return [documents.words_of(row) for row in range(len(documents))]


def known_tokens(documents: Block, words: Sequence[str]) -> list[LongArray]:
    """Return the tokens of each document as places in a list of words, which has all that count."""
    places = {word: place for place, word in enumerate(words)}
    found = np.array([places.get(word, -1) for word in documents.words], np.int64)
    tokens = np.split(found[documents.tokens], documents.offsets[1:-1])
    return [some[some >= 0] for some in tokens]


def minibatch(documents: Block, number: int) -> Minibatch:
    """Return documents as a minibatch that is a window of its own."""
    return Minibatch.of_block(documents, number, number, True)


def minibatches(documents: Block, size: int) -> Iterator[Minibatch]:
    """Yield the documents in minibatches, in their order."""
    for number, first in enumerate(range(0, len(documents), size), start=1):
        yield minibatch(part(documents, first, first + size), number)
