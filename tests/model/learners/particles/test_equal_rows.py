"""A learner with one particle whose words share rows: the same bits in less memory."""

import numpy as np
import pytest
from corpora import document_of, minibatches_of
from learner_options import made

from beam_topics.model.learners import learner_for
from beam_topics.model.learners.particles import population
from beam_topics.model.learners.particles.history import History
from beam_topics.model.learners.particles.kernels.copy_on_write import (
    END_ROW,
    NEXT_ROW,
    new_table,
    own_row,
)
from beam_topics.model.learners.particles.kernels.equal_rows import count_unowned, words_at_hand
from beam_topics.model.learners.particles.priors import places_of
from beam_topics.model.learners.particles.rejuvenation import Reservoir

SMALL = {
    "topics": 3,
    "initial": "none",
    "moves": 4,
    "newest": 10,
    "reservoir": 5,
    "prior": "hierarchical",
    "discount": 0.3,
}
VARIANTS = {
    "default": {},
    "flat": {"prior": "flat"},
    "initial batch": {
        "initial": "batch",
        "initial_documents": 25,
        "chains": 2,
        "initial_sweeps": 2,
    },
    "words leave": {"max_words": 300},
    "challenged": {"challengers": "on", "judges": 5},
    "threads": {},
}


def rare_words(documents=400):
    """Documents of frequent words and of words that occur once or a few times."""
    generator = np.random.default_rng(3)
    for number in range(documents):
        rare = [f"rare{generator.integers(2000)}" for _ in range(4)]
        yield document_of([f"w{generator.integers(9)}" for _ in range(4)] + rare, number)


def learned(variant, after=lambda state: None):
    settings = made(SMALL, **VARIANTS[variant])
    learner = learner_for(settings)
    state = learner.init(settings, "", 0, 2 if variant == "threads" else 1)
    for minibatch in minibatches_of(list(rare_words()), 7):
        learner.step(state, minibatch)
        after(state)
    return learner, state


def at_hand(state):
    return words_at_hand(state.history.pages, state.history.arrival, len(state.vocabulary))


def check(state):
    """Words at hand own their rows, and no more rows are taken than there were free ones."""
    if len(state.population.weight) > 1 or state.waiting:
        return
    table = state.population.words
    assert (table.cursors[:, NEXT_ROW] <= table.cursors[:, END_ROW]).all()
    words = at_hand(state)
    places = places_of(table, 0, np.flatnonzero(words))
    assert len(set(places.tolist())) == len(places)
    assert (table.row_owner[places] == state.population.generation[0]).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_shared_rows_change_no_bit(variant, monkeypatch):
    learner, state = learned(variant, check)
    places = places_of(state.population.words, 0, np.arange(len(state.vocabulary)))
    assert len(set(places.tolist())) < 0.8 * len(places), "words share rows"
    monkeypatch.setattr(population, "merge_equal_rows", lambda table, own: None)
    _, other = learned(variant)
    assert len(set(places_of(other.population.words, 0, np.arange(200)).tolist())) == 200
    assert learner.save(state) == learner.save(other)
    assert learner.witness(state) == learner.witness(other)
    assert learner.nbytes(state) < learner.nbytes(other)


def test_a_learner_that_is_restored_goes_on_with_the_same_bits():
    settings = made(SMALL)
    learner = learner_for(settings)
    state, minibatches = learner.init(settings, "", 0), minibatches_of(list(rare_words()), 7)
    for minibatch in minibatches[:40]:
        learner.step(state, minibatch)
    again = learner.load(settings, "", 0, learner.save(state))
    for minibatch in minibatches[40:]:
        assert learner.step(state, minibatch) == learner.step(again, minibatch)
        check(again)
    assert learner.save(state) == learner.save(again)


def test_words_without_a_row_are_bounded_between_counts():
    """A bound that is too low would let the kernels write rows that are not free."""
    bounds = []

    def compared(state):
        if len(state.population.weight) == 1 and not state.waiting:
            generation = int(state.population.generation[0])
            history, words = state.history, len(state.vocabulary)
            new = minibatches_of(list(rare_words(7)), 7)[0]
            numbers = state.vocabulary.copied().numbers(new.words)
            slot = history.begin(np.where(numbers < words, numbers, 0).astype(np.int32), None)
            unowned = count_unowned(state.population.words, at_hand(state), generation)
            bounds.append((state.at_hand.most_unowned(), int(unowned)))
            history.release([slot])

    learned("default", compared)
    assert all(most >= unowned for most, unowned in bounds)
    assert any(unowned for _, unowned in bounds)


class Given(population.AtHand):
    """Words at hand that a test gives; they are counted when they are needed."""

    def __init__(self, own):
        super().__init__(History(Reservoir(newest=1)), 10**6)
        self._own = own

    def count(self, table, words, generation):
        found = self._own(words)
        self.unowned = int(count_unowned(table, found, generation))
        return found


def grown(count, at_hand):
    """Return a table of so many words, eight of each content, and how many pools it had."""
    table, pools = new_table(1, 1, 4, 1), 0
    for word in range(count):
        before = table
        table = population.with_free_rows(table, word + 1, 10**6, 1, Given(at_hand))
        pools += table.rows is not before.rows
        table.rows[own_row(table, 0, word, 1, 0, False)] = word // 8
    return table, pools


def test_the_pool_follows_the_words_at_hand_and_the_different_rows():
    def newest(words):
        found = np.zeros(words, np.bool_)
        found[-20:] = True
        return found

    table, pools = grown(4000, newest)
    places = places_of(table, 0, np.arange(4000))
    assert (table.rows[places, 0] == np.arange(4000) // 8).all()
    assert len(table.rows) < (4000 // 8 + 20 + 2) * 9 / 8 * 9 / 8
    # It is made anew when an eighth is used up, so seldom.
    assert pools < 300


def test_a_pool_without_equal_rows_grows_by_an_eighth():
    table, pools = grown(4000, lambda words: np.ones(words, np.bool_))
    assert 4000 < len(table.rows) <= 4001 * 9 / 8 + 2
    assert pools < 90
