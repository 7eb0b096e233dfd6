"""SparseLDA (Yao, Mimno and McCallum 2009): a draw costs what its word and its document have.

A token of word w in document d is drawn with

    P(z = t) ~ (alpha_t + n_td) (n_wt + s_t B(w)) / (n_t + s_t)

The mass of this distribution has two parts:

    q = sum over the topics of w of coef[t] n_wt,   coef[t] = (alpha_t + n_td) / (n_t + s_t)
    B(w) smoothing,   smoothing = sum over all topics of coef[t] s_t

The second part is the sum of the paper's buckets r and s. coef and smoothing are kept up to date,
so only q costs more than a few operations. Most draws fall into q.

n_wt is the sum of fixed counts, which may be fractional and never change, and of sampled counts. A
row of sampled counts is packed and in descending order
(:mod:`beam_topics.model.papers.kernels.packed_rows`), so a walk through q ends early. The order is
a function of the counts, so the bits do not depend on how a state was reached. For the same reason
smoothing, whose rounding errors accumulate, is summed anew at the start of each document.

A token is not removed from its row before it is drawn. Its own part of q is subtracted, and the row
changes only if the topic changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from beam_topics.model.inference.kernels.gibbs3 import draw_from_smoothing, smoothing_sum
from beam_topics.model.inference.kernels.row_sums import packed_sum, pair_sum, prefetch
from beam_topics.model.kernels.jit import inlined, kernel, page_kernel
from beam_topics.model.kernels.random import INFERENCE, fill_uniforms
from beam_topics.model.papers.kernels.packed_rows import add_token, grow_row, remove_token
from beam_topics.model.papers.kernels.records import Document, SparseWorkspace

# A row is prefetched this many tokens before it is used.
PREFETCH_DISTANCE = 2


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


@inlined
def _take_back(old, old_coef, counts, sampled_totals, coef):
    """Add a token to the topic that it was removed from."""
    counts[old] += 1
    sampled_totals[old] += 1
    coef[old] = old_coef


@page_kernel
def sweep_document(document, fixed, rows, sampled_totals, workspace, first, start):
    """Draw the topics of one document in place, from token ``start`` on.

    Args:
        document: :class:`~beam_topics.model.papers.kernels.records.Document`.
        fixed: :class:`~beam_topics.model.papers.kernels.records.SparseFixed`.
        rows: :class:`~beam_topics.model.papers.kernels.records.PackedRows`, the sampled n_wt.
        sampled_totals: int64[T], the sampled counts n_t.
        workspace: :class:`~beam_topics.model.papers.kernels.records.SparseWorkspace`.
        first: whether the tokens have no topics yet.
        start: the token to begin with.

    Returns:
        The token for whose topic there was no room, or n.
    """
    tokens, states, counts = document.tokens, document.states, document.counts
    strength, base, coef = fixed.strength, fixed.base, workspace.coef
    begins, entries, lengths = rows.begins, rows.entries, rows.lengths
    for t in range(coef.shape[0]):
        coef[t] = (fixed.alpha[t] + counts[t]) / (fixed.totals[t] + sampled_totals[t])
    smoothing = smoothing_sum(strength, coef) if start == 0 else workspace.carried[0]
    for i in range(start, tokens.shape[0]):
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
        x = workspace.uniforms[i] * (q + base[v] * smoothing_without)
        new = _topic_at(x, fixed_sum, q, coef, fixed, rows, v, old)
        full = new != old and lengths[v] == rows.capacities[v] and not grow_row(rows, v)
        if new == old or (full and not first):
            _take_back(old, old_coef, counts, sampled_totals, coef)
        if full:
            workspace.carried[0] = smoothing
            return i
        if new == old:
            continue
        new_coef = coef[new]
        _move_token(new, 1, counts, sampled_totals, coef, fixed)
        smoothing = smoothing_without + strength[new] * (coef[new] - new_coef)
        if not first:
            remove_token(rows, v, old)
        add_token(rows, v, new)
        states[i] = new
    return tokens.shape[0]


@kernel
def sweep_documents(documents, fixed, rows, sampled_totals, name, position):
    """Draw the topic of each token once, document by document, in place, with sparse rows.

    The sweep begins at ``position`` and stops where a row has no room. ``position`` then says where
    to continue; its document is D at the end of the sweep.

    Args:
        documents: :class:`~beam_topics.model.papers.kernels.records.Documents`.
        fixed: :class:`~beam_topics.model.papers.kernels.records.SparseFixed`.
        rows: :class:`~beam_topics.model.papers.kernels.records.PackedRows`, the sampled n_wt.
        sampled_totals: int64[T], the sampled counts n_t.
        name: :class:`~beam_topics.model.papers.kernels.records.SweepName`.
        position: :class:`~beam_topics.model.papers.kernels.records.SweepPosition`.
    """
    offsets, progress = documents.offsets, position.progress
    workspace = SparseWorkspace(
        np.empty(fixed.alpha.shape[0]), np.empty(longest_document(offsets)), position.carried
    )
    while progress[0] < offsets.shape[0] - 1:
        d = progress[0]
        begin, end = offsets[d], offsets[d + 1]
        n, number = end - begin, name.first_document + d
        fill_uniforms(
            workspace.uniforms, n, name.sweep * n, name.key0, name.key1, 0, number, INFERENCE
        )
        document = Document(
            documents.tokens[begin:end], documents.states[begin:end], documents.in_documents[d]
        )
        progress[1] = sweep_document(
            document, fixed, rows, sampled_totals, workspace, name.first, progress[1]
        )
        if progress[1] < n:
            break
        progress[0], progress[1] = d + 1, 0


def empty_rows(words: int) -> tuple[Any, Any, Any]:
    """Return (offsets, topics, counts) of words without fixed counts."""
    return np.zeros(words + 1, np.int64), np.zeros(0, np.int32), np.zeros(0)
