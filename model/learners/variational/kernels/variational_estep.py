"""The kernels of the variational learners: truncation-ordered sets, and the E-step.

A truncation-ordered set (Zhai and Boyd-Graber 2013) is for each topic an order of words. Topic k
has ``size[k]`` entries in its order. Entry t is word ``words[k, t]``. It breaks the share
b_t ~ Beta(1 + use[k, t], rest[k, t]) off the rest of the stick. These parameters are nu1 and nu2 of
the paper. ``position[w, k]`` is t, or -1 where the word is not in the topic's set. Kernels that
take ``first`` and ``last`` work on that slice of the topics, or of the documents, so that slices
run in threads.

The E-step finds the topics of a minibatch's documents, for fixed topics.

Document d of a minibatch is ``tokens[offsets[d]:offsets[d + 1]]``, int32 indices into its V words.
``weights`` is float64[V, K], exp E[log beta].

* :func:`sample_documents` (Mimno, Hoffman and Blei 2012): Gibbs sweeps within a document,
  P(z = k) ~ (n_dk + alpha) weights[v, k]. The mass has two parts: s = alpha * weights, whose sums
  are computed once a minibatch, and r = n_dk * weights, over the topics of the document.
* :func:`fit_documents` (Hoffman, Blei and Bach 2010): alternating updates of gamma and phi.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.random import LOCAL, fill_uniforms
from beam_topics.model.kernels.special import SMALLEST, exp_digamma, exp_digamma_below, scaled_up


class Sticks(NamedTuple):
    """The arrays of the module's docstring, with room for C entries in each topic.

    Attributes:
        words: int32[K, C].
        use, rest: float64[K, C].
        size: int64[K].
        position: int32[W, K].
    """

    words: npt.NDArray[np.int32]
    use: npt.NDArray[np.float64]
    rest: npt.NDArray[np.float64]
    size: npt.NDArray[np.int64]
    position: npt.NDArray[np.int32]


class StickUpdate(NamedTuple):
    """The step of a minibatch.

    Attributes:
        scale: expected count per drawn topic, D / (|S| sweeps).
        step: the step size epsilon.
        concentration: alpha^beta.
        entry: the ``rest`` that a new word begins with.
    """

    scale: float
    step: float
    concentration: float
    entry: float


@inlined
def _break_off(weight, left, size):
    """Multiply weight[t] by left[0] ... left[t-1]; return the product of all ``left``."""
    remaining = 1.0
    for t in range(size):
        weight[t] = max(weight[t] * remaining, SMALLEST)
        remaining = max(remaining * left[t], SMALLEST)
    return remaining


@kernel
def expected_logs(first, last, sticks, weight, remaining):
    """Set weight[k, t] = exp E[log beta_kt] and remaining[k] = exp of the sum of E[log(1 - b)].

    These are eq. 5, with the sums up to t - 1, and eq. 6.
    """
    left = np.empty(sticks.use.shape[1])
    for k in range(first, last):
        size = sticks.size[k]
        use, rest, own = sticks.use[k], sticks.rest[k], weight[k]
        for t in range(size):
            whole = 1.0 / exp_digamma(1.0 + use[t] + rest[t])
            own[t] = exp_digamma(1.0 + use[t]) * whole
            left[t] = exp_digamma(rest[t]) * whole
        remaining[k] = _break_off(own, left, size)


@kernel
def means(first, last, sticks, weight, remaining):
    """Set weight[k, t] = E[beta_kt] and remaining[k] = E[rest of the stick]; their sum is 1."""
    left = np.empty(sticks.use.shape[1])
    for k in range(first, last):
        size = sticks.size[k]
        use, rest, own = sticks.use[k], sticks.rest[k], weight[k]
        for t in range(size):
            whole = 1.0 / (1.0 + use[t] + rest[t])
            own[t] = (1.0 + use[t]) * whole
            left[t] = rest[t] * whole
        remaining[k] = _break_off(own, left, size)


@kernel
def look_up(rows, sticks, weight, outside, out):
    """Set out[v, k] to the weight of word rows[v] in topic k.

    It is outside[v, k] where the word is not in the topic's set.
    """
    known = sticks.position.shape[0]
    for v in range(rows.shape[0]):
        w = rows[v]
        for k in range(out.shape[1]):
            t = sticks.position[w, k] if w < known else -1
            out[v, k] = weight[k, t] if t >= 0 else max(outside[v, k], SMALLEST)


@kernel
def count_new(rows, counts, sticks):
    """Return for each topic how many of the drawn words it does not have yet, int64[K]."""
    new = np.zeros(counts.shape[1], np.int64)
    for v in range(rows.shape[0]):
        for k in range(counts.shape[1]):
            if counts[v, k] > 0 and sticks.position[rows[v], k] < 0:
                new[k] += 1
    return new


@kernel
def learn(first, last, rows, counts, update, sticks, sums):
    """Append new words in the order of ``rows``, then make one step of eq. 8 and 9.

    Args:
        first: the first topic of the slice.
        last: the end of the slice.
        rows: int64[V], distinct words in order of first use.
        counts: int32[V, K], how often each word had each topic.
        update: :class:`StickUpdate`.
        sticks: :class:`Sticks`, with room for the new words.
        sums: float64[K, 2]; sums[k] becomes the sums of ``use`` and of ``rest``.
    """
    use, rest, size, position = sticks.use, sticks.rest, sticks.size, sticks.position
    gain = np.zeros(use.shape[1])
    for k in range(first, last):
        for v in range(rows.shape[0]):
            if counts[v, k] > 0:
                w = rows[v]
                if position[w, k] < 0:
                    t = size[k]
                    sticks.words[k, t], use[k, t], rest[k, t] = w, 0.0, update.entry
                    position[w, k] = t
                    size[k] = t + 1
                gain[position[w, k]] = update.scale * counts[v, k]
        later, sum_use, sum_rest = 0.0, 0.0, 0.0
        for t in range(size[k] - 1, -1, -1):
            use[k, t] += update.step * (gain[t] - use[k, t])
            rest[k, t] += update.step * (update.concentration + later - rest[k, t])
            later += gain[t]
            sum_use += use[k, t]
            sum_rest += rest[k, t]
            gain[t] = 0.0
        sums[k, 0], sums[k, 1] = sum_use, sum_rest


class TopicWeights(NamedTuple):
    """What tokens are drawn by.

    Attributes:
        weights: float64[V, K], exp E[log beta] of the minibatch's words.
        sums: float64[V, K], their prefix sums over the topics.
        alpha: the Dirichlet prior of a document's topics.
    """

    weights: Any
    sums: Any
    alpha: float


class LocalSweeps(NamedTuple):
    """How many Gibbs sweeps a document gets, and the name of their uniforms.

    Attributes:
        burn_in: sweeps that do not count.
        kept: sweeps that count.
        key0, key1: the stream key.
        sequence: number of the minibatch.
    """

    burn_in: int
    kept: int
    key0: int
    key1: int
    sequence: int


class WordRepeats(NamedTuple):
    """The distinct words of documents.

    Attributes:
        words: int32[M]; document d has the words offsets[d] to offsets[d + 1], ascending.
        repeats: float64[M], the number of tokens of each.
        offsets: int64[D + 1].
    """

    words: Any
    repeats: Any
    offsets: Any


@kernel
def cumulate(weights, sums):
    """Set sums[v, k] = weights[v, 0] + ... + weights[v, k]."""
    for v in range(weights.shape[0]):
        total = 0.0
        for k in range(weights.shape[1]):
            total += weights[v, k]
            sums[v, k] = total


@inlined
def _search(sums, v, x):
    """Return the first k with sums[v, k] > x; the last topic where rounding leaves none."""
    low, high = 0, sums.shape[1] - 1
    while low < high:
        middle = (low + high) >> 1
        if sums[v, middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def _draw(topics, v, used, size, in_document, u):
    """Return a topic of word v.

    The document's topics, ``used[:size]`` ascending, come first; then all topics by alpha.
    """
    inside, weights = 0.0, topics.weights
    for i in range(size):
        inside += in_document[used[i]] * weights[v, used[i]]
    x = u * (inside + topics.alpha * topics.sums[v, weights.shape[1] - 1])
    if x < inside:
        for i in range(size):
            x -= in_document[used[i]] * weights[v, used[i]]
            if x < 0.0:
                return used[i]
        return used[size - 1]
    return _search(topics.sums, v, (x - inside) / topics.alpha)


@inlined
def _insert(used, size, k):
    """Insert a topic into the ascending list; return its new size."""
    i = size
    while i > 0 and used[i - 1] > k:
        used[i] = used[i - 1]
        i -= 1
    used[i] = k
    return size + 1


@inlined
def _remove(used, size, k):
    """Remove a topic from the list; return its new size."""
    i = 0
    while used[i] != k:
        i += 1
    for j in range(i, size - 1):
        used[j] = used[j + 1]
    return size - 1


@kernel
def sample_documents(first, last, documents, topics, sweeps, counts, main):
    """Count how often each word has each topic in the Gibbs sweeps that count.

    Args:
        first: the first document of the slice.
        last: the end of the slice.
        documents: has ``tokens`` and ``offsets``, see the module's docstring.
        topics: :class:`TopicWeights`.
        sweeps: :class:`LocalSweeps`.
        counts: int32[V, K], to which the counts are added.
        main: int32[D], which receives the topic that each document has most often in these sweeps,
            the first of equals; -1 for a document without tokens.
    """
    in_document = np.zeros(topics.weights.shape[1], np.int64)
    kept = np.zeros(topics.weights.shape[1], np.int64)
    used = np.zeros(topics.weights.shape[1] + 1, np.int64)
    for d in range(first, last):
        begin, n = documents.offsets[d], documents.offsets[d + 1] - documents.offsets[d]
        states, uniforms = np.zeros(n, np.int64), np.empty(n)
        size = 0
        for sweep in range(sweeps.burn_in + sweeps.kept):
            fill_uniforms(
                uniforms, n, sweep * n, sweeps.key0, sweeps.key1, d, sweeps.sequence, LOCAL
            )
            for i in range(n):
                v, old = documents.tokens[begin + i], states[i]
                if sweep > 0:
                    in_document[old] -= 1
                new = _draw(topics, v, used, size, in_document, uniforms[i])
                if sweep > 0 and new != old and in_document[old] == 0:
                    size = _remove(used, size, old)
                if in_document[new] == 0 and (sweep == 0 or new != old):
                    size = _insert(used, size, new)
                in_document[new] += 1
                states[i] = new
                if sweep >= sweeps.burn_in:
                    counts[v, new] += 1
                    kept[new] += 1
        main[d] = np.argmax(kept) if n > 0 else -1
        kept[:] = 0
        for i in range(size):
            in_document[used[i]] = 0


@inlined
def _fit_document(words, repeats, weights, alpha, iterations, theta, shares):
    """Set theta (float64[K]) to exp E[log theta_d], up to a factor.

    theta starts uniform. ``shares`` is scratch, float64[K].
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
def fit_documents(first, last, documents, weights, alpha, iterations, theta):
    """Fit the topics of documents by coordinate ascent.

    Args:
        first: the first document of the slice.
        last: the end of the slice.
        documents: :class:`WordRepeats`.
        weights: float64[V, K], exp E[log beta].
        alpha: the Dirichlet prior of a document's topics.
        iterations: number of updates of each document.
        theta: float64[D, K]; theta[d] becomes exp E[log theta_d] up to a factor.
    """
    shares, offsets = np.empty(weights.shape[1]), documents.offsets
    for d in range(first, last):
        here = slice(offsets[d], offsets[d + 1])
        words, repeats = documents.words[here], documents.repeats[here]
        _fit_document(words, repeats, weights, alpha, iterations, theta[d], shares)


