"""The arrays of particles, and the draw of a topic in one of them.

p is a particle, w a word, t a topic (z in the papers). n_wt counts the tokens of w in t, n_t is the
sum of n_wt over w, and n_td counts the tokens of document d in t. All leave out the token that is
drawn. With Dirichlet priors alpha_t of topics and beta of words (Griffiths and Steyvers 2004),

    P(z_i = t | all others) ~ q_t = (alpha_t + n_td) (n_wt + beta) / (n_t + W beta)

and P(w_i | the tokens before it) = sum_t q_t / (sum_t alpha_t + tokens of d before it). W is the
number of words that the vocabulary can have.

The joint probability P(w, z) and the weight of a particle are products of very many factors. Each
is a mantissa and a power of two (:mod:`beam_topics.model.scaled`), so no logarithm is
computed.

Tokens are stored in pages of 32. The words of a page are common to all particles; its topics are a
row of the shared rows ``topics``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from beam_topics.model.kernels.jit import inlined, page_inlined, page_kernel
from beam_topics.model.kernels.random import fill_uniforms
from beam_topics.model.papers.kernels.copy_on_write import own_row, row_of

PAGE = 32

_SMALL = 2.0**-400
_LARGE = 2.0**400


class Prior(NamedTuple):
    """The Dirichlet priors.

    Attributes:
        alpha: float64[T].
        alpha_sum: the sum of alpha.
        beta: of each word.
        words_beta: W beta.
    """

    alpha: Any
    alpha_sum: float
    beta: float
    words_beta: float


class Particles(NamedTuple):
    """All particles of an island.

    Attributes:
        words: by word, rows of n_wt.
        topics: by page, rows of 32 topics.
        totals: int64[P, T], n_t.
        weight: float64[P], the mantissa of the weight.
        weight_exponent: int64[P].
        joint: float64[P], the mantissa of P(w, z).
        joint_exponent: int64[P].
        generation: int64[P], see :mod:`beam_topics.model.papers.kernels.copy_on_write`.
        identity: int64[P], the particles' numbers in the whole learner, distinct between islands.
    """

    words: Any
    topics: Any
    totals: Any
    weight: Any
    weight_exponent: Any
    joint: Any
    joint_exponent: Any
    generation: Any
    identity: Any


class Pages(NamedTuple):
    """The tokens of the documents at hand.

    Attributes:
        words: int32[pages, 32], word numbers.
        following: int32[pages], the next page of the document, -1 at its end.
        first: int32[slots], the first page of each document.
        length: int64[slots], tokens of each document.
        drawn: int64[slots], how many of them have topics.
    """

    words: Any
    following: Any
    first: Any
    length: Any
    drawn: Any


class Scratch(NamedTuple):
    """Where a draw computes.

    Attributes:
        in_document: float64[T], n_td.
        share: float64[T], (alpha_t + n_td) / (n_t + W beta).
        sums: float64[T], q_0 + ... + q_t.
        uniforms: float64[tokens of the longest document].
    """

    in_document: Any
    share: Any
    sums: Any
    uniforms: Any


class Draws(NamedTuple):
    """What the uniforms of a call share; see :mod:`beam_topics.model.kernels.random`."""

    key0: int
    key1: int
    sequence: int


@inlined
def times(mantissa, exponent, p, factor):
    """Multiply (mantissa, exponent)[p] by a factor.

    Exact powers of two keep the mantissa well inside the range of a float64.
    """
    value = mantissa[p] * factor
    if value < _SMALL or value > _LARGE:
        value, shift = math.frexp(value)
        exponent[p] += shift
    mantissa[p] = value


@inlined
def normalise(mantissa, exponent, p):
    """Bring (mantissa, exponent)[p] to the normal form 0.5 <= mantissa < 1."""
    mantissa[p], shift = math.frexp(mantissa[p])
    exponent[p] += shift


@page_inlined
def page_at(pages, slot, position):
    """Return the page that has token ``position`` of a document."""
    page = pages.first[slot]
    for _ in range(position // PAGE):
        page = pages.following[page]
    return page


@page_inlined
def _set_share(particles, prior, scratch, p, t):
    above = prior.alpha[t] + scratch.in_document[t]
    scratch.share[t] = above / (particles.totals[p, t] + prior.words_beta)


@page_inlined
def _count_document(particles, prior, pages, scratch, p, slot):
    """Set n_td and the shares of a document in a particle."""
    for t in range(len(prior.alpha)):
        scratch.in_document[t] = 0.0
    page, drawn = pages.first[slot], pages.drawn[slot]
    for start in range(0, drawn, PAGE):
        row = row_of(particles.topics, p, page)
        for k in range(min(PAGE, drawn - start)):
            scratch.in_document[particles.topics.rows[row, k]] += 1.0
        page = pages.following[page]
    for t in range(len(prior.alpha)):
        _set_share(particles, prior, scratch, p, t)


@page_inlined
def _count(particles, prior, scratch, p, row, t, change):
    """Count one token more or less of a topic; ``row`` is the word's."""
    particles.words.rows[row, t] += change
    particles.totals[p, t] += change
    scratch.in_document[t] += change
    _set_share(particles, prior, scratch, p, t)


