"""How strongly topics believe in the words that they share: a and a_0 of the hierarchical prior, learned from the tables (Teh 2006).

Each particle has its own a and a_0, drawn anew after every minibatch given its tables. With n_z tokens at k_z tables in topic z and
discount d, auxiliary variables make the law of a a gamma distribution:

    x_z ~ Beta(a + 1, n_z - 1),   y_zi ~ Bernoulli(a / (a + d i)) for i = 1 .. k_z - 1,
    a ~ Gamma(shape + sum of y_zi, rate - sum of ln x_z)

and the same for a_0 with the M tables as its tokens. The tables of that level are drawn on the way: of the m_w tables of word w, the
i-th (counted from 0) opens one with probability a_0 G(w) / (a_0 G(w) + i).

Draws are functions of (seed, key, particle, minibatch, how often in it): a Philox counter is set to them, and no generator outlives the
call.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from model.kernels.random import CONCENTRATION
from model.kernels.seating import SAMPLED
from model.learners.priors import word_rows
from model.learners.state import ParticleState, make_room
from model.records import FloatArray, LongArray
from model.scaled import Scaled

# Of the gamma law before anything is seen: its mean is 1,000, and it says next to nothing.
SHAPE, RATE = 1.0, 0.001


def learn_concentrations(state: ParticleState) -> None:
    """Draw each particle's a and a_0; its joint probability becomes that under the new ones."""
    if state.settings.concentrations == "fixed" or state.prior.tables != SAMPLED:
        return
    make_room(state, 0, 0, 0)
    cloud, topics, words = state.cloud, state.settings.topics, np.arange(len(state.vocabulary))
    for particle in range(len(cloud.weight)):
        if not cloud.tables[particle]:
            continue
        shared = word_rows(cloud, particle, words)[:, 2 * len(state.prior.alpha)].astype(np.int64)
        counts = cloud.totals[particle, :topics], cloud.kinds[particle, :topics], shared, state.prior.base[: len(words)]
        generator, (a, a_0) = _named(state, int(cloud.identity[particle])), cloud.concentration[particle].tolist()
        before = log_terms(*counts, a, a_0, state.prior.discount)
        a = _draw_a(generator, a, counts[0], counts[1], state.prior.discount)
        a_0 = _draw_a_0(generator, a_0, shared, counts[3])
        cloud.concentration[particle] = a, a_0
        change = (log_terms(*counts, a, a_0, state.prior.discount) - before) / np.log(2.0)
        whole = int(np.floor(change))
        joint = Scaled.of(float(cloud.joint[particle]), int(cloud.joint_exponent[particle])) * Scaled.of(2.0 ** (change - whole), whole)
        cloud.joint[particle], cloud.joint_exponent[particle] = joint.mantissa, joint.exponent
    state.concentrated += 1


def log_terms(tokens: LongArray, tables: LongArray, shared: LongArray, base: FloatArray, a: float, a_0: float, discount: float) -> float:
    """What of ln P(w, z, tables) depends on a and a_0.

    tokens, tables: int64[T], n_z and k_z. shared: int64[W], m_w. base: float64[W], G.
    """
    opened = tables * np.log(a) if not discount else tables * np.log(discount) + gammaln(a / discount + tables) - gammaln(a / discount)
    topics = np.sum(opened + gammaln(a) - gammaln(a + tokens))
    words = np.sum(gammaln(a_0 * base + shared) - gammaln(a_0 * base))
    return float(topics + words + gammaln(a_0) - gammaln(a_0 + shared.sum()))


def _named(state: ParticleState, particle: int) -> np.random.Generator:
    key0, key1 = state.stream
    counter = [CONCENTRATION, particle, state.sequence, state.concentrated]
    return np.random.Generator(np.random.Philox(key=key0 | key1 << 32, counter=counter))


def _draw_a(generator: np.random.Generator, a: float, tokens: LongArray, tables: LongArray, discount: float) -> float:
    several = tokens > 1
    logs = np.log(generator.beta(a + 1.0, tokens[several] - 1)).sum()
    if discount:
        old = sum(
            int(np.count_nonzero(generator.random(k) < a / (a + discount * np.arange(1, k + 1)))) for k in (tables - 1).clip(0).tolist()
        )
    else:
        old = int((tables - 1).clip(0).sum())
    # The first table of each topic is certain, so it says nothing.
    return float(generator.gamma(SHAPE + old) / (RATE - logs))


def _draw_a_0(generator: np.random.Generator, a_0: float, shared: LongArray, base: FloatArray) -> float:
    used = shared > 0
    own, counts = a_0 * base[used], shared[used]
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    weights = np.repeat(own, counts)
    opened = int(np.count_nonzero(generator.random(len(place)) * (weights + place) < weights))
    x = generator.beta(a_0 + 1.0, max(int(counts.sum()) - 1, 1))
    return float(generator.gamma(SHAPE + opened - 1) / (RATE - np.log(x)))
