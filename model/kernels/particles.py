"""The two things that a particle does with a token: draw its topic when it arrives, and draw it again later.

Notation: p a particle, w a word, t a topic (z in the papers), n_wt how often w has topic t, n_t = sum over w of n_wt, n_td the same
within document d, k_t the number of distinct words in topic t. A token's conditional probability is (DESIGN section 8, minimal path)

    q_t = (alpha_t + n_td) * (n_wt - discount * [n_wt > 0] + (a + discount * k_t) * B(w)) / (a + n_t)

and P(token | past) = sum_t q_t / (sum_t alpha_t + tokens of d so far). With discount 0 this is LDA with B(w) = 1/W, a = W beta.
``gain`` holds (alpha_t + n_td) / (a + n_t); it changes in two topics at a move, so q is one product a topic.

Each particle's joint probability P(w, z) and its weight are scaled products (:mod:`model.scaled`): no logarithm is taken.
A move never writes the token out of the counts: only q of its old topic is corrected, and nothing is written (nor copied, if shared)
unless the topic changes.

Tokens live in pages of 32: ``page_words[page]`` is common to all particles, the topics are rows of the table ``topics``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.draw import draw, draw_discounted, draw_without, new_scratch
from model.kernels.jit import inlined, kernel
from model.kernels.random import fill_uniforms
from model.kernels.sharing import Table, row_of, row_to_change, row_to_fill

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


@inlined
def _count(cloud: Any, prior: Any, p: Any, t: Any, change: Any, kinds: Any) -> None:
    """n_t and k_t of a topic change, and with them 1 / (a + n_t)."""
    cloud.totals[p, t] += change
    cloud.kinds[p, t] += kinds
    cloud.inverse[p, t] = 1.0 / (prior.a + cloud.totals[p, t])


@inlined
def _start_gain(cloud: Any, prior: Any, p: Any, counts: Any, gain: Any, strength: Any) -> None:
    """gain and, where there is a discount, a + discount * k_t, from a document's counts."""
    for t in range(len(gain)):
        gain[t] = (prior.alpha[t] + counts[t]) * cloud.inverse[p, t]
    if prior.discount > 0.0:
        for t in range(len(gain)):
            strength[t] = prior.a + prior.discount * cloud.kinds[p, t]


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
    scratch = new_scratch(tp)
    gain = np.empty(tp)
    strength = np.empty(tp)
    counts = np.zeros(tp, np.int64)
    uniforms = np.empty(PAGE)
    topics = 0
    while topics < tp and prior.alpha[topics] > 0.0:
        topics += 1
    for p in range(first, last):
        generation = cloud.generation[p]
        counts[:] = 0
        if begin > 0:
            counts[:] = cloud.documents.rows[row_of(cloud.documents, p, slot)]
        _start_gain(cloud, prior, p, counts, gain, strength)
        page = pages.first[slot]
        start = 0
        while start < stop:
            here, there = max(begin - start, 0), min(stop - start, PAGE)
            if here < there:
                fill_uniforms(
                    uniforms, there - here, index + start + here, draws.key0, draws.key1, cloud.identity[p], draws.sequence, draws.purpose
                )
                if here > 0:
                    place = row_to_change(cloud.topics, p, page, row_of(cloud.topics, p, page), generation, thread)
                else:
                    place = row_to_fill(cloud.topics, p, page, generation, thread)
            for k in range(here, there):
                w = pages.words[page, k]
                row = row_of(cloud.words, p, w)
                if prior.discount > 0.0:
                    t, total = draw_discounted(
                        scratch, gain, cloud.words.rows[row], prior.discount, strength, prior.base[w], -1, 0.0, uniforms[k - here]
                    )
                else:
                    t, total = draw(scratch, gain, cloud.words.rows[row], prior.a * prior.base[w], uniforms[k - here])
                if blind:
                    t = np.int64(uniforms[k - here] * topics)
                seen = prior.alpha_sum + (start + k)
                times(cloud.weight, cloud.weight_exponent, p, total / seen)
                times(cloud.joint, cloud.joint_exponent, p, scratch[t] / seen)
                row = row_to_change(cloud.words, p, w, row, generation, thread)
                _count(cloud, prior, p, t, 1, cloud.words.rows[row, t] == 0)
                cloud.words.rows[row, t] += 1
                counts[t] += 1
                gain[t] = (prior.alpha[t] + counts[t]) * cloud.inverse[p, t]
                strength[t] = prior.a + prior.discount * cloud.kinds[p, t]
                cloud.topics.rows[place, k] = t
            page = pages.following[page]
            start += PAGE
        row = row_to_fill(cloud.documents, p, slot, generation, thread)
        for t in range(tp):
            cloud.documents.rows[row, t] = counts[t]
        normalise(cloud.weight, cloud.weight_exponent, p)
        normalise(cloud.joint, cloud.joint_exponent, p)


