"""Learning a stream that changes, in one pass: ``python -m benchmarks.drift --help``.

Three experiments, every learner with its default settings but for what a row changes:

* ``planted``: N arXiv abstracts, then N posts of 20 Newsgroups, then N arXiv abstracts of other
  categories, T = 50. Within each third the documents are shuffled, so the two changes are the only
  ones. A version is scored by the accuracy of a linear SVM on the mixtures (``gibbs3``) of the
  documents of a third: documents at even places train the SVM, those at odd places test it.
  ``alone1``, ``alone2`` and ``alone3`` are the same learner on one third; their last score is the
  measure of the others.
* ``triples``: three groups of 20 Newsgroups, T = 3, in the order of their dates, shuffled, and
  sorted by group; held-out nMI of the bydate test documents, beside batch Gibbs sampling on the
  same documents.
* ``groups``: all twenty groups, T = 50, in the order of their dates, and shuffled; nMI and
  first-moment perplexity of the test documents.

A run is one line of ``docs/results/drift.jsonl``. Runs that are there are not made again; the
tables are made from the lines.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import (
    SUBSETS,
    letters_of,
    may_words,
    minibatches,
    records,
    shuffled,
    stop_words,
)
from benchmarks.drift_report import report
from benchmarks.ledger import Ledger, Result, Run
from model.compositions import compose
from model.evaluation.classification import svm_accuracy
from model.evaluation.held_out import EvaluationSettings, clusters
from model.evaluation.nmi import nmi
from model.evaluation.perplexity import Score, first_moment
from model.inference import Gibbs3, PublishedModel, inference_for
from model.learners import LEARNER, LearnerSettings, learner_for
from model.records import Document, TokenisedDocument
from model.snapshot import Snapshot

FIRST_CATEGORIES = ("cs.NI", "cs.DC", "cs.SI", "cs.SY", "cs.GT", "cs.DB", "cs.HC", "cs.DL", "cs.CE")
THIRD_CATEGORIES = ("cs.CR", "cs.RO", "cs.SE", "cs.CY", "cs.IR", "cs.NE", "cs.PL", "cs.SD", "cs.OH")
TRIPLES = {
    "hockey": ("rec.sport.hockey", "sci.med", "soc.religion.christian"),
    **SUBSETS,
    "autos": ("rec.autos", "sci.crypt", "talk.religion.misc"),
    "sale": ("misc.forsale", "sci.electronics", "talk.politics.guns"),
    "bikes": ("rec.motorcycles", "comp.sys.mac.hardware", "sci.med"),
    "pc": ("comp.sys.ibm.pc.hardware", "rec.sport.hockey", "talk.politics.mideast"),
    "x": ("comp.windows.x", "sci.space", "soc.religion.christian"),
    "graphics": ("comp.graphics", "rec.sport.baseball", "talk.politics.misc"),
}
ORDERS = ("date", "shuffled", "sorted")
PLACES = (500, 1000, 2000, 7000)
SCORED = 2000
MINIBATCH = 100
BATCH: dict[str, Any] = {"learner": "batch-gibbs", "prior": "flat", "chains": 1, "sweeps": 200}
ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "one chain": {"particles": 1, "moves": 120},
    "challengers": {"particles": 1, "challengers": "on"},
    "challengers, 120 visits": {"particles": 1, "moves": 120, "challengers": "on"},
    "challengers, two chains": {"challengers": "on"},
    "challengers, T = 100": {"particles": 1, "challengers": "on", "topics": 100},
    "challengers, more room": {"particles": 1, "moves": 120, "challengers": "on", "room": 0.65},
    "batch": BATCH,
}


@cache
def arxiv(categories: tuple[str, ...], size: int) -> tuple[TokenisedDocument, ...]:
    """So many abstracts of these categories, evenly spread over the years."""
    stop = stop_words()
    chosen = [record for record in records("arxiv-cs-1994-2019") if record["label"] in categories]
    places = np.linspace(0, len(chosen) - 1, size).astype(int).tolist()
    return tuple(
        _document(record, _abstract_words(record, stop)) for record in (chosen[at] for at in places)
    )


@cache
def posts(groups: tuple[str, ...], split: str) -> tuple[TokenisedDocument, ...]:
    """The posts of these groups (all, if there are none) in the order of their dates; ``split``:
    ``train``, ``test``, or empty for both.
    """
    stop = stop_words()
    wanted = (
        r
        for r in records("20news-bydate")
        if (not groups or r["label"] in groups) and (not split or r["split"] == split)
    )
    ordered = sorted(wanted, key=lambda record: (record["timestamp"], record["id"]))
    return tuple(_document(record, may_words(record["text"], stop)) for record in ordered)


def _abstract_words(record: dict[str, Any], stop: frozenset[str]) -> list[str]:
    return [word for word in letters_of(record["text"]) if len(word) > 1 and word not in stop]


def _document(record: dict[str, Any], words: list[str]) -> TokenisedDocument:
    return TokenisedDocument.from_words(Document(record["id"], 0, "", record["label"]), words)


@cache
def third(number: int, size: int) -> tuple[TokenisedDocument, ...]:
    """The documents of one third of ``planted``, counted from 1, in one shuffled order."""
    if number == 2:
        return tuple(shuffled(list(posts((), "")), 1)[:size])
    return tuple(
        shuffled(list(arxiv(FIRST_CATEGORIES if number == 1 else THIRD_CATEGORIES, size)), 1)
    )


def places(size: int) -> list[int]:
    """After how many documents of a third a version is scored."""
    return sorted({*(place for place in PLACES if place < size), size})


def accuracy(snapshot: Snapshot, documents: Sequence[TokenisedDocument]) -> tuple[float, float]:
    """(accuracy of the SVM, effective topics: exp of the entropy of the documents' most frequent
    topics).
    """
    documents = documents[:SCORED]
    settings = Gibbs3()
    method = inference_for(settings)
    prepared = method.prepare(settings, PublishedModel(snapshot, ""))
    found = np.array([mixture.proportions for mixture in method.infer(prepared, documents)])
    labels = [str(document.label) for document in documents]
    shares = np.bincount(found.argmax(axis=1), minlength=found.shape[1]) / len(found)
    effective = float(np.exp(-(shares[shares > 0] * np.log(shares[shares > 0])).sum()))
    return svm_accuracy(found[::2], labels[::2], found[1::2], labels[1::2]), effective


def settings_of(run: Run, topics: int = 50) -> LearnerSettings:
    """A row's settings."""
    return compose(LEARNER, {"seed": run.seed}, {"topics": topics, **ROWS[run.row]})


