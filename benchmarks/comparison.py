"""Whole commands beside other packages: ``python -m benchmarks.comparison --help``.

Each row learns T = 50 topics from the same file by a command of its own, which starts, reads,
splits, learns and writes:

* ``stream``: ``beam-topics train`` with its default settings, in the order of dates.
* ``archive``: the same with ``--schedule=archive``.
* ``gensim``: its online LDA, one pass. ``tomotopy``: its batch LDA, 200 iterations.
  ``mallet``: its commands, 200 iterations. ``bertopic``, ``turftopic`` and ``fastopic``: models of
  embeddings, run by the Python that ``EMBEDDINGS_PYTHON`` names (:mod:`benchmarks.other_models`).

The cost is that of the process: processor seconds, and the most resident memory. The scores are of
other documents, made here in the same way for all. They use the words that training has at least
:data:`LEAST` times, P(w | z) normalised over them, and alpha of the model. θ of a document is a
fixed point of

    θ_z = (α_z + sum over tokens i of P(z | w_i, θ)) / (n + sum of α)

* perplexity: θ is found on the tokens at even places; exp of the mean negative log probability of
  the tokens at odd places.
* accuracy: a linear SVM on θ of whole documents. Those at even places train it, the others test it.
* words: how many of these words the model has, the same number for all but where a vocabulary is
  bounded.
  Models of embeddings have no P(w | z): they have no perplexity, and their own θ is classified.
* NPMI: of the first ten words of a topic in the training documents; the mean, and the number of
  topics that are judged mixed (:mod:`beam_topics.model.evaluation.coherence`).

A run is one line of ``docs/results/comparison.jsonl``; see :mod:`benchmarks.ledger`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.evaluation.coherence import coherence, judge_words, most_telling
from beam_topics.model.evaluation.held_out import svm_accuracy
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.publishing.store import ModelStore
from benchmarks.corpora import (
    block_of,
    content_words,
    known_tokens,
    may_body,
    may_words,
    records,
    stop_words,
)
from benchmarks.ledger import Ledger, Result, Run, print_table, shown
from benchmarks.runners import ROOT
from benchmarks.scale.commands import CHILD

TOPICS, FOLD_IN, TOP_WORDS, LEAST, SHORT = 50, 50, 10, 5, 20
FOREVER = 36500


class Corpus(NamedTuple):
    """Documents that are learned, and others that score: dictionaries.

    ``text`` has the words that are learned, ``raw`` the text from which they were taken.
    """

    train: list[dict[str, str]]
    test: list[dict[str, str]]


class Model(NamedTuple):
    """What is scored.

    Attributes:
        words: the vocabulary.
        phi: float64[T, W], P(w | z).
        alpha: float64[T].
        theta: float64[n, k], the mixtures of the documents that score, where the package makes
            them; None where θ is found from phi and alpha.
        aside: the processor seconds that the package needed for these.
    """

    words: list[str]
    phi: FloatArray
    alpha: FloatArray
    theta: FloatArray | None = None
    aside: float = 0.0


@cache
def corpus(name: str) -> Corpus:
    """Return the documents of a corpus.

    ``20news`` is bydate. ``arxiv`` is every fourth abstract, and every 16th to score. ``short`` is
    the first :data:`SHORT` words, stop words left out, of every eighth abstract.
    """
    stop = stop_words()
    parts: dict[str, list[dict[str, str]]] = {"train": [], "test": []}
    if name == "20news":
        for record in records("20news-bydate"):
            words = " ".join(may_words(record["text"], stop))
            raw = may_body(record["text"])
            parts[record["split"]].append({**record, "text": words, "raw": raw})
    else:
        every, most = (8, SHORT) if name == "short" else (4, None)
        for number, record in enumerate(records("arxiv-cs-1994-2019")):
            if number % every == 0 or number % 16 == 2:
                part = parts["train" if number % every == 0 else "test"]
                kept = " ".join(content_words(record["text"], stop)[:most])
                part.append({**record, "text": kept, "raw": record["text"]})
    return Corpus(**{part: [one for one in found if one["text"]] for part, found in parts.items()})


def work(run: Run) -> Result:
    """Learn by a command, and score what it wrote."""
    found = corpus(run.dataset)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, part in (("documents", found.train), ("others", found.test)):
            with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as lines:
                lines.writelines(json.dumps(record) + "\n" for record in part)
        command, read = ROWS[run.row](folder, run.seed)
        done = subprocess.run(
            [sys.executable, "-c", CHILD, python_of(run.row), *command],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
        seconds, megabytes = map(float, done.stdout.split())
        model = read(folder)
    return {"seconds": seconds - model.aside, "megabytes": megabytes, **scores(model, found)}


def python_of(row: str) -> str:
    """Return the Python that runs a row."""
    if row in EMBEDDED:
        return os.environ.get("EMBEDDINGS_PYTHON", sys.executable)
    return sys.executable


def ours(folder: Path, seed: int, *flags: str) -> tuple[list[str], Callable[[Path], Model]]:
    """Return a command of ``beam-topics train``, and what reads its newest version."""
    command = [
        "-m",
        "beam_topics.pipelines.train",
        f"--input={folder}/documents.jsonl",
        f"--model_store={folder}/models",
        f"--dead_letters={folder}/dead",
        "--stop_words=none",
        "--window=1d",
        f"--publish_every={FOREVER}d",
        f"--topics={TOPICS}",
        f"--seed={seed}",
        *flags,
    ]
    return command, published


def published(folder: Path) -> Model:
    """Return the newest version of a store."""
    store = ModelStore(f"{folder}/models")
    return model_of(store.get_snapshot(store.manifest("")))


def model_of(snapshot: Snapshot) -> Model:
    """Return P(w | z) and alpha of the topics of a snapshot that have tokens."""
    numbers, used = np.arange(len(snapshot.words)), snapshot.totals > 0
    weight = snapshot.rows(numbers) + snapshot.prior.shares(numbers)
    phi = (weight / snapshot.normalisers).T[used]
    return Model(list(snapshot.words), phi, snapshot.alpha[used])


def other(package: str) -> Callable[[Path, int], tuple[list[str], Callable[[Path], Model]]]:
    """Return the row of another package."""

    def row(folder: Path, seed: int) -> tuple[list[str], Callable[[Path], Model]]:
        paths = f"{folder}/documents.jsonl", f"{folder}/model.npz"
        options = f"--topics={TOPICS}", f"--seed={seed}"
        return ["-m", "benchmarks.other_models", package, *paths, *options], written

    return row


def written(folder: Path) -> Model:
    """Return the model that :mod:`benchmarks.other_models` wrote."""
    with np.load(folder / "model.npz") as held:
        own = (held["theta"], float(held["aside"])) if "theta" in held else ()
        return Model(held["words"].tolist(), held["phi"], held["alpha"], *own)


EMBEDDED = ("bertopic", "turftopic", "fastopic")
ROWS: dict[str, Callable[[Path, int], tuple[list[str], Callable[[Path], Model]]]] = {
    "stream": ours,
    "archive": lambda folder, seed: ours(folder, seed, "--schedule=archive"),
    "gensim": other("gensim"),
    "tomotopy": other("tomotopy"),
    "mallet": other("mallet"),
    **{row: other(row) for row in EMBEDDED},
}


def scores(model: Model, found: Corpus) -> Result:
    """Return perplexity, accuracy, NPMI and mixed topics of a model."""
    train, test = (block_of(side, str.split) for side in found)
    trained = dict(zip(train.words, np.bincount(train.tokens).tolist(), strict=True))
    kept = [number for number, word in enumerate(model.words) if trained.get(word, 0) >= LEAST]
    phi = model.phi[:, kept] / model.phi[:, kept].sum(axis=1, keepdims=True)
    log, count, proportions, labels = 0.0, 0, [], test.labels
    for tokens in known_tokens(test, [model.words[number] for number in kept]):
        proportions.append(fold_in(phi[:, tokens], model.alpha))
        log += log_probability(phi[:, tokens], model.alpha)
        count += len(tokens[1::2])
    mixtures = np.array(proportions)
    whole = mixtures.mean(axis=0) @ phi
    if model.theta is not None:
        mixtures = model.theta
    first = [
        [model.words[kept[place]] for place in np.argsort(-row, kind="stable")[:TOP_WORDS]]
        for row in phi
    ]
    telling = [
        [model.words[kept[place]] for place in most_telling(row + 1e-300, whole)[:TOP_WORDS]]
        for row in phi
    ]
    return {
        "perplexity": float(np.exp(-log / count)) if model.theta is None else None,
        "accuracy": svm_accuracy(mixtures[::2], labels[::2], mixtures[1::2], labels[1::2]),
        "npmi": float(coherence(first, train).npmi.mean()),
        "mixed": sum(one.mixed for one in judge_words(telling, train)),
        "words": len(kept),
    }


def fold_in(phi: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return θ of a document, float64[T].

    Args:
        phi: float64[T, n], P(w_i | z) of its tokens.
        alpha: float64[T].
    """
    theta: FloatArray = alpha / alpha.sum()
    for _ in range(FOLD_IN):
        weight = theta[:, None] * phi
        theta = alpha + (weight / weight.sum(axis=0)).sum(axis=1)
        theta /= theta.sum()
    return theta


