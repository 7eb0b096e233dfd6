"""Four tokens, two of one word, beside a model.

The enumeration of 16 assignments gives the distribution of the number of tokens in topic 0.
"""

import itertools

import numpy as np
from made import snapshot_of
from scipy.stats import chisquare

TINY = snapshot_of([[3.0, 0.5], [0.0, 2.0], [1.0, 1.0]], alpha=[0.3, 0.7], beta=0.2)
ROWS, TOKENS = np.array([0, 1, 2]), np.array([0, 0, 1, 2], np.int32)


def law():
    table, totals = TINY.rows(ROWS) + TINY.prior.shares(ROWS), TINY.normalisers
    masses = np.zeros(len(TOKENS) + 1)
    for states in itertools.product((0, 1), repeat=len(TOKENS)):
        own, count, mass = np.zeros_like(table), np.zeros(2), 1.0
        for v, z in zip(TOKENS, states, strict=True):
            mass *= (TINY.alpha[z] + count[z]) * (table[v, z] + own[v, z]) / (totals[z] + count[z])
            own[v, z] += 1
            count[z] += 1
        masses[int(count[0])] += mass
    return masses / masses.sum()


def p_value(draws):
    return chisquare(np.bincount(draws, minlength=5), law() * len(draws)).pvalue
