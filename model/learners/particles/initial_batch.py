"""The initial batch: chains of batch Gibbs, the best of which all particles start from.

The chains run Alg. 1 of Canini et al. (2009); the choice among them is that of May et al. (2014).
A chain is a particle that is never resampled and starts with uniform topics, so the particle
kernels serve here too. ``--initial_choice`` says how chains are compared:

* ``perplexity``: the chains are trained on 80 % of the batch and compared by the probability that
  they give to the rest (first-moment particle learning). The rest is then learned as the first
  documents of the stream.
* ``posterior``: they are trained on the whole batch and compared by P(w, z). A batch of less
  than four documents is always compared in this way, as it leaves none to predict.
* ``nmi``: they are trained on the whole batch and compared by the nMI of each document's most
  frequent topic with its label.

All draws are the same on every island.

Provisional states: what a publication shows while documents wait within the learner.

Documents wait for a complete initial batch or for a duel. A publication includes them. It learns
them in a copy of the state, so the state itself does not depend on when versions are published.

While the initial batch is incomplete, the copy does not run the chains over all documents at each
publication. It runs them over the first 1, 2, 4, 8, ... documents, the largest of these numbers
that have come, and learns the rest like documents of the stream. The copy of such a number serves
all publications up to the next number. It is made anew when more documents come, so its chains do
as little as predicts other documents as well (docs/results/scale.md):

* With fewer than :data:`ONE_CHAIN_TOPICS` topics a chain can stay where two of them are mixed, and
  the best of several is better. As many run as have :data:`TOPICS_TOGETHER` topics together, with
  the sweeps of the complete batch.
* From there on one chain runs. It begins with a pass that draws each topic given the tokens before
  it, and then needs seven tenths of the sweeps (:data:`SMALL`), or four tenths
  (:data:`LARGE`) from :data:`LARGE_DOCUMENTS` documents on: in a few documents topics unite
  slowly.

So all publications together visit fewer tokens than the chains of the complete batch.
``batch-gibbs`` has no complete batch, and all its chains always run over all documents.

A copy is a function of the documents that wait. A learner that was restored makes the same one.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation.agreement import main_topics, nmi
from beam_topics.model.evaluation.kernels.held_out import first_moments
from beam_topics.model.kernels.random import INITIAL_CONCENTRATION, INITIAL_SWEEP, INITIAL_TOPICS
from beam_topics.model.learners.particles.challengers import Block, in_blocks
from beam_topics.model.learners.particles.history import WHOLE_DOCUMENT, Documents
from beam_topics.model.learners.particles.population import joint, new_population, replicate
from beam_topics.model.learners.particles.priors import word_probabilities
from beam_topics.model.learners.particles.settings import ENDLESS, InitialBatch
from beam_topics.model.learners.particles.state import (
    ParticleState,
    begin_minibatch,
    document_counts,
    learn_spelling,
    new_state,
    note_arrivals,
    plant_seeds,
)
from beam_topics.model.learners.particles.stepping import (
    draw_documents,
    learn_by_chains,
    learn_documents,
    visit,
)
from beam_topics.model.learners.particles.topic_weights import learn_concentrations
from beam_topics.model.records import IntArray
from beam_topics.model.scaled import Scaled

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
    history = state.settings.rejuvenation.history
    prior = state.prior._replace(a=_first_strength(state, slots))
    state.population = new_population(prior, chains.number, state.threads, history=history)
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


TOPICS_TOGETHER = 50
ONE_CHAIN_TOPICS = 20
# Tenths of the sweeps of a complete batch, and the number of documents that parts them.
SMALL, LARGE, LARGE_DOCUMENTS = 7, 4, 64


def initialised(state: ParticleState) -> ParticleState:
    """Return the state that has learned all documents that wait.

    Without waiting documents this is the state itself. Otherwise it is a copy, and the state does
    not change.
    """
    if not state.unlearned:
        return state
    received = state.documents + len(state.unlearned)
    if state.initialised is None or state.initialised.documents != received:
        copied = _without_held if state.waiting is None else _with_initial_batch
        state.initialised = copied(state)
    return state.initialised


def _with_initial_batch(state: ParticleState) -> ParticleState:
    """Return a copy that has learned the incomplete initial batch."""
    waiting = state.waiting or []
    if state.initial.documents == ENDLESS:
        return _begun(state, len(waiting), state.vocabulary.words, Chains.of(state.initial))
    count = 1 << (len(waiting).bit_length() - 1)
    if state.begun is None or state.begun.documents != count:
        # Words that came later would change the distribution over strings that is fitted to words.
        used = 1 + max((int(tokens.max(initial=-1)) for tokens, _ in waiting[:count]), default=-1)
        state.begun = _begun(state, count, state.vocabulary.words[:used], few_chains(state, count))
    # What was begun does not change any more, but for words that none of its documents has.
    copy = state.begun if count == len(waiting) else _copied(state.begun)
    # Its words are the first ones.
    copy.vocabulary.extend(state.vocabulary.words_since(len(copy.vocabulary)))
    begin_minibatch(copy, state.sequence)
    learn_documents(copy, waiting[count:])
    return copy


def few_chains(state: ParticleState, documents: int) -> Chains:
    """Return how chains run over the first documents of an incomplete initial batch."""
    batch, topics = state.initial, state.settings.topic_count
    if topics < ONE_CHAIN_TOPICS:
        return Chains(min(batch.chains, max(1, TOPICS_TOGETHER // topics)), batch.sweeps)
    tenths = SMALL if documents < LARGE_DOCUMENTS else LARGE
    return Chains(1, -(-batch.sweeps * tenths // 10), evenly=False)


def _begun(state: ParticleState, count: int, words: Iterable[str], chains: Chains) -> ParticleState:
    """Return a new learner whose initial batch is the first documents that wait."""
    begun = new_state(state.settings, state.key, state.island, state.threads)
    begun.vocabulary.extend(words)
    begun.waiting = (state.waiting or [])[:count]
    initialise(begun, chains)
    begun.sequence = state.sequence
    return begun


def _copied(state: ParticleState) -> ParticleState:
    alone = replace(state, initialised=None, begun=None, chain=None, events=[])
    # These never change. The tables of the prior take 9 MB, and those of a process are the same.
    shared = (state.settings, state.characters, state.prior.closing)
    memo: dict[int, object] = {id(one): one for one in shared if one is not None}
    memo[id(state.vocabulary)] = state.vocabulary.copied()
    return deepcopy(alone, memo)


def _without_held(state: ParticleState) -> ParticleState:
    """Return a copy that has learned, without a duel, the documents that wait for one."""
    copy = _copied(state)
    copy.arrived = []
    begin_minibatch(copy, state.sequence)
    if copy.following:
        learn_by_chains(copy, copy.following.held)
        copy.following = None
    return copy