class Pass:
    """One pass of a learner over documents, its processor time and its visits."""

    def __init__(self, settings: LearnerSettings) -> None:
        self.settings = settings
        self.learner: Any = learner_for(settings)
        self.state = self.learner.init(settings, "", 0)
        self.seconds, self.moves, self.tokens, self.sequence = 0.0, 0, 0, 0

    def learn(self, documents: Sequence[TokenisedDocument]) -> Snapshot:
        """The version after these documents, too."""
        begin = time.thread_time()
        for minibatch in minibatches(list(documents), MINIBATCH):
            self.sequence += 1
            info = self.learner.step(self.state, replace(minibatch, sequence=self.sequence))
            self.moves, self.tokens = self.moves + info.moves, self.tokens + info.tokens
        snapshot: Snapshot = self.learner.snapshot(self.state)
        self.seconds += time.thread_time() - begin
        return snapshot

    def figures(self) -> Result:
        """Cost, and, where particles are challenged, how many changes were told and how many duels
        were won.
        """
        following = self.state.following
        told = {"changes": following.changes, "won": following.won} if following else {}
        visits = self.moves * self.settings.particles / max(self.tokens, 1)
        return {"seconds": self.seconds, "visits": visits, "tokens": self.tokens, **told}


def planted(run: Run, size: int) -> Result:
    """[third, documents of it, accuracy, effective topics] of each version, and of the last version
    on the thirds before.
    """
    thirds = [int(run.dataset[-1])] if run.dataset.startswith("alone") else [1, 2, 3]
    learning, points = Pass(settings_of(run)), []
    for number in thirds:
        documents, before = shuffled(list(third(number, size)), run.seed), 0
        for place in places(size):
            snapshot = learning.learn(documents[before:place])
            before = place
            points.append([number, place, *accuracy(snapshot, third(number, size))])
    last = [[number, *accuracy(snapshot, third(number, size))] for number in thirds]
    return {"points": points, "last": last, **learning.figures()}


