"""Whole commands beside those of gensim and tomotopy, over real documents in the order of dates."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpora import content_words, records, stop_words
from benchmarks.runners import ROOT
from benchmarks.scale.commands import Command, Row, Tree, against_first, places


class Corpus(NamedTuple):
    """Documents of a corpus, in the order of their dates.

    Attributes:
        title: What the row calls them.
        name: The file.
        share: Of the documents of a row, how many are taken.
        words: The first words of a document that are taken.
    """

    title: str
    name: str
    share: float = 1.0
    words: int = sys.maxsize


_CORPORA = (
    Corpus("20 Newsgroups", "20news-bydate"),
    Corpus("arXiv", "arxiv-cs-1994-2019"),
    # About a title and a sentence.
    Corpus("arXiv, first 20 words", "arxiv-cs-1994-2019", 0.5, 20),
)
_TOPICS = "--topics=50"


def beside(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Read, tokenise and learn 50 topics; the input has runs of letters, without stop words.

    gensim learns in one pass, tomotopy by 200 sweeps. The ratio is that to tomotopy.
    """
    for number, corpus in enumerate(_CORPORA):
        name = f"corpus-{number}"
        lines = write_words(folder / f"{name}.jsonl", corpus, int(corpus.share * count))
        title = f"{corpus.title}, {lines:,} documents"
        yield from against_first(
            Row(f"{title}: {learner}", took.seconds, None, wanted, took.memory)
            for learner, took, wanted in learned(tree, folder, name)
        )


def learned(tree: Tree, folder: Path, name: str) -> Iterator[tuple[str, Command, str]]:
    """Yield the name of each command, what it cost, and what is wanted of it; tomotopy first."""
    for package in ("tomotopy", "gensim"):
        paths = f"{folder}/{name}.jsonl", f"{folder}/model.npz"
        command = ("-m", "benchmarks.other_models", package, *paths, _TOPICS, "--seed=1")
        yield package, Tree(ROOT).cost(sys.executable, *command), ""
    for learner, wanted in (("particle-filter", "1 x tomotopy"), ("o-lda", "")):
        flags = ("--stop_words=none", "--window=1d", "--publish_every=36500d", _TOPICS)
        given = places(folder, name, f"models-{name}-{learner}")
        took = tree.spent("train", *given, *flags, f"--learner={learner}")
        yield learner, took, wanted


def write_words(path: Path, corpus: Corpus, most: int) -> int:
    """Write the first documents of a corpus by their dates, and return how many have words."""
    stop, found = stop_words(), []
    for record in records(corpus.name):
        if words := content_words(record["text"], stop):
            found.append({**record, "text": " ".join(words[: corpus.words])})
    found.sort(key=lambda record: str(record["timestamp"]))
    path.write_text("".join(json.dumps(record) + "\n" for record in found[:most]), "utf-8")
    return len(found[:most])
