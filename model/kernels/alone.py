"""SparseLDA for one document beside a model's counts: the law of :mod:`model.kernels.gibbs3`, at the cost of the topics that there are.

The buckets q, r and s are those of :mod:`model.kernels.sparse`. What is different comes from the document being alone:

* its words' rows are copied, and its own tokens are counted right into the copies; nothing of it stays for the next document;
* an entry never moves within its row, so each token remembers where its topic is, and is taken out without a search. Rows begin in the
  descending order of the model's counts, which the document's own hardly change, so a walk through q still ends early;
* its tokens in a topic, n_td, are also what it adds to the topic's total.

A topic that the model does not have in a row is put behind the row, in the first place that holds no tokens now. There are as many such
places as the word has tokens in the document, so one is always free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import inlined, kernel, page_kernel
from model.kernels.random import INFERENCE, fill_uniforms
from model.kernels.row_sums import pair_sum, whole
from model.kernels.sparse import from_prior


@inlined
def _in_row(x: Any, coef: Any, topics: Any, counts: Any, begin: Any, end: Any) -> Any:
    """Where ``x`` falls in a row; -1 where no entry has tokens."""
    found, total = -1, 0.0
    for at in range(begin, end):
        if counts[at] > 0.0:
            found = at
            total += coef[topics[at]] * counts[at]
            if total > x:
                break
    return found


@inlined
def _place(topic: Any, topics: Any, counts: Any, begin: Any, behind: Any, end: Any) -> Any:
    """Where a row has a topic, or can take it: of the places from ``behind`` on, the first without tokens, which may be ``end``."""
    at, free = begin, end
    while at < end and topics[at] != topic:
        if at >= behind and free == end and counts[at] == 0.0:
            free = at
        at += 1
    return at if at < end else free


@page_kernel
def _pass(
    tokens: Any,
    where: Any,
    in_document: Any,
    first: Any,
    alpha: Any,
    totals: Any,
    inverse: Any,
    coef: Any,
    strength: Any,
    base: Any,
    offsets: Any,
    behind: Any,
    ends: Any,
    topics: Any,
    counts: Any,
    uniforms: Any,
) -> None:
    """One pass, in place.

    Args:
        tokens: int32[n]. where: int64[n], each token's entry. in_document: int32[T], n_td. first: whether tokens have no topics yet.
        alpha, totals, strength, base: as :func:`sample_document` has them. inverse, coef: float64[T], scratch. uniforms: float64[n].
        offsets: int64[V + 1], where the copied rows begin. behind, ends: int64[V], where the model's entries end, and all.
        topics, counts: int32 and float64, the entries; those behind a row's end have no tokens.
    """
    r, s = 0.0, 0.0
    for t in range(alpha.shape[0]):
        inverse[t] = 1.0 / (totals[t] + in_document[t])
        coef[t] = (alpha[t] + in_document[t]) * inverse[t]
        r += in_document[t] * (strength[t] * inverse[t])
        s += alpha[t] * (strength[t] * inverse[t])
    for i in range(tokens.shape[0]):
        v, out_r, out_s, was, kept, old_at, old = tokens[i], r, s, 0.0, 0.0, np.int64(-1), np.int64(-1)
        begin = offsets[v]
        if not first:
            old_at = where[i]
            old = np.int64(topics[old_at])
            was, kept = inverse[old], coef[old]
            counts[old_at] -= 1.0
            in_document[old] -= 1
            inverse[old] = 1.0 / (totals[old] + in_document[old])
            coef[old] = (alpha[old] + in_document[old]) * inverse[old]
            out_r += strength[old] * (in_document[old] * inverse[old] - (in_document[old] + 1) * was)
            out_s += strength[old] * (alpha[old] * (inverse[old] - was))
        q = pair_sum(coef, topics, counts, begin, ends[v]) if begin < ends[v] else 0.0
        x = uniforms[i] * (q + base[v] * (out_r + out_s))
        at = np.int64(-1)
        if x < q:
            at = _in_row(x, coef, topics, counts, begin, ends[v])
        if at < 0:
            # Also where rounding left a q without a topic.
            new = from_prior((x - q) / base[v], out_r, in_document, alpha, strength, inverse)
            at = _place(new, topics, counts, begin, behind[v], ends[v])
            topics[at] = new
            ends[v] = max(ends[v], at + 1)
        new = np.int64(topics[at])
        counts[at] += 1.0
        in_document[new] += 1
        where[i] = at
        if new == old:
            inverse[old], coef[old] = was, kept
            continue
        r, s, was = out_r, out_s, inverse[new]
        inverse[new] = 1.0 / (totals[new] + in_document[new])
        coef[new] = (alpha[new] + in_document[new]) * inverse[new]
        r += strength[new] * (in_document[new] * inverse[new] - (in_document[new] - 1) * was)
        s += strength[new] * (alpha[new] * (inverse[new] - was))


@kernel
def sample_document(
    tokens: Any,
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
        tokens: int32[n], indices into ``rows``. rows: int64[V], into the model's words, each of which the document has.
        model_offsets, model_topics, model_counts: the model's rows, each in descending order of its counts.
        totals: float64[T], n_t + s_t. alpha, strength: float64[T]. base: float64[V], B(w).
        key0, key1: of the document's stream of uniforms.

    Returns:
        int64[T]: n_td, summed over the states after the last ``kept`` passes.
    """
    n, t_count, v_count = tokens.shape[0], alpha.shape[0], rows.shape[0]
    offsets, behind = np.zeros(v_count + 1, np.int64), np.empty(v_count, np.int64)
    for i in range(n):
        offsets[tokens[i] + 1] += 1
    for v in range(v_count):
        held = model_offsets[rows[v] + 1] - model_offsets[rows[v]]
        behind[v] = offsets[v] + held
        offsets[v + 1] = offsets[v] + whole(held + offsets[v + 1])
    topics, counts, ends = np.zeros(offsets[-1], np.int32), np.zeros(offsets[-1]), behind.copy()
    for v in range(v_count):
        shift = model_offsets[rows[v]] - offsets[v]
        for at in range(offsets[v], behind[v]):
            topics[at], counts[at] = model_topics[at + shift], model_counts[at + shift]
    in_document, result, where = np.zeros(t_count, np.int32), np.zeros(t_count, np.int64), np.empty(n, np.int64)
    uniforms, inverse, coef = np.empty(n), np.empty(t_count), np.empty(t_count)
    for sweep in range(sweeps + 1):
        fill_uniforms(uniforms, n, sweep * n, key0, key1, 0, 0, INFERENCE)
        _pass(
            tokens, where, in_document, sweep == 0, alpha, totals, inverse, coef, strength, base,
            offsets, behind, ends, topics, counts, uniforms,
        )  # fmt: skip
        if sweep > sweeps - kept:
            result += in_document
    return result
