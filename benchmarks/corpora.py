"""Corpora for the benchmarks, read from ``BEAM_TOPICS_DATA`` and prepared as the papers say."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from beam_topics.model.records import Document, Minibatch, TokenisedDocument

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


def newsgroups(subset: str) -> tuple[list[TokenisedDocument], list[TokenisedDocument]]:
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
            part = "test" if taken[label] % 10 == 0 else "train"
        elif label in SUBSETS[subset]:
            part = record["split"]
        else:
            continue
        split[part].append((record["id"], label, may_words(record["text"], stop)))
    seen = Counter(word for _, _, words in split["train"] for word in words)
    known = {word for word, count in seen.items() if count > 1}

    def tokenised(part: str) -> list[TokenisedDocument]:
        return [
            TokenisedDocument.from_words(
                Document(name, 0, "", label), [word if word in known else RARE for word in words]
            )
            for name, label, words in split[part]
        ]

    return tokenised("train"), tokenised("test")


def newsgroup_words(subset: str, least: int) -> list[TokenisedDocument]:
    """Return all documents of a subset, with the words that at least ``least`` of them have.

    The training and the test part are joined.
    """
    stop, taken, found = stop_words(), Counter[str](), []
    for record in records("20news-bydate"):
        label = record["label"]
        taken[label] += 1
        if (subset == "subset20" and taken[label] <= 100) or label in SUBSETS.get(subset, ()):
            found.append((record["id"], label, may_words(record["text"], stop)))
    seen = Counter(word for _, _, words in found for word in set(words))
    kept = [
        (name, label, [word for word in words if seen[word] >= least])
        for name, label, words in found
    ]
    return [
        TokenisedDocument.from_words(Document(name, 0, "", label), words)
        for name, label, words in kept
        if words
    ]


def vocabulary(documents: list[TokenisedDocument]) -> tuple[str, ...]:
    """Return the distinct words, sorted."""
    return tuple(sorted({word for document in documents for word in document.words}))


def shuffled(documents: list[TokenisedDocument], seed: int) -> list[TokenisedDocument]:
    """Return the documents in the order of one run; the papers shuffle their streams."""
    return [documents[i] for i in np.random.default_rng(seed).permutation(len(documents))]


def minibatches(documents: list[TokenisedDocument], size: int) -> Iterator[Minibatch]:
    """Yield the documents in minibatches, in their order."""
    for number, first in enumerate(range(0, len(documents), size), start=1):
        yield Minibatch.from_documents("", number, number, True, documents[first : first + size])


def abstracts(every: int, start: int = 0) -> list[TokenisedDocument]:
    """Return one in ``every`` of arXiv's abstracts, in the order of time.

    The words are runs of letters in lower case, without stop words.
    """
    stop = stop_words()
    found = []
    for number, record in enumerate(records("arxiv-cs-1994-2019")):
        if number % every == start:
            words = content_words(record["text"], stop)
            found.append(
                TokenisedDocument.from_words(
                    Document(record["id"], number, "", record["label"]), words
                )
            )
    return found


def numbered(documents: list[TokenisedDocument], words: tuple[str, ...]) -> tuple[Any, Any]:
    """(tokens: int32, the documents' word numbers one after the other; offsets: int64)."""
    numbers = {word: number for number, word in enumerate(words)}
    tokens = [
        np.array([numbers[word] for word in document.words], np.int32)[document.tokens]
        for document in documents
        if document.words
    ]
    return np.concatenate(tokens), np.cumsum([0, *map(len, tokens)])
