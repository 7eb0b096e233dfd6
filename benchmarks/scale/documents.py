"""Costs of a document, short or long, and of the start of a command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scale.commands import Row, Tree, against_first, labelled, places
from benchmarks.scale.made_up import Made, write
from benchmarks.scale.settings import PUBLISHING, TRAINING

_SHORT, _LONG = 25, 70_000

# A newcomer's script for tomotopy, of the extra "bench".
TOMOTOPY = """
import json, re, sys, tomotopy
model = tomotopy.LDAModel(k=50, seed=1)
for line in open(sys.argv[1], encoding="utf-8"):
    model.add_doc(re.findall("[a-z]+", json.loads(line)["text"].lower()))
model.train(200, workers=1, parallel=tomotopy.ParallelScheme.NONE)
"""


def start(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Commands that have almost nothing to do, beside the import of Beam."""
    write(folder / "few.jsonl", 20)
    write(folder / "some.jsonl", 200)
    learn(tree, folder, "some")
    fit(tree, folder, "some")
    beam = min(tree.cost(sys.executable, "-c", "import apache_beam").seconds for _ in range(3))
    yield Row("start: python -c 'import apache_beam'", beam)
    yield Row("start: train --help", tree.least("train", "--help"), wanted=".3 s")
    shown = tree.least("show", f"--model_store={folder}/models")
    yield Row("start: show", shown, wanted=".6 s")
    for method in ("gibbs3", "maxent"):
        flags = (*labelled(folder, "few"), f"--method={method}")
        seconds = tree.least("infer", *flags)
        yield Row(f"start: infer by {method}, 20 documents", seconds, seconds / beam, "2 s")
    took = tree.spent("train", *places(folder, "some", "others"), *TRAINING)
    yield Row("start: train by o-lda, 200 documents", took.seconds, took.seconds / beam)


def infer_document(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Measure a document in ``infer --method=maxent`` against parse, tokenise and the method."""
    write(folder / "some.jsonl", 500)
    learn(tree, folder, "some")
    fit(tree, folder, "some")
    write(folder / "few.jsonl", count // 10)
    write(folder / "many.jsonl", count)
    few, many = (
        tree.least("infer", *labelled(folder, name), "--method=maxent") for name in ("few", "many")
    )
    (bare,) = tree.bare("maxent", folder, "many")
    rest = (many - few) / (count - count // 10)
    yield Row("maxent: parse, tokenise and method, a document", bare)
    yield Row("maxent: infer without its start, a document", rest, rest / bare, "2 x")


def whole(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Measure a document in ``train --learner=o-lda`` against reading and learning alone."""
    write(folder / "few.jsonl", count // 10)
    write(folder / "many.jsonl", count)
    few, many = (
        tree.spent("train", *places(folder, name, f"models-{name}"), *TRAINING).seconds
        for name in ("few", "many")
    )
    (bare,) = tree.bare("learner", folder, "many", count // 10)
    rest = (many - few) / (count - count // 10)
    yield Row("o-lda: parse, tokenise and learn, a document", bare)
    yield Row("o-lda: train without its start, a document", rest, rest / bare, "1.67 x")


def long(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Learn as many tokens in documents of 500 kB as in short ones."""
    number = count // 400
    write(folder / "empty.jsonl", 1)
    begun = tree.spent("train", *places(folder, "empty", "none"), *PUBLISHING).seconds

    def row(words: int) -> Row:
        documents = number * _LONG // words
        write(folder / f"{words}.jsonl", documents, Made(words=words))
        took = tree.spent("train", *places(folder, str(words), f"models-{words}"), *PUBLISHING)
        name = f"default learner, a token: {documents:,} documents of {words:,} words"
        token = (took.seconds - begun) / (documents * words)
        return Row(name, token, facts=f"{took.seconds:.1f} s, {took.memory}")

    yield from against_first(map(row, (100, _LONG)), "3 x short documents")


def short(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Whole commands over short documents at T = 50, against tomotopy's batch of 200 sweeps."""
    write(folder / "short.jsonl", count // 2, Made(words=_SHORT))

    def rows() -> Iterator[Row]:
        theirs = tree.cost(sys.executable, "-c", TOMOTOPY, f"{folder}/short.jsonl")
        name = f"tomotopy, batch: {count // 2:,} documents of {_SHORT} words"
        yield Row(name, theirs.seconds, facts=theirs.memory)
        for learner in ("particle-filter", "o-lda"):
            flags = (*PUBLISHING, f"--learner={learner}")
            ours = tree.spent("train", *places(folder, "short", f"models-{learner}"), *flags)
            yield Row(f"train by {learner}", ours.seconds, facts=ours.memory)

    yield from against_first(rows(), "1 x")


def learn(tree: Tree, folder: Path, name: str) -> None:
    """Publish one version of one model."""
    tree.spent("train", *places(folder, name), *TRAINING)


def fit(tree: Tree, folder: Path, name: str) -> None:
    """Fit a classifier to this version."""
    tree.spent("fit_classifier", *places(folder, name))
