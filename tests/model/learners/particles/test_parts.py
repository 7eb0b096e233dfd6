"""Words in parts: the laws of learners, states of the other form, and less memory.

Draws of words in parts have the law of draws of whole rows, and other bits.
``tests/model/learners/particles/kernels/test_sparse_draw.py`` tests the law, and
``tests/model/learners/particles/kernels/test_particles.py`` the bits against the twin.
"""

from functools import cache

import numpy as np
import pytest
from corpora import learned, minibatches_of, topical
from learner_battery import results, run
from learner_options import made
from learner_variants import VARIANTS, small

from beam_topics.model import wire
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.packed_numbers import numbers_of, pack_numbers
from beam_topics.model.learners.particles import priors, trials
from beam_topics.model.learners.particles.population import nbytes
from beam_topics.model.learners.particles.priors import parts_each

# Enough topics for more than one part; rows of 16 entries are then shorter than the topics.
TOPICS = 20
CHOSEN = (
    "particle-filter",
    "o-lda",
    "by tokens, residual",
    "chains",
    "chains, full vocabulary, hierarchical",
    "challenged, minimal, full vocabulary",
    "half-life",
    "half-life, without visits",
    # Its kernels are compiled anew, which takes most of the time.
    pytest.param("half-life, full history, full vocabulary", marks=pytest.mark.slow),
    "hierarchical, discount",
    "urn",
    "seeds",
)


SEEDED = {"prior": "hierarchical", "seeds": ("first: w1 w2^9", "second: w3"), "seed_strength": 5}

DUELS = made(
    topics=TOPICS,
    particles=1,
    moves=5,
    initial_documents=40,
    chains=2,
    initial_sweeps=10,
    newest=300,
    reservoir=50,
    challengers="on",
    seed=2,
    judges=15,
)


def settings_of(variant):
    return small(**{**VARIANTS.get(variant, SEEDED), "topics": TOPICS})


@cache
def whole(variant):
    outcome = run(settings_of(variant))
    assert not parts_each(outcome[3].population)
    return outcome


@pytest.fixture
def parted(monkeypatch):
    monkeypatch.setattr(priors, "PARTED_FROM", TOPICS)


@cache
def parted_outcome(variant):
    outcome = run(settings_of(variant))
    assert parts_each(outcome[3].population)
    return outcome


@pytest.mark.parametrize("variant", CHOSEN)
def test_a_state_that_is_read_again_continues_with_the_same_bits(variant, parted):
    again = run(settings_of(variant), reload=True)
    assert results(again) == results(parted_outcome(variant))


@pytest.mark.parametrize("variant", ["by tokens, residual", "hierarchical, discount"])
def test_threads_give_the_same_bits(variant, parted):
    assert results(run(settings_of(variant), threads=3)) == results(parted_outcome(variant))


def whole_outside(variant):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(priors, "PARTED_FROM", 513)
        return whole(variant)


def test_duels_are_won_and_lost(parted, monkeypatch):
    verdicts, original = [], trials.duel
    monkeypatch.setattr(
        trials, "duel", lambda *given: verdicts.append(original(*given)) or verdicts[-1]
    )
    first, second = topical(200, topics=3, seed=1), topical(200, topics=4, seed=2, first=100)
    stream = minibatches_of(first + second, 10)
    state = learned(DUELS, stream)
    assert parts_each(state.population)
    assert {verdict.winner >= 0 for verdict in verdicts} == {True, False}


def test_a_word_without_tokens_takes_no_memory():
    """T = 1,000 in less than half of the memory of whole rows."""
    settings = made(learner="o-lda", topics=1000, initial="none")
    stream = minibatches_of(topical(40, words=400, length=30), 10)
    state = learned(settings, stream)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(priors, "PARTED_FROM", 2000)
        before = learned(settings, stream)
    learner = learner_for(settings)
    assert nbytes(state.population) * 2 < nbytes(before.population)
    assert len(learner.save(state)) * 6 < len(learner.save(before))


@cache
def message():
    settings = settings_of("chains")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(priors, "PARTED_FROM", TOPICS)
        return wire.unpack(b"BTD1", run(settings)[0][-1], 18)


def load(change, count=18):
    header, blobs = message()
    blobs = list(blobs)
    change(blobs)
    settings = settings_of("chains")
    learner_for(settings).load(settings, "", 0, wire.pack(b"BTD1", header, *blobs))


def changed(index, at, value):
    def change(blobs):
        numbers = numbers_of(blobs[index]).copy().astype(np.int64)
        numbers[at] = value
        blobs[index] = pack_numbers(numbers)

    return change


def one_part_more(blobs):
    changed(11, 0, numbers_of(blobs[11])[0] + 1)(blobs)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (changed(11, 0, 9), "numbers of parts of words"),
        (one_part_more, "parts of words"),
        (changed(12, 0, 3), "parts of words"),
        (changed(12, slice(None), 0), "parts of words"),
        (changed(15, slice(0, 32), 0), "a part of a word of the state has no tokens"),
        (changed(15, 0, 10_000), "the tokens of the state's topics are not the sums"),
    ],
)
def test_damaged_parts_are_refused(change, told, parted):
    with pytest.raises(DamagedDataError, match=told):
        load(change)


def test_parts_are_refused_where_words_have_whole_rows():
    with pytest.raises(DamagedDataError, match="begins with b'BTo2', found b'BTD1'"):
        load(lambda blobs: None)
