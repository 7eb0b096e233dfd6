"""SparseLDA for one document, given the counts of a model.

A token of word w is drawn with

    P(z = t) ~ coef[t] (n_wt + s_t B(w)),   coef[t] = (alpha_t + n_td) / (n_t + s_t + n_td)

where n_wt counts the tokens of the model, which may be fractional, and of the document. The
document is alone, so n_td is also what its tokens add to n_t.

As in :mod:`beam_topics.model.papers.kernels.sparse_lda`, q is the sum over the topics of w, and
``smoothing`` (times B(w)) is the sum over all topics. A document that is alone permits more:

* The order of its tokens is free, so they are drawn word by word. A word's row is multiplied by
  coef once a sweep, and corrected where a token of the word changes its topic.
* The rows of its words are copied, and its tokens are counted in the copies. An entry never moves
  within its row. So each token remembers its entry and is removed without a search. Rows begin in
  descending order of the model's counts.
* coef[t] is a function of n_td alone. It is kept for one token fewer and for one more as well, so
  that no draw waits for a division.
* Most tokens keep their topic. This case is tested first, and then nothing is written.

A topic that a row does not have goes into an entry without tokens, or after the row. A row has as
many of these entries as the document has tokens of the word, so one is always free. Indices and
topics are unsigned: numba tests a signed index for being negative.

The sampler takes the rows of a model in descending order of their counts. Equal counts stay in
ascending order of the topics. Only the rows of words that documents use are sorted: a model of many
keys has few documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.inference.kernels.row_sums import padded_length, pair_products
from beam_topics.model.kernels.jit import inlined, kernel, page_kernel
from beam_topics.model.kernels.random import INFERENCE, fill_uniforms

# Up to this many entries a row is sorted by insertion, and above it by merging. Both are stable.
FEW = 32


class DocumentWords(NamedTuple):
    """The distinct words of D documents, one document after the other.

    Attributes:
        rows: int64[N], rows of a model.
        occurrences: int64[N], the number of tokens of each word.
        offsets: int64[D + 1]; document d has the words offsets[d] to offsets[d + 1].
    """

    rows: Any
    occurrences: Any
    offsets: Any


class ModelCounts(NamedTuple):
    """The sparse counts of a model, with its priors.

    Attributes:
        offsets: int64[W + 1]; word w has the entries offsets[w] to offsets[w + 1].
        topics: int32[nnz], the topic of each entry.
        counts: float64[nnz], n_wt of each entry.
        totals: float64[T], n_t + s_t.
        alpha: float64[T], the Dirichlet prior of a document's topics.
        strength: float64[T], s_t.
    """

    offsets: Any
    topics: Any
    counts: Any
    totals: Any
    alpha: Any
    strength: Any


@inlined
def _insert(topics, counts, begin, end):
    """Sort the entries from ``begin`` to ``end`` in place, by insertion."""
    for at in range(begin + 1, end):
        topic, count, to = topics[at], counts[at], at
        while to > begin and counts[to - 1] < count:
            topics[to], counts[to] = topics[to - 1], counts[to - 1]
            to -= 1
        topics[to], counts[to] = topic, count


@kernel
def sorted_rows(rows, offsets, topics, counts):
    """Return the distinct rows of words, in the order of their first use, each sorted.

    Args:
        rows: int64[N], rows of the model, any number of times.
        offsets: int64[W + 1], where each row of the model begins.
        topics: int32[nnz], ascending within a row.
        counts: float64[nnz].

    Returns:
        int64[N], the place of each of ``rows`` in the result; int64[V + 1], offsets; the topics;
        the counts.
    """
    place_of, used = np.full(offsets.shape[0] - 1, -1, np.int32), np.empty(rows.shape[0], np.int64)
    places, begins = np.empty(rows.shape[0], np.int64), np.zeros(rows.shape[0] + 1, np.int64)
    v_count = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if place_of[row] < 0:
            place_of[row], used[v_count] = v_count, row
            begins[v_count + 1] = begins[v_count] + offsets[row + 1] - offsets[row]
            v_count += 1
        places[i] = place_of[row]
    own_topics = np.empty(begins[v_count], topics.dtype)
    own_counts = np.empty(begins[v_count], counts.dtype)
    for v in range(v_count):
        source, begin, end = offsets[used[v]], begins[v], begins[v + 1]
        for k in range(end - begin):
            own_topics[begin + k], own_counts[begin + k] = topics[source + k], counts[source + k]
        if end - begin <= FEW:
            _insert(own_topics, own_counts, begin, end)
        else:
            order = np.argsort(-own_counts[begin:end], kind="mergesort")
            own_topics[begin:end] = own_topics[begin:end][order]
            own_counts[begin:end] = own_counts[begin:end][order]
    return places, begins[: v_count + 1].copy(), own_topics, own_counts


_ZERO, _ONE = np.uint64(0), np.uint64(1)


class _Topics(NamedTuple):
    """The topics of the document.

    Attributes:
        counts: int32[T], n_td.
        minus, coef, plus: float64[T], coef of n_td - 1, n_td and n_td + 1 tokens. ``minus`` has no
            meaning for a topic without tokens.
        alpha, totals, strength: float64[T], of the model.
    """

    counts: Any
    minus: Any
    coef: Any
    plus: Any
    alpha: Any
    totals: Any
    strength: Any


class _Rows(NamedTuple):
    """Copies of the model's rows, in which the document's tokens are counted.

    Attributes:
        offsets: uint64[V], where each row begins.
        sizes: uint64[V], the number of entries in each row.
        topics: uint32[M], the topic of each entry.
        counts: float64[M], the count of each entry; 0 past the end of a row.
    """

    offsets: Any
    sizes: Any
    topics: Any
    counts: Any


class _Workspace(NamedTuple):
    """Scratch of a document of n tokens.

    Attributes:
        entry_of_token: uint32[n], the entry of each token within its row.
        products: float64[longest row].
        uniforms: float64[n].
    """

    entry_of_token: Any
    products: Any
    uniforms: Any


@inlined
def _coef(t, n, alpha, totals):
    """Return coef of topic t with n tokens."""
    return (alpha[t] + n) / (totals[t] + n)


@inlined
def _remove_token(t, document):
    """Remove a token from topic t of the document."""
    document.counts[t] -= 1
    document.plus[t], document.coef[t] = document.coef[t], document.minus[t]
    document.minus[t] = _coef(t, document.counts[t] - 1, document.alpha, document.totals)


@inlined
def _add_token(t, document):
    """Add a token to topic t of the document."""
    document.counts[t] += 1
    document.minus[t], document.coef[t] = document.coef[t], document.plus[t]
    document.plus[t] = _coef(t, document.counts[t] + 1, document.alpha, document.totals)


@inlined
def _block_sum(start, strength, coef):
    """Return the smoothing sum of sixteen topics, in four lanes."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for t in range(start, start + 16, 4):
        a += strength[t] * coef[t]
        b += strength[t + 1] * coef[t + 1]
        c += strength[t + 2] * coef[t + 2]
        d += strength[t + 3] * coef[t + 3]
    return (a + b) + (c + d)