@page_inlined
def _sum_masses(particles, prior, scratch, row, old, old_share):
    """Fill the sums of q, without the token if ``old`` is its topic; return q of ``old``."""
    total, old_mass = 0.0, 1.0
    for t in range(len(prior.alpha)):
        count = particles.words.rows[row, t]
        mass = scratch.share[t] * (count + prior.beta)
        if t == old:
            mass = old_share * (count - 1.0 + prior.beta)
            old_mass = mass
        total += mass
        scratch.sums[t] = total
    return old_mass


@page_inlined
def _choose(sums, u):
    """Return the first topic whose sum is above u times the last sum, 0 <= u < 1."""
    t, x = 0, u * sums[len(sums) - 1]
    while t < len(sums) - 1 and sums[t] <= x:
        t += 1
    return t


@page_kernel
def draw_tokens(particles, prior, pages, draws, scratch, p, slot, first, last, purpose, index):
    """Draw the topics of tokens first..last-1 of a document in particle p, one after the other.

    Tokens from ``pages.drawn[slot]`` on are new: they multiply the weight by
    P(w_i | the tokens before it) and the joint by q of the drawn topic. A token that has a topic
    multiplies the joint by the ratio of the new topic's q and the old one's. A row that particles
    share is copied only where the token's topic changes.

    Args:
        particles: changed.
        prior: the priors.
        pages: the documents; ``drawn`` is not changed.
        draws: names the draws.
        scratch: where to compute.
        p: the particle.
        slot: the document.
        first: its first token to draw.
        last: the token after the last one.
        purpose: names the draws.
        index: the index of the first uniform.
    """
    drawn, generation = pages.drawn[slot], particles.generation[p]
    name = particles.identity[p]
    fill_uniforms(
        scratch.uniforms, last - first, index, draws.key0, draws.key1, name, draws.sequence, purpose
    )
    _count_document(particles, prior, pages, scratch, p, slot)
    page = page_at(pages, slot, first)
    for i in range(first, last):
        if i > first and i % PAGE == 0:
            page = pages.following[page]
        w, old, old_share = pages.words[page, i % PAGE], -1, 0.0
        if i < drawn:
            old = particles.topics.rows[row_of(particles.topics, p, page), i % PAGE]
            without = prior.alpha[old] + scratch.in_document[old] - 1.0
            old_share = without / (particles.totals[p, old] - 1.0 + prior.words_beta)
        row = row_of(particles.words, p, w)
        old_mass = _sum_masses(particles, prior, scratch, row, old, old_share)
        new = _choose(scratch.sums, scratch.uniforms[i - first])
        mass = scratch.share[new] * (particles.words.rows[row, new] + prior.beta)
        factor = mass / old_mass
        if i >= drawn:
            whole = prior.alpha_sum + i
            factor = mass / whole
            total = scratch.sums[len(scratch.sums) - 1]
            times(particles.weight, particles.weight_exponent, p, total / whole)
        if new != old:
            own = own_row(particles.words, p, w, generation, True)
            if old >= 0:
                _count(particles, prior, scratch, p, own, old, -1)
            _count(particles, prior, scratch, p, own, new, 1)
            here = own_row(particles.topics, p, page, generation, True)
            particles.topics.rows[here, i % PAGE] = new
            times(particles.joint, particles.joint_exponent, p, factor)
    normalise(particles.joint, particles.joint_exponent, p)
