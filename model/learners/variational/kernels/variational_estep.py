"""The local step of the variational learners: what the topics of a minibatch's documents are, while
the topics themselves stand still.

Document d of a minibatch is ``tokens[offsets[d]:offsets[d + 1]]``, int32 indices into its V words;
``weights`` is float64[V, K], exp E[log beta]. Kernels that take ``first`` and ``last`` work on that
slice of the documents, so slices run in threads.

* :func:`sample_documents` (Mimno, Hoffman and Blei 2012): Gibbs sweeps within a document, P(z = k)
  ~ (n_dk + alpha) weights[v, k]. It is split into s = alpha * weights, whose sums are made once a
  minibatch, and r = n_dk * weights, over the document's own topics.
* :func:`fit_documents` (Hoffman, Blei and Bach 2010): gamma and phi by turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.expectations import SMALLEST, exp_digamma_below, scaled_up
from model.kernels.jit import inlined, kernel
from model.kernels.random import LOCAL, fill_uniforms


@kernel
def cumulate(weights: Any, sums: Any) -> None:
    """sums[v, k] = weights[v, 0] + ... + weights[v, k]."""
    for v in range(weights.shape[0]):
        total = 0.0
        for k in range(weights.shape[1]):
            total += weights[v, k]
            sums[v, k] = total


@inlined
def _search(sums: Any, v: Any, x: Any) -> Any:
    """The first k with sums[v, k] > x; the last topic where rounding leaves none."""
    low, high = 0, sums.shape[1] - 1
    while low < high:
        middle = (low + high) >> 1
        if sums[v, middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def _draw(
    weights: Any, sums: Any, alpha: Any, v: Any, used: Any, size: Any, in_document: Any, u: Any
) -> Any:
    """A topic of word v: first the document's topics, ``used[:size]`` ascending, then all of
    them by alpha.
    """
    inside = 0.0
    for i in range(size):
        inside += in_document[used[i]] * weights[v, used[i]]
    x = u * (inside + alpha * sums[v, sums.shape[1] - 1])
    if x < inside:
        for i in range(size):
            x -= in_document[used[i]] * weights[v, used[i]]
            if x < 0.0:
                return used[i]
        return used[size - 1]
    return _search(sums, v, (x - inside) / alpha)


@inlined
def _insert(used: Any, size: Any, k: Any) -> Any:
    """Insert a topic into the ascending list; its new size."""
    i = size
    while i > 0 and used[i - 1] > k:
        used[i] = used[i - 1]
        i -= 1
    used[i] = k
    return size + 1


@inlined
def _remove(used: Any, size: Any, k: Any) -> Any:
    """Remove a topic from the list; its new size."""
    i = 0
    while used[i] != k:
        i += 1
    for j in range(i, size - 1):
        used[j] = used[j + 1]
    return size - 1


@kernel
def sample_documents(
    first: Any,
    last: Any,
    tokens: Any,
    offsets: Any,
    weights: Any,
    sums: Any,
    alpha: Any,
    burn_in: Any,
    kept: Any,
    key0: Any,
    key1: Any,
    sequence: Any,
    counts: Any,
) -> None:
    """Add to counts (int32[V, K]) how often each word had each topic in the last ``kept`` of
    ``burn_in + kept`` sweeps.
    """
    topics = weights.shape[1]
    in_document = np.zeros(topics, np.int64)
    used = np.zeros(topics + 1, np.int64)
    for d in range(first, last):
        begin, n = offsets[d], offsets[d + 1] - offsets[d]
        states, uniforms = np.zeros(n, np.int64), np.empty(n)
        size = 0
        for sweep in range(burn_in + kept):
            fill_uniforms(uniforms, n, sweep * n, key0, key1, d, sequence, LOCAL)
            for i in range(n):
                v, old = tokens[begin + i], states[i]
                if sweep > 0:
                    in_document[old] -= 1
                new = _draw(weights, sums, alpha, v, used, size, in_document, uniforms[i])
                if sweep > 0 and new != old and in_document[old] == 0:
                    size = _remove(used, size, old)
                if in_document[new] == 0 and (sweep == 0 or new != old):
                    size = _insert(used, size, new)
                in_document[new] += 1
                states[i] = new
                if sweep >= burn_in:
                    counts[v, new] += 1
        for i in range(size):
            in_document[used[i]] = 0


@inlined
def _fit_document(
    words: Any, repeats: Any, weights: Any, alpha: Any, iterations: Any, theta: Any, shares: Any
) -> None:
    """theta (float64[K]) = exp E[log theta_dk], up to a factor, after so many updates; it starts
    as its prior would have it.
    """
    topics = weights.shape[1]
    theta[:] = 1.0
    for _ in range(iterations):
        shares[:] = 0.0
        for i in range(words.shape[0]):
            v = words[i]
            norm = 0.0
            for k in range(topics):
                norm += theta[k] * weights[v, k]
            ratio = repeats[i] / norm
            for k in range(topics):
                shares[k] += ratio * weights[v, k]
        total = 0.0
        for k in range(topics):
            shares[k] = alpha + theta[k] * shares[k]
            theta[k] = exp_digamma_below(shares[k])
            total += theta[k]
        if total < SMALLEST:
            scaled_up(shares, theta)


@kernel
def fit_documents(
    first: Any,
    last: Any,
    words: Any,
    repeats: Any,
    offsets: Any,
    weights: Any,
    alpha: Any,
    iterations: Any,
    theta: Any,
) -> None:
    """theta[d] = exp E[log theta_d] up to a factor.

    Document d has the distinct words words[offsets[d]:offsets[d + 1]], each as often as ``repeats``
    says; theta: float64[documents, K].
    """
    shares = np.empty(weights.shape[1])
    for d in range(first, last):
        here = slice(offsets[d], offsets[d + 1])
        _fit_document(words[here], repeats[here], weights, alpha, iterations, theta[d], shares)


@kernel
def expected_counts(
    words: Any, repeats: Any, offsets: Any, weights: Any, theta: Any, counts: Any
) -> None:
    """Add sum_d n_dv phi_dvk to counts (float64[V, K]), documents in their order: a sum of
    floats, so it is not for several threads.
    """
    topics = weights.shape[1]
    for d in range(theta.shape[0]):
        for i in range(offsets[d], offsets[d + 1]):
            v = words[i]
            norm = 0.0
            for k in range(topics):
                norm += theta[d, k] * weights[v, k]
            ratio = repeats[i] / norm
            for k in range(topics):
                counts[v, k] += ratio * theta[d, k] * weights[v, k]


@kernel
def score_documents(tokens: Any, offsets: Any, phi: Any, alpha: Any) -> Any:
    """(mantissa, exponent) of the product of the first-moment probabilities (Scott and Baldridge
    2013) of all tokens.

    phi: float64[V, K], P(w | k).
    """
    topics = phi.shape[1]
    mean, each = np.empty(topics), np.empty(topics)
    product, exponent = 1.0, 0
    for d in range(offsets.shape[0] - 1):
        mean[:] = alpha
        whole = alpha * topics
        for i in range(offsets[d], offsets[d + 1]):
            v = tokens[i]
            total = 0.0
            for k in range(topics):
                each[k] = phi[v, k] * mean[k]
                total += each[k]
            scale = 1.0 / total
            for k in range(topics):
                mean[k] += each[k] * scale
            product *= total / whole
            whole += 1.0
            if product < 2.0**-500:
                product *= 2.0**500
                exponent -= 500
    return product, exponent
