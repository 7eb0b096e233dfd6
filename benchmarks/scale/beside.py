"""Whole commands beside those of gensim and tomotopy, over real documents in the order of dates."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpora import content_words, records, stop_words
from benchmarks.runners import ROOT
from benchmarks.scale.commands import Command, Row, Tree, against_first, places

_CORPORA = {"20 Newsgroups": "20news-bydate", "arXiv": "arxiv-cs-1994-2019"}
_TOPICS = "--topics=50"


def beside(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Read, tokenise and learn 50 topics; the input has runs of letters, without stop words.

    gensim learns in one pass, tomotopy by 200 sweeps. The ratio is that to tomotopy.
    """
    for title, corpus in _CORPORA.items():
        lines = write_words(folder / f"{corpus}.jsonl", corpus, count)
        yield from against_first(
            Row(f"{title}, {lines:,} documents: {name}", took.seconds, None, wanted, took.memory)
            for name, took, wanted in learned(tree, folder, corpus)
        )


def learned(tree: Tree, folder: Path, corpus: str) -> Iterator[tuple[str, Command, str]]:
    """Yield the name of each command, what it cost, and what is wanted of it; tomotopy first."""
    for package in ("tomotopy", "gensim"):
        paths = f"{folder}/{corpus}.jsonl", f"{folder}/model.npz"
        command = ("-m", "benchmarks.other_models", package, *paths, _TOPICS, "--seed=1")
        yield package, Tree(ROOT).cost(sys.executable, *command), ""
    for learner, wanted in (("particle-filter", "1 x tomotopy"), ("o-lda", "")):
        flags = ("--stop_words=none", "--window=1d", "--publish_every=36500d", _TOPICS)
        given = places(folder, corpus, f"models-{corpus}-{learner}")
        took = tree.spent("train", *given, *flags, f"--learner={learner}")
        yield learner, took, wanted


def write_words(path: Path, corpus: str, most: int) -> int:
    """Write the first documents of a corpus by their dates, and return how many have words."""
    stop, found = stop_words(), []
    for record in records(corpus):
        if words := content_words(record["text"], stop):
            found.append({**record, "text": " ".join(words)})
    found.sort(key=lambda record: str(record["timestamp"]))
    path.write_text("".join(json.dumps(record) + "\n" for record in found[:most]), "utf-8")
    return len(found[:most])
