"""Learners with a half-life: what is left is a state, whole and the same in all particles."""

import numpy as np
import pytest
from corpora import awkward, minibatches_of, topical
from learner_variants import settings_of, small

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.particles.forgetting import TICKS, _power, forget, survival
from beam_topics.model.learners.particles.kernels.canonical_rows import word_in_excess
from beam_topics.model.learners.particles.kernels.particles import GONE
from beam_topics.model.learners.particles.priors import word_rows
from beam_topics.model.learners.particles.state import document_counts
from beam_topics.model.scaled import Scaled

NAMES = [
    "half-life",
    "half-life, flat, resampled",
    "half-life, by tokens",
    "half-life, full history, full vocabulary",
]


def states(settings, stream):
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in stream:
        learner.step(state, minibatch)
        yield state


def one(**others):
    return small(learner="particle-filter", resampling="never", initial="none", **others)


@pytest.mark.parametrize("name", NAMES)
def test_counts_follow_from_the_tokens_that_live(name):
    forgotten = 0
    for state in states(settings_of(name), minibatches_of(awkward(), 6)):
        population, topics = state.population, state.settings.topics
        slots, words = state.history.slots(), np.arange(len(state.vocabulary))
        of_words = []
        for p in range(len(population.weight)):
            rows = word_rows(population, p, words).astype(np.int64)[:, :topics]
            assert (rows >= 0).all()
            assert rows.sum(axis=0).tolist() == population.totals[p, :topics].tolist()
            of_words.append(rows.sum(axis=1).tolist())
        assert all(counts == of_words[0] for counts in of_words)
        assert word_in_excess(population, state.history.pages, slots, len(words)) == -1
        forgotten = max(forgotten, state.tokens - sum(of_words[0]))
    assert forgotten > 0


def test_the_counts_of_documents_are_those_of_the_tokens_that_live():
    *_, state = states(one(half_life=(6,), challengers="off"), minibatches_of(awkward(), 6))
    tokens = [state.history.words_of(int(slot)) for slot in state.history.slots()]
    assert any((words == GONE).any() for words in tokens)
    for p in range(len(state.population.weight)):
        counts = document_counts(state, state.population, p, state.history.slots()).sum(axis=1)
        assert counts.tolist() == [int((words != GONE).sum()) for words in tokens]


def test_half_of_the_tokens_live_after_a_half_life():
    settings = one(half_life=(1000,))
    *_, state = states(settings, minibatches_of(topical(120), 40))
    before = state.population.totals[0].sum()
    state.sequence += 1
    forget(state, state.time + 1000)
    after = state.population.totals[:, :3].sum(axis=1)
    assert set(after.tolist()) == {after[0]}
    assert after[0] == pytest.approx(before / 2, abs=4 * np.sqrt(before) / 2)


def test_after_a_long_time_everything_is_forgotten_and_learned_again():
    settings = one(half_life=(1000,), prior="hierarchical")
    *_, state = states(settings, minibatches_of(topical(60), 20))
    learner = learner_for(settings)
    forget(state, 10**9)
    assert not state.population.totals.any() and not state.population.tables.any()
    assert learner.save(learner.load(settings, "", 0, learner.save(state))) == learner.save(state)
    last = minibatches_of(topical(60), 20)[-1]
    learner.step(state, last)
    assert state.population.totals[0].sum() == len(last.tokens)


def test_time_that_goes_back_or_stands_still_changes_nothing():
    settings = one(half_life=(1000,))
    *_, state = states(settings, minibatches_of(topical(60), 20))
    before = learner_for(settings).save(state)
    for time in (state.time, state.time - 10_000):
        forget(state, time)
        assert learner_for(settings).save(state) == before


def test_nothing_is_forgotten_before_a_share_of_the_half_life_has_passed():
    settings = one(half_life=(64_000_000,))
    *_, state = states(settings, minibatches_of(topical(60), 20))
    before = state.population.totals.sum()
    forget(state, state.time + 999_000)
    assert state.population.totals.sum() == before
    forget(state, state.time + 1_001_000)
    assert state.population.totals.sum() < before


def test_each_island_has_its_own_half_life():
    settings, learner = settings_of("half-life"), learner_for(settings_of("half-life"))
    assert [learner.init(settings, "", island).half_life for island in (0, 1)] == [6, 0]
    one_for_all = small(islands=2, half_life=(7,))
    assert [learner.init(one_for_all, "", island).half_life for island in (0, 1)] == [7, 7]


def test_without_a_half_life_the_state_has_no_time():
    *_, state = states(one(), minibatches_of(topical(20), 20))
    assert state.time is None
    assert b'"time"' not in learner_for(state.settings).save(state)[:200]


def test_a_damaged_time_is_refused():
    settings = one(half_life=(1000,))
    *_, state = states(settings, minibatches_of(topical(20), 20))
    state.time = "soon"
    data = learner_for(settings).save(state)
    with pytest.raises(DamagedDataError, match="time of a learner's state.*'soon'"):
        learner_for(settings).load(settings, "", 0, data)


def test_survival_and_powers():
    assert survival(TICKS) == 0.5 and survival(3 * TICKS) == 0.125 and survival(0) == 1.0
    assert survival(1) ** TICKS == pytest.approx(0.5, rel=1e-14)
    assert survival(TICKS + 7) == survival(7) / 2
    for number in (Scaled(0.75, -12_345), Scaled(0.5, 1), Scaled(0.9, 0)):
        for power in (0.5, 0.9, 0.25):
            found = _power(number, power)
            assert 0.5 <= found.mantissa < 1
            assert found.log() == pytest.approx(power * number.log(), rel=1e-12, abs=1e-12)
