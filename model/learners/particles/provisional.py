"""Provisional states: what a publication shows while documents wait within the learner.

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

from model.learners.particles.initial_batch import Chains, initialise
from model.learners.particles.runs import learn_by_chains
from model.learners.particles.settings import ENDLESS
from model.learners.particles.state import ParticleState, begin_minibatch, new_state
from model.learners.particles.stepping import learn_documents

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
