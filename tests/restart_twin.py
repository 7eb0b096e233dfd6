"""Slow, readable twins of the kernels that challengers are made with."""

import math

from populations import Pair
from twins import normal, times, uniform

from beam_topics.model.learners.particles.population import copy_of

TEXTS = [[0, 1, 2, 0, 0, 4], [3, 3, 1], [], [2, 5] * 30, [5, 4, 3, 2, 1, 0], [1]]
KINDS = [(None, 0.0), ("minimal", 0.3), ("sampled", 0.0), ("sampled", 0.4)]
IDENTITY = 9


def pair_of(kind, discount, topics=5):
    """Three particles and their twins that have learned the texts."""
    pair = Pair(topics, 6, discount=discount, kind=kind)
    for text in TEXTS:
        pair.learn(text)
    return pair


def copied(pair, particle):
    """A population of one of them."""
    return copy_of(
        pair.population,
        particle,
        pair.words,
        len(pair.history.pages.words),
        IDENTITY,
    )


def take_out(particle, documents, key, identity, sequence, purpose):
    """The tokens of these documents leave, one by one."""
    index = 0
    for d in documents:
        left = len(particle.texts[d])
        for w, t in zip(particle.texts[d], particle.topics[d], strict=True):
            n, tables = particle.words[w][t], particle.tables[w][t]
            u = uniform(index, key, identity, sequence, purpose + 64)
            closed = bool(particle.closes_table(n, tables, u))
            index, left = index + 1, left - 1
            particle.count(d, w, t, -1, closed)
            particle.joint = times(
                particle.joint, (particle.alpha_sum + left) / conditional(particle, d, w, t, closed)
            )
    particle.joint = normal(particle.joint)


def put_back(particle, documents, chosen, key, identity, sequence, purpose):
    """Their tokens join topics drawn evenly."""
    index = 0
    for d in documents:
        for i, w in enumerate(particle.texts[d]):
            t = chosen[int(uniform(index, key, identity, sequence, purpose) * len(chosen))]
            v = uniform(index, key, identity, sequence, purpose + 64)
            index += 1
            back = (particle.a + particle.discount * particle.topic_tables[t]) * particle.shared(w)
            opened = bool(
                particle.opens_table(particle.words[w][t], particle.tables[w][t], back, v)
            )
            factor = conditional(particle, d, w, t, opened)
            particle.joint = times(particle.joint, factor / (particle.alpha_sum + i))
            particle.count(d, w, t, 1, opened)
            particle.topics[d][i] = t
    particle.joint = normal(particle.joint)


def conditional(particle, d, w, t, opened):
    back = (particle.a + particle.discount * particle.topic_tables[t]) * particle.shared(w)
    return particle.gain(d, t) * particle.joint_factor(
        particle.words[w][t], particle.tables[w][t], back, opened
    )


def absorb(particle, old, new):
    """Everything of one topic becomes another's."""
    for words, tables in zip(particle.words, particle.tables, strict=True):
        words[new], words[old] = words[new] + words[old], 0
        moved, tables[old] = tables[old], 0
        particle.topic_tables[old] -= moved
        if particle.kind == "minimal" and tables[new] and moved:
            continue
        tables[new] += moved
        particle.topic_tables[new] += moved
    particle.totals[new], particle.totals[old] = particle.totals[new] + particle.totals[old], 0
    for d, counts in particle.documents.items():
        counts[new], counts[old] = counts[new] + counts[old], 0
        particle.topics[d] = [new if t == old else t for t in particle.topics[d]]


def loss(particle, x, y, omega):
    """L(x, y) as :mod:`beam_topics.model.learners.particles.kernels.losses` has it."""
    found = 0.0
    for d, text in particle.texts.items():
        for w, z in zip(text, particle.topics[d], strict=True):
            if z not in (x, y):
                continue
            words, totals, counts = (
                list(particle.words[w]),
                list(particle.totals),
                list(particle.documents[d]),
            )
            for part in (words, totals, counts):
                part[z] -= 1
            base = particle.shared(w)
            phi, weight = {}, {}
            for t in (x, y):
                held = words[t] - particle.discount * min(particle.tables[w][t], words[t])
                phi[t] = (
                    held + (particle.a + particle.discount * particle.topic_tables[t]) * base
                ) / (particle.a + totals[t])
                weight[t] = counts[t] + particle.alpha[t]
            merged = (totals[x] * phi[x] + totals[y] * phi[y]) / (totals[x] + totals[y])
            apart = weight[x] * phi[x] + weight[y] * phi[y]
            found += omega[d] * math.log(apart / ((weight[x] + weight[y]) * merged))
    return found


def complete(texts, phi, alpha, draws, sweeps=10, kept=6):
    """Sum of ln p of each document's tokens at odd places; phi by word, then topic."""
    scores, index = [], 0
    topics = range(len(alpha))
    for text in texts:
        seen, hidden = text[::2], text[1::2]
        states, counts, mean = [None] * len(seen), [0] * len(alpha), [0.0] * len(alpha)
        for sweep in range(sweeps + 1):
            for i, w in enumerate(seen):
                if sweep:
                    counts[states[i]] -= 1
                q = [phi[w][t] * (alpha[t] + counts[t]) for t in topics]
                x, total = uniform(index, *draws) * math.fsum(q), 0.0
                index += 1
                for t in topics:
                    total += q[t]
                    if total > x:
                        break
                states[i] = t
                counts[t] += 1
            if sweep > sweeps - kept:
                mean = [m + c for m, c in zip(mean, counts, strict=True)]
        theta = [
            (m / kept + a) / (len(seen) + sum(alpha)) for m, a in zip(mean, alpha, strict=True)
        ]
        scores.append(sum(math.log(sum(theta[t] * phi[w][t] for t in topics)) for w in hidden))
    return scores


def law_of_tables(a=1.2, d=0.3):
    """Of three tokens: the Chinese restaurant's."""
    second = (a + d) / (a + 1)
    third_of_one, third_of_two = (a + d) / (a + 2), (a + 2 * d) / (a + 2)
    return [
        (1 - second) * (1 - third_of_one),
        (1 - second) * third_of_one + second * (1 - third_of_two),
        second * third_of_two,
    ]
