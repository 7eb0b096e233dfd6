"""The experiments of Canini, Shi and Griffiths (2009): ``python -m benchmarks.canini --help``.

A stream of newsgroup posts, T = the number of groups. The first 10 % are an initial batch: one
sample of batch Gibbs, from which all algorithms and all runs start. Then each learns the rest, and
is measured at equal distances:

* *training*: nMI of the documents seen so far, a document's cluster being its most frequent topic
  in the best particle (figure 2);
* *held out*: at every other of these places a copy of the learner continues with the held-out 10 %
  as if they came next (figure 3).

o-LDA and incremental Gibbs are 100 chains that never meet, of which the best by P(w, z) is read, as
in the paper. The filter's full history is in shared tables, in place of the paper's tree; that of
chains, which share nothing, a reservoir into which every token fits. ``batch`` is what batch Gibbs
comes to on the whole stream; its topics are held for the held-out documents, five sweeps.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.evaluation.held_out import clusters as fixed_clusters
from beam_topics.model.evaluation.held_out import nmi
from beam_topics.model.learners import LEARNER, LearnerSettings, learner_for
from beam_topics.model.papers.state import PaperState, best_particle, topics_of
from beam_topics.model.settings.compositions import compose
from benchmarks.canini_report import report
from benchmarks.corpora import minibatch, newsgroup_words, part, shuffled, vocabulary
from benchmarks.experiments import experiment
from benchmarks.ledger import Ledger, Result, Run

DATASETS = ("diff3", "rel3", "sim3", "subset20")
PARTS = 4
EVERYTHING = 1_000_000
SAMPLE: dict[str, Any] = {"chains": 1, "initial_sweeps": 200}
CHAINS: dict[str, Any] = {**SAMPLE, "particles": 100, "reservoir": EVERYTHING}
ROWS: dict[str, dict[str, Any]] = {
    # Without moves nothing is revised; unlike o-lda it keeps its documents, for the score in
    # training.
    "o-LDA": {
        **CHAINS,
        "learner": "particle-filter",
        "resampling": "never",
        "rejuvenation": "document",
        "moves": 0,
    },
    "incremental Gibbs": {
        **CHAINS,
        "learner": "incremental-gibbs",
        "rejuvenation": "tokens",
        "rejuvenation_unit": "token",
        "moves": 4,
    },
    "particle filter": {
        **SAMPLE,
        "learner": "particle-filter",
        "particles": 100,
        "history": "full",
        "ess": 20,
        "rejuvenation_unit": "token",
        "moves": 30,
    },
    "batch": {"learner": "batch-gibbs", "chains": 1, "sweeps": 200},
    "default": {"reservoir": EVERYTHING},
}
OF_SUBSET20 = {"particle filter": {"ess": 10, "moves": 10}}
# A word in so many documents or more is kept: nearest to the vocabularies that the paper states.
LEAST = {"subset20": 3}


@dataclass(frozen=True)
class Corpus:
    """The initial batch, the rest of the stream in equal parts, and the held-out documents."""

    initial: Block
    parts: list[Block]
    held_out: Block
    words: tuple[str, ...]
    topics: int


@cache
def corpus_of(dataset: str, thin: int) -> Corpus:
    """Return every ``thin``-th post of a dataset in one shuffled order, without rare words."""
    documents = shuffled(part(newsgroup_words(dataset, LEAST.get(dataset, 5)), every=thin), 1)
    held_out = len(documents) // 10
    stream = part(documents, held_out)
    bounds = np.linspace(len(stream) // 10, len(stream), PARTS + 1).astype(int)
    parts = [part(stream, first, last) for first, last in pairwise(bounds)]
    return Corpus(
        part(stream, 0, bounds[0]),
        parts,
        part(documents, 0, held_out),
        vocabulary(stream),
        len(set(documents.labels)),
    )


def settings_of(corpus: Corpus, dataset: str, row: str, particles: int) -> LearnerSettings:
    """Return a row's settings, with the seed of the initial sample."""
    chosen = {
        "topics": corpus.topics,
        "vocabulary": "given",
        "vocabulary_file": corpus.words,
        **ROWS[row],
    }
    if dataset == "subset20":
        chosen |= OF_SUBSET20.get(row, {})
    if "initial_sweeps" in chosen:
        chosen["initial_documents"] = len(corpus.initial)
    if chosen.get("particles") == 100:
        chosen["particles"] = particles
    if "ess" in chosen:
        chosen["ess"] = chosen["ess"] * particles // 100
    return compose(LEARNER, {}, {"seed": 1, **chosen})


@cache
def shared_sample(dataset: str, row: str, thin: int, particles: int) -> bytes:
    """Return the saved learner after the initial batch, whose draws have seed 1 in every row."""
    corpus = corpus_of(dataset, thin)
    settings = settings_of(corpus, dataset, row, particles)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    learner.step(state, minibatch(corpus.initial, 1))
    return learner.save(state)