def log_probability(phi: FloatArray, alpha: FloatArray) -> float:
    """Return the log probability of a document's tokens at odd places, given those at even places.

    Args:
        phi: float64[T, n], P(w_i | z) of its tokens.
        alpha: float64[T].
    """
    return float(np.log(fold_in(phi[:, ::2], alpha) @ phi[:, 1::2]).sum())


def report(ledger: Ledger, corpora: Sequence[str]) -> None:
    """Print a table for each corpus."""
    for name in corpora:
        cells = []
        for row in ROWS:
            lines = ledger.of(dataset=name, row=row)
            if lines:
                cells.append([f"{row} ({len(lines)})", *(_cell(lines, *one) for one in COLUMNS)])
        print_table(name, ["row (seeds)", *(column for column, _ in COLUMNS)], cells)


COLUMNS = (
    ("perplexity", 0),
    ("accuracy", 3),
    ("npmi", 3),
    ("mixed", 1),
    ("words", 0),
    ("seconds", 1),
    ("megabytes", 0),
)


def _cell(lines: Sequence[Result], column: str, digits: int) -> str:
    if any(line[column] is None for line in lines):
        return "–"
    return shown((line[column] for line in lines), digits)


def main() -> None:
    """Make the runs that are not there yet, then the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", nargs="+", default=["20news", "arxiv"])
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--seeds", type=int, default=5, help="runs of each row; 0: tables only")
    parser.add_argument("--results", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    ledger = Ledger(given.results / "comparison.jsonl")
    runs = (
        Run("comparison", name, row, seed)
        for seed in range(1, given.seeds + 1)
        for name in given.corpora
        for row in given.rows
    )
    ledger.make(runs, work)
    report(ledger, given.corpora)


if __name__ == "__main__":
    main()
