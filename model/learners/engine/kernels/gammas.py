"""Draws of gamma variables, and of a concentration given the tables (Teh 2006, appendix A).

With n_t tokens at k_t tables in restaurant t, and a gamma prior of shape :data:`SHAPE` and rate
:data:`RATE`, an auxiliary variable for each restaurant makes the conditional distribution of the
concentration a gamma distribution:

    x_t ~ Beta(a + 1, n_t - 1),    a ~ Gamma(shape + sum of (k_t - 1), rate - sum of ln x_t).

Gamma variables are made from named uniforms by the method of Marsaglia and Tsang (2000), normal
variables by that of Box and Muller, beta variables from two gamma variables. Uniforms are numbered
from ``index``. Each function returns the next unused number.
"""

from __future__ import annotations

import math

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.kernels.random import uniform

# The gamma prior has mean 1,000 and is nearly flat.
SHAPE, RATE = 1.0, 0.001


@kernel
def gamma(shape, draws, thing, index):
    """Draw from Gamma(shape, 1) for shape >= 1, and return (the value, the next index).

    With d = shape - 1/3 and a standard normal x, d (1 + x / sqrt(9 d))^3 has nearly this
    distribution; a rejection step makes it exact.
    """
    d = shape - 1.0 / 3.0
    while True:
        radius = math.sqrt(
            -2.0
            * math.log(
                1.0 - uniform(index, draws.key0, draws.key1, thing, draws.sequence, draws.purpose)
            )
        )
        angle = (
            2.0
            * math.pi
            * uniform(index + 1, draws.key0, draws.key1, thing, draws.sequence, draws.purpose)
        )
        u = 1.0 - uniform(index + 2, draws.key0, draws.key1, thing, draws.sequence, draws.purpose)
        index += 3
        x = radius * math.cos(angle)
        cube = (1.0 + x / math.sqrt(9.0 * d)) ** 3
        if cube > 0.0 and math.log(u) < 0.5 * x * x + d - d * cube + d * math.log(cube):
            return d * cube, index


@kernel
def log_beta(first, second, draws, index):
    """Draw x from Beta(first, second), both >= 1, and return (ln x, the next index)."""
    one, index = gamma(first, draws, 0, index)
    other, index = gamma(second, draws, 0, index)
    return math.log(one / (one + other)), index


@kernel
def draw_concentration(a, tokens, tables, draws):
    """Draw a given int64[T] tokens and tables, n_t and k_t."""
    logs, shape, index = 0.0, SHAPE, 0
    for t in range(len(tokens)):
        if tokens[t] > 1:
            log, index = log_beta(a + 1.0, tokens[t] - 1.0, draws, index)
            logs += log
        # The first table of each topic is certain and carries no information.
        shape += max(tables[t] - 1, 0)
    return gamma(shape, draws, 0, index)[0] / (RATE - logs)
