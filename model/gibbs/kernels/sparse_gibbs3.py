"""SparseLDA for one document beside a model's counts: the law of :mod:`model.gibbs.kernels.gibbs3`,
at the cost of the topics that there are.

A token of word w is drawn with P(z = t) in proportion to coef[t] (n_wt + s_t B(w)), coef[t] =
(alpha_t + n_td) / (n_t + s_t + n_td), as in :mod:`model.gibbs.kernels.sparse_lda`: q is the sum
over the topics of w, ``rest`` (times B(w)) that over all. What is different comes from the document
being alone:

* the order of its tokens is free, so they are drawn word by word. A word's row is multiplied with
  coef once a pass, and mended where one of the word's tokens changed its topic;
* its words' rows are copied, and its own tokens are counted right into the copies. An entry never
  moves within its row, so each token remembers where its topic is, and is taken out without a
  search. Rows begin in the descending order of the model's counts;
* coef[t] is a function of n_td alone, so it is kept for one token fewer and one more, too, and a
  draw waits for no division;
* most tokens keep their topic, so that is asked first, and then nothing is written.

A topic that the model does not have in a row is put behind the row, or where an entry holds no
tokens. There are as many such places as the word has tokens in the document, so one is always free.
Places and topics are unsigned: of others numba asks whether they are negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.gibbs.kernels.row_sums import pair_products, whole
from model.gibbs.kernels.sparse_lda import from_prior, prior_sum
from model.kernels.jit import inlined, kernel, page_kernel
from model.kernels.random import INFERENCE, fill_uniforms

_NONE, _ONE = np.uint64(0), np.uint64(1)


@inlined
def _coef(t: Any, n: Any, alpha: Any, totals: Any) -> Any:
    return (alpha[t] + n) / (totals[t] + n)


@inlined
def _leave(
    t: Any, in_document: Any, fewer: Any, coef: Any, more: Any, alpha: Any, totals: Any
) -> None:
    """A token leaves topic t. With the last one ``fewer`` comes to mean nothing, until one
    joins.
    """
    in_document[t] -= 1
    more[t], coef[t] = coef[t], fewer[t]
    fewer[t] = _coef(t, in_document[t] - 1, alpha, totals)


@inlined
def _join(
    t: Any, in_document: Any, fewer: Any, coef: Any, more: Any, alpha: Any, totals: Any
) -> None:
    """A token joins topic t."""
    in_document[t] += 1
    fewer[t], coef[t] = coef[t], more[t]
    more[t] = _coef(t, in_document[t] + 1, alpha, totals)


@inlined
def _first_above(products: Any, size: Any, x: Any) -> Any:
    """The first place whose prefix sum is above x; ``size`` where rounding leaves none."""
    k, total = _NONE, 0.0
    while k < size:
        total += products[k]
        if total > x:
            break
        k += _ONE
    return k


@inlined
def _place(topic: Any, topics: Any, counts: Any, begin: Any, size: Any) -> Any:
    """Where a row has a topic, or can take it: the first place without tokens, which may be
    ``size``.
    """
    k, free = _NONE, size
    while k < size and topics[begin + k] != topic:
        if free == size and counts[begin + k] == 0.0:
            free = k
        k += _ONE
    return k if k < size else free


@page_kernel
def _pass(
    times: Any,
    where: Any,
    in_document: Any,
    first: Any,
    alpha: Any,
    totals: Any,
    fewer: Any,
    coef: Any,
    more: Any,
    strength: Any,
    base: Any,
    offsets: Any,
    sizes: Any,
    topics: Any,
    counts: Any,
    products: Any,
    uniforms: Any,
) -> None:
    """One pass, in place.

    Args:
        times, alpha, totals, strength, base: as :func:`sample_document` has them. where: uint32[n],
        each token's place in its row. in_document: int32[T], n_td. first: whether tokens have no
        topics yet. fewer, coef, more: float64[T], of n_td - 1, n_td, n_td + 1. offsets, sizes:
        uint64[V], where the copied rows begin, and how many entries they have. topics, counts:
        uint32 and float64, the entries; those behind a row's end have no tokens. products: float64,
        scratch for one row. uniforms: float64[n].
    """
    rest, i, end = prior_sum(strength, coef), _NONE, _NONE
    for v in range(times.shape[0]):
        begin, size, weight = offsets[v], sizes[v], base[v]
        q = (
            pair_products(coef, topics, counts, begin, begin + size, products)
            if size > _NONE
            else 0.0
        )
        end += np.uint64(times[v])
        while i < end:
            out_q, out_rest, stay, old_at, old = q, rest, 0.0, _NONE, _NONE
            if not first:
                old_at = np.uint64(where[i])
                old = np.uint64(topics[begin + old_at])
                stay = fewer[old] * (counts[begin + old_at] - 1.0)
                out_q -= products[old_at]
                out_rest += strength[old] * (fewer[old] - coef[old])
            x = uniforms[i] * (stay + (out_q + weight * out_rest))
            i += _ONE
            if x < stay:
                continue
            x -= stay
            if not first:
                _leave(old, in_document, fewer, coef, more, alpha, totals)
                counts[begin + old_at] -= 1.0
                products[old_at] = 0.0
            at = _first_above(products, size, x) if x < out_q else size
            if at == size:
                # Also where rounding left an x below q without a topic.
                new = np.uint64(from_prior((x - out_q) / weight, strength, coef))
                at = _place(new, topics, counts, begin, size)
                topics[begin + at] = new
                if at == size:
                    size += _ONE
                    products[at] = 0.0
            new = np.uint64(topics[begin + at])
            was = coef[new]
            _join(new, in_document, fewer, coef, more, alpha, totals)
            counts[begin + at] += 1.0
            where[i - _ONE] = at
            if not first:
                products[old_at] = stay
                out_q += stay
            product = coef[new] * counts[begin + at]
            q = out_q + (product - products[at])
            products[at] = product
            rest = out_rest + strength[new] * (coef[new] - was)
        sizes[v] = size


@kernel
def sample_document(
    times: Any,
    rows: Any,
    model_offsets: Any,
    model_topics: Any,
    model_counts: Any,
    totals: Any,
    alpha: Any,
    strength: Any,
    base: Any,
    sweeps: Any,
    kept: Any,
    key0: Any,
    key1: Any,
) -> Any:
    """A first pass and ``sweeps`` sweeps.

    Args:
        rows: int64[V], distinct words of the model. times: int64[V], how often the document has
        each. model_offsets, model_topics, model_counts: the model's rows, each in descending order
        of its counts. totals: float64[T], n_t + s_t. alpha, strength: float64[T]. base: float64[V],
        B(w). key0, key1: of the document's stream of uniforms; its tokens are numbered word by
        word.

    Returns:
        int64[T]: n_td, summed over the states after the last ``kept`` passes.
    """
    n, t_count, v_count, room, longest = times.sum(), alpha.shape[0], rows.shape[0], 0, 0
    offsets, sizes = np.zeros(v_count, np.uint64), np.zeros(v_count, np.uint64)
    for v in range(v_count):
        offsets[v], sizes[v] = room, model_offsets[rows[v] + 1] - model_offsets[rows[v]]
        length = whole(np.int64(sizes[v]) + times[v])
        room, longest = room + length, max(longest, length)
    topics, counts = np.zeros(room, np.uint32), np.zeros(room)
    for v in range(v_count):
        for k in range(sizes[v]):
            at = np.uint64(model_offsets[rows[v]]) + k
            topics[offsets[v] + k], counts[offsets[v] + k] = model_topics[at], model_counts[at]
    in_document, result, where = (
        np.zeros(t_count, np.int32),
        np.zeros(t_count, np.int64),
        np.empty(n, np.uint32),
    )
    uniforms, products = np.empty(n), np.empty(longest)
    fewer, coef, more = np.zeros(t_count), alpha / totals, (alpha + 1.0) / (totals + 1.0)
    for sweep in range(sweeps + 1):
        fill_uniforms(uniforms, n, sweep * n, key0, key1, 0, 0, INFERENCE)
        _pass(
            times,
            where,
            in_document,
            sweep == 0,
            alpha,
            totals,
            fewer,
            coef,
            more,
            strength,
            base,
            offsets,
            sizes,
            topics,
            counts,
            products,
            uniforms,
        )
        if sweep > sweeps - kept:
            result += in_document
    return result