@inlined
def smoothing_sum(strength, coef):
    """Return the sum of s_t coef[t] over all topics."""
    total, start = 0.0, 0
    while start + 16 <= coef.shape[0]:
        total += _block_sum(start, strength, coef)
        start += 16
    for t in range(start, coef.shape[0]):
        total += strength[t] * coef[t]
    return total


@inlined
def draw_from_smoothing(x, strength, coef):
    """Return the topic at ``x`` in [0, smoothing); blocks of sixteen are skipped at once."""
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
def _first_above(products, size, x):
    """Return the first entry whose prefix sum is above x; ``size`` where rounding leaves none."""
    k, total = _ZERO, 0.0
    while k < size:
        total += products[k]
        if total > x:
            break
        k += _ONE
    return k


@inlined
def _row_products(coef, topics, counts, begin, size, products):
    """Write coef[t] n_wt of each entry of a row, and return the sum."""
    return (
        pair_products(coef, topics, counts, begin, begin + size, products) if size > _ZERO else 0.0
    )


@inlined
def _entry_for(topic, topics, counts, begin, size):
    """Return the entry of a topic in a row, or the first entry that is free for it.

    The free entry is one without tokens, or ``size``.
    """
    k, free = _ZERO, size
    while k < size and topics[begin + k] != topic:
        if free == size and counts[begin + k] == 0.0:
            free = k
        k += _ONE
    return k if k < size else free


