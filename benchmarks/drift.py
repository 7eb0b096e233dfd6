"""Learning a stream that changes, in one pass: ``python -m benchmarks.drift --help``.

Three experiments, every learner with its default settings but for what a row changes:

* ``planted``: the made-up courses of :mod:`benchmarks.drift_streams`, T = 50. Within each part the
  documents are shuffled, so the planted changes are the only ones. A version is scored by the
  accuracy of a linear SVM on the mixtures (``gibbs3``) of the documents of a domain: documents at
  even places train the SVM, those at odd places test it. The same learner on one domain alone gives
  the measure: its last score.
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
from pathlib import Path
from typing import Any

import numpy as np

from beam_topics.model.compositions import compose
from beam_topics.model.evaluation.agreement import nmi
from beam_topics.model.evaluation.classification import svm_accuracy
from beam_topics.model.evaluation.held_out import clusters
from beam_topics.model.evaluation.perplexity import Score, first_moment
from beam_topics.model.evaluation.settings import EvaluationSettings
from beam_topics.model.inference import Gibbs3, PublishedModel, inference_for
from beam_topics.model.learners import LEARNER, LearnerSettings, learner_for
from beam_topics.model.records import TokenisedDocument
from beam_topics.model.snapshot import Snapshot
from benchmarks.corpora import SUBSETS, minibatches, shuffled
from benchmarks.drift_report import report
from benchmarks.drift_streams import COURSES, course, domain, posts
from benchmarks.ledger import Ledger, Result, Run, size_of

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
SCORED = 2000
MINIBATCH = 100
BATCH: dict[str, Any] = {"learner": "batch-gibbs", "prior": "flat", "chains": 1, "sweeps": 200}
SMALL = {
    "alpha": 0.1,
    "reservoir": 500,
    "newest_share": 0.85,
    "moves": 60,
}
ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "alpha .1": {"alpha": 0.1},
    "small reservoir": SMALL,
    "no challengers": {"challengers": "off"},
    "two chains": {"alpha": 0.1, "particles": 2, "challengers": "off"},
    "120 visits": {"moves": 120},
    "T = 100": {"topics": 100},
    "auto": {"alpha": 0.1, "topics": "auto", "max_topics": 50},
    "half-life 1000": {"half_life": (1000,)},
    "half-life 3000": {"half_life": (3000,)},
    "half-life 10000": {"half_life": (10_000,)},
    "batch": BATCH,
    "batch, alpha .1": {**BATCH, "alpha": 0.1},
}


def accuracy(snapshot: Snapshot, documents: Sequence[TokenisedDocument]) -> tuple[float, float]:
    """Return the accuracy of the SVM, and the effective topics.

    These are exp of the entropy of the documents' most frequent topics.
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
    """Return the settings of a row."""
    return compose(LEARNER, {"seed": run.seed}, {"topics": topics, **ROWS[run.row]})


class Pass:
    """One pass of a learner over documents, its processor time and its visits."""

    def __init__(self, settings: LearnerSettings) -> None:
        self.settings = settings
        self.learner: Any = learner_for(settings)
        self.state = self.learner.init(settings, "", 0)
        self.seconds, self.moves, self.tokens, self.sequence = 0.0, 0, 0, 0

    def learn(self, documents: Sequence[TokenisedDocument]) -> Snapshot:
        """Learn documents and return the version after them."""
        begin = time.thread_time()
        for minibatch in minibatches(list(documents), MINIBATCH):
            self.sequence += 1
            # Event time counts documents.
            end = self.sequence * MINIBATCH
            minibatch = replace(minibatch, sequence=self.sequence, window_end=end)
            info = self.learner.step(self.state, minibatch)
            self.moves, self.tokens = self.moves + info.moves, self.tokens + info.tokens
        snapshot: Snapshot = self.learner.snapshot(self.state)
        self.seconds += time.thread_time() - begin
        return snapshot

    def figures(self) -> Result:
        """Return the cost and, with challengers, the changes told and the duels won."""
        following = self.state.following
        told = {"changes": following.changes, "won": following.won} if following else {}
        visits = self.moves * self.settings.particles / max(self.tokens, 1)
        return {"seconds": self.seconds, "visits": visits, "tokens": self.tokens, **told}


def planted(run: Run, size: int) -> Result:
    """Score versions in the course of a stream.

    Returns:
        ``points``: (domain, documents of its part, accuracy, effective topics) of each version;
        ``last``: (domain, accuracy, effective topics) of the last version on each domain.
    """
    stretches = course(run.dataset.replace(f"-{size}", ""), size, run.seed)
    learning, points = Pass(settings_of(run)), []
    for stretch in stretches:
        snapshot = learning.learn(stretch.documents)
        scored = accuracy(snapshot, domain(stretch.domain, size))
        points.append([stretch.domain, stretch.place, *scored])
    domains = sorted({stretch.domain for stretch in stretches})
    last = [[number, *accuracy(snapshot, domain(number, size))] for number in domains]
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
        return planted(run, size_of(run.dataset))
    if run.experiment == "groups":
        return newsgroup_pass(run, (), 50)
    return newsgroup_pass(run, TRIPLES[run.dataset.split()[0]], 3)


def plan(given: argparse.Namespace) -> Iterator[Run]:
    """Return all rows with one seed before any with two."""
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for row in given.rows:
            yield from (Run(*names, row, seed) for names in datasets(given, row == "batch"))


def datasets(given: argparse.Namespace, batch: bool) -> Iterator[tuple[str, str]]:
    """Return (experiment, dataset) of the runs of a row; a batch has no order and no course."""
    if "planted" in given.experiments and not batch:
        alone = [f"alone-{given.size} {number}" for number in (1, 2, 3)] if given.alone else []
        for name in (*alone, *(f"{course}-{given.size}" for course in given.courses)):
            yield "planted", name
    orders = ["shuffled"] if batch else given.orders
    if "triples" in given.experiments:
        for triple in given.triples:
            yield from (("triples", f"{triple} {order}") for order in orders)
    if "groups" in given.experiments:
        yield from (("groups", f"20news {order}") for order in orders if order != "sorted")


def drift() -> None:
    """Run a small stream that changes: 300 documents in each part."""
    main(
        [
            "--size=300",
            "--experiments=planted",
            "--courses=planted",
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
    parser.add_argument("--courses", nargs="+", default=list(COURSES), choices=COURSES)
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
