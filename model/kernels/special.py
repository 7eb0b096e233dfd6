"""The natural logarithm, and exp(digamma(x)), from IEEE 754 operations.

The logarithm has the same bits on every machine. With x = m 2^e and m between sqrt(1/2) and
sqrt(2), s = (m - 1) / (m + 1) lies within +-0.1716 and

    ln x = e ln 2 + 2 (s + s^3 / 3 + s^5 / 5 + ... + s^17 / 17)

The omitted terms are below 1e-15.

Variational updates consist of exp(digamma(x)), the exponentials of expected logarithms, which are
computed without logarithms. For large y + 1/2 the series exp(digamma(y + 1/2)) = y + 1/(24 y) -
37/(5760 y^3) + ... converges fast. It is used at x + 8, and digamma(x) = digamma(x + 8) - (1/x +
... + 1/(x + 7)) leads back to x. So for x >= 1 the function consists of +, -, x and /, which IEEE
754 specifies and compilers vectorise. Below 1 it also takes exp(-1/x), which no short series
covers, from the C library. The last bit of that may differ between kinds of processors. The
relative error is below 2e-11; the tests compare with scipy.
"""

from __future__ import annotations

import math

from beam_topics.model.kernels.jit import inlined, kernel, page_kernel

_C1, _C3, _C5, _C7 = 1.0 / 24.0, 37.0 / 5760.0, 10313.0 / 2903040.0, 5509121.0 / 1393459200.0
# Below this an expectation would be no normal number for long; a weight of 0 in every topic could
# not be drawn from.
SMALLEST = 2.0**-500


@inlined
def _shifted(x):
    """Return exp(digamma(x + 8)), x >= 0."""
    y = x + 7.5
    z = 1.0 / (y * y)
    return y * (1.0 + z * (_C1 - z * (_C3 - z * (_C5 - z * _C7))))


@inlined
def _harmonic(x):
    """Return 1/x + 1/(x + 1) + ... + 1/(x + 7), x > 0, with one division.

    The factors pair up to t, t + 6, t + 10 and t + 12, where t = x (x + 7).
    """
    t = x * (x + 7.0)
    a, b, c = t + 6.0, t + 10.0, t + 12.0
    low, high = t * a, b * c
    return (2.0 * x + 7.0) * ((t + a) * high + (b + c) * low) / (low * high)


@inlined
def exp_digamma(x):
    """Return exp(digamma(x)) for x >= 1.

    The harmonic sum is at most 2.72. Its exponential is a short series, squared four times.
    """
    s = _harmonic(x) * -0.0625
    series = 1.0 + s * (
        1.0
        + s
        * (
            0.5
            + s
            * (
                1 / 6
                + s * (1 / 24 + s * (1 / 120 + s * (1 / 720 + s * (1 / 5040 + s * (1 / 40320)))))
            )
        )
    )
    squared = series * series
    fourth = squared * squared
    eighth = fourth * fourth
    return _shifted(x) * (eighth * eighth)


@inlined
def exp_digamma_below(x):
    """Return exp(digamma(x)) for x > 0; it underflows for small x."""
    return exp_digamma(x + 1.0) * math.exp(-1.0 / x) if x < 1.0 else exp_digamma(x)


@page_kernel
def scaled_up(x, out):
    """Set out[t] = exp(digamma(x[t])) exp(1 / largest x), for x where all would underflow.

    It uses digamma(x) = digamma(x + 1) - 1/x.
    """
    largest = 0.0
    for t in range(x.shape[0]):
        largest = max(largest, x[t])
    for t in range(x.shape[0]):
        out[t] = exp_digamma(x[t] + 1.0) * math.exp(1.0 / largest - 1.0 / x[t])


@kernel
def dirichlet_weights(rows, counts, scale, eta, totals, out):
    """Set out[v, k] = exp E[log beta] of word rows[v] in topic k.

    The Dirichlet of topic k has the parameters eta + scale * counts[w, k], which sum to totals[k].
    """
    topics = out.shape[1]
    for k in range(topics):
        whole = 1.0 / exp_digamma_below(totals[k])
        for v in range(rows.shape[0]):
            out[v, k] = max(exp_digamma_below(eta + scale * counts[rows[v], k]) * whole, SMALLEST)


@kernel
def dirichlet_means(rows, counts, scale, eta, totals, out):
    """Set out[v, k] = E[beta]; the arguments are those of :func:`dirichlet_weights`."""
    for v in range(rows.shape[0]):
        for k in range(out.shape[1]):
            out[v, k] = (eta + scale * counts[rows[v], k]) / totals[k]


_ROOT_OF_HALF = 0.7071067811865476
_LN_2 = 0.6931471805599453


@inlined
def ln(x):
    """Return ln x of a positive, finite float64."""
    m, e = math.frexp(x)
    if m < _ROOT_OF_HALF:
        m, e = 2.0 * m, e - 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    high = 1.0 / 9.0 + z * (1.0 / 11.0 + z * (1.0 / 13.0 + z * (1.0 / 15.0 + z * (1.0 / 17.0))))
    series = 1.0 + z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * high)))
    return e * _LN_2 + 2.0 * s * series
