"""The initial batch: chains of batch Gibbs, the best of which all particles start from.

The chains run Alg. 1 of Canini et al. (2009); the choice among them is that of May et al. (2014).
A chain is a particle that is never resampled and starts with uniform topics, so the particle
kernels serve here too. ``--initial_choice`` says how chains are compared:

* ``perplexity``: the chains are trained on 80 % of the batch and compared by the probability that
  they give to the rest (first-moment particle learning). The rest then decides how many topics
  learning begins with (:mod:`model.learners.particles.uniting`), and is learned as the first
  documents of the stream.
* ``posterior``: they are trained on the whole batch and compared by P(w, z). A batch of less
  than four documents is always compared in this way, as it leaves none to predict.
* ``nmi``: they are trained on the whole batch and compared by the nMI of each document's most
  frequent topic with its label.

All draws are the same on every island.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.errors import OptionError
from model.evaluation.kernels.held_out import first_moments
from model.evaluation.nmi import main_topics, nmi
from model.kernels.random import INITIAL_CONCENTRATION, INITIAL_SWEEP, INITIAL_TOPICS
from model.learners.particles.arrivals import document_counts, note_arrivals
from model.learners.particles.concentration import learn_concentrations
from model.learners.particles.history import WHOLE_DOCUMENT, Documents
from model.learners.particles.population import joint, new_population, replicate
from model.learners.particles.priors import word_probabilities
from model.learners.particles.settings import ENDLESS, InitialBatch
from model.learners.particles.state import (
    ParticleState,
    begin_minibatch,
    learn_spelling,
    plant_seeds,
)
from model.learners.particles.stepping import draw_documents, learn_documents, visit
from model.learners.particles.uniting import unite_topics
from model.learners.particles.word_blocks import Block, in_blocks
from model.records import IntArray
from model.scaled import Scaled

# With ``perplexity`` this share of the documents is held out.
HELD_OUT = 0.2
# 2^32 divided by the golden ratio: multiples of it, modulo 2^32, have no period.
_GOLDEN = 2_654_435_769
# Visits of documents in one call, over all sweeps.
_VISITS = 10_000


class Chains(NamedTuple):
    """How chains run over a batch.

    Attributes:
        number: C, how many there are.
        sweeps: the sweeps of each.
        evenly: whether a token's first topic is a uniform draw. Otherwise it is drawn given the
            tokens before it.
    """

    number: int
    sweeps: int
    evenly: bool = True

    @classmethod
    def of(cls, batch: InitialBatch) -> Chains:
        """Return those of a complete batch."""
        return cls(batch.chains, batch.sweeps)


def join(batch: InitialBatch, waiting: Documents, documents: Documents) -> tuple[int, bool]:
    """Add the next documents to the initial batch, as many as it takes.

    Args:
        batch: the settings; the batch ends with the document that reaches one of its sizes.
        waiting: the documents of the incomplete batch, which receives the new ones.
        documents: the documents that follow.

    Returns:
        How many of them joined, and whether the batch is complete.
    """
    if batch.documents == ENDLESS:
        waiting += documents
        return len(documents), False
    tokens = sum(len(words) for words, _ in waiting)
    for joined, (words, label) in enumerate(documents, 1):
        waiting.append((words, label))
        tokens += len(words)
        if len(waiting) >= batch.documents or tokens >= batch.tokens:
            return joined, True
    return len(documents), False


def initialise(state: ParticleState, chains: Chains) -> None:
    """Learn the waiting documents; afterwards ``state.waiting`` is None.

    The draws have sequence number 0.

    Args:
        state: the learner's state, with documents that wait.
        chains: how the chains run.
    """
    waiting, batch = state.waiting or [], state.initial
    state.waiting = None
    learn_spelling(state)
    begin_minibatch(state, 0)
    held_out = batch.choice == "perplexity" and batch.chains > 1
    judging = held_out_of(len(waiting)) if held_out else np.zeros(len(waiting), bool)
    order = np.argsort(judging, kind="stable")
    learned, judges = (
        [waiting[place] for place in order if judging[place] == judged] for judged in (False, True)
    )
    slots = state.history.begin_all(learned)
    generations = int(state.resampler.counters[-1])
    run_chains(state, slots, chains)
    chosen = _best(state, slots, judges) if chains.number > 1 else 0
    if judges and state.settings.can_weigh_topics and not state.settings.learns_topics:
        chosen = 0 if unite_topics(state, chosen, [tokens for tokens, _ in judges]) else chosen
    particles = state.settings.island_particles
    state.population = replicate(state.population, chosen, particles, state.island * particles)
    state.resampler.counters[-1] = max(generations, int(state.population.generation.max()))
    for slot in slots.tolist():
        state.history.admit(slot, *state.stream)
    note_arrivals(state, slots)
    state.history.release(slots.tolist())
    state.documents += len(learned)
    state.tokens += sum(len(tokens) for tokens, _ in learned)
    begin_minibatch(state, 0)
    learn_documents(state, judges)
    state.arrived = [np.concatenate(state.arrived)[np.argsort(order)]]
    # The next minibatch resets the evidence, so these tokens are not scored.
    state.scored = 0


def held_out_of(documents: int) -> npt.NDArray[np.bool_]:
    """Return which documents of a batch chains do not learn, as bool[D].

    They are spread over the batch, because the first documents may be of other subjects than the
    last ones, and without a period, because subjects may take turns.
    """
    places = np.arange(documents, dtype=np.uint64) * np.uint64(_GOLDEN) % np.uint64(2**32)
    chosen: npt.NDArray[np.bool_] = places >= np.uint64((1 - HELD_OUT) * 2**32)
    return chosen


def run_chains(state: ParticleState, slots: IntArray, chains: Chains) -> None:
    """Replace the population by chains of batch Gibbs over the documents in ``slots``.

    Args:
        state: the learner's state, with the documents in its history.
        slots: int32[D], the documents.
        chains: how they run.
    """
    whole_past = state.settings.rejuvenation.whole_past
    prior = state.prior._replace(a=_first_strength(state, slots))
    state.population = new_population(prior, chains.number, state.threads, whole_past=whole_past)
    plant_seeds(state)
    draw_documents(state, slots, INITIAL_TOPICS, chains.evenly)
    positions = np.full(len(slots), WHOLE_DOCUMENT, np.int64)
    # A call costs as much as some thousand draws. Only draws of concentrations come between sweeps.
    fixed = not state.settings.prior.learns_concentrations
    together = max(1, _VISITS // max(1, len(slots))) if fixed else 1
    for first in range(0, chains.sweeps, together):
        some = min(together, chains.sweeps - first)
        visit(state, np.tile(slots, some), np.tile(positions, some), INITIAL_SWEEP, owned=True)
        learn_concentrations(state, INITIAL_CONCENTRATION)


def _first_strength(state: ParticleState, slots: IntArray) -> float:
    """Return the a with which chains begin."""
    words = np.unique(np.concatenate([state.history.words_of(slot) for slot in slots.tolist()]))
    size = state.settings.vocabulary.size
    return state.settings.prior.strength(size, int(np.count_nonzero(words >= 0)))


def _best(state: ParticleState, slots: IntArray, judges: Documents) -> int:
    chains = range(len(state.population.weight))
    if state.initial.choice == "nmi":
        labels = [state.history.labels[slot] for slot in slots.tolist()]
        if None in labels:
            raise OptionError(
                "--initial_choice",
                "nmi",
                "perplexity where documents have no label",
                "Map the labels with --label_field.",
            )
        scores: list[Any] = [
            nmi(labels, most_frequent_topics(state, chain, slots)) for chain in chains
        ]
    elif not judges:
        scores = [joint(state.population, chain).order() for chain in chains]
    else:
        documents = [tokens for tokens, _ in judges]
        blocks = list(in_blocks(documents, state.settings.topic_count))
        scores = [_held_out_probability(state, chain, blocks).order() for chain in chains]
    return max(chains, key=lambda chain: (scores[chain], -chain))


def most_frequent_topics(state: ParticleState, particle: int, slots: IntArray) -> list[int]:
    """Return each document's most frequent topic in one particle, the first of equals."""
    return main_topics(document_counts(state, state.population, particle, slots))


def _held_out_probability(state: ParticleState, chain: int, blocks: list[Block]) -> Scaled:
    """Return P(held-out documents | the topics of a chain).

    Words that no training document has take the probability of their prior.
    """
    prior, found = state.prior, []
    for block in blocks:
        phi = word_probabilities(state.population, prior, chain, block.words)
        alpha, lengths = prior.alpha[: phi.shape[1]], np.array(block.lengths)
        found.append(first_moments(block.tokens, lengths, phi, alpha, prior.alpha_sum))
    return Scaled.product(np.concatenate(found))