@kernel
def expected_counts(documents, weights, theta, counts):
    """Add sum_d n_dv phi_dvk to ``counts``, documents in their order.

    This is a sum of floats, whose bits depend on the order. So one thread computes it.

    Args:
        documents: :class:`WordRepeats`.
        weights: float64[V, K], exp E[log beta].
        theta: float64[D, K], exp E[log theta_d] up to a factor.
        counts: float64[V, K].
    """
    topics = weights.shape[1]
    for d in range(theta.shape[0]):
        for i in range(documents.offsets[d], documents.offsets[d + 1]):
            v = documents.words[i]
            norm = 0.0
            for k in range(topics):
                norm += theta[d, k] * weights[v, k]
            ratio = documents.repeats[i] / norm
            for k in range(topics):
                counts[v, k] += ratio * theta[d, k] * weights[v, k]


@kernel
def score_documents(tokens, offsets, phi, alpha):
    """Return the product of the first-moment probabilities of all tokens.

    The estimate is that of Scott and Baldridge (2013), see
    :mod:`beam_topics.model.evaluation.held_out`.

    Args:
        tokens: int32[N], indices into the rows of ``phi``.
        offsets: int64[D + 1].
        phi: float64[V, K], P(w | k).
        alpha: the Dirichlet prior of a document's topics.

    Returns:
        (mantissa, exponent); the product is mantissa * 2^exponent.
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
