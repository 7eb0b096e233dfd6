"""The experiments of May, Clemmer and Van Durme (2014): ``python -m benchmarks.may --help``.

The filter of Canini et al. (T = 3, alpha = beta = .1, P = 100, ESS 20, R = 30) with multinomial
resampling, on the bydate split of three datasets; a run differs from another in its draws alone,
not in the order of the documents. After each tenth of the stream the topics are held and five Gibbs
sweeps cluster the test documents: nMI out of sample.

* figure 1: from one fixed initial model, without rejuvenation, over a reservoir of 1,000 tokens,
  and over the full history;
* figure 2: initial samples of 0, 30, 100 and 300 documents, 2,000 sweeps, each run its own; and
  batch Gibbs;
* figure 3: the best of 20 initial chains by nMI or by perplexity, beside one chain; 10 % of the
  stream, 200 sweeps;
* the project's default settings, with and without rejuvenation.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.evaluation.held_out import clusters, nmi
from beam_topics.model.learners import LEARNER, LearnerSettings, NeverResample, learner_for
from beam_topics.model.settings.compositions import compose
from benchmarks.corpora import minibatch, newsgroups, part, shuffled, vocabulary
from benchmarks.experiments import experiment
from benchmarks.ledger import Ledger, Result, Run
from benchmarks.may_report import report

DATASETS = ("diff3", "rel3", "sim3")
PARTS = 10
CANDIDATES = 20
FILTER: dict[str, Any] = {
    "learner": "particle-filter",
    "particles": 100,
    "ess": 20,
    "resampling": "multinomial",
    "rejuvenation": "resampling",
    "rejuvenation_unit": "token",
    "moves": 30,
    "reservoir": 1000,
    "chains": 1,
    "initial_sweeps": 200,
}
UNBOUNDED = {name: value for name, value in FILTER.items() if name != "reservoir"}
LONG = {**FILTER, "initial_sweeps": 2000}
FIXED: dict[str, dict[str, Any]] = {
    "no rejuvenation": {**FILTER, "rejuvenation": "never"},
    "reservoir of 1,000": FILTER,
    "full history": {**UNBOUNDED, "history": "full"},
}
SIZES: dict[str, dict[str, Any]] = {
    "0 documents": {**FILTER, "initial": "none"},
    **{f"{size} documents": {**LONG, "initial_documents": size} for size in (30, 100, 300)},
}
BATCH = {"batch": {"learner": "batch-gibbs", "chains": 1, "sweeps": 2000}}
TUNED: dict[str, dict[str, Any]] = {
    "one chain": FILTER,
    "best of 20": {**FILTER, "chains": 20},
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "defaults": {"learner": "particle-filter"},
    "defaults, no rejuvenation": {"learner": "particle-filter", "rejuvenation": "never"},
}
ROWS = {**FIXED, **SIZES, **BATCH, **TUNED, **DEFAULTS}


@cache
def corpus_of(dataset: str, thin: int) -> tuple[list[Block], Block, tuple[str, ...]]:
    """Return the stream in ten parts, the test documents, and the vocabulary."""
    train, test = newsgroups(dataset)
    stream = part(shuffled(train, 1), every=thin)
    bounds = np.linspace(0, len(stream), PARTS + 1).astype(int)
    return (
        [part(stream, first, last) for first, last in pairwise(bounds)],
        part(test, every=thin),
        vocabulary(train),
    )


def settings_of(run: Run, thin: int, particles: int) -> LearnerSettings:
    """Return a row's settings; the initial batch is the first part unless the row has another."""
    parts, _, words = corpus_of(run.dataset, thin)
    chosen = {"topics": 3, "vocabulary": "given", "vocabulary_file": words, **ROWS[run.row]}
    if run.row not in DEFAULTS:
        chosen.setdefault("initial_documents", len(parts[0]))
    if chosen.get("particles") == 100 and particles > 1:
        chosen |= {"particles": particles, "ess": 20 * particles // 100}
    elif chosen.get("particles") == 100:
        # A candidate for the initial model, which nothing resamples.
        chosen |= {"particles": 1, "resampling": "never", "rejuvenation": "never"}
    return compose(LEARNER, {"seed": run.seed}, chosen)


def score(snapshot: Any, test: Block, seed: int) -> float:
    """Return the nMI out of sample."""
    return nmi(test.labels, clusters(snapshot, test, seed))


@cache
def fixed_seed(dataset: str, thin: int, candidates: int) -> int:
    """Return the seed of the fixed initial model.

    It is the candidate whose nMI out of sample is the (upper) median of all candidates.
    """
    (first, *_), test, _ = corpus_of(dataset, thin)
    found = []
    for seed in range(1, candidates + 1):
        settings = replace(
            settings_of(Run("may", dataset, "no rejuvenation", seed), thin, 1),
            resampling=NeverResample(),
        )
        learner = learner_for(settings)
        state = learner.init(settings, "", 0)
        learner.step(state, minibatch(first, 1))
        found.append((score(learner.snapshot(state), test, 1), seed))
    found.sort()
    spread = ", ".join(
        f"{found[int(share * (len(found) - 1))][0]:.3f}" for share in (0, 0.25, 0.5, 0.75, 1)
    )
    print(
        f"{dataset}: nMI of {candidates} initial models, least, quartiles, greatest: {spread}",
        flush=True,
    )
    return found[len(found) // 2][1]


@cache
def fixed_model(dataset: str, row: str, thin: int, particles: int, candidates: int) -> bytes:
    """Return the saved learner after the initial batch, the same model for every row."""
    settings = settings_of(
        Run("may", dataset, row, fixed_seed(dataset, thin, candidates)), thin, particles
    )
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    learner.step(state, minibatch(corpus_of(dataset, thin)[0][0], 1))
    return learner.save(state)


def learn(run: Run, thin: int, particles: int, candidates: int) -> Result:
    """Make one run: [documents, nMI] after each part, processor seconds, and moves a token."""
    settings = settings_of(run, thin, particles)
    learner: Any = learner_for(settings)
    parts, test, _ = corpus_of(run.dataset, thin)
    state, points, documents = learner.init(settings, "", 0), [], 0
    seconds, moves, tokens, resamplings = 0.0, 0, 0, 0
    if run.row in FIXED:
        state = learner.load(
            settings, "", 0, fixed_model(run.dataset, run.row, thin, particles, candidates)
        )
    for sequence, some in enumerate(parts, start=1):
        documents += len(some)
        begin = time.thread_time()
        if sequence > 1 or run.row not in FIXED:
            info = learner.step(state, minibatch(some, sequence))
            moves, tokens, resamplings = (
                moves + info.moves,
                tokens + info.tokens,
                resamplings + info.resamplings,
            )
        ready = state.waiting is None or sequence == PARTS
        snapshot = learner.snapshot(state) if ready else None
        seconds += time.thread_time() - begin
        if snapshot is not None:
            points.append([documents, score(snapshot, test, run.seed)])
    figures = {
        "seconds": seconds,
        "moves": moves / tokens,
        "resamplings": resamplings,
        "tokens": tokens,
    }
    return {"points": points, **figures, "log_joint": learner.summary(state).posterior.log()}


def plan(datasets: list[str], rows: list[str], seeds: int) -> Iterator[Run]:
    """All rows with one seed before any with two."""
    for seed in range(1, seeds + 1):
        for dataset in datasets:
            yield from (Run("may", dataset, row, seed) for row in rows)


def may() -> None:
    """Reproduce May et al. (2014) in small: a tenth of diff3, 10 particles, 2 runs.

    ``python -m benchmarks.may`` has the paper's size.
    """
    main(["--size=small"])


def main(arguments: list[str] | None = None) -> None:
    """Make the runs, then the tables and the plots."""
    given = experiment(__doc__, "may-2014", DATASETS, list(ROWS), arguments)
    size = (10, 10, 10) if given.size == "small" else (1, 100, CANDIDATES)
    ledger = Ledger(given.ledger)
    ledger.make(plan(given.datasets, given.rows, given.seeds), lambda run: learn(run, *size))
    report(
        ledger, given.results, {"1": list(FIXED), "2": [*SIZES, *BATCH], "3": [*TUNED, *DEFAULTS]}
    )


if __name__ == "__main__":
    main()
