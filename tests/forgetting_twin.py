"""A slow, readable twin of the kernels that forget tokens."""

import math

from twins import uniform


def held_tokens(particle, slots, words):
    """(document, position) of each word's tokens in the documents of ``slots``, by word."""
    return [
        [(d, i) for d in slots for i, v in enumerate(particle.texts[d]) if v == w]
        for w in range(words)
    ]


def choose_forgotten(counts, held, log_survival, key, sequence, purpose):
    """The tokens that die, and how many others of each word: tokens pass one by one."""
    index, wait = 0, None
    chosen, others = [], [0] * len(counts)
    for w, count in enumerate(counts):
        for k in range(count):
            if wait is None:
                u = uniform(index, key, 0, sequence, purpose)
                wait, index = math.floor(math.log(1.0 - u) / log_survival), index + 1
            if wait:
                wait -= 1
                continue
            wait = None
            if k < len(held[w]):
                chosen.append(held[w][k])
            else:
                others[w] += 1
    return chosen, others


def forget_tokens(particle, held, chosen, others, draws):
    """They leave the counts of words and topics; ``draws`` name uniforms but for their index."""
    index, topics = 0, range(len(particle.alpha))
    key, identity, sequence, purpose = draws
    for w, tokens in enumerate(held):
        free = list(particle.words[w])
        for d, i in tokens if particle.bug != "history not left out" else []:
            free[particle.topics[d][i]] -= 1
        for _ in range(others[w]):
            x = int(uniform(index, key, identity, sequence, purpose) * sum(free))
            t = next(t for t in topics if x < sum(free[: t + 1]))
            free[t] -= 1
            _leave(particle, w, t, uniform(index, key, identity, sequence, purpose + 64))
            index += 1
        for d, i in tokens:
            if (d, i) in chosen:
                v = uniform(index, key, identity, sequence, purpose + 64)
                _leave(particle, w, particle.topics[d][i], v)
                index += 1


def _leave(particle, w, t, v):
    closed = bool(particle.closes_table(particle.words[w][t], particle.tables[w][t], v))
    particle.words[w][t] -= 1
    particle.totals[t] -= 1
    particle.tables[w][t] -= closed
    particle.topic_tables[t] -= closed