@page_kernel
def _sweep(occurrences, base, document, rows, workspace, first):
    """Draw the topic of each token once, in place.

    Args:
        occurrences: int64[V], the number of tokens of each word.
        base: float64[V], B(w).
        document: :class:`_Topics`.
        rows: :class:`_Rows`.
        workspace: :class:`_Workspace`.
        first: whether the tokens have no topics yet.
    """
    topics, counts, products = rows.topics, rows.counts, workspace.products
    minus, coef, strength = document.minus, document.coef, document.strength
    smoothing, i, end = smoothing_sum(strength, coef), _ZERO, _ZERO
    for v in range(occurrences.shape[0]):
        begin, size, weight = rows.offsets[v], rows.sizes[v], base[v]
        q = _row_products(coef, topics, counts, begin, size, products)
        end += np.uint64(occurrences[v])
        while i < end:
            q_without, smoothing_without, old_mass = q, smoothing, 0.0
            old_entry, old = _ZERO, _ZERO
            if not first:
                old_entry = np.uint64(workspace.entry_of_token[i])
                old = np.uint64(topics[begin + old_entry])
                old_mass = minus[old] * (counts[begin + old_entry] - 1.0)
                q_without -= products[old_entry]
                smoothing_without += strength[old] * (minus[old] - coef[old])
            x = workspace.uniforms[i] * (old_mass + (q_without + weight * smoothing_without))
            i += _ONE
            if x < old_mass:
                continue
            x -= old_mass
            if not first:
                _remove_token(old, document)
                counts[begin + old_entry] -= 1.0
                products[old_entry] = 0.0
            entry = _first_above(products, size, x) if x < q_without else size
            if entry == size:
                # Rounding may also leave an x below q without a topic.
                new = np.uint64(draw_from_smoothing((x - q_without) / weight, strength, coef))
                entry = _entry_for(new, topics, counts, begin, size)
                topics[begin + entry] = new
                if entry == size:
                    size += _ONE
                    products[entry] = 0.0
            new = np.uint64(topics[begin + entry])
            new_coef = coef[new]
            _add_token(new, document)
            counts[begin + entry] += 1.0
            workspace.entry_of_token[i - _ONE] = entry
            if not first:
                products[old_entry] = old_mass
                q_without += old_mass
            product = coef[new] * counts[begin + entry]
            q = q_without + (product - products[entry])
            products[entry] = product
            smoothing = smoothing_without + strength[new] * (coef[new] - new_coef)
        rows.sizes[v] = size


@kernel
def _copy_rows(words, occurrences, trained):
    """Return (:class:`_Rows`, length of the longest row) of some words of the model."""
    v_count, room, longest = words.shape[0], 0, 0
    offsets, sizes = np.zeros(v_count, np.uint64), np.zeros(v_count, np.uint64)
    for v in range(v_count):
        offsets[v], sizes[v] = room, trained.offsets[words[v] + 1] - trained.offsets[words[v]]
        length = padded_length(np.int64(sizes[v]) + occurrences[v])
        room, longest = room + length, max(longest, length)
    topics, counts = np.zeros(room, np.uint32), np.zeros(room)
    for v in range(v_count):
        for k in range(sizes[v]):
            source = np.uint64(trained.offsets[words[v]]) + k
            topics[offsets[v] + k] = trained.topics[source]
            counts[offsets[v] + k] = trained.counts[source]
    return _Rows(offsets, sizes, topics, counts), longest


@kernel
def sample_document(occurrences, rows, base, trained, sweeps, kept, keys):
    """Draw the topics of a document in a first pass and ``sweeps`` Gibbs sweeps.

    Args:
        occurrences: int64[V], the number of tokens of each word. Tokens are numbered word by word.
        rows: int64[V], the document's distinct words as rows of the model.
        base: float64[V], B(w) of these words.
        trained: :class:`ModelCounts`, each row in
            descending order of its counts.
        sweeps: number of sweeps after the first pass.
        kept: number of states that are summed, the last ones.
        keys: (int, int), the stream key of the document.

    Returns:
        int64[T], the sum of n_td over the last ``kept`` states.
    """
    n, t_count = occurrences.sum(), trained.alpha.shape[0]
    alpha, totals = trained.alpha, trained.totals
    copied, longest = _copy_rows(rows, occurrences, trained)
    document = _Topics(
        np.zeros(t_count, np.int32),
        np.zeros(t_count),
        alpha / totals,
        (alpha + 1.0) / (totals + 1.0),
        alpha,
        totals,
        trained.strength,
    )
    workspace = _Workspace(np.empty(n, np.uint32), np.empty(longest), np.empty(n))
    result = np.zeros(t_count, np.int64)
    for sweep in range(sweeps + 1):
        fill_uniforms(workspace.uniforms, n, sweep * n, keys[0], keys[1], 0, 0, INFERENCE)
        _sweep(occurrences, base, document, copied, workspace, sweep == 0)
        if sweep > sweeps - kept:
            result += document.counts
    return result


@kernel
def sample_documents(words, base, trained, sweeps, kept, keys):
    """Draw the topics of many documents, each alone, as :func:`sample_document` does.

    Args:
        words: :class:`DocumentWords`.
        base: float64[N], B(w) of these words.
        trained: :class:`ModelCounts`, each row in
            descending order of its counts.
        sweeps: number of sweeps after the first pass.
        kept: number of states that are summed, the last ones.
        keys: int64[D, 2], the stream key of each document.

    Returns:
        int64[D, T].
    """
    counts = np.empty((keys.shape[0], trained.alpha.shape[0]), np.int64)
    for d in range(keys.shape[0]):
        here = slice(words.offsets[d], words.offsets[d + 1])
        key = (keys[d, 0], keys[d, 1])
        counts[d] = sample_document(
            words.occurrences[here], words.rows[here], base[here], trained, sweeps, kept, key
        )
    return counts
