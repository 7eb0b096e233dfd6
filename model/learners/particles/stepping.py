"""How documents change the particles: Alg. 4 of Canini et al. (2009).

:mod:`beam_topics.model.learners.particles.particle_filter` has the listing. In the paper it runs
over tokens. :func:`filter_document` runs it with whole documents in place of tokens: particles are
resampled after a document. :func:`filter_tokens_of` runs it token by token, in one kernel and one
thread.

Chains are particles that are never resampled. :func:`learn_by_chains` learns the documents of a
minibatch with them in one call, to the bits of document by document.

Short windows make minibatches of few documents, for which the costs of calls are most of a step.
:func:`learn_together` goes through the documents of several minibatches in one kernel call, where
chains are independent and without rejuvenation. The words of these minibatches are numbered
beforehand, in the same order, so the result has the bits of one step for each minibatch.
:func:`together` finds where a call must end: what changes the vocabulary, the spelling or the
concentrations between two minibatches, or keeps documents for later.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.random import FIRST_PASS, MOVE
from beam_topics.model.kernels.threads import over_slices
from beam_topics.model.learners.base import StepInfo
from beam_topics.model.learners.particles.history import Documents
from beam_topics.model.learners.particles.kernels import chains
from beam_topics.model.learners.particles.kernels.chains import (
    TOKENS_AT_ONCE,
    VisitSchedule,
    gather_evidence,
    run_chains,
    schedule_visits,
)
from beam_topics.model.learners.particles.kernels.first_pass import (
    TokenDraws,
    first_pass,
    new_token_draws,
    write_draws,
)
from beam_topics.model.learners.particles.kernels.history import LONGEST, choose_units
from beam_topics.model.learners.particles.kernels.rejuvenation import move_units
from beam_topics.model.learners.particles.kernels.resampling import (
    MOVES,
    RESAMPLINGS,
    SCHEDULED,
    resample,
    reweight,
)
from beam_topics.model.learners.particles.kernels.token_filter import (
    EXTRA_UNITS,
    Rejuvenation,
    filter_tokens,
)
from beam_topics.model.learners.particles.population import tokens_at_once
from beam_topics.model.learners.particles.priors import parts_each
from beam_topics.model.learners.particles.state import (
    ParticleState,
    begin_minibatch,
    choice_of,
    draws,
    ensure_capacity,
    note_arrivals,
)
from beam_topics.model.learners.particles.topic_weights import draw_is_due, learn_concentrations
from beam_topics.model.records import FloatArray, IntArray, LongArray, Minibatch
from beam_topics.model.scaled import Scaled
from beam_topics.model.words.vocabulary import UNKNOWN

# Below so many draws one thread is faster than several.
_SIDE_BY_SIDE = 2000


def together(state: ParticleState, minibatches: Sequence[Minibatch]) -> int:
    """Return how many of the minibatches one call can learn; 1 if it cannot learn several.

    The call ends before words have to leave the vocabulary, and where concentrations are drawn.
    """
    vocabulary, drawn = state.vocabulary, state.settings.prior.learns_concentrations
    is_open = state.settings.vocabulary.is_open
    if not _is_plain(state) or (drawn and not is_open):
        return 1
    most = len(vocabulary) + sum(len(minibatch.words) for minibatch in minibatches)
    if not drawn and most <= vocabulary.limit and all(map(len, minibatches)):
        return len(minibatches)
    new: set[str] = set()
    before = state.tokens
    for count, minibatch in enumerate(minibatches):
        new.update(vocabulary.missing(minibatch.words))
        words = len(vocabulary) + len(new)
        if not len(minibatch) or (is_open and words > vocabulary.limit):
            return max(count, 1)
        # With room for every word, all tokens are learned.
        after = before + len(minibatch.tokens)
        if drawn and draw_is_due(before, after, words):
            return count + 1
        before = after
    return len(minibatches)


def _is_plain(state: ParticleState) -> bool:
    """Return whether the next documents are learned at once, and change nothing but the chains."""
    settings = state.settings
    rejuvenation, particles = settings.rejuvenation, len(state.population.weight)
    return not (
        settings.ess_threshold
        or settings.by_tokens
        or settings.independent_chains != particles
        or (rejuvenation.moves and rejuvenation.after_document(False))
        or state.waiting is not None
        or state.following
        or state.half_life
        or state.settings.learns_topics
        or (settings.is_spelled and state.characters is None)
    )


def learn_together(state: ParticleState, minibatches: Sequence[Minibatch]) -> list[StepInfo]:
    """Learn as many minibatches as :func:`together` allows.

    Returns:
        What a step for each minibatch would return.
    """
    state.arrived, state.events = [], []
    numbers, words = _number_words(state, minibatches)
    documents = [known_words(*pair) for pair in zip(numbers, minibatches, strict=True)]
    sequences = [minibatch.sequence for minibatch in minibatches]
    begin_minibatch(state, sequences[0])
    figures = learn_minibatches(
        state,
        [document for some in documents for document in some],
        np.repeat(np.array(sequences, np.int64), [len(some) for some in documents]),
    )
    scored = [sum(len(tokens) for tokens, _ in some) for some in documents]
    if draw_is_due(state.tokens - scored[-1], state.tokens, len(state.vocabulary)):
        learn_concentrations(state)
    infos = []
    for at, (minibatch, (evidence, ess)) in enumerate(zip(minibatches, figures, strict=True)):
        remember_evidence(state, evidence)
        infos.append(
            StepInfo(
                documents=len(minibatch),
                tokens=len(minibatch.tokens),
                unknown_tokens=len(minibatch.tokens) - scored[at],
                moves=0,
                resamplings=0,
                ess=ess,
                log_evidence=evidence.log(),
                words=words[at],
                scored_tokens=scored[at],
            )
        )
    return infos


def remember_evidence(state: ParticleState, evidence: Scaled) -> None:
    """Multiply the evidence of everything by that of a minibatch, and keep the last ones."""
    state.evidence = state.evidence * evidence
    state.recent.append(evidence)
    while len(state.recent) > state.settings.evidence_window:
        state.recent.popleft()


def _number_words(
    state: ParticleState, minibatches: Sequence[Minibatch]
) -> tuple[list[IntArray], list[int]]:
    """Return the word number of each token, and the size of the vocabulary after each minibatch."""
    vocabulary, sizes = state.vocabulary, [len(state.vocabulary)]
    found = vocabulary.numbers([word for minibatch in minibatches for word in minibatch.words])
    tokens, first = [], 0
    for minibatch in minibatches:
        numbers = found[first : first + len(minibatch.words)]
        first += len(minibatch.words)
        vocabulary.used(numbers, np.bincount(minibatch.tokens, minlength=len(numbers)))
        # New words have the next numbers.
        sizes.append(max(sizes[-1], 1 + int(numbers.max(initial=UNKNOWN))))
        tokens.append(numbers[minibatch.tokens])
    return tokens, sizes[1:]


def known_words(numbers: IntArray, minibatch: Minibatch) -> Documents:
    """Return the known words of each document, and its label."""
    documents = [numbers[begin:end] for begin, end in pairwise(minibatch.offsets.tolist())]
    if (numbers == UNKNOWN).any():
        documents = [tokens[tokens != UNKNOWN] for tokens in documents]
    return list(zip(documents, minibatch.labels, strict=True))


def learn_by_chains(state: ParticleState, documents: Sequence[tuple[IntArray, str | None]]) -> None:
    """Learn documents of the current minibatch, given as word numbers with their labels."""
    learn_minibatches(state, documents, np.full(len(documents), state.sequence, np.int64))


def learn_minibatches(
    state: ParticleState, documents: Sequence[tuple[IntArray, str | None]], sequences: LongArray
) -> list[tuple[Scaled, float]]:
    """Learn documents of several minibatches; the first of these minibatches has begun.

    Args:
        state: the learner's state.
        documents: the word numbers and the label of each document.
        sequences: int64[D], the numbers of the documents' minibatches, ascending.

    Returns:
        The evidence and the effective sample size of each minibatch.
    """
    rejuvenation, history, counters = (
        state.settings.rejuvenation,
        state.history,
        state.resampler.counters,
    )
    slots = history.begin_all(documents)
    schedule, moved = schedule_visits(
        history.past,
        history.pages.length,
        slots,
        sequences,
        rejuvenation.moves if rejuvenation.after_document(False) else 0,
        choice_of(state),
        draws(state, FIRST_PASS),
        state.drawn,
        int(counters[MOVES]),
        int(counters[SCHEDULED]),
    )
    weights = np.empty((len(slots), len(state.population.weight)))
    exponents = np.empty(weights.shape, np.int64)
    _run(state, schedule, weights, exponents)
    minibatches = 1 + int(np.count_nonzero(np.diff(sequences)))
    figures, powers = np.empty((minibatches, 2)), np.empty(minibatches, np.int64)
    gather_evidence(state.resampler, sequences, weights, exponents, figures, powers)
    last = sequences == sequences[-1]
    scheduled = 0 if sequences[0] != sequences[-1] else counters[SCHEDULED]
    counters[MOVES], counters[SCHEDULED] = moved, scheduled + schedule.found[last].sum()
    note_arrivals(state, slots)
    history.release(slots.tolist())
    lengths = history.pages.length[slots]
    tokens = int(lengths.sum())
    state.drawn = int(lengths[last].sum()) + (state.drawn if last[0] else 0)
    state.sequence = int(sequences[-1])
    state.documents += len(slots)
    state.tokens += tokens
    state.scored += tokens
    return [
        (Scaled(mantissa, power), ess)
        for (mantissa, ess), power in zip(figures.tolist(), powers.tolist(), strict=True)
    ]


def _run(
    state: ParticleState, schedule: VisitSchedule, weights: FloatArray, exponents: LongArray
) -> None:
    """Run the chains over as many documents at a time as there are free rows for."""
    particles, length = len(state.population.weight), state.history.pages.length
    visits = 1 + schedule.units.shape[1]
    longest = int(state.history.past.sizes[LONGEST])
    at_once = max(1, tokens_at_once(state.population) // (visits * max(longest, 1) * particles))
    for begin in range(0, len(schedule.slots), at_once):
        end = min(begin + at_once, len(schedule.slots))
        ensure_capacity(
            state,
            particles,
            (end - begin) * visits,
            max(longest, int(length[schedule.slots[begin:end]].max())),
        )
        run = partial(
            run_chains,
            state.population,
            state.prior,
            state.history.pages,
            draws(state, FIRST_PASS),
            schedule,
            weights,
            exponents,
        )
        tokens = int(length[schedule.slots[begin:end]].sum()) * visits
        over_slices(
            particles, state.threads, partial(run, begin, end), side_by_side=tokens >= _SIDE_BY_SIDE
        )


def learn_documents(state: ParticleState, documents: Documents) -> None:
    """Learn documents of the current minibatch, given as word numbers with their labels."""
    if state.settings.ess_threshold or state.settings.by_tokens:
        for tokens, label in documents:
            # Update ω_i, draw z_i, normalise ω_i, resample, and rejuvenate R(i).
            learn_document(state, tokens, label)
    elif documents:
        # The same without resampling, in one call. ω_i(p) stays 1 / P.
        learn_by_chains(state, documents)


def learn_document(state: ParticleState, tokens: IntArray, label: str | None) -> None:
    """Learn one document, given as int32 word numbers; see the module's docstring."""
    slot = state.history.begin(tokens, label)
    if state.settings.by_tokens:
        filter_tokens_of(state, slot)
    else:
        filter_document(state, slot)
    note_arrivals(state, np.array([slot], np.int32))
    state.history.release([slot])
    state.drawn += len(tokens)
    state.documents += 1
    state.tokens += len(tokens)
    state.scored += len(tokens)


