"""The probability of a word's spelling, character by character, from a trie of n-grams.

:mod:`beam_topics.model.words.character_model` has the model. A node of the trie is a run of
characters; node 0 is the empty run. An edge leads from a run to the run that is one character
longer. P(c | h) is that of the longest suffix of hc that was seen, times what each longer context
leaves to shorter ones. A word is read with the nodes of its last 0, 1, .. ``order`` characters, -1
where there is no such node. Each character moves them along their edges.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined, kernel

# An edge is its run's number and a code point, of which there are fewer than 2^21.
CODE_BITS = 21
_EMPTY = -1
_MIX = np.uint64(0x9E3779B97F4A7C15)
_TINY = 2.0**-400


class Trie(NamedTuple):
    """A trie of n-grams.

    Attributes:
        edges: int64[size], a hash table of node << 21 | character; -1 for an empty slot.
        leads: int32[size], the node that each edge leads to.
        shift: 64 - log2(size).
        seen: float64[nodes], P(last character | those before it); 0 for a run that was never seen.
        left: float64[nodes], what the run as a context leaves to shorter contexts; 1 for a run that
            was never a context.
    """

    edges: npt.NDArray[np.int64]
    leads: npt.NDArray[np.int32]
    shift: int
    seen: npt.NDArray[np.float64]
    left: npt.NDArray[np.float64]


@inlined
def _place(edges, shift, edge):
    """Return the slot of an edge, or the empty slot where it would be.

    The table is hashed by multiplication, with linear probing.
    """
    at = np.int64(np.uint64(edge) * _MIX >> np.uint64(shift))
    while edges[at] != _EMPTY and edges[at] != edge:
        at = (at + 1) & (len(edges) - 1)
    return at


@kernel
def hash_edges(sources, targets, shift):
    """Return (edges, leads) of a hash table of size 2^(64 - shift).

    Args:
        sources: int64[n], the edges; there are fewer than slots.
        targets: int32[n], the node that each leads to.
        shift: 64 - log2(size).
    """
    size = 1 << (64 - shift)
    edges, leads = np.full(size, _EMPTY, np.int64), np.zeros(size, np.int32)
    for n in range(len(sources)):
        at = _place(edges, shift, sources[n])
        edges[at], leads[at] = sources[n], targets[n]
    return edges, leads


@kernel
def build_trie(runs, counts, characters):
    """Return the trie of runs of ``width`` characters, and of their last 1 to width - 1.

    Args:
        runs: uint32[n, width], distinct runs.
        counts: int64[n], how often each occurs.
        characters: size of the alphabet.
    """
    sources, targets, ends, contexts, total = _number_nodes(runs)
    used, kinds = np.zeros(total, np.int64), np.zeros(total, np.int64)
    tokens = np.zeros(total, np.int64)
    for r in range(len(runs)):
        for first in range(runs.shape[1]):
            node, context = ends[r, first], contexts[r, first]
            kinds[context] += used[node] == 0
            used[node] += counts[r]
            tokens[context] += counts[r]
    seen, left = np.zeros(total), np.ones(total)
    # Shorter runs first: the rest of a longer one is mixed with them.
    for first in range(runs.shape[1] - 1, -1, -1):
        for r in range(len(runs)):
            node, context = ends[r, first], contexts[r, first]
            shorter = seen[ends[r, first + 1]] if first + 1 < runs.shape[1] else 1.0 / characters
            all_kinds = np.float64(kinds[context])
            whole = all_kinds + tokens[context]
            seen[node] = (used[node] + all_kinds * shorter) / whole
            left[context] = all_kinds / whole
    shift = 64
    while 1 << (64 - shift) <= 2 * total:
        shift -= 1
    edges, leads = hash_edges(sources[: total - 1], targets[: total - 1], shift)
    return Trie(edges, leads, shift, seen, left)


@kernel
def _number_nodes(runs):
    """Give numbers to the nodes of all runs, of their ends and of their prefixes; 0 is empty.

    Returns:
        int64, the edges; int32, the node that each leads to; int32[n, width], the node of the run
        from each of its characters on, and that of its context; the number of nodes.
    """
    n, width = runs.shape
    most = n * width * (width + 1) // 2
    sources, targets = np.empty(most, np.int64), np.empty(most, np.int32)
    ends, contexts = np.empty((n, width), np.int32), np.empty((n, width), np.int32)
    shift, total = 54, 1
    edges, leads = hash_edges(sources[:0], targets[:0], shift)
    for r in range(n):
        for first in range(width):
            node: Any = 0
            context: Any = 0
            for at in range(first, width):
                if 2 * total >= len(edges):
                    shift -= 1
                    edges, leads = hash_edges(sources[: total - 1], targets[: total - 1], shift)
                edge = np.int64(node) << CODE_BITS | np.int64(runs[r, at])
                place = _place(edges, shift, edge)
                if edges[place] == _EMPTY:
                    edges[place], leads[place] = edge, total
                    sources[total - 1], targets[total - 1] = edge, total
                    total += 1
                node, context = np.int64(leads[place]), node
            ends[r, first], contexts[r, first] = node, context
    return sources, targets, ends, contexts, total


@inlined
def _follow(trie, node, c):
    """Return the node of the run that is c longer, or -1."""
    at = _place(trie.edges, trie.shift, np.int64(node) << CODE_BITS | np.int64(c))
    return np.int64(trie.leads[at]) if trie.edges[at] != _EMPTY else -1


@kernel
def read_character(trie, held, c, characters):
    """Return P(c | the characters before it), and move the nodes.

    Args:
        trie: :class:`Trie`.
        held: int64[order + 1], the nodes of the last 0, 1, .. characters; changed in place.
        c: a code point.
        characters: size of the alphabet.
    """
    share, found = 1.0, 0.0
    for length in range(len(held) - 1, -1, -1):
        node = held[length]
        longer = _follow(trie, node, c) if node >= 0 else -1
        if length + 1 < len(held):
            held[length + 1] = longer
        if found == 0.0 and longer >= 0 and trie.seen[longer] > 0.0:
            found = share * trie.seen[longer]
        if node >= 0:
            share *= trie.left[node]
    return found if found > 0.0 else share / characters


@kernel
def word_probabilities(trie, text, offsets, order, start, characters, products, exponents):
    """Set products[w] * 2^exponents[w] to the probability of word w among those of its length.

    Args:
        trie: :class:`Trie`.
        text: uint32, code points; word w is text[offsets[w]:offsets[w + 1]].
        offsets: int64[W + 1].
        order: number of characters of a context.
        start: the code point that precedes words, ``order`` times.
        characters: size of the alphabet.
        products: float64[W].
        exponents: int64[W].
    """
    begin, held = np.zeros(order + 1, np.int64), np.zeros(order + 1, np.int64)
    for length in range(order):
        begin[length + 1] = _follow(trie, begin[length], start) if begin[length] >= 0 else -1
    for w in range(len(offsets) - 1):
        held[:] = begin
        product, exponent = 1.0, 0
        for at in range(offsets[w], offsets[w + 1]):
            product *= read_character(trie, held, text[at], characters)
            if product < _TINY:
                product, shift = math.frexp(product)
                exponent += shift
        products[w], exponents[w] = product, exponent
