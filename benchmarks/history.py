"""The whole past in the directed tree (Canini et al. 2009, section 4), and in tables.

``python -m benchmarks history`` prints two tables. The first has the time of one resampling of 100
particles by the length of the past, and the time to copy every particle's past. Each particle has
redrawn 30 tokens since the last resampling. The second has the memory and the time of the paper's
filter (P = 100, ESS 20, 30 tokens of the whole past after each resampling) while it reads diff3,
with the past in the tree (``--history=tree``) and in tables (``--history=full``): the rows of 32
topics, and the rows that particles without sharing would need. Both come to the same witness.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from beam_topics.model.learners import (
    AfterResampling,
    DirectedTree,
    FullHistory,
    Given,
    InitialBatch,
    ParticleFilter,
    Residual,
    learner_for,
)
from beam_topics.model.learners.particles.kernels.copy_on_write import free_rows
from beam_topics.model.learners.particles.kernels.particles import PAGE
from beam_topics.model.learners.particles.kernels.shared_rows import inherit, own_row
from beam_topics.model.papers.directed_tree import (
    NIL,
    Tree,
    new_tree,
    with_free_rows,
)
from benchmarks.corpora import minibatches, newsgroups, shuffled, vocabulary

PARTICLES, MOVES, RESAMPLINGS = 100, 30, 200
DOCUMENTS = 300


def history() -> None:
    """Measure the full history: time of a resampling, and memory with and without sharing."""
    for pages in (1_000, 10_000, 100_000):
        resampling(pages)
    for past in (DirectedTree(), FullHistory()):
        reading(past)


def resampling(pages: int) -> None:
    """Print what one costs after a past of so many pages."""
    generator = np.random.default_rng(1)
    tree = with_free_rows(new_tree(PARTICLES, PAGE), pages + 1)
    for page in range(pages):
        own_row(tree, 0, page, 0, 0, False)
    inherit(tree, np.zeros(PARTICLES, np.int64))
    taken = []
    for _ in range(RESAMPLINGS):
        tree = with_free_rows(tree, 3 * PARTICLES * MOVES)
        chosen = generator.integers(0, pages, MOVES)
        for p in range(PARTICLES):
            for page in chosen:
                own_row(tree, p, page, 0, 0, True)
        ancestors = ancestry(generator)
        start = time.process_time()
        inherit(tree, ancestors)
        taken.append(time.process_time() - start)
    plain = np.zeros((PARTICLES, min(pages, 10_000), PAGE), np.int32)
    start = time.process_time()
    plain = plain[ancestors]
    copied = (time.process_time() - start) * pages / plain.shape[1]
    shares = f"{live(tree)} rows instead of {PARTICLES * pages}"
    print(
        f"past of {pages:7} pages: {1e6 * np.mean(taken):7.0f} us a resampling, copying"
        f" {1e6 * copied:9.0f} us, {shares}",
        flush=True,
    )


def ancestry(generator: np.random.Generator) -> Any:
    """About as many survivors as ESS 20 of 100 leaves."""
    counts = generator.multinomial(PARTICLES, generator.dirichlet(np.full(PARTICLES, 0.3)))
    ancestors = np.where(counts > 0, np.arange(PARTICLES), NIL)
    ancestors[counts == 0] = np.repeat(np.arange(PARTICLES), np.maximum(counts - 1, 0))
    return ancestors


def live(tree: Tree) -> int:
    """Rows that some node holds."""
    return int(np.count_nonzero(tree.node != NIL))


def reading(past: FullHistory) -> None:
    """Print what the paper's filter holds, minibatch by minibatch."""
    documents = shuffled(newsgroups("diff3")[0], 1)[:DOCUMENTS]
    settings = ParticleFilter(
        topics=3,
        particles=PARTICLES,
        resampling=Residual(20, "token"),
        rejuvenation=AfterResampling(moves=MOVES, unit="token", history=past),
        initial=InitialBatch(documents=30, chains=1, sweeps=50),
        vocabulary=Given(vocabulary(documents)),
    )
    learner = learner_for(settings)
    state: Any = learner.init(settings, "", 0)
    for minibatch in minibatches(documents, DOCUMENTS // 5):
        start = time.process_time()
        learner.step(state, minibatch)
        taken = (time.process_time() - start) / len(minibatch)
        pages = sum(len(state.history.pages_of(int(slot))) for slot in state.history.slots())
        rows = state.population.topics
        held = live(rows) if isinstance(rows, Tree) else len(rows.rows) - free_rows(rows)
        print(
            f"{past.kind} {learner.witness(state).hex()[:8]}: {state.documents:5} documents,"
            f" {state.tokens:7} tokens: {held:7} rows of topics,"
            f" {PARTICLES * pages:8} without sharing ({PARTICLES * pages / held:.1f} x),"
            f" {1000 * taken:.0f} ms a document",
            flush=True,
        )