def filter_document(state: ParticleState, slot: int) -> None:
    """Run one iteration of Alg. 4, with the document in ``slot`` in place of the token i.

    The paper's names: ``weight`` is ω, a topic in ``drawn`` is z_i, R(i) are the units that
    :func:`rejuvenate` visits. Resampling may replace many particles, so the topics are written only
    after the ancestors are known: :func:`_draw_topics` changes ω and keeps z_i aside, and
    :func:`_write_topics` writes z_i for the particles that survive.
    """
    resampler, ancestors = state.resampler, np.empty(len(state.population.weight), np.int64)
    # ω_i(p) = ω_i-1(p) P(w_i | z_i-1(p), w_i-1);  z_i(p) ~ P(z_i | z_i-1(p), w_i)
    drawn = _draw_topics(state, slot, state.drawn, FIRST_PASS)
    # Normalise ω_i; the ancestors differ from 0 .. P-1 if 1 / sum ω_i(p)^2 <= ESS threshold.
    resampled = reweight(state.population, resampler, draws(state, FIRST_PASS), ancestors)
    _write_topics(state, drawn, ancestors)
    if resampled:
        # Particle p becomes a copy of ancestors[p]; ω_i(p) = 1 / P.
        resample(state.population, ancestors, resampler.counters)
    state.history.admit(slot, *state.stream)
    if _rejuvenation_is_due(state, bool(resampled)):
        # For j in R(i): z_j(p) ~ P(z_j | z_i\j(p), w_i)
        rejuvenate(state)


