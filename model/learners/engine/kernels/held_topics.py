"""New topics that are learned while others are held, and mixtures of documents over held ones.

phi_wk = P(w | k) of K topics is held. A document's mixture theta follows from its tokens by EM:

    theta_k  ~  alpha + sum_i theta_k phi_(w_i)k / sum_l theta_l phi_(w_i)l.

*Completion* predicts the tokens at odd places from the mixture of those at even places. Sums over
topics have eight parts, one for every eighth topic, which are added in a fixed order, so the bits
are fixed and the compiler can use vectors.

:func:`learn_new` draws the topics of tokens among K old topics, which are held, and m new ones,
whose counts n_wj change. Token i of document d has

    P(z_i = k) ~ (n_kd + alpha) phi_wk                                 old
    P(z_i = K + j) ~ (n_(K+j)d + alpha) (n_wj + a G_w) / (n_j + a)     new, counts without i.

Of the old ones, only those *near* a document, its most probable ones, are told apart. The others
count as one, with the mass alpha (sum_k phi_wk - that of the near ones).
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.random import CANDIDATE_FIRST, CANDIDATE_TOPIC, fill_uniforms
from beam_topics.model.kernels.special import ln
from beam_topics.model.learners.engine.kernels.draw import LANES

_F = np.float32


@inlined
def _mixed(theta, row, share, lane):
    """Set share = theta * row; return the sum."""
    for j in range(LANES):
        lane[j] = _F(0.0)
    for k in range(0, theta.shape[0], LANES):
        for j in range(LANES):
            share[k + j] = theta[k + j] * row[k + j]
            lane[j] += share[k + j]
    total = _F(0.0)
    for j in range(LANES):
        total += lane[j]
    return total


@kernel
def mixtures(words, offsets, phi, alpha, steps, stride, theta):
    """Set theta of documents from their tokens at the places 0, stride, 2 stride, ...

    Args:
        words: int32[N], the rows in phi of the tokens.
        offsets: int64[D + 1].
        phi: float32[V, K8]; beyond K it is 0.
        alpha: float32[K8]; beyond K it is 0.
        steps: of EM.
        stride: 1 or 2.
        theta: float32[D, K8], written.
    """
    width = phi.shape[1]
    share, sums = np.zeros(width, np.float32), np.zeros(width, np.float32)
    whole, lane = alpha.sum(), np.zeros(LANES, np.float32)
    for d in range(offsets.shape[0] - 1):
        mass = theta[d]
        tokens = _F((offsets[d + 1] - offsets[d] + stride - 1) // stride)
        mass[:] = alpha
        for _ in range(steps):
            sums[:] = alpha
            for i in range(offsets[d], offsets[d + 1], stride):
                scale = _F(1.0) / _mixed(mass, phi[words[i]], share, lane)
                for k in range(width):
                    sums[k] += share[k] * scale
            mass[:] = sums
        for k in range(width):
            mass[k] /= tokens + whole


@kernel
def completed(words, offsets, phi, theta, found):
    """Set found[d] = ln P(tokens of d at odd places | theta[d]).

    Args:
        words: int32[N].
        offsets: int64[D + 1].
        phi: float32[V, K8].
        theta: float32[D, K8].
        found: float64[D], written.
    """
    share, lane = np.zeros(phi.shape[1], np.float32), np.zeros(LANES, np.float32)
    for d in range(offsets.shape[0] - 1):
        found[d] = 0.0
        for i in range(offsets[d] + 1, offsets[d + 1], 2):
            found[d] += ln(np.float64(_mixed(theta[d], phi[words[i]], share, lane)))


@kernel
def scores(words, offsets, of_word, stride, found):
    """Set found[d] to the sum of a number of each word, at the places 0, stride, 2 stride, ..."""
    for d in range(offsets.shape[0] - 1):
        found[d] = 0.0
        for i in range(offsets[d], offsets[d + 1], stride):
            found[d] += of_word[words[i]]


@inlined
def _place(cumulated, size, x):
    """Return the first place whose cumulated mass is above x; the last if there is none."""
    k = 0
    while k < size - 1 and cumulated[k] <= x:
        k += 1
    return k


@kernel
def first_topics(words, offsets, phi, theta, new, count, evenly, key0, key1, sweep, topics):
    """Set the first topic of each token.

    Args:
        words: int32[N].
        offsets: int64[D + 1].
        phi: float32[V, K8], of old topics; with count = 0 of any.
        theta: float32[D, K8].
        new: bool[V], the words that begin in a new topic.
        count: m, the number of new topics.
        evenly: whether each token chooses one of the new topics; else a document does.
        key0: names the draws.
        key1: names the draws.
        sweep: names the draws.
        topics: int32[N], written; K8 + j is new.
    """
    width = phi.shape[1]
    cumulated = np.empty(width)
    for d in range(offsets.shape[0] - 1):
        first, n = offsets[d], offsets[d + 1] - offsets[d]
        uniforms = np.empty(n + 1)
        fill_uniforms(uniforms, n + 1, 0, key0, key1, d, sweep, CANDIDATE_FIRST)
        for i in range(n):
            w = words[first + i]
            if count > 0 and new[w]:
                u = uniforms[i] if evenly else uniforms[n]
                topics[first + i] = width + int(u * count)
                continue
            total = 0.0
            for k in range(width):
                total += theta[d, k] * phi[w, k]
                cumulated[k] = total
            topics[first + i] = _place(cumulated, width, uniforms[i] * total)


@inlined
def _masses(inside, row, near, counts, share, totals, a, alpha, rest, cumulated):
    """Cumulate the masses of near old topics, new ones, and all other old ones; return the sum."""
    total, close, width = 0.0, near.shape[0], row.shape[0]
    for j in range(close):
        total += (inside[near[j]] + alpha) * row[near[j]]
        rest -= row[near[j]]
        cumulated[j] = total
    for j in range(counts.shape[0]):
        p = (counts[j] + share) / (totals[j] + a)
        total += (inside[width + j] + alpha) * p
        cumulated[close + j] = total
    total += alpha * max(rest, 0.0)
    cumulated[close + counts.shape[0]] = total
    return total


@inlined
def _any(row, cumulated, u):
    """Return an old topic by its share of a word."""
    total = 0.0
    for t in range(row.shape[0]):
        total += row[t]
        cumulated[t] = total
    return _place(cumulated, row.shape[0], u * total)


@inlined
def _move(inside, counts, totals, k, by):
    """Count a token of a word in topic k once more, or once less: by is 1 or -1."""
    width = inside.shape[0] - totals.shape[0]
    inside[k] += by
    if k >= width:
        counts[k - width] += by
        totals[k - width] += by


@inlined
def _drawn(inside, row, near, counts, share, totals, a, alpha, whole, cumulated, uniforms):
    """Draw the topic of a token, which is counted in none, by two uniforms."""
    close, size = near.shape[0], counts.shape[0]
    total = _masses(inside, row, near, counts, share, totals, a, alpha, whole, cumulated)
    j = _place(cumulated, close + size + 1, uniforms[0] * total)
    if j < close:
        return near[j]
    if j < close + size:
        return row.shape[0] + j - close
    return _any(row, cumulated, uniforms[1])


@kernel
def learn_new(
    words, offsets, topics, phi, near, counts, shares, a, alpha, sweeps, key0, key1, sweep
):
    """Draw the topics of all tokens several times.

    Args:
        words: int32[N].
        offsets: int64[D + 1].
        topics: int32[N], changed; K8 + j is new.
        phi: float32[V, K8], of old topics.
        near: int64[D, n], the old topics that are told apart in each document.
        counts: int32[V, m], n_wj, changed.
        shares: float64[V], a G_w.
        a: the strength of a new topic's prior.
        alpha: of each topic.
        sweeps: how often.
        key0: names the draws.
        key1: names the draws.
        sweep: names the draws of the first sweep.
    """
    width, size, close = phi.shape[1], counts.shape[1], near.shape[1]
    inside, totals = np.zeros(width + size), np.zeros(size)
    whole, cumulated = np.zeros(phi.shape[0]), np.empty(max(width, close + size + 1))
    for w in range(phi.shape[0]):
        for k in range(width):
            whole[w] += phi[w, k]
        for j in range(size):
            totals[j] += counts[w, j]
    uniforms = np.empty(2 * (offsets[1:] - offsets[:-1]).max())
    for number in range(sweeps):
        for d in range(offsets.shape[0] - 1):
            first, n = offsets[d], offsets[d + 1] - offsets[d]
            fill_uniforms(uniforms, 2 * n, 0, key0, key1, d, sweep + number, CANDIDATE_TOPIC)
            inside[:] = 0.0
            for i in range(first, first + n):
                inside[topics[i]] += 1.0
            for i in range(n):
                w, k = words[first + i], topics[first + i]
                row, new, share, u = phi[w], counts[w], shares[w], uniforms[2 * i : 2 * i + 2]
                _move(inside, new, totals, k, -1)
                k = _drawn(
                    inside, row, near[d], new, share, totals, a, alpha, whole[w], cumulated, u
                )
                topics[first + i] = k
                _move(inside, new, totals, k, 1)
