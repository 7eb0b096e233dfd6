"""Learning begins with fewer topics where fewer predict better.

Of 600 documents of three subjects, a chain with 50 topics gives each subject a dozen topics, all of
them pure, each with a part of the subject's words. No sweep unites them: where the weights of
topics are even, a document that spreads over twelve topics is more probable than one that keeps to
one of fifty. So after its sweeps over the initial batch the chosen chain is offered fewer topics:

1. The pair of topics with the least loss (:mod:`model.learners.particles.kernels.losses`) becomes
   one, which takes the sum of their Dirichlet parameters, until all tokens have one topic. A topic
   that becomes empty keeps :data:`KEPT` of its parameter, so that it can still begin to grow.
2. At each number of topics the documents of the batch that no chain has learned are predicted by
   document completion (:mod:`model.learners.particles.kernels.completion`).
3. Where the best number predicts them better than all topics do, by :data:`LEAST_GAIN` and by
   :data:`ERRORS` standard errors, learning goes on with the least number that is no more than a
   standard error worse than the best.

Topics of real documents are rarely united: 200 posts or abstracts are not enough to tell that fewer
predict better, and everything stays as the chain left it (docs/results/small-data.md). Where
topics are united, the weights of topics are learned from then on
(:mod:`model.learners.particles.topic_weights`), so that a new subject gets a topic. Like a duel
(:mod:`model.learners.particles.challengers`), this is a decision by prediction. It does not leave
the posterior invariant. Challengers begin with even weights, and one that wins keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.learners.particles.challengers import completed, gain_of, known_of
from model.learners.particles.copying import copy_of, for_threads
from model.learners.particles.kernels.particles import Population
from model.learners.particles.merging import Merger
from model.learners.particles.past_documents import Past
from model.learners.particles.population import replicate
from model.learners.particles.priors import with_alpha
from model.learners.particles.state import ParticleState, ensure_capacity
from model.records import FloatArray, IntArray

# The share of its Dirichlet parameter that a topic keeps when another absorbs it.
KEPT = 2.0**-8
# Nats a token, and standard errors of them. The gains of made documents of a few subjects are .1 to
# .5, most of them 2 to 6 standard errors. Those of real documents are at most .07.
LEAST_GAIN, ERRORS = 0.08, 1.5


def unite_topics(state: ParticleState, particle: int, judges: Sequence[IntArray]) -> bool:
    """Let one particle take the place of all, with fewer topics if these predict better.

    Args:
        state: the learner's state, which has learned the documents of its history only.
        particle: the particle.
        judges: documents, as word numbers, that no particle has learned.

    Returns:
        Whether topics were united; otherwise nothing changes.
    """
    ensure_capacity(state, 0, 0, 0)
    even, documents = state.prior, [known_of(tokens) for tokens in judges]
    topics, pairs, gains = state.settings.topic_count, [], []
    merger = _merger(state, particle)
    before = completed(state, merger.population, 0, documents)
    for pair in merger.absorptions():
        pairs.append(pair)
        state.prior = with_alpha(even, united_alpha(even.alpha[:topics], pairs))
        after = completed(state, merger.population, 0, documents)
        gains.append(gain_of(documents, before, after))
    pairs, state.prior = pairs[: absorptions_wanted(gains)], even
    if pairs:
        state.prior = with_alpha(even, united_alpha(even.alpha[:topics], pairs))
        merger = _merger(state, particle)
        for old, new in pairs:
            merger.absorb(old, new)
        state.population = _alone(merger.renamed(), state.threads)
    return bool(pairs)


def _merger(state: ParticleState, particle: int) -> Merger:
    """Return a copy of a particle whose topics can absorb each other."""
    words, pages = len(state.vocabulary), len(state.history.pages.words)
    population = copy_of(state.population, particle, words, pages, particle)
    slots = state.history.slots().astype(np.int32)
    return Merger(state, population, Past(slots, np.ones(len(slots))))


def _alone(population: Population, threads: int) -> Population:
    return for_threads(replicate(population, 0, 1, int(population.identity[0])), threads)


def united_alpha(alpha: FloatArray, pairs: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the Dirichlet parameters of topics after absorptions.

    Args:
        alpha: float64[T], those before.
        pairs: (the topic that became empty, the topic that absorbed it), in order.
    """
    united = alpha.copy()
    for old, new in pairs:
        given = (1.0 - KEPT) * united[old]
        united[old] -= given
        united[new] += given
    return united


def absorptions_wanted(gains: Sequence[tuple[float, float]]) -> int:
    """Return after how many absorptions learning goes on.

    Args:
        gains: the gain and its standard error after each absorption, in nats a token.
    """
    most, error = max(gains, default=(0.0, 0.0))
    if most <= max(LEAST_GAIN, ERRORS * error):
        return 0
    return max(count for count, (gain, _) in enumerate(gains, 1) if gain >= most - error)
