"""SparseLDA (Yao, Mimno and McCallum 2009): a topic drawn at the cost of the topics that its word
and its document have.

A token of word w in document d is drawn with P(z = t) in proportion to (alpha_t + n_td) (n_wt + s_t
B(w)) / (n_t + s_t), which is split into

    q = sum over the topics of w of coef[t] n_wt,   coef[t] = (alpha_t + n_td) / (n_t + s_t)
    B(w) rest,   rest = sum over all topics of coef[t] s_t, the paper's r and s in one

coef and rest are kept up to date, so only q costs more than a few operations, and most draws fall
into it. n_wt comes in two parts, as in :mod:`model.gibbs.kernels.gibbs2`: ``fixed_sum`` counts, which
may be fractional and never change, and ``entries`` counts of the tokens that are sampled. A row of own
counts is packed, one whole number an entry, ``count << bits | topic``, in descending order: a walk
through q ends early, and the order is a function of the counts alone, so the bits do not depend on
how a state was reached. For the same reason rest, whose rounding adds up, is summed anew at the
beginning of each document.

A token is not taken out of its row to be drawn: its own part of q is subtracted, and the row
    changes only if its topic does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.gibbs.kernels.gibbs2 import longest_document
from model.gibbs.kernels.packed_rows import add_token, grow_row, remove_token
from model.gibbs.kernels.row_sums import packed_sum, pair_sum, prefetch
from model.kernels.jit import inlined, kernel, page_kernel
from model.kernels.random import INFERENCE, fill_uniforms

# A row is asked for so many tokens before it is used.
PREFETCH_DISTANCE = 2


@inlined
def _block_sum(start: Any, strength: Any, coef: Any) -> Any:
    """rest of sixteen topics, in four lanes."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for t in range(start, start + 16, 4):
        a += strength[t] * coef[t]
        b += strength[t + 1] * coef[t + 1]
        c += strength[t + 2] * coef[t + 2]
        d += strength[t + 3] * coef[t + 3]
    return (a + b) + (c + d)


@inlined
def smoothing_sum(strength: Any, coef: Any) -> Any:
    """rest."""
    total, start = 0.0, 0
    while start + 16 <= coef.shape[0]:
        total += _block_sum(start, strength, coef)
        start += 16
    for t in range(start, coef.shape[0]):
        total += strength[t] * coef[t]
    return total


@inlined
def draw_from_smoothing(x: Any, strength: Any, coef: Any) -> Any:
    """The topic at ``x`` in [0, rest); sixteen at a time are passed by."""
    found, start, total = 0, 0, 0.0
    while start + 16 <= coef.shape[0]:
        block = _block_sum(start, strength, coef)
        if total + block > x:
            break
        total += block
        start += 16
    for t in range(start, coef.shape[0]):
        found = t
        total += strength[t] * coef[t]
        if total > x:
            break
    return found


@inlined
def _draw_from_fixed(
    x: Any, coef: Any, fixed_topics: Any, fixed_counts: Any, begin: Any, end: Any
) -> Any:
    """The topic at ``x`` among a word's held counts; -1 where it has none."""
    found, total = -1, 0.0
    for at in range(begin, end):
        if fixed_counts[at] > 0.0:
            found = fixed_topics[at]
            total += coef[found] * fixed_counts[at]
            if total > x:
                break
    return found


@inlined
def _draw_from_sampled(
    x: Any, fixed_sum: Any, coef: Any, entries: Any, begin: Any, end: Any, bits: Any, old: Any
) -> Any:
    """The topic at ``x`` among a word's own counts, which begin at ``fixed_sum``; one token of
    ``old`` is not counted. -1 where none is.
    """
    found, total = -1, fixed_sum
    for at in range(begin, end):
        t = entries[at] & ((1 << bits) - 1)
        n = (entries[at] >> bits) - (t == old)
        if n > 0:
            found = t
            total += coef[t] * n
            if total > x:
                break
    return found


@inlined
def _move_token(
    t: Any, step: Any, counts: Any, sampled_totals: Any, coef: Any, alpha: Any, totals: Any
) -> None:
    """A token joins (1) or leaves (-1) topic t."""
    counts[t] += step
    sampled_totals[t] += step
    coef[t] = (alpha[t] + counts[t]) / (totals[t] + sampled_totals[t])


