"""Whole commands beside those of gensim and tomotopy, over real documents in the order of dates."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpora import letters_of, records, stop_words
from benchmarks.runners import ROOT
from benchmarks.scale.commands import Row, Tree, places

_CORPORA = {"20 Newsgroups": "20news-bydate", "arXiv": "arxiv-cs-1994-2019"}
_TOPICS = "--topics=50"


def beside(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Read, tokenise and learn 50 topics; the input has runs of letters, without stop words.

    gensim learns in one pass, tomotopy by 200 sweeps. The ratio is that to tomotopy.
    """
    here = Tree(ROOT)
    for title, corpus in _CORPORA.items():
        lines = write_words(folder / f"{corpus}.jsonl", corpus, count)
        theirs = {
            package: here.cost(
                sys.executable,
                *("-m", "benchmarks.other_models", package),
                *(f"{folder}/{corpus}.jsonl", f"{folder}/model.npz", _TOPICS, "--seed=1"),
            )
            for package in ("tomotopy", "gensim")
        }
        ours = {
            learner: tree.spent(
                "train",
                *places(folder, corpus, f"models-{corpus}-{learner}"),
                *("--stop_words=none", "--window=1d", "--publish_every=36500d", _TOPICS),
                f"--learner={learner}",
            )
            for learner in ("particle-filter", "o-lda")
        }
        for name, took in (theirs | ours).items():
            yield Row(
                f"{title}, {lines:,} documents: {name}",
                took.seconds,
                took.seconds / theirs["tomotopy"].seconds,
                "1 x tomotopy" if name == "particle-filter" else "",
                f"{took.megabytes:,.0f} MB",
            )


def write_words(path: Path, corpus: str, most: int) -> int:
    """Write the first documents of a corpus by their dates, and return how many have words."""
    stop, found = stop_words(), []
    for record in records(corpus):
        words = [word for word in letters_of(record["text"]) if len(word) > 1 and word not in stop]
        if words:
            found.append({**record, "text": " ".join(words)})
    found.sort(key=lambda record: str(record["timestamp"]))
    path.write_text("".join(json.dumps(record) + "\n" for record in found[:most]), "utf-8")
    return len(found[:most])
