"""The initial batch: C chains of batch Gibbs (Alg. 1 of Canini et al. 2009), the best of which all
particles start from (May et al. 2014).

Chains are particles that never meet, started with topics drawn evenly, so the particle kernels
serve as they are. With the choice ``perplexity`` they are trained on the first 80 % of the batch
and compared by how well they foretell the rest (first-moment particle learning); the rest is then
learned as the first documents of the stream. Otherwise they are trained on all of it and compared
by their joint probability (``posterior``, and a batch of one document, which leaves none to
foretell), or by how well each document's most frequent topic agrees with its label (``nmi``). All
draws are the same on every island.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.errors import OptionError
from model.evaluation.kernels.held_out import first_moment
from model.evaluation.nmi import nmi
from model.kernels.random import INITIAL_CONCENTRATION, INITIAL_SWEEP, INITIAL_TOPICS
from model.learners.particles.concentration import learn_concentrations
from model.learners.particles.kernels.shared_rows import row_of
from model.learners.particles.population import joint, new_population, spread
from model.learners.particles.priors import foretold
from model.learners.particles.state import ParticleState, begin_minibatch, learn_spelling, make_room
from model.learners.particles.stepping import draw_documents, learn_document, visit
from model.records import IntArray
from model.scaled import Scaled

TRAINED_SHARE = 0.8
WHOLE_DOCUMENT = -1


def initialise(state: ParticleState) -> None:
    """Learn the waiting documents; ``state.waiting`` is None afterwards. Their draws bear
    sequence 0.
    """
    waiting, batch = state.waiting or [], state.initial
    state.waiting = None
    learn_spelling(state)
    begin_minibatch(state, 0)
    held_out = batch.choice == "perplexity" and batch.chains > 1 and len(waiting) > 1
    trained = max(1, int(len(waiting) * TRAINED_SHARE)) if held_out else len(waiting)
    slots = state.history.begin_all(waiting[:trained]).tolist()
    generations = int(state.resampler.counters[-1])
    run_chains(state, slots, batch.chains, batch.sweeps)
    chosen = _best(state, slots, waiting, trained) if batch.chains > 1 else 0
    particles = state.settings.island_particles
    state.population = spread(state.population, chosen, particles, state.island * particles)
    state.resampler.counters[-1] = max(generations, int(state.population.generation.max()))
    for slot in slots:
        state.history.admit(slot, *state.stream)
    state.history.release(slots)
    state.documents += trained
    state.tokens += sum(len(tokens) for tokens, _ in waiting[:trained])
    begin_minibatch(state, 0)
    for tokens, label in waiting[trained:]:
        learn_document(state, tokens, label)
    # Their evidence is dropped when the minibatch begins, so their tokens do not count either.
    state.scored = 0


def run_chains(state: ParticleState, slots: list[int], chains: int, sweeps: int) -> None:
    """``state.population`` becomes so many chains of batch Gibbs over the documents in
    ``slots``, after so many sweeps.
    """
    state.population = new_population(
        state.prior, chains, state.threads, whole_past=state.settings.rejuvenation.whole_past
    )
    make_room(state, 0, 1, 0)
    draw_documents(state, slots, INITIAL_TOPICS, evenly=True)
    units, positions = np.array(slots, np.int32), np.full(len(slots), WHOLE_DOCUMENT, np.int64)
    for _ in range(sweeps):
        visit(state, units, positions, INITIAL_SWEEP)
        learn_concentrations(state, INITIAL_CONCENTRATION)


def _best(
    state: ParticleState, slots: list[int], waiting: list[tuple[IntArray, str | None]], trained: int
) -> int:
    chains = range(len(state.population.weight))
    if state.initial.choice == "nmi":
        labels = [label for _, label in waiting]
        if None in labels:
            raise OptionError(
                "--initial_choice",
                "nmi",
                "perplexity where documents have no label",
                "Map the labels with --label_field.",
            )
        scores: list[Any] = [nmi(labels, clusters(state, chain, slots)) for chain in chains]
    elif state.initial.choice == "posterior" or trained == len(waiting):
        scores = [joint(state.population, chain).order() for chain in chains]
    else:
        documents = [tokens for tokens, _ in waiting[trained:]]
        scores = [_foretold(state, chain, documents).order() for chain in chains]
    return max(chains, key=lambda chain: (scores[chain], -chain))


def clusters(state: ParticleState, particle: int, slots: Any) -> list[int]:
    """Each document's most frequent topic in one particle; the first of equals."""
    table = state.population.documents
    return [
        int(np.argmax(table.rows[row_of.py_func(table, particle, int(slot))])) for slot in slots
    ]


def _foretold(state: ParticleState, chain: int, documents: list[IntArray]) -> Scaled:
    """P(held-out documents | the chain's topics); words that no training document used have
    their prior's probability.
    """
    prior = state.prior
    distinct, rows = np.unique(np.concatenate(documents), return_inverse=True)
    phi = foretold(state.population, prior, chain, distinct.astype(np.int64))
    result = Scaled(0.5, 1)
    for tokens in np.split(
        rows.astype(np.int32), np.cumsum([len(document) for document in documents])[:-1]
    ):
        for p in first_moment(tokens, phi, prior.alpha[: phi.shape[1]], prior.alpha_sum):
            result = result * Scaled.of(float(p))
    return result