@kernel
def move_units(
    cloud: Any, prior: Any, pages: Any, draws: Any, slots: Any, positions: Any, index: Any, first: Any, last: Any, thread: Any
) -> None:
    """Particles first..last-1 draw topics again, unit by unit (eq. 3): whole documents, or one token where its position is not -1.

    ``index`` names the first draw; each unit takes as many as the tokens it redraws. The joint takes the ratio of the
    new topic's and the old one's probability.
    """
    tp = len(prior.alpha)
    scratch = new_scratch(tp)
    gain = np.empty(tp)
    strength = np.empty(tp)
    counts = np.empty(tp, np.int64)
    uniforms = np.empty(PAGE)
    for p in range(first, last):
        number = index
        for unit in range(len(slots)):
            slot = slots[unit]
            begin = max(positions[unit], 0)
            end = pages.length[slot] if positions[unit] < 0 else begin + 1
            counts[:] = cloud.documents.rows[row_of(cloud.documents, p, slot)]
            _start_gain(cloud, prior, p, counts, gain, strength)
            changed = False
            page = pages.first[slot]
            start = 0
            while start < end:
                if start + PAGE > begin:
                    here, there = max(begin - start, 0), min(end - start, PAGE)
                    fill_uniforms(uniforms, there - here, number, draws.key0, draws.key1, cloud.identity[p], draws.sequence, draws.purpose)
                    number += there - here
                    for k in range(here, there):
                        if _move(cloud, prior, pages, p, page, k, counts, gain, strength, scratch, uniforms[k - here], thread):
                            changed = True
                page = pages.following[page]
                start += PAGE
            if changed:
                row = row_to_fill(cloud.documents, p, slot, cloud.generation[p], thread)
                for t in range(tp):
                    cloud.documents.rows[row, t] = counts[t]
        normalise(cloud.joint, cloud.joint_exponent, p)


@inlined
def _move(
    cloud: Any, prior: Any, pages: Any, p: Any, page: Any, k: Any, counts: Any, gain: Any, strength: Any, scratch: Any, u: Any, thread: Any
) -> Any:
    """Draw one token's topic again given all others; whether it changed."""
    w = pages.words[page, k]
    place = row_of(cloud.topics, p, page)
    old = np.int64(np.uint32(cloud.topics.rows[place, k]))
    row = row_of(cloud.words, p, w)
    n = cloud.words.rows[row, old] - 1
    lost = np.int64(n == 0)
    gain_old = (prior.alpha[old] + (counts[old] - 1)) * (1.0 / (prior.a + (cloud.totals[p, old] - 1)))
    if prior.discount > 0.0:
        off = 0.0 if lost else prior.discount
        strength_old = prior.a + prior.discount * (cloud.kinds[p, old] - lost)
        q_old = gain_old * ((n - off) + strength_old * prior.base[w])
        t, total = draw_discounted(scratch, gain, cloud.words.rows[row], prior.discount, strength, prior.base[w], old, q_old, u)
    else:
        share = prior.a * prior.base[w]
        q_old = gain_old * (n + share)
        t, total = draw_without(scratch, gain, cloud.words.rows[row], share, old, q_old, u)
    if t == old:
        return False
    times(cloud.joint, cloud.joint_exponent, p, scratch[t] / q_old)
    generation = cloud.generation[p]
    row = row_to_change(cloud.words, p, w, row, generation, thread)
    _count(cloud, prior, p, old, -1, -lost)
    _count(cloud, prior, p, t, 1, np.int64(cloud.words.rows[row, t] == 0))
    cloud.words.rows[row, old] -= 1
    cloud.words.rows[row, t] += 1
    place = row_to_change(cloud.topics, p, page, place, generation, thread)
    cloud.topics.rows[place, k] = t
    counts[old] -= 1
    counts[t] += 1
    for changed in (old, t):
        gain[changed] = (prior.alpha[changed] + counts[changed]) * cloud.inverse[p, changed]
        strength[changed] = prior.a + prior.discount * cloud.kinds[p, changed]
    return True
