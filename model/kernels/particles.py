"""What a particle is, and how it draws a topic for a token that arrives; :mod:`model.kernels.moves` draws topics again.

Notation: p a particle, w a word, t a topic (z in the papers), n_wt how often w has topic t, n_t = sum over w of n_wt, n_td the same
within document d, k_t the number of distinct words in topic t. A token's conditional probability is (DESIGN section 8, minimal path)

    q_t = (alpha_t + n_td) * (n_wt - discount * [n_wt > 0] + (a + discount * k_t) * B(w)) / (a + n_t)

and P(token | past) = sum_t q_t / (sum_t alpha_t + tokens of d so far). With discount 0 this is LDA with B(w) = 1/W, a = W beta.
``gain`` holds (alpha_t + n_td) / (a + n_t); it changes in two topics at a move, so q is one product a topic.

Each particle's joint probability P(w, z) and its weight are scaled products (:mod:`model.scaled`): no logarithm is taken.

Tokens live in pages of 32: ``page_words[page]`` is common to all particles, the topics are rows of the table ``topics``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.draw import draw, draw_discounted, new_scratch
from model.kernels.jit import inlined, kernel, page_kernel
from model.kernels.random import fill_uniforms
from model.kernels.sharing import Table, own, own_row, row_of

PAGE = 32

_SMALL = 2.0**-400
_LARGE = 2.0**400


class Prior(NamedTuple):
    """alpha: float64[Tp], 0 in the pads. base: float64[words], B(w). a, discount: of the topics over words."""

    alpha: npt.NDArray[np.float64]
    alpha_sum: float
    base: npt.NDArray[np.float64]
    a: float
    discount: float


class Cloud(NamedTuple):
    """All particles of an island. ``totals``, ``kinds``: int64[P, Tp], n_t and k_t. ``inverse``: float64[P, Tp], 1 / (a + n_t).

    ``words``: rows of n_wt by word; ``documents``: rows of n_td by slot; ``topics``: rows of 32 topics by page.
    ``weight`` and ``joint``: float64[P] mantissas beside int64[P] exponents. ``generation``: int64[P], see :mod:`sharing`.
    ``identity``: int64[P], the particles' numbers in the whole learner (they differ between islands).
    """

    words: Table
    documents: Table
    topics: Table
    totals: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]
    inverse: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]
    weight_exponent: npt.NDArray[np.int64]
    joint: npt.NDArray[np.float64]
    joint_exponent: npt.NDArray[np.int64]
    generation: npt.NDArray[np.int64]
    identity: npt.NDArray[np.int64]


class Pages(NamedTuple):
    """The tokens of the documents in the history. ``words``: int32[pages, 32]. ``following``: int32[pages], -1 at a document's end.

    ``first``: int32[slots], a document's first page. ``length``: int64[slots], in tokens.
    """

    words: npt.NDArray[np.int32]
    following: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    length: npt.NDArray[np.int64]


class Draws(NamedTuple):
    """Where the uniforms of a call come from; see :mod:`model.kernels.random`."""

    key0: int
    key1: int
    sequence: int
    purpose: int


@inlined
def times(mantissa: Any, exponent: Any, p: Any, factor: Any) -> None:
    """(mantissa, exponent)[p] *= factor, kept well inside the range of a float64 by exact powers of two."""
    value = mantissa[p] * factor
    if value < _SMALL or value > _LARGE:
        value, shift = math.frexp(value)
        exponent[p] += shift
    mantissa[p] = value


@inlined
def normalise(mantissa: Any, exponent: Any, p: Any) -> None:
    """The one normal form: 0.5 <= mantissa < 1."""
    mantissa[p], shift = math.frexp(mantissa[p])
    exponent[p] += shift


@kernel
def start_gain(alpha: Any, inverse: Any, kinds: Any, a: Any, discount: Any, counts: Any, gain: Any, strength: Any) -> None:
    """gain and a + discount * k_t, from a document's counts."""
    for t in range(len(gain)):
        gain[t] = (alpha[t] + counts[t]) * inverse[t]
        strength[t] = a + discount * kinds[t]


