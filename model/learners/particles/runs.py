"""Learning many documents in one call, where nothing comes between them.

Chains are particles that are never resampled. :func:`learn_by_chains` learns the documents of a
minibatch with them, to the bits of :mod:`model.learners.particles.stepping`, which learns document
by document.

Short windows make minibatches of few documents, for which the costs of calls are most of a step.
Independent chains without rejuvenation go through the documents of several minibatches in one
kernel call. The words of these minibatches are numbered beforehand, in the same order. The result
has the same bits as one step for each minibatch.

:func:`together` finds where a call must end: what changes the vocabulary, the spelling or the
concentrations between two minibatches, or keeps documents for later.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from model.kernels.random import FIRST_PASS
from model.learners.base import StepInfo
from model.learners.particles.arrivals import note_arrivals
from model.learners.particles.history import Documents
from model.learners.particles.kernels.chains import (
    VisitSchedule,
    gather_evidence,
    run_chains,
    schedule_visits,
)
from model.learners.particles.kernels.history import LONGEST
from model.learners.particles.kernels.resampling import MOVES, SCHEDULED
from model.learners.particles.population import over_slices, tokens_at_once
from model.learners.particles.state import (
    ParticleState,
    begin_minibatch,
    choice_of,
    draws,
    ensure_capacity,
)
from model.learners.particles.topic_weights import draw_is_due, learn_concentrations
from model.records import FloatArray, IntArray, LongArray, Minibatch
from model.scaled import Scaled
from model.words.vocabulary import UNKNOWN

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
        or state.weighs_topics
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