def ordered(
    documents: Sequence[TokenisedDocument], order: str, seed: int
) -> list[TokenisedDocument]:
    """By date (as they are), shuffled, or by group and then date."""
    if order == "shuffled":
        return shuffled(list(documents), seed)
    return (
        sorted(documents, key=lambda document: document.label or "")
        if order == "sorted"
        else list(documents)
    )


def newsgroup_pass(run: Run, groups: tuple[str, ...], topics: int) -> Result:
    """NMI and perplexity of the test documents after one pass over the training documents."""
    order = run.dataset.rpartition(" ")[2]
    train, test = ordered(posts(groups, "train"), order, run.seed), posts(groups, "test")
    learning = Pass(settings_of(run, topics))
    snapshot = learning.learn(train)
    found = nmi(
        [document.label for document in test],
        clusters(snapshot, test, EvaluationSettings(seed=run.seed)),
    )
    score = sum((first_moment(snapshot, document, False) for document in test), Score())
    return {
        "nmi": found,
        "perplexity": score.perplexity,
        "left_out": score.left_out,
        **learning.figures(),
    }


def work(run: Run) -> Result:
    """Make one run."""
    if run.experiment == "planted":
        return planted(run, int(run.dataset.split("-")[1].split()[0]))
    if run.experiment == "groups":
        return newsgroup_pass(run, (), 50)
    return newsgroup_pass(run, TRIPLES[run.dataset.split()[0]], 3)


def plan(given: argparse.Namespace) -> Iterator[Run]:
    """All rows with one seed before any with two."""
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for row in given.rows:
            if "planted" in given.experiments and row != "batch":
                for what in ("alone", "planted") if given.alone else ("planted",):
                    names = (
                        [f"planted-{given.size}"]
                        if what == "planted"
                        else [f"alone-{given.size} {number}" for number in (1, 2, 3)]
                    )
                    yield from (Run("planted", name, row, seed) for name in names)
            orders = given.orders if row != "batch" else ["shuffled"]
            if "triples" in given.experiments:
                yield from (
                    Run("triples", f"{triple} {order}", row, seed)
                    for triple in given.triples
                    for order in orders
                )
            if "groups" in given.experiments:
                yield from (
                    Run("groups", f"20news {order}", row, seed)
                    for order in orders
                    if order != "sorted"
                )


def drift() -> None:
    """A stream that changes, small: thirds of 300 documents (``python -m benchmarks.drift`` has
    7,000).
    """
    main(
        [
            "--size=300",
            "--experiments=planted",
            "--rows=default",
            "--seeds=1",
            f"--results={tempfile.mkdtemp(prefix='drift-')}",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Make the runs that are not there yet, then the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--experiments",
        nargs="+",
        default=["planted", "triples"],
        choices=("planted", "triples", "groups"),
    )
    parser.add_argument("--size", type=int, default=7000, help="documents of each third")
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--triples", nargs="+", default=list(TRIPLES), choices=list(TRIPLES))
    parser.add_argument("--orders", nargs="+", default=list(ORDERS), choices=ORDERS)
    parser.add_argument(
        "--alone", action=argparse.BooleanOptionalAction, default=True, help="also each third alone"
    )
    parser.add_argument("--seeds", type=int, default=5, help="runs of each row; 0: tables only")
    parser.add_argument("--first_seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("docs/results"))
    given = parser.parse_args(arguments)
    ledger = Ledger(given.results / "drift.jsonl")
    ledger.make(plan(given), work)
    report(ledger)


if __name__ == "__main__":
    main()
