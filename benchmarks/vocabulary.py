"""The experiments of Zhai and Boyd-Graber (2013).

``python -m benchmarks.vocabulary table --help`` has the options, ``docs/results/zhai-2013.md`` the
results. The documents are whole posts of 20 Newsgroups in the order of dates, with every type kept.
A learner makes one pass. Its final model gives the mixtures of all documents. A linear SVM learns
the groups of the training documents from their mixtures, and predicts those of the test documents.
A row of the table is a name and a function that makes the mixtures: :data:`ROWS`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray
from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.evaluation.coherence import TOP_WORDS, Reference
from beam_topics.model.evaluation.held_out import svm_accuracy
from beam_topics.model.inference import METHOD, PublishedModel
from beam_topics.model.learners import LEARNER, LearnerSettings, learner_for
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from benchmarks.corpora import block_of, data_folder, frequent, minibatches, records, vocabulary
from benchmarks.inference import prepared_for
from benchmarks.ledger import Ledger, Result, Run, print_table, shown

TOPICS = 50
METHODS = ("variational",)
# (documents in a minibatch, whether topics are learned from the training documents alone)
DATASETS = {
    "155": (155, False),
    "310": (310, False),
    "155, train only": (155, True),
    "310, train only": (310, True),
}


Splits = npt.NDArray[np.str_]


@cache
def newsgroups() -> tuple[Block, Splits]:
    """All posts in date order, and ``train`` or ``test`` of each."""
    found = sorted(records("20news-bydate"), key=lambda record: (record["timestamp"], record["id"]))
    cut = Tokeniser(TokeniserSettings())
    documents = cut.block([Document(r["id"], 0, r["text"], r["label"]) for r in found])
    return documents, np.array([r["split"] for r in found])


@cache
def de_news() -> Block:
    """In the order of time; its authors cut and stemmed it."""
    return block_of(records("de-news-en-stemmed"), str.split)


@cache
def word_list(stemmer: str = "none") -> tuple[str, ...]:
    """Return the English word list, split by the tokeniser."""
    cut = Tokeniser(TokeniserSettings(stemmer=stemmer))
    lines = (data_folder() / "words" / "wamerican.txt").read_text(encoding="utf-8").splitlines()
    return tuple(sorted({word for line in lines for word in cut.words(line)}))


def learn(
    settings: LearnerSettings, documents: Block, size: int
) -> Iterator[Callable[[], Snapshot]]:
    """One pass; after each minibatch, a function that makes the model: most are not looked at."""
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches(documents, size):
        learner.step(state, minibatch)
        yield lambda: learner.snapshot(state)


def mixtures(snapshot: Snapshot, documents: Block, method: str) -> FloatArray:
    """float64[D, T] by an inference method, each document alone."""
    run = prepared_for(PublishedModel(snapshot, "final"), compose(METHOD, {"method": method}))
    return run(documents).proportions


Row = Callable[[Block, Block, int, int], tuple[dict[str, FloatArray], float]]


def learned(**settings: Any) -> Row:
    """Return a row that learns with these settings.

    Returns:
        A function of (documents to learn, all documents, minibatch size, seed). It returns the
        mixtures of all documents by method, and seconds.
    """

    def run(
        to_learn: Block, documents: Block, size: int, seed: int
    ) -> tuple[dict[str, FloatArray], float]:
        common = {
            "topics": TOPICS,
            "alpha": 1 / TOPICS,
            "seed": seed,
            "stream_documents": len(to_learn),
            "reorder_every": 10 * size // 155,
        }
        chosen = {
            name: value(to_learn) if callable(value) else value
            for name, value in {**common, **settings}.items()
        }
        start = time.perf_counter()
        *_, last = learn(compose(LEARNER, {}, chosen), to_learn, size)
        snapshot = last()
        seconds = time.perf_counter() - start
        return {method: mixtures(snapshot, documents, method) for method in METHODS}, seconds

    return run


def types(documents: Block) -> int:
    """How many distinct words there are."""
    return len(documents.words)


def repeated(documents: Block) -> tuple[str, ...]:
    """Return the words that at least five documents have in the end, as an oracle would."""
    return vocabulary(frequent(documents, 5))


_STEPS: dict[str, Any] = {"tau0": 64.0, "kappa": 0.6}
_INFVOC: dict[str, Any] = {
    **_STEPS,
    "learner": "infvoc",
    "stick_concentration": 3000.0,
    "truncation": 40_000,
    "max_words": types,
}
_CHAIN: dict[str, Any] = {"alpha": 0.1, "max_words": types}


def _dictionary(_: Block) -> tuple[str, ...]:
    return word_list()


ROWS: dict[str, Row] = {
    "gibbs": learned(**_CHAIN),
    "gibbs, oracle": learned(**_CHAIN, vocabulary="given", vocabulary_file=repeated),
    "gibbs, archive": learned(**_CHAIN, schedule="archive"),
    "oracle, batch": learned(
        **_CHAIN,
        vocabulary="given",
        vocabulary_file=repeated,
        learner="batch-gibbs",
        chains=1,
    ),
    "infvoc": learned(**_INFVOC, word_list=_dictionary),
    "infvoc, as printed": learned(**_INFVOC, remainder="printed", word_list=_dictionary),
    "infvoc, no word list": learned(**_INFVOC),
    **{
        f"fixvoc-{kind} {vocabulary}": learned(
            **_STEPS, beta=0.01, learner=f"fixvoc-{kind}", vocabulary=vocabulary, **others
        )
        for kind in ("hybrid", "vb")
        for vocabulary, others in (
            ("null", {}),
            ("dict", {"word_list": _dictionary}),
            ("dict-hash", {"word_list": _dictionary}),
            ("full-hash", {"buckets": 30_000}),
            ("growing", {"max_words": types}),
            ("given", {"vocabulary_file": repeated}),
        )
    },
}


def classified(run: Run) -> Result:
    """One run: accuracy by each inference method, and seconds of learning."""
    size, only = DATASETS[run.dataset]
    documents, split = newsgroups()
    is_train, labels = split == "train", np.array(documents.labels)
    to_learn = documents.take(np.flatnonzero(is_train)) if only else documents
    found, seconds = ROWS[run.row](to_learn, documents, size, run.seed)
    accuracies = {
        method: svm_accuracy(theta[is_train], labels[is_train], theta[~is_train], labels[~is_train])
        for method, theta in found.items()
    }
    return {"seconds": seconds, **accuracies}


def table(arguments: argparse.Namespace) -> None:
    """Make the missing runs of the table, and print the mean and standard error of each row."""
    ledger = Ledger(arguments.json)
    datasets, rows = arguments.datasets, arguments.rows
    ledger.make(
        (
            Run("zhai", dataset, row, seed)
            for seed in range(1, arguments.seeds + 1)
            for dataset in datasets
            for row in rows
        ),
        classified,
    )
    for dataset in datasets:
        lines = []
        for row in rows:
            results = ledger.of(experiment="zhai", dataset=dataset, row=row)
            if results:
                cells = [
                    shown((100 * result[method] for result in results), 1) for method in METHODS
                ]
                lines.append(
                    [
                        row,
                        *cells,
                        str(len(results)),
                        f"{np.mean([result['seconds'] for result in results]):.0f}",
                    ]
                )
        print_table(dataset, ["row", *METHODS, "runs", "seconds"], lines)


def traces(arguments: argparse.Namespace) -> None:
    """Print PMI and NPMI of the top ten words over the stream, one line of JSON for each model."""
    documents = de_news() if arguments.corpus == "de-news" else newsgroups()[0]
    topics = 10 if arguments.corpus == "de-news" else TOPICS
    settings = {
        "topics": topics,
        "alpha": 1 / topics,
        "stream_documents": len(documents),
        **json.loads(arguments.settings),
    }
    tops = []
    for number, model in enumerate(
        learn(compose(LEARNER, {}, settings), documents, arguments.size), start=1
    ):
        if number % arguments.every == 0 or number * arguments.size >= len(documents):
            tops.append((number, model().top_words(TOP_WORDS)))
    reference = Reference(
        documents, (word for _, topics in tops for topic in topics for word in topic)
    )
    with arguments.json.open("a", encoding="utf-8") as lines:
        for number, topics in tops:
            found = reference.coherence(topics)
            facts = {
                "corpus": arguments.corpus,
                "name": arguments.name,
                "minibatch": number,
                "settings": settings,
            }
            print(
                json.dumps({**facts, "pmi": found.pmi.mean(), "npmi": found.npmi.mean()}),
                file=lines,
                flush=True,
            )


def main() -> None:
    """Run the command that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("table", help=table.__doc__)
    one.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    one.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=list(DATASETS))
    one.add_argument(
        "--seeds",
        type=int,
        default=5,
        help="runs of each row; runs that were made are kept. 0: the table only",
    )
    one.set_defaults(run=table)
    three = commands.add_parser("pmi", help=traces.__doc__)
    three.add_argument("--corpus", choices=("de-news", "20news"), required=True)
    three.add_argument("--name", required=True, help="of the trace")
    three.add_argument("--size", type=int, default=140)
    three.add_argument("--every", type=int, default=5)
    three.add_argument("--settings", default="{}", help="of the learner, JSON")
    three.set_defaults(run=traces)
    for command in (one, three):
        command.add_argument(
            "--json", type=Path, required=True, help="file of the results, which is added to"
        )
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