def learn(run: Run, thin: int, particles: int) -> Result:
    """One run: its points, the processor's seconds of learning, bytes, moves for each token."""
    corpus = corpus_of(run.dataset, thin)
    settings = replace(settings_of(corpus, run.dataset, run.row, particles), seed=run.seed)
    learner: Any = learner_for(settings)
    if run.row in ("batch", "default"):
        state = learner.init(settings, "", 0)
        learner.step(state, minibatch(corpus.initial, 1))
    else:
        state = learner.load(settings, "", 0, shared_sample(run.dataset, run.row, thin, particles))
    points = [measured(learner, state, corpus, True)] if run.row != "batch" else []
    seconds, moves, tokens, resamplings = 0.0, 0, 0, 0
    for sequence, documents in enumerate(corpus.parts, start=2):
        batch = minibatch(documents, sequence)
        begin = time.thread_time()
        info = learner.step(state, batch)
        seconds += time.thread_time() - begin
        moves, tokens, resamplings = (
            moves + info.moves,
            tokens + info.tokens,
            resamplings + info.resamplings,
        )
        if run.row != "batch" or sequence == PARTS + 1:
            points.append(measured(learner, state, corpus, sequence % 2 == 1))
    figures = {
        "seconds": seconds,
        "bytes": learner.nbytes(state),
        "moves": moves / tokens,
        "resamplings": resamplings,
        "tokens": tokens,
    }
    return {"points": points, **figures, "groups": groups(state)}


def measured(learner: Any, state: Any, corpus: Corpus, held_out: bool) -> list[float | None]:
    """Return the figures of a learner, and leave its state as it is.

    Returns:
        Documents seen, nMI in training, nMI held out (None where it is not wanted), ln P(w, z).
    """
    summary = learner.summary(state)
    score = _held_out(learner, state, corpus) if held_out else None
    return [summary.documents, summary.in_sample_nmi, score, summary.posterior.log()]


def _held_out(learner: Any, state: Any, corpus: Corpus) -> float:
    labels = corpus.held_out.labels
    if not isinstance(state, PaperState) or state.waiting is not None:
        seed = state.settings.seed
        return nmi(labels, fixed_clusters(learner.snapshot(state), corpus.held_out, seed))
    copy = deepcopy(state)
    before = copy.documents
    learner.step(copy, minibatch(corpus.held_out, 1000))
    slots = [slot for slot in copy.history.slots().tolist() if copy.history.arrival[slot] >= before]
    return nmi(labels, main_topics(copy, slots))


def main_topics(state: PaperState, slots: list[int]) -> list[int]:
    """Return the most frequent topic of some documents in the best particle."""
    best = best_particle(state.particles)
    return [int(topics_of(state, slot)[best].argmax()) for slot in slots]


def groups(state: Any) -> list[list[Any]]:
    """Return how well topics match groups, the largest topic first.

    Returns:
        For each topic: its documents, the group that most of them have, and that group's share.
        Nothing for a learner that is not of the paper, or that keeps no document.
    """
    if not isinstance(state, PaperState):
        return []
    slots = state.history.slots().tolist()
    labels = [state.history.labels[slot] for slot in slots]
    found = Counter(zip(main_topics(state, slots), labels, strict=True))
    rows = []
    for topic in range(state.settings.topic_count):
        mine = {str(label): count for (cluster, label), count in found.items() if cluster == topic}
        if mine:
            most = max(sorted(mine), key=lambda label: mine[label])
            rows.append([sum(mine.values()), most, mine[most] / sum(mine.values())])
    return sorted(rows, reverse=True)


def plan(datasets: list[str], rows: list[str], seeds: int) -> Iterator[Run]:
    """All rows with one seed before any with two."""
    for seed in range(1, seeds + 1):
        for dataset in datasets:
            yield from (Run("canini", dataset, row, seed) for row in rows)


def canini() -> None:
    """Reproduce Canini et al. (2009) in small: a tenth of diff3, 10 particles, 2 runs.

    ``python -m benchmarks.canini`` has the paper's size.
    """
    main(["--size=small"])


def main(arguments: list[str] | None = None) -> None:
    """Make the runs, then the table and the plots."""
    given = experiment(__doc__, "canini-2009", DATASETS, list(ROWS), arguments)
    thin, particles = (10, 10) if given.size == "small" else (1, 100)
    ledger = Ledger(given.ledger)
    ledger.make(
        plan(given.datasets, given.rows, given.seeds), lambda run: learn(run, thin, particles)
    )
    report(ledger, given.results)


if __name__ == "__main__":
    main()