@page_kernel
def sweep_document(
    tokens: Any,
    states: Any,
    counts: Any,
    first: Any,
    alpha: Any,
    totals: Any,
    sampled_totals: Any,
    coef: Any,
    strength: Any,
    base: Any,
    fixed_offsets: Any,
    fixed_topics: Any,
    fixed_counts: Any,
    begins: Any,
    entries: Any,
    lengths: Any,
    bits: Any,
    capacities: Any,
    end_of_rows: Any,
    uniforms: Any,
    start: Any,
    carried: Any,
) -> Any:
    """One pass over one document, in place, from token ``start`` on; the token that found no room
    for its topic, or else n.

    Args:
        tokens: int32[n], words v. states: int32[n], topics. counts: int[T], n_td. first: whether
        the tokens have no topics yet. alpha: float64[T]. totals: float64[T], n_t + s_t of what is
        held. own_totals: int64[T]. coef: float64[T], scratch. strength: float64[T], s_t. base:
        float64[V], B(w). held_offsets, held_topics, held_counts: the held rows, each in descending
        order of the counts, with zeros up to a whole block. begins, own, lengths, bits, rooms,
        used: packed rows, see :mod:`model.gibbs.kernels.packed_rows`. uniforms: float64[>= n].
        carried: float64[1], where rest is kept while room is made.
    """
    for t in range(alpha.shape[0]):
        coef[t] = (alpha[t] + counts[t]) / (totals[t] + sampled_totals[t])
    smoothing = smoothing_sum(strength, coef) if start == 0 else carried[0]
    for i in range(start, tokens.shape[0]):
        v, old, smoothing_without, old_coef = tokens[i], -1, smoothing, 0.0
        begin, fixed_begin, fixed_end = begins[v], fixed_offsets[v], fixed_offsets[v + 1]
        if i + PREFETCH_DISTANCE < tokens.shape[0]:
            prefetch(entries, begins[tokens[i + PREFETCH_DISTANCE]])
        if not first:
            old = states[i]
            old_coef = coef[old]
            _move_token(old, -1, counts, sampled_totals, coef, alpha, totals)
            smoothing_without += strength[old] * (coef[old] - old_coef)
        fixed_sum = (
            pair_sum(coef, fixed_topics, fixed_counts, fixed_begin, fixed_end)
            if fixed_begin < fixed_end
            else 0.0
        )
        q = fixed_sum + packed_sum(coef, entries, begin, begin + lengths[v], bits)
        if not first:
            q -= coef[old]
        x = uniforms[i] * (q + base[v] * smoothing_without)
        new = -1
        if x < fixed_sum:
            new = _draw_from_fixed(x, coef, fixed_topics, fixed_counts, fixed_begin, fixed_end)
        elif x < q:
            new = _draw_from_sampled(
                x, fixed_sum, coef, entries, begin, begin + lengths[v], bits, old
            )
        if new < 0:
            # Also where rounding left a q without a topic.
            new = draw_from_smoothing((x - q) / base[v], strength, coef)
        full = (
            new != old
            and lengths[v] == capacities[v]
            and not grow_row(begins, entries, lengths, capacities, end_of_rows, v)
        )
        if new == old or (full and not first):
            counts[old] += 1
            sampled_totals[old] += 1
            coef[old] = old_coef
        if full:
            carried[0] = smoothing
            return i
        if new == old:
            continue
        new_coef = coef[new]
        _move_token(new, 1, counts, sampled_totals, coef, alpha, totals)
        smoothing = smoothing_without + strength[new] * (coef[new] - new_coef)
        if not first:
            remove_token(entries, begins[v], lengths, v, bits, old)
        add_token(entries, begins[v], lengths, v, bits, new)
        states[i] = new
    return tokens.shape[0]


@kernel
def sweep_documents(
    tokens: Any,
    offsets: Any,
    states: Any,
    in_documents: Any,
    sampled_totals: Any,
    totals: Any,
    alpha: Any,
    strength: Any,
    base: Any,
    fixed_offsets: Any,
    fixed_topics: Any,
    fixed_counts: Any,
    begins: Any,
    entries: Any,
    lengths: Any,
    bits: Any,
    capacities: Any,
    end_of_rows: Any,
    first: Any,
    number: Any,
    sweep: Any,
    key0: Any,
    key1: Any,
    progress: Any,
    carried: Any,
) -> None:
    """One pass over documents together, in place: :func:`model.gibbs.kernels.gibbs2.sweep_documents` with
    sparse rows, see :func:`sweep_document`.

    progress: int64[2], the document and its token to begin with; where rows had no room, or behind
        the last document.
    """
    uniforms, coef = np.empty(longest_document(offsets)), np.empty(alpha.shape[0])
    while progress[0] < offsets.shape[0] - 1:
        d = progress[0]
        begin, end = offsets[d], offsets[d + 1]
        fill_uniforms(
            uniforms, end - begin, sweep * (end - begin), key0, key1, 0, number + d, INFERENCE
        )
        progress[1] = sweep_document(
            tokens[begin:end],
            states[begin:end],
            in_documents[d],
            first,
            alpha,
            totals,
            sampled_totals,
            coef,
            strength,
            base,
            fixed_offsets,
            fixed_topics,
            fixed_counts,
            begins,
            entries,
            lengths,
            bits,
            capacities,
            end_of_rows,
            uniforms,
            progress[1],
            carried,
        )
        if progress[1] < end - begin:
            break
        progress[0], progress[1] = d + 1, 0


def empty_rows(words: int) -> tuple[Any, Any, Any]:
    """Held rows, (offsets, topics, counts), of words that have no held counts."""
    return np.zeros(words + 1, np.int64), np.zeros(0, np.int32), np.zeros(0)
