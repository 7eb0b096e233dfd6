"""Documents with known topics, and grids, for the tests of learned weights of topics."""

import numpy as np

from beam_topics.model.learners.particles.topic_weights import EVEN

# Most documents have the first topic alone, so that neither A nor gamma can be large.
ROWS = {(6, 0): 20, (4, 2): 4, (0, 3): 2}
COUNTS = np.repeat(np.array(list(ROWS), np.int32), list(ROWS.values()), axis=0)


def grid(low, high, cells):
    edges = np.linspace(low, high, cells + 1)
    return (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]


def mixed(first):
    """Return the shares of both topics in A, given the weight of the first one."""
    return EVEN / 2 + (1 - EVEN) * first, EVEN / 2 + (1 - EVEN) * (1 - first)


def weight_in(alpha):
    """Return the weight of the first of two topics, given their Dirichlet parameters."""
    return (alpha[0] / alpha.sum() - EVEN / 2) / (1 - EVEN)


def all_tables(of_topics, alpha, names):
    """Count the tables of the even part, too: a planted bug."""
    return of_topics, names[2]
