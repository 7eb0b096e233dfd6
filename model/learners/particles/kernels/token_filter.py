"""The particle filter with resampling after each token: Alg. 4 of Canini et al. (2009).

One call takes one document in one thread. For each token, the particles are reweighted, resampled
where the ESS is at or below the threshold, and rejuvenated. A token joins the history as soon as it
is drawn. Resamplings are rare compared with tokens, so the document's counts and gains stay in one
workspace for all particles. After a resampling children copy their ancestors' parts of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel, page_inlined
from beam_topics.model.kernels.random import MOVE
from beam_topics.model.learners.particles.kernels.first_pass import (
    draw_tokens,
    new_repeated_words,
    new_token_draws,
    write_page_draws,
)
from beam_topics.model.learners.particles.kernels.history import (
    LONGEST,
    TOKENS,
    Choice,
    admit,
    choose_units,
)
from beam_topics.model.learners.particles.kernels.particles import PAGE, Draws, normalise, page_at
from beam_topics.model.learners.particles.kernels.parts import in_parts
from beam_topics.model.learners.particles.kernels.rejuvenation import move_units
from beam_topics.model.learners.particles.kernels.resampling import (
    MOVES,
    SCHEDULED,
    resample,
    reweight,
)
from beam_topics.model.learners.particles.kernels.shared_rows import has_capacity
from beam_topics.model.learners.particles.kernels.workspace import (
    compute_gains,
    fill_draws,
    load_counts,
    new_workspace,
)

# Parts that a move of a token writes, of the old and of the new topic.
PARTS_EACH = 2
# Units whose rows a token writes beside those that it visits: itself.
EXTRA_UNITS = 1


class Rejuvenation(NamedTuple):
    """When and how :func:`filter_tokens` visits the history.

    Attributes:
        every: tokens between two triggers; 0: each resampling triggers.
        moves: R.
        choice: how units are chosen.
    """

    every: int
    moves: int
    choice: Choice


@inlined
def rows_needed(particles, units, longest, words, pages, parts):
    """Return the largest numbers of rows of (words, topics) that particles can write.

    A particle writes a row at most once, so there are upper bounds: ``words``, the size of the
    vocabulary, and ``pages``. A particle that becomes a child in between writes again the rows of
    its token.

    Args:
        particles: how many particles write.
        units: how many units each visits.
        longest: tokens of the longest unit.
        words: the size of the vocabulary.
        pages: pages of the history.
        parts: whether words are in parts; a part that became empty is written anew.
    """
    each = min(units * (longest // PAGE + 2), pages + EXTRA_UNITS)
    return (
        particles * (PARTS_EACH * units * longest if parts else min(units * longest, words + 1)),
        particles * each,
    )


@kernel
def filter_tokens(
    population, prior, pages, draws, resampler, rejuvenation, past, slot, begin, index, age
):
    """Run Alg. 4 (or 3) over one document, and return the token to continue with.

    That is the document's length, or less where the free rows could run out.

    Args:
        population: the particles.
        prior: the prior.
        pages: the tokens of the history.
        draws: names the draws of the first pass.
        resampler: threshold, evidence and counters.
        rejuvenation: when and how the history is visited.
        past: the history's units. Each token is admitted after it is drawn where
            ``past.sizes[TOKENS]`` is 1.
        slot: the document.
        begin: the token to start with.
        index: the index of the document's first draw in the minibatch.
        age: tokens that were learned before the document.
    """
    size, length, tp = len(population.weight), pages.length[slot], len(prior.alpha)
    workspace = new_workspace(tp, size, population.words)
    load_counts(population, pages, workspace, slot, begin, 0, size)
    compute_gains(workspace, population, prior, 0, size)
    at, page = begin, page_at(pages, slot, begin)
    while at < length:
        stop = min((at // PAGE + 1) * PAGE, length)
        new = new_token_draws(pages, slot, at, stop, size, tp, False)
        at = _filter_page(
            population,
            prior,
            pages,
            draws,
            resampler,
            rejuvenation,
            past,
            workspace,
            new,
            page,
            index,
            age,
        )
        if at < new.stop:
            break
        page = pages.following[page]
    for p in range(size):
        normalise(population.joint, population.joint_exponent, p)
    return at


@kernel
def _filter_page(
    population, prior, pages, draws, resampler, rejuvenation, past, workspace, new, page, index, age
):
    """Filter the tokens of ``new``, which lie in one page, one after another."""
    size = len(population.weight)
    ancestors = np.empty(size, np.int64)
    none = new_repeated_words(0, size, population.words, len(prior.alpha))
    count, units = len(pages.words), rejuvenation.moves + EXTRA_UNITS
    words, topics = rows_needed(
        size,
        units,
        past.sizes[LONGEST],
        len(prior.base),
        count,
        in_parts(population.words, len(prior.alpha)),
    )
    fill_draws(workspace, population, prior, draws, index + new.begin, len(new.words), 0, size)
    for k in range(len(new.words)):
        i = new.begin + k
        if not (has_capacity(population.words, words) and has_capacity(population.topics, topics)):
            return i
        draw_tokens(population, prior, workspace, new, none, k, k + 1, k, 0, size, 0)
        resampled = reweight(population, resampler, draws, ancestors)
        write_page_draws(population, new, page, k, k + 1, ancestors, 0, size, 0)
        if resampled:
            resample(population, ancestors, resampler.counters)
            _inherit_workspace(workspace, ancestors)
        if past.sizes[TOKENS]:
            admit(past, new.slot, i, draws.key0, draws.key1)
        due = (age + i + 1) % rejuvenation.every == 0 if rejuvenation.every > 0 else resampled
        if due and rejuvenation.moves > 0:
            # Until its last token is drawn, the document ends with this one.
            length = pages.length[new.slot]
            pages.length[new.slot] = i + 1
            _revisit(population, prior, pages, draws, resampler, rejuvenation, past)
            load_counts(population, pages, workspace, new.slot, i + 1, 0, size)
            pages.length[new.slot] = length
            compute_gains(workspace, population, prior, 0, size)
    return new.stop


@page_inlined
def _inherit_workspace(workspace, ancestors):
    """Give each particle its ancestor's part of the workspace."""
    for p in range(len(ancestors)):
        if ancestors[p] != p:
            for t in range(workspace.counts.shape[1]):
                workspace.counts[p, t] = workspace.counts[ancestors[p], t]
                workspace.gain[p, t] = workspace.gain[ancestors[p], t]
                workspace.strength[p, t] = workspace.strength[ancestors[p], t]
            for j in range(workspace.sums.shape[1]):
                workspace.sums[p, j] = workspace.sums[ancestors[p], j]


@inlined
def _revisit(population, prior, pages, draws, resampler, rejuvenation, past):
    """Redraw the topics of R units of the history in all particles."""
    slots, positions = (
        np.empty(rejuvenation.moves, np.int32),
        np.empty(rejuvenation.moves, np.int64),
    )
    found = choose_units(
        past,
        rejuvenation.choice,
        slots,
        positions,
        draws.key0,
        draws.key1,
        draws.sequence,
        resampler.counters[SCHEDULED],
    )
    resampler.counters[SCHEDULED] += found
    drawn = 0
    for unit in range(found):
        drawn += pages.length[slots[unit]] if positions[unit] < 0 else 1
    moves = Draws(draws.key0, draws.key1, draws.sequence, MOVE)
    move_units(
        population,
        prior,
        pages,
        moves,
        slots[:found],
        positions[:found],
        resampler.counters[MOVES],
        0,
        len(population.weight),
        0,
    )
    resampler.counters[MOVES] += drawn
