r"""Algorithm 4 of Canini et al. (2009), over the units of one document.

A unit i is a token, or a whole document. w_i are its words, z_i(p) its topics in particle p, and
ω_i(p) the particle's weight:

.. code-block:: text

    initialise ω_0(p) = 1 / P
    for i = 1 .. N:
        for p = 1 .. P:
            ω_i(p) = ω_i-1(p) P(w_i | z_i-1(p), w_i-1)
            draw z_i(p) from P(z_i | z_i-1(p), w_i)
        normalise ω_i
        if 1 / sum ω_i(p)^2 <= ESS threshold:
            resample the particles
            for j in R(i):
                for p = 1 .. P:
                    draw z_j(p) from P(z_j | z_i\j(p), w_i)
            ω_i(p) = 1 / P

Algorithm 3, incremental Gibbs sampling, visits R(i) without a resampling, after each document or
token. Algorithm 2, o-LDA, visits nothing. R(i) is a uniform sample of what came, or of a
reservoir of it (May et al. 2014; :mod:`beam_topics.model.papers.kernels.reservoir`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.random import FIRST_PASS, MOVE
from beam_topics.model.papers.kernels.copy_on_write import has_capacity, own_row, row_of
from beam_topics.model.papers.kernels.particles import PAGE, draw_tokens, normalise, times
from beam_topics.model.papers.kernels.resampling import (
    MOVES,
    SCHEDULED,
    normalise_weights,
    resample,
)
from beam_topics.model.papers.kernels.reservoir import WHOLE, admit, choose_units

# What triggers visits.
NOTHING, RESAMPLING, DOCUMENT, TOKENS = range(4)


class Law(NamedTuple):
    """What the filter does when.

    Attributes:
        unit_tokens: whether unit i is a token; else it is a document.
        visits_tokens: whether the units of R(i) are tokens.
        trigger: what triggers visits.
        moves: R.
    """

    unit_tokens: Any
    visits_tokens: Any
    trigger: Any
    moves: Any


class Need(NamedTuple):
    """The most rows that one unit and its visits write: of words, and of pages."""

    words: Any
    pages: Any


@kernel
def filter_document(
    particles, prior, pages, past, law, need, resampler, draws, scratch, slot, index
):
    """Run Algorithm 4 (or 3, or 2) over one document.

    Args:
        particles: changed.
        prior: the priors.
        pages: the documents at hand; ``drawn[slot]`` tokens have been filtered.
        past: what can be visited; gets the document's units.
        law: what happens when.
        need: the rows that must be free.
        resampler: threshold, scheme, evidence and counters.
        draws: names the draws.
        scratch: where to compute.
        slot: the document.
        index: the index of its first draw in the minibatch.

    Returns:
        Whether the document is done. Otherwise rows could run out: make some, and call again.
    """
    size, length = len(particles.weight), pages.length[slot]
    while pages.drawn[slot] < length:
        i = pages.drawn[slot]
        if not (
            has_capacity(particles.words, need.words) and has_capacity(particles.topics, need.pages)
        ):
            return False
        after = i + 1 if law.unit_tokens else length
        # ω_i(p) = ω_i-1(p) P(w_i | z_i-1(p), w_i-1), and z_i(p) ~ P(z_i | z_i-1(p), w_i)
        for p in range(size):
            draw_tokens(
                particles, prior, pages, draws, scratch, p, slot, i, after, FIRST_PASS, index + i
            )
        pages.drawn[slot] = after
        ess = normalise_weights(particles, resampler)
        resampled = ess <= resampler.threshold and size > 1
        if resampled:
            # The particles become copies of their ancestors, and ω_i(p) = 1 / P.
            resample(particles, resampler, draws)
        _admit(past, law, slot, i, after, length, draws.key0, draws.key1)
        if _is_due(law, resampled, after == length):
            _rejuvenate(particles, prior, pages, past, law, resampler, draws, scratch)
    return True


@inlined
def _admit(past, law, slot, first, after, length, key0, key1):
    """Let tokens first..after-1 of a document be visited, or the document at its end."""
    if law.visits_tokens:
        for position in range(first, after):
            admit(past, slot, position, key0, key1)
    elif after == length:
        admit(past, slot, WHOLE, key0, key1)


@inlined
def _is_due(law, resampled, ends):
    """Return whether R(i) is visited after a unit."""
    if law.moves == 0:
        return False
    if law.trigger == TOKENS:
        return True
    return resampled if law.trigger == RESAMPLING else law.trigger == DOCUMENT and ends


@kernel
def _rejuvenate(particles, prior, pages, past, law, resampler, draws, scratch):
    r"""For j in R(i), draw z_j(p) from P(z_j | z_i\j(p), w_i) in every particle."""
    slots, positions = np.empty(law.moves, np.int32), np.empty(law.moves, np.int64)
    counters = resampler.counters
    found = choose_units(past, slots, positions, draws, counters[SCHEDULED])
    counters[SCHEDULED] += found
    for j in range(found):
        first, last = max(positions[j], 0), positions[j] + 1
        if positions[j] == WHOLE:
            last = pages.drawn[slots[j]]
        for p in range(len(particles.weight)):
            draw_tokens(
                particles,
                prior,
                pages,
                draws,
                scratch,
                p,
                slots[j],
                first,
                last,
                MOVE,
                counters[MOVES],
            )
        counters[MOVES] += last - first


@kernel
def admit_document(past, pages, law, slot, key0, key1):
    """Let a whole document be visited, or all of its tokens."""
    _admit(past, law, slot, 0, pages.length[slot], pages.length[slot], key0, key1)


@kernel
def write_counts(particles, counts):
    """Give particle 0 the counts n_wt, int32[W, T]; it has free rows for all words."""
    for w in range(counts.shape[0]):
        row = own_row(particles.words, 0, w, particles.generation[0], True)
        for t in range(counts.shape[1]):
            particles.words.rows[row, t] = counts[w, t]


@kernel
def read_counts(particles, p, counts):
    """Fill float64[W, T] with n_wt of a particle."""
    for w in range(counts.shape[0]):
        row = row_of(particles.words, p, w)
        for t in range(counts.shape[1]):
            counts[w, t] = particles.words.rows[row, t]


@kernel
def count_topics(particles, pages, slot, counts):
    """Add the drawn tokens of each topic in a document to int64[P, T]."""
    for p in range(counts.shape[0]):
        page = pages.first[slot]
        for start in range(0, pages.drawn[slot], PAGE):
            row = row_of(particles.topics, p, page)
            for k in range(min(PAGE, pages.drawn[slot] - start)):
                counts[p, particles.topics.rows[row, k]] += 1
            page = pages.following[page]


@kernel
def write_sample(particles, pages, slots, starts, z):
    """Give particle 0 the topics of some documents, whose counts it has.

    Args:
        particles: has free rows for all pages of the documents.
        pages: the documents; all their tokens are drawn afterwards.
        slots: int32[D].
        starts: int64[D + 1], where each document's topics begin in ``z``.
        z: uint16[n].
    """
    for d in range(len(slots)):
        page = pages.first[slots[d]]
        for start in range(0, pages.length[slots[d]], PAGE):
            row = own_row(particles.topics, 0, page, particles.generation[0], True)
            for k in range(min(PAGE, pages.length[slots[d]] - start)):
                particles.topics.rows[row, k] = z[starts[d] + start + k]
            page = pages.following[page]
        pages.drawn[slots[d]] = pages.length[slots[d]]


@kernel
def take_out(particles, prior, pages, slot):
    """Take the tokens of a document out of n_wt, n_t and P(w, z) of all particles.

    Its topics are not changed. There are free rows for each particle and each of its words.
    """
    for p in range(len(particles.weight)):
        n_td = np.zeros(len(prior.alpha))
        page, drawn = pages.first[slot], pages.drawn[slot]
        for i in range(drawn):
            if i and i % PAGE == 0:
                page = pages.following[page]
            w = pages.words[page, i % PAGE]
            t = particles.topics.rows[row_of(particles.topics, p, page), i % PAGE]
            own = own_row(particles.words, p, w, particles.generation[p], True)
            particles.words.rows[own, t] -= 1
            particles.totals[p, t] -= 1
            mass = particles.words.rows[own, t] + prior.beta
            mass *= (prior.alpha[t] + n_td[t]) / (particles.totals[p, t] + prior.words_beta)
            times(particles.joint, particles.joint_exponent, p, (prior.alpha_sum + i) / mass)
            n_td[t] += 1.0
        normalise(particles.joint, particles.joint_exponent, p)
