"""Half-lives compared, and chosen by evidence: ``python -m benchmarks.memory_lengths --help``.

Each run is one pass of the learner and the publisher of ``beam-topics train`` over a
stream, in this process. A version is published after every fifth minibatch of 100 documents, and
predicts the documents that come until the next one: the figure is their first-moment perplexity
over the words that the version has, and the processor time is that of the whole run.

Streams that are made up have ten topics of 1,000 words and 60 tokens a document:

* ``stationary``: the topics stay as they are, so nothing should be forgotten.
* ``rotating``: in each topic a word becomes its most probable one every 20 documents, and falls
  behind the others of its list afterwards. A topic is another one after about 2,000 documents.
* ``stops``: rotating for the first half, stationary afterwards.

In the order of their dates, with T = 50: ``20news`` (all groups) and ``arxiv`` (every eighth of the
abstracts of 1994 to 2019). Event time counts documents, one a second.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from beam_topics.model.compositions import compose
from beam_topics.model.evaluation.perplexity import Score, first_moment
from beam_topics.model.learner_log.local import learn_documents
from beam_topics.model.learner_log.options import LearnOptions, Publication, RunSettings
from beam_topics.model.learners import LEARNER
from beam_topics.model.learners.particles.settings import AUTO
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.records import Document, TokenisedDocument
from beam_topics.model.settings import SequenceSettings
from beam_topics.model.words.tokeniser import tokeniser_settings
from benchmarks.corpora import abstracts
from benchmarks.drift_streams import posts
from benchmarks.ledger import Ledger, Result, Run, mean_and_error, print_table

STREAMS = ("stationary", "rotating", "stops", "20news", "arxiv")
TOPICS, WORDS, LENGTH, ROTATION, SCALE = 10, 1000, 60, 20, 100.0
MINIBATCH, PUBLISHED, SECOND = 100, 5, 1_000_000
_ISLANDS = {"islands": 3, "particles": 3}
ROWS: dict[str, dict[str, Any]] = {
    "none": {},
    "3000": {"half_life": (3000 * SECOND,)},
    "1000": {"half_life": (1000 * SECOND,)},
    "none, three islands": _ISLANDS,
    "none,3000,1000": {"half_life": (0, 3000 * SECOND, 1000 * SECOND), **_ISLANDS},
    "auto": {"half_life": AUTO},
}


def made_up(name: str, count: int, seed: int) -> list[TokenisedDocument]:
    """Return the documents of a made-up stream."""
    generator = np.random.default_rng(seed)
    rings = [generator.permutation(WORDS) for _ in range(TOPICS)]
    weights = np.exp(-np.arange(WORDS) / SCALE)
    weights /= weights.sum()
    found = []
    for number in range(count):
        turned = {"stationary": 0, "rotating": number, "stops": min(number, count // 2)}[name]
        theta = generator.dirichlet(np.full(TOPICS, 0.1))
        topics = generator.choice(TOPICS, LENGTH, p=theta)
        # The word at place j of a ring has rank j - turned / ROTATION.
        places = generator.choice(WORDS, LENGTH, p=weights) + turned // ROTATION
        words = [f"w{rings[t][place % WORDS]}" for t, place in zip(topics, places, strict=True)]
        found.append(TokenisedDocument.from_words(Document(f"d{number}", 0, ""), words))
    return found


def documents_of(run: Run, count: int) -> tuple[list[TokenisedDocument], int]:
    """Return the documents of a stream with their event times, and T."""
    topics = 50
    found: Sequence[TokenisedDocument]
    if run.dataset == "20news":
        found = posts((), "train")
    elif run.dataset == "arxiv":
        found = abstracts(8)
    else:
        found, topics = made_up(run.dataset, count, run.seed), TOPICS
    dated = [replace(document, timestamp=n * SECOND) for n, document in enumerate(found)]
    return dated, topics


def learned(run: Run, count: int) -> Result:
    """Return the score of what was published, and the processor time.

    Returns:
        ``scores``: (island, ln p, tokens) of each version but the last.
    """
    documents, topics = documents_of(run, count)
    settings = compose(LEARNER, {"seed": run.seed, "topics": topics, **ROWS[run.row]})
    with tempfile.TemporaryDirectory() as folder:
        options = LearnOptions(
            settings=settings,
            tokeniser=tokeniser_settings(),
            sequence=SequenceSettings(window=MINIBATCH * SECOND, minibatch_size=MINIBATCH),
            store=folder,
            run=RunSettings(publish_every=Publication("windows", PUBLISHED)),
        )
        begin = time.process_time()
        versions = learn_documents(documents, options, lambda letter: None)
        seconds = time.process_time() - begin
        scores = list(_scores(ModelStore(folder), versions, documents))
    return {"scores": scores, "seconds": seconds}


def _scores(
    store: ModelStore, versions: Sequence[Manifest], documents: Sequence[TokenisedDocument]
) -> Iterator[tuple[int, float, int]]:
    """Yield how each version predicts the documents that come until the next one."""
    for version, following in zip(versions, versions[1:], strict=False):
        snapshot = store.get_snapshot(version)
        came = documents[version.event_time // SECOND : following.event_time // SECOND]
        score = sum((first_moment(snapshot, document, False) for document in came), Score())
        yield version.island, score.log_probability, score.tokens


def report(ledger: Ledger) -> None:
    """Print a table for each stream, with means and standard errors over the seeds."""
    for name in dict.fromkeys(line["dataset"] for line in ledger.lines):
        rows = []
        for row in dict.fromkeys(line["row"] for line in ledger.of(dataset=name)):
            lines = ledger.of(dataset=name, row=row)
            scores = [line["scores"] for line in lines]
            quarters = [some[3 * len(some) // 4 :] for some in scores]
            islands = Counter(island for some in scores for island, _, _ in some)
            shares = [
                f"{count / islands.total():.2f} of {n}" for n, count in sorted(islands.items())
            ]
            figures = [_mean(_perplexity(some) for some in part) for part in (scores, quarters)]
            seconds = _mean(line["seconds"] for line in lines)
            rows.append([row, str(len(lines)), *figures, ", ".join(shares), seconds])
        head = ["half-life", "runs", "perplexity", "of the last quarter", "islands published"]
        print_table(name, [*head, "processor seconds"], rows)


def _mean(values: Iterator[float]) -> str:
    mean, _, error = mean_and_error(values)
    return f"{mean:.1f}" if math.isnan(error) else f"{mean:.1f} ± {error:.1f}"


def _perplexity(scores: Sequence[tuple[int, float, int]]) -> float:
    """Return the perplexity of the documents that versions predicted."""
    return math.exp(-sum(score[1] for score in scores) / sum(score[2] for score in scores))


def main() -> None:
    """Make the runs that are not there yet, then the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", nargs="+", default=list(STREAMS), choices=STREAMS)
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=ROWS)
    parser.add_argument("--documents", type=int, default=6000, help="of a made-up stream")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each row; 0: tables only")
    parser.add_argument("--results", type=Path, default=Path("docs/results"))
    given = parser.parse_args()

    def plan() -> Iterator[Run]:
        for seed in range(1, given.seeds + 1):
            for name in given.streams:
                yield from (Run("half-life", name, row, seed) for row in given.rows)

    ledger = Ledger(given.results / "half-life.jsonl")
    ledger.make(plan(), lambda run: learned(run, given.documents))
    report(ledger)


if __name__ == "__main__":
    main()
