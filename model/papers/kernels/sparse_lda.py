"""SparseLDA (Yao, Mimno and McCallum 2009): a draw costs what its word and its document have.

A token of word w in document d is drawn with

    P(z = t) ~ (alpha_t + n_td) (n_wt + s_t B(w)) / (n_t + s_t)

The mass of this distribution has two parts:

    q = sum over the topics of w of coef[t] n_wt,   coef[t] = (alpha_t + n_td) / (n_t + s_t)
    B(w) smoothing,   smoothing = sum over all topics of coef[t] s_t

The second part is the sum of the paper's buckets r and s. coef and smoothing are kept up to date,
so only q costs more than a few operations. Most draws fall into q.

n_wt is the sum of *fixed* counts, which may be fractional and never change, and of *sampled*
counts, those of the tokens whose topics are drawn. A row of sampled counts has one integer for each
topic, ``count << bits | topic``, in descending order, so a walk through q ends early. The order is
a function of the counts, so the bits do not depend on how a state was reached. For the same reason
smoothing, whose rounding errors accumulate, is summed again at the start of each document. Entries
past the end of a row, up to a whole block, have no tokens
(:mod:`beam_topics.model.inference.kernels.row_sums`).

A token is not removed from its row before it is drawn. Its own part of q is subtracted, and the row
changes only if the topic changes.

D is the number of documents, N of tokens, V of words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.inference.kernels.gibbs3 import draw_from_smoothing, smoothing_sum
from beam_topics.model.inference.kernels.row_sums import packed_sum, pair_sum, prefetch
from beam_topics.model.kernels.jit import inlined, kernel, page_kernel
from beam_topics.model.kernels.random import INFERENCE, fill_uniforms

# A row is prefetched this many tokens before it is used.
PREFETCH_DISTANCE = 2


class Documents(NamedTuple):
    """Documents with the topics of their tokens.

    Attributes:
        tokens: int32[N], the words; document d is ``tokens[offsets[d]:offsets[d + 1]]``.
        offsets: int64[D + 1].
        states: int32[N], the topics.
        in_documents: int32[D, T], n_td.
    """

    tokens: Any
    offsets: Any
    states: Any
    in_documents: Any


class Document(NamedTuple):
    """One document of n tokens.

    Attributes:
        tokens: int32[n], the words.
        states: int32[n], the topics.
        counts: int[T], n_td.
    """

    tokens: Any
    states: Any
    counts: Any


class SweepName(NamedTuple):
    """The name of a sweep, which determines its uniforms.

    Attributes:
        first: whether the tokens have no topics yet.
        first_document: number of the first document.
        sweep: number of the sweep.
        key0, key1: the stream key, see :func:`beam_topics.model.kernels.random.stream_key`.
    """

    first: bool
    first_document: int
    sweep: int
    key0: int
    key1: int


class SparseFixed(NamedTuple):
    """Fixed counts as sparse rows.

    Attributes:
        offsets: int64[V + 1], multiples of the block size.
        topics: int32[nnz]; within a row the counts descend.
        counts: float64[nnz], n_wt, with zeros up to a whole block.
        totals: float64[T], n_t + s_t.
        alpha: float64[T].
        strength: float64[T], s_t.
        base: float64[V], B(w).
    """

    offsets: Any
    topics: Any
    counts: Any
    totals: Any
    alpha: Any
    strength: Any
    base: Any


class PackedRows(NamedTuple):
    """Sampled counts as packed rows.

    Attributes:
        begins: int64[V], the first entry of each row.
        entries: int32 or int64, ``count << bits | topic``.
        lengths: int32[V], the number of entries in each row.
        bits: width of a topic number in an entry.
    """

    begins: Any
    entries: Any
    lengths: Any
    bits: int


@inlined
def _find_entry(entries, begin, length, mask, topic):
    """Return the index of a topic's entry in a row; begin + length where the row has none."""
    at = begin
    while at < begin + length and (entries[at] & mask) != topic:
        at += 1
    return at


@inlined
def _remove_token(rows, v, topic):
    """Remove one token of a topic from the row of word ``v``, which has the topic."""
    entries, lengths, begin = rows.entries, rows.lengths, rows.begins[v]
    one, mask = 1 << rows.bits, (1 << rows.bits) - 1
    at = _find_entry(entries, begin, lengths[v], mask, topic)
    entry, end = entries[at] - one, begin + lengths[v]
    while at + 1 < end and entries[at + 1] > entry:
        entries[at] = entries[at + 1]
        at += 1
    entries[at] = entry
    # An entry without tokens is smaller than all others. So it is the last one now.
    if entry < one:
        lengths[v] -= 1


@inlined
def _add_token(rows, v, topic):
    """Add one token of a topic to the row of word ``v``; the row may not have the topic yet."""
    entries, lengths, begin = rows.entries, rows.lengths, rows.begins[v]
    one, mask = 1 << rows.bits, (1 << rows.bits) - 1
    at = _find_entry(entries, begin, lengths[v], mask, topic)
    entry = topic + one
    if at < begin + lengths[v]:
        entry = entries[at] + one
    else:
        lengths[v] += 1
    while at > begin and entries[at - 1] < entry:
        entries[at] = entries[at - 1]
        at -= 1
    entries[at] = entry


@inlined
def longest_document(offsets):
    """Return the number of tokens of the longest document; 0 where there is none."""
    longest = 0
    for d in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    return longest


