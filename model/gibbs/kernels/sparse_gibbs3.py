"""SparseLDA for one document beside a model's counts: the law of :mod:`model.gibbs.kernels.gibbs3`,
at the cost of the topics that there are.

A token of word w is drawn with P(z = t) in proportion to coef[t] (n_wt + s_t B(w)), coef[t] =
(alpha_t + n_td) / (n_t + s_t + n_td), as in :mod:`model.gibbs.kernels.sparse_lda`: q is the sum
over the topics of w, ``smoothing`` (times B(w)) that over all. What is different comes from the document
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

from model.gibbs.kernels.row_sums import padded_length, pair_products
from model.gibbs.kernels.sparse_lda import draw_from_smoothing, smoothing_sum
from model.kernels.jit import inlined, kernel, page_kernel
from model.kernels.random import INFERENCE, fill_uniforms

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@inlined
def _coef(t: Any, n: Any, alpha: Any, totals: Any) -> Any:
    return (alpha[t] + n) / (totals[t] + n)


@inlined
def _remove_token(
    t: Any, in_document: Any, coef_minus: Any, coef: Any, coef_plus: Any, alpha: Any, totals: Any
) -> None:
    """A token leaves topic t. With the last one ``coef_minus`` comes to mean nothing, until one
    joins.
    """
    in_document[t] -= 1
    coef_plus[t], coef[t] = coef[t], coef_minus[t]
    coef_minus[t] = _coef(t, in_document[t] - 1, alpha, totals)


@inlined
def _add_token(
    t: Any, in_document: Any, coef_minus: Any, coef: Any, coef_plus: Any, alpha: Any, totals: Any
) -> None:
    """A token joins topic t."""
    in_document[t] += 1
    coef_minus[t], coef[t] = coef[t], coef_plus[t]
    coef_plus[t] = _coef(t, in_document[t] + 1, alpha, totals)


@inlined
def _first_above(products: Any, size: Any, x: Any) -> Any:
    """The first place whose prefix sum is above x; ``size`` where rounding leaves none."""
    k, total = _ZERO, 0.0
    while k < size:
        total += products[k]
        if total > x:
            break
        k += _ONE
    return k


@inlined
def _entry_for(topic: Any, topics: Any, counts: Any, begin: Any, size: Any) -> Any:
    """Where a row has a topic, or can take it: the first place without tokens, which may be
    ``size``.
    """
    k, free = _ZERO, size
    while k < size and topics[begin + k] != topic:
        if free == size and counts[begin + k] == 0.0:
            free = k
        k += _ONE
    return k if k < size else free


@page_kernel
def _sweep(
    occurrences: Any,
    entry_of_token: Any,
    in_document: Any,
    first: Any,
    alpha: Any,
    totals: Any,
    coef_minus: Any,
    coef: Any,
    coef_plus: Any,
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
    smoothing, i, end = smoothing_sum(strength, coef), _ZERO, _ZERO
    for v in range(occurrences.shape[0]):
        begin, size, weight = offsets[v], sizes[v], base[v]
        q = (
            pair_products(coef, topics, counts, begin, begin + size, products)
            if size > _ZERO
            else 0.0
        )
        end += np.uint64(occurrences[v])
        while i < end:
            q_without, smoothing_without, old_mass, old_entry, old = q, smoothing, 0.0, _ZERO, _ZERO
            if not first:
                old_entry = np.uint64(entry_of_token[i])
                old = np.uint64(topics[begin + old_entry])
                old_mass = coef_minus[old] * (counts[begin + old_entry] - 1.0)
                q_without -= products[old_entry]
                smoothing_without += strength[old] * (coef_minus[old] - coef[old])
            x = uniforms[i] * (old_mass + (q_without + weight * smoothing_without))
            i += _ONE
            if x < old_mass:
                continue
            x -= old_mass
            if not first:
                _remove_token(old, in_document, coef_minus, coef, coef_plus, alpha, totals)
                counts[begin + old_entry] -= 1.0
                products[old_entry] = 0.0
            entry = _first_above(products, size, x) if x < q_without else size
            if entry == size:
                # Also where rounding left an x below q without a topic.
                new = np.uint64(draw_from_smoothing((x - q_without) / weight, strength, coef))
                entry = _entry_for(new, topics, counts, begin, size)
                topics[begin + entry] = new
                if entry == size:
                    size += _ONE
                    products[entry] = 0.0
            new = np.uint64(topics[begin + entry])
            new_coef = coef[new]
            _add_token(new, in_document, coef_minus, coef, coef_plus, alpha, totals)
            counts[begin + entry] += 1.0
            entry_of_token[i - _ONE] = entry
            if not first:
                products[old_entry] = old_mass
                q_without += old_mass
            product = coef[new] * counts[begin + entry]
            q = q_without + (product - products[entry])
            products[entry] = product
            smoothing = smoothing_without + strength[new] * (coef[new] - new_coef)
        sizes[v] = size


@kernel
def sample_document(
    occurrences: Any,
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
    n, t_count, v_count, room, longest = occurrences.sum(), alpha.shape[0], rows.shape[0], 0, 0
    offsets, sizes = np.zeros(v_count, np.uint64), np.zeros(v_count, np.uint64)
    for v in range(v_count):
        offsets[v], sizes[v] = room, model_offsets[rows[v] + 1] - model_offsets[rows[v]]
        length = padded_length(np.int64(sizes[v]) + occurrences[v])
        room, longest = room + length, max(longest, length)
    topics, counts = np.zeros(room, np.uint32), np.zeros(room)
    for v in range(v_count):
        for k in range(sizes[v]):
            entry = np.uint64(model_offsets[rows[v]]) + k
            topics[offsets[v] + k], counts[offsets[v] + k] = (
                model_topics[entry],
                model_counts[entry],
            )
    in_document, result, entry_of_token = (
        np.zeros(t_count, np.int32),
        np.zeros(t_count, np.int64),
        np.empty(n, np.uint32),
    )
    uniforms, products = np.empty(n), np.empty(longest)
    coef_minus, coef, coef_plus = np.zeros(t_count), alpha / totals, (alpha + 1.0) / (totals + 1.0)
    for sweep in range(sweeps + 1):
        fill_uniforms(uniforms, n, sweep * n, key0, key1, 0, 0, INFERENCE)
        _sweep(
            occurrences,
            entry_of_token,
            in_document,
            sweep == 0,
            alpha,
            totals,
            coef_minus,
            coef,
            coef_plus,
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