@kernel
def first_pass(
    cloud: Any,
    prior: Any,
    pages: Any,
    draws: Any,
    slot: Any,
    begin: Any,
    stop: Any,
    index: Any,
    blind: Any,
    first: Any,
    last: Any,
    thread: Any,
) -> None:
    """Particles first..last-1 draw topics for tokens begin..stop-1 of a document: lines 4 and 5 of Alg. 4.

    ``index`` names the document's first draw. Weights take P(token | past), joints P(token, its topic | past). ``blind`` draws
    topics evenly, whatever the counts (the random start of Alg. 1).
    """
    tp = len(prior.alpha)
    scratch, gain, strength, uniforms = new_scratch(tp), np.empty(tp), np.empty(tp), np.empty(PAGE)
    counts = np.zeros(tp, np.int64)
    words, topics, documents, following, tokens = cloud.words, cloud.topics, cloud.documents, pages.following, pages.words
    weight, weight_exponent, joint, joint_exponent = cloud.weight, cloud.weight_exponent, cloud.joint, cloud.joint_exponent
    alpha, base = prior.alpha, prior.base
    for p in range(first, last):
        generation, directory = cloud.generation[p], words.directory[p]
        totals, kinds, inverse = cloud.totals[p], cloud.kinds[p], cloud.inverse[p]
        counts[:] = 0
        if begin > 0:
            counts[:] = documents.rows[row_of(documents.directory[p], documents.blocks, slot)]
        start_gain(alpha, inverse, kinds, prior.a, prior.discount, counts, gain, strength)
        page = pages.first[slot]
        for start in range(0, stop, PAGE):
            here, there = max(begin - start, 0), min(stop - start, PAGE)
            if here < there:
                number = index + start + here
                fill_uniforms(uniforms, there - here, number, draws.key0, draws.key1, cloud.identity[p], draws.sequence, draws.purpose)
                place = own_row(topics, p, page, generation, thread, here > 0)
                drawn, seen = topics.rows[place], prior.alpha_sum + start
                _first_page(
                    words.blocks,
                    words.rows,
                    words.block_owner,
                    words.row_owner,
                    words.free_blocks,
                    words.free_rows,
                    words.cursors,
                    directory,
                    totals,
                    kinds,
                    inverse,
                    weight,
                    weight_exponent,
                    joint,
                    joint_exponent,
                    alpha,
                    base,
                    prior.a,
                    prior.discount,
                    generation,
                    p,
                    tokens[page],
                    drawn,
                    here,
                    there,
                    seen,
                    uniforms,
                    counts,
                    gain,
                    strength,
                    scratch,
                    blind,
                    thread,
                )
            page = following[page]
        row = own_row(documents, p, slot, generation, thread, False)
        for t in range(tp):
            documents.rows[row, t] = counts[t]
        normalise(weight, weight_exponent, p)
        normalise(joint, joint_exponent, p)


@page_kernel
def _first_page(
    blocks: Any,
    rows: Any,
    block_owner: Any,
    owner: Any,
    free_blocks: Any,
    free_rows: Any,
    cursors: Any,
    directory: Any,
    totals: Any,
    kinds: Any,
    inverse: Any,
    weight: Any,
    weight_exponent: Any,
    joint: Any,
    joint_exponent: Any,
    alpha: Any,
    base: Any,
    a: Any,
    discount: Any,
    generation: Any,
    p: Any,
    tokens: Any,
    drawn: Any,
    here: Any,
    there: Any,
    seen: Any,
    uniforms: Any,
    counts: Any,
    gain: Any,
    strength: Any,
    scratch: Any,
    blind: Any,
    thread: Any,
) -> None:
    """The tokens here..there-1 of a page. Arrays come one by one: each that is taken out of a tuple costs a count of references."""
    real = 0
    while blind and real < len(alpha) and alpha[real] > 0.0:
        real += 1
    for k in range(here, there):
        w, u = tokens[k], uniforms[k - here]
        row = row_of(directory, blocks, w)
        if discount > 0.0:
            t, total = draw_discounted(scratch, gain, rows[row], discount, strength, base[w], -1, 0.0, u)
        else:
            t, total = draw(scratch, gain, rows[row], a * base[w], u)
        if blind:
            t = np.int64(u * real)
        times(weight, weight_exponent, p, total / (seen + k))
        times(joint, joint_exponent, p, scratch[t] / (seen + k))
        if owner[row] != generation:
            row = own(directory, blocks, rows, block_owner, owner, free_blocks, free_rows, cursors, w, generation, thread, True)
        if rows[row, t] == 0:
            kinds[t] += 1
            strength[t] = a + discount * kinds[t]
        rows[row, t] += 1
        totals[t] += 1
        inverse[t] = 1.0 / (a + totals[t])
        counts[t] += 1
        gain[t] = (alpha[t] + counts[t]) * inverse[t]
        drawn[k] = t