@inlined
def _fixed_sum(coef, fixed, v):
    """Return the part of q from the fixed counts of word ``v``."""
    begin, end = fixed.offsets[v], fixed.offsets[v + 1]
    return pair_sum(coef, fixed.topics, fixed.counts, begin, end) if begin < end else 0.0


@inlined
def _draw_from_fixed(x, coef, fixed, v):
    """Return the topic at ``x`` among the fixed counts of word ``v``; -1 where it has none."""
    found, total = -1, 0.0
    for at in range(fixed.offsets[v], fixed.offsets[v + 1]):
        if fixed.counts[at] > 0.0:
            found = fixed.topics[at]
            total += coef[found] * fixed.counts[at]
            if total > x:
                break
    return found


@inlined
def _draw_from_sampled(x, start, coef, rows, v, old):
    """Return the topic at ``x`` among the sampled counts of word ``v``.

    Their mass begins at ``start``. One token of the topic ``old`` is not counted. The result is -1
    where no other token is left.
    """
    found, total, begin = -1, start, rows.begins[v]
    for at in range(begin, begin + rows.lengths[v]):
        t = rows.entries[at] & ((1 << rows.bits) - 1)
        n = (rows.entries[at] >> rows.bits) - (t == old)
        if n > 0:
            found = t
            total += coef[t] * n
            if total > x:
                break
    return found


@inlined
def _topic_at(x, fixed_sum, q, coef, fixed, rows, v, old):
    """Return the topic at ``x``: fixed counts, then sampled counts, then the smoothing."""
    new = -1
    if x < fixed_sum:
        new = _draw_from_fixed(x, coef, fixed, v)
    elif x < q:
        new = _draw_from_sampled(x, fixed_sum, coef, rows, v, old)
    if new < 0:
        # Rounding may also leave a q without a topic.
        new = draw_from_smoothing((x - q) / fixed.base[v], fixed.strength, coef)
    return new


@inlined
def _move_token(t, step, counts, sampled_totals, coef, fixed):
    """Add (``step`` = 1) a token to topic t or remove one (-1), and update coef[t]."""
    counts[t] += step
    sampled_totals[t] += step
    coef[t] = (fixed.alpha[t] + counts[t]) / (fixed.totals[t] + sampled_totals[t])


@page_kernel
def sweep_document(document, fixed, rows, sampled_totals, coef, uniforms, first):
    """Draw the topics of one document in place.

    Args:
        document: :class:`Document`.
        fixed: :class:`SparseFixed`.
        rows: :class:`PackedRows`, the sampled n_wt, with room for the document's tokens.
        sampled_totals: int64[T], the sampled counts n_t.
        coef: float64[T], where to compute.
        uniforms: float64[>= n], one for each token.
        first: whether the tokens have no topics yet.
    """
    tokens, states, counts = document.tokens, document.states, document.counts
    strength, base = fixed.strength, fixed.base
    begins, entries, lengths = rows.begins, rows.entries, rows.lengths
    for t in range(coef.shape[0]):
        coef[t] = (fixed.alpha[t] + counts[t]) / (fixed.totals[t] + sampled_totals[t])
    smoothing = smoothing_sum(strength, coef)
    for i in range(tokens.shape[0]):
        v, old, smoothing_without, old_coef = tokens[i], -1, smoothing, 0.0
        if i + PREFETCH_DISTANCE < tokens.shape[0]:
            prefetch(entries, begins[tokens[i + PREFETCH_DISTANCE]])
        if not first:
            old = states[i]
            old_coef = coef[old]
            _move_token(old, -1, counts, sampled_totals, coef, fixed)
            smoothing_without += strength[old] * (coef[old] - old_coef)
        fixed_sum = _fixed_sum(coef, fixed, v)
        q = fixed_sum + packed_sum(coef, entries, begins[v], begins[v] + lengths[v], rows.bits)
        if not first:
            q -= coef[old]
        x = uniforms[i] * (q + base[v] * smoothing_without)
        new = _topic_at(x, fixed_sum, q, coef, fixed, rows, v, old)
        if new == old:
            counts[old] += 1
            sampled_totals[old] += 1
            coef[old] = old_coef
            continue
        new_coef = coef[new]
        _move_token(new, 1, counts, sampled_totals, coef, fixed)
        smoothing = smoothing_without + strength[new] * (coef[new] - new_coef)
        if not first:
            _remove_token(rows, v, old)
        _add_token(rows, v, new)
        states[i] = new


@kernel
def sweep_documents(documents, fixed, rows, sampled_totals, name):
    """Draw the topic of each token once, document by document, in place, with sparse rows.

    Args:
        documents: :class:`Documents`.
        fixed: :class:`SparseFixed`.
        rows: :class:`PackedRows`, the sampled n_wt, with room for all tokens.
        sampled_totals: int64[T], the sampled counts n_t.
        name: :class:`SweepName`.
    """
    offsets = documents.offsets
    coef, uniforms = np.empty(fixed.alpha.shape[0]), np.empty(longest_document(offsets))
    for d in range(offsets.shape[0] - 1):
        begin, end = offsets[d], offsets[d + 1]
        n, number = end - begin, name.first_document + d
        fill_uniforms(uniforms, n, name.sweep * n, name.key0, name.key1, 0, number, INFERENCE)
        document = Document(
            documents.tokens[begin:end], documents.states[begin:end], documents.in_documents[d]
        )
        sweep_document(document, fixed, rows, sampled_totals, coef, uniforms, name.first)