def _rejuvenation_is_due(state: ParticleState, resampled: bool) -> bool:
    rejuvenation = state.settings.rejuvenation
    return rejuvenation.moves > 0 and rejuvenation.after_document(resampled)


def draw_documents(
    state: ParticleState, slots: IntArray, purpose: int, evenly: bool = False
) -> None:
    """Draw and write topics for the tokens of documents in all particles, without resampling.

    Args:
        state: the learner's state.
        slots: int32[n], the documents.
        purpose: names the draws (:mod:`beam_topics.model.kernels.random`).
        evenly: draw each topic with probability 1 / T, whatever the counts.
    """
    index, particles = state.drawn, len(state.population.weight)
    lengths = state.history.pages.length[slots]
    longest = max(int(lengths.max(initial=1)), 1)
    at_once = max(1, tokens_at_once(state.population) // (longest * particles))
    for first in range(0, len(slots), at_once):
        part = slice(first, first + at_once)
        ensure_capacity(state, particles, min(at_once, len(slots) - first), longest)
        run = partial(
            chains.draw_documents,
            state.population,
            state.prior,
            state.history.pages,
            draws(state, purpose),
            slots[part],
            index,
            evenly,
        )
        over_slices(particles, state.threads, run)
        index += int(lengths[part].sum())


def _draw_topics(state: ParticleState, slot: int, index: int, purpose: int) -> TokenDraws:
    """Draw topics for a document in all particles, and return those that are not written yet.

    A long document is drawn in parts. Every part but the last is written at once, since there is
    no resampling within a document; the last part is returned.
    """
    length, particles = int(state.history.pages.length[slot]), len(state.population.weight)
    ensure_capacity(state, 0, 1, length)
    everyone, source = np.arange(particles, dtype=np.int64), draws(state, purpose)
    begin = 0
    while True:
        stop = min(begin + TOKENS_AT_ONCE, length)
        drawn = new_token_draws(
            state.history.pages, slot, begin, stop, particles, len(state.prior.alpha), True
        )

        def draw_slice(first: int, last: int, thread: int, drawn: TokenDraws = drawn) -> None:
            first_pass(
                state.population,
                state.prior,
                state.history.pages,
                source,
                drawn,
                index,
                False,
                first,
                last,
            )

        over_slices(particles, state.threads, draw_slice)
        if stop == length:
            return drawn
        _write_topics(state, drawn, everyone)
        begin = stop


def _write_topics(
    state: ParticleState, drawn: TokenDraws, ancestors: npt.NDArray[np.int64]
) -> None:
    """Write the drawn topics and their counts in the particles that are their own ancestors."""
    survivors = int(np.count_nonzero(ancestors == np.arange(len(ancestors))))
    ensure_capacity(state, survivors, 1, len(drawn.words))
    run = partial(write_draws, state.population, state.history.pages, drawn, ancestors)
    over_slices(len(ancestors), state.threads, run)


def rejuvenate(state: ParticleState) -> None:
    """Visit R units of the history, the same for all particles."""
    rejuvenation, counters = state.settings.rejuvenation, state.resampler.counters
    slots = np.empty(rejuvenation.moves, np.int32)
    positions = np.empty(rejuvenation.moves, np.int64)
    found = choose_units(
        state.history.past,
        choice_of(state),
        slots,
        positions,
        *state.stream,
        state.sequence,
        int(counters[SCHEDULED]),
    )
    counters[SCHEDULED] += found
    visit(state, slots[:found], positions[:found], MOVE)


def visit(
    state: ParticleState, slots: Any, positions: Any, purpose: int, owned: bool = False
) -> None:
    """Redraw the topics of units in all particles, as many units at a time as there is room for.

    Args:
        state: the learner's state.
        slots: int32[n], the units' documents.
        positions: int64[n], the units' tokens; -1 for whole documents.
        purpose: names the draws (:mod:`beam_topics.model.kernels.random`).
        owned: whether the particles own the rows of all of these tokens, so that visits copy none.
    """
    counters, particles = state.resampler.counters, len(state.population.weight)
    # A part that a visit makes is a new row.
    moves = parts_each(state.population) or state.settings.rejuvenation.history.rows_move
    writers = 0 if owned and not moves else particles
    lengths = np.where(positions < 0, state.history.pages.length[slots], 1)
    longest = max(int(lengths.max(initial=1)), 1)
    at_once = max(1, tokens_at_once(state.population) // (longest * particles))
    for first in range(0, len(slots), at_once):
        part = slice(first, first + at_once)
        ensure_capacity(state, writers, min(at_once, len(slots) - first), longest)
        source, index = draws(state, purpose), int(counters[MOVES])
        run = partial(
            move_units,
            state.population,
            state.prior,
            state.history.pages,
            source,
            slots[part],
            positions[part],
            index,
        )
        over_slices(particles, state.threads, run)
        counters[MOVES] += int(lengths[part].sum())


def filter_tokens_of(state: ParticleState, slot: int) -> None:
    """Run Alg. 4 over the tokens of the document in ``slot``, one iteration for each token.

    The kernel stops where the free rows could run out. It continues from that token after
    :func:`ensure_capacity`.
    """
    rejuvenation, history = _token_rejuvenation(state), state.history
    at, end = 0, int(history.pages.length[slot])
    if end == 0:
        # No token writes the counts of the slot, so clear those of its last document.
        draw_documents(state, np.array([slot], np.int32), FIRST_PASS)
    while at < end:
        ensure_capacity(
            state,
            len(state.population.weight),
            rejuvenation.moves + EXTRA_UNITS,
            int(history.past.sizes[LONGEST]),
        )
        at = filter_tokens(
            state.population,
            state.prior,
            history.pages,
            draws(state, FIRST_PASS),
            state.resampler,
            rejuvenation,
            history.past,
            slot,
            at,
            state.drawn,
            state.tokens,
        )
    if not history.tokens:
        history.admit(slot, *state.stream)
    if _rejuvenation_is_due(state, False):
        rejuvenate(state)


def _token_rejuvenation(state: ParticleState) -> Rejuvenation:
    """Return the kernel's settings; ``moves`` is 0 where no token triggers rejuvenation."""
    settings = state.settings.rejuvenation
    return Rejuvenation(
        every=settings.tokens,
        moves=settings.moves if settings.tokens or settings.after_resampling else 0,
        choice=choice_of(state),
    )


def resamplings(state: ParticleState) -> int:
    """Return how often the particles were resampled in this minibatch."""
    return int(state.resampler.counters[RESAMPLINGS])
