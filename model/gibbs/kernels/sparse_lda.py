"""SparseLDA (Yao, Mimno and McCallum 2009): a topic drawn at the cost of the topics that its word
and its document have.

A token of word w in document d is drawn with P(z = t) in proportion to (alpha_t + n_td) (n_wt + s_t
B(w)) / (n_t + s_t), which is split into

    q = sum over the topics of w of coef[t] n_wt,   coef[t] = (alpha_t + n_td) / (n_t + s_t)
    B(w) rest,   rest = sum over all topics of coef[t] s_t, the paper's r and s in one

coef and rest are kept up to date, so only q costs more than a few operations, and most draws fall
into it. n_wt comes in two parts, as in :mod:`model.gibbs.kernels.gibbs2`: ``held`` counts, which
may be fractional and never change, and ``own`` counts of the tokens that are sampled. A row of own
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

from model.gibbs.kernels.gibbs2 import longest_of
from model.gibbs.kernels.packed_rows import less, more, stretched
from model.gibbs.kernels.row_sums import packed_sum, pair_sum, prefetch
from model.kernels.jit import inlined, kernel, page_kernel
from model.kernels.random import INFERENCE, fill_uniforms

# A row is asked for so many tokens before it is used.
AHEAD = 2


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
def prior_sum(strength: Any, coef: Any) -> Any:
    """rest."""
    total, start = 0.0, 0
    while start + 16 <= coef.shape[0]:
        total += _block_sum(start, strength, coef)
        start += 16
    for t in range(start, coef.shape[0]):
        total += strength[t] * coef[t]
    return total


@inlined
def from_prior(x: Any, strength: Any, coef: Any) -> Any:
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
def _from_held(x: Any, coef: Any, held_topics: Any, held_counts: Any, begin: Any, end: Any) -> Any:
    """The topic at ``x`` among a word's held counts; -1 where it has none."""
    found, total = -1, 0.0
    for at in range(begin, end):
        if held_counts[at] > 0.0:
            found = held_topics[at]
            total += coef[found] * held_counts[at]
            if total > x:
                break
    return found


@inlined
def _from_own(
    x: Any, held: Any, coef: Any, own: Any, begin: Any, end: Any, bits: Any, old: Any
) -> Any:
    """The topic at ``x`` among a word's own counts, which begin at ``held``; one token of
    ``old`` is not counted. -1 where none is.
    """
    found, total = -1, held
    for at in range(begin, end):
        t = own[at] & ((1 << bits) - 1)
        n = (own[at] >> bits) - (t == old)
        if n > 0:
            found = t
            total += coef[t] * n
            if total > x:
                break
    return found


@inlined
def _counted(
    t: Any, step: Any, counts: Any, own_totals: Any, coef: Any, alpha: Any, totals: Any
) -> None:
    """A token joins (1) or leaves (-1) topic t."""
    counts[t] += step
    own_totals[t] += step
    coef[t] = (alpha[t] + counts[t]) / (totals[t] + own_totals[t])


@page_kernel
def document_pass(
    tokens: Any,
    states: Any,
    counts: Any,
    first: Any,
    alpha: Any,
    totals: Any,
    own_totals: Any,
    coef: Any,
    strength: Any,
    base: Any,
    held_offsets: Any,
    held_topics: Any,
    held_counts: Any,
    begins: Any,
    own: Any,
    lengths: Any,
    bits: Any,
    rooms: Any,
    used: Any,
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
        coef[t] = (alpha[t] + counts[t]) / (totals[t] + own_totals[t])
    rest = prior_sum(strength, coef) if start == 0 else carried[0]
    for i in range(start, tokens.shape[0]):
        v, old, out_rest, kept = tokens[i], -1, rest, 0.0
        begin, held_begin, held_end = begins[v], held_offsets[v], held_offsets[v + 1]
        if i + AHEAD < tokens.shape[0]:
            prefetch(own, begins[tokens[i + AHEAD]])
        if not first:
            old = states[i]
            kept = coef[old]
            _counted(old, -1, counts, own_totals, coef, alpha, totals)
            out_rest += strength[old] * (coef[old] - kept)
        held = (
            pair_sum(coef, held_topics, held_counts, held_begin, held_end)
            if held_begin < held_end
            else 0.0
        )
        q = held + packed_sum(coef, own, begin, begin + lengths[v], bits)
        if not first:
            q -= coef[old]
        x = uniforms[i] * (q + base[v] * out_rest)
        new = -1
        if x < held:
            new = _from_held(x, coef, held_topics, held_counts, held_begin, held_end)
        elif x < q:
            new = _from_own(x, held, coef, own, begin, begin + lengths[v], bits, old)
        if new < 0:
            # Also where rounding left a q without a topic.
            new = from_prior((x - q) / base[v], strength, coef)
        full = (
            new != old
            and lengths[v] == rooms[v]
            and not stretched(begins, own, lengths, rooms, used, v)
        )
        if new == old or (full and not first):
            counts[old] += 1
            own_totals[old] += 1
            coef[old] = kept
        if full:
            carried[0] = rest
            return i
        if new == old:
            continue
        was = coef[new]
        _counted(new, 1, counts, own_totals, coef, alpha, totals)
        rest = out_rest + strength[new] * (coef[new] - was)
        if not first:
            less(own, begins[v], lengths, v, bits, old)
        more(own, begins[v], lengths, v, bits, new)
        states[i] = new
    return tokens.shape[0]


@kernel
def pass_over(
    tokens: Any,
    offsets: Any,
    states: Any,
    in_documents: Any,
    own_totals: Any,
    totals: Any,
    alpha: Any,
    strength: Any,
    base: Any,
    held_offsets: Any,
    held_topics: Any,
    held_counts: Any,
    begins: Any,
    own: Any,
    lengths: Any,
    bits: Any,
    rooms: Any,
    used: Any,
    first: Any,
    number: Any,
    sweep: Any,
    key0: Any,
    key1: Any,
    progress: Any,
    carried: Any,
) -> None:
    """One pass over documents together, in place: :func:`model.gibbs.kernels.gibbs2.pass_over` with
    sparse rows, see :func:`document_pass`.

    progress: int64[2], the document and its token to begin with; where rows had no room, or behind
        the last document.
    """
    uniforms, coef = np.empty(longest_of(offsets)), np.empty(alpha.shape[0])
    while progress[0] < offsets.shape[0] - 1:
        d = progress[0]
        begin, end = offsets[d], offsets[d + 1]
        fill_uniforms(
            uniforms, end - begin, sweep * (end - begin), key0, key1, 0, number + d, INFERENCE
        )
        progress[1] = document_pass(
            tokens[begin:end],
            states[begin:end],
            in_documents[d],
            first,
            alpha,
            totals,
            own_totals,
            coef,
            strength,
            base,
            held_offsets,
            held_topics,
            held_counts,
            begins,
            own,
            lengths,
            bits,
            rooms,
            used,
            uniforms,
            progress[1],
            carried,
        )
        if progress[1] < end - begin:
            break
        progress[0], progress[1] = d + 1, 0


def no_rows(words: int) -> tuple[Any, Any, Any]:
    """Held rows, (offsets, topics, counts), of words that have no held counts."""
    return np.zeros(words + 1, np.int64), np.zeros(0, np.int32), np.zeros(0)
