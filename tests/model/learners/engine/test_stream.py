"""The schedule of a stream, and documents and words that leave."""

from collections import Counter

import numpy as np
import pytest
from alarm import agrees_in_counts

from beam_topics.model.learners.engine import stream
from beam_topics.model.learners.engine.epoch import epoch
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.state import State
from beam_topics.model.learners.engine.stream import (
    drawn,
    is_due,
    keep_sample,
    learn,
    owe,
    pay,
    places_of,
    shards_of,
    visits,
)

G = np.random.default_rng(8)
LENGTHS = G.integers(0, 25, 80)
WORDS = G.integers(0, 30, LENGTHS.sum())


def example(documents=80, **settings):
    state = State(**{"topics": 5, "seed": 3} | settings)
    state.add_words(30)
    state.add_documents(WORDS[: LENGTHS[:documents].sum()], LENGTHS[:documents])
    return state


def counted(state):
    """n_wt of the tokens in reach."""
    rows = np.zeros((state.size, state.rows.shape[1]), np.int64)
    words, z = state.words[: state.tokens], state.z[: state.tokens]
    np.add.at(rows, (words[z != NONE], z[z != NONE]), 1)
    return rows


def test_the_first_documents_are_one_sequence_and_later_ones_are_in_shards():
    assert [shards_of(n, 600) for n in (1, 600, 5000)] == [1, 1, 1]
    assert [shards_of(n, 601) for n in (0, 1, 499, 500, 999, 1000, 9999)] == [1, 1, 1, 2, 3, 4, 4]


@pytest.mark.parametrize(("reach", "due"), [(80, 910), (80, 80), (3000, 3100), (900, 1), (7, 0)])
def test_visits_make_equal_epochs_of_documents_in_reach(reach, due):
    state = State(2)
    state.add_documents(np.zeros(0, np.int64), np.zeros(reach + 5, np.int64))
    parts = list(visits(state, due, np.arange(5, reach + 5)))
    assert sum(map(len, parts)) == due
    sizes, most = {len(part) for part in parts}, min(reach, max(1000, reach // 2))
    assert len(parts) == -(-due // most) and max(sizes, default=0) - min(sizes, default=0) <= 1
    for part in parts:
        assert (np.diff(part) > 0).all() and part[0] >= 5 and part[-1] < reach + 5
    assert not list(visits(state, due, np.arange(0)))


@pytest.mark.parametrize(("arrived", "seen"), [(7, 80), (3, 5000), (90, 9000)])
def test_visits_are_owed_as_the_law_says_and_paid_when_they_make_an_epoch(arrived, seen):
    state, everyone = State(2), np.arange(1500)
    state.add_words(1)
    state.add_documents(np.zeros(1500, np.int64), np.ones(1500, np.int64))
    owe(state, arrived, seen, 0)
    assert state.owed == 0
    owe(state, arrived, seen, 30)
    due = state.owed
    assert due == round((30 + 50_000 / max(seen, 500)) * arrived)
    assert is_due(state, 1500) == (due >= 1000)
    pay(state, seen, None, [(1.0, everyone)])
    assert (state.owed, state.visits) == (0, due)
    owe(state, 1000, seen, 30)
    pay(state, seen, None, [(0.25, everyone[:9]), (0.75, everyone)])
    assert state.owed == 0 and state.visits >= due + 30_000


def test_few_documents_are_visited_as_soon_as_each_of_them_is_due():
    state = example()
    learn(state, np.arange(79, 80), 80, 30, None)
    assert state.owed == 0 and state.epochs == 1 + 2
    learn(state, np.arange(78, 79), 9000, 30, None)
    learn(state, np.arange(77, 78), 9000, 30, None)
    assert state.owed == 72 and state.epochs == 3 + 2
    learn(state, np.arange(76, 77), 9000, 30, None)
    assert state.owed == 0 and state.epochs == 5 + 1 + 2


def test_documents_are_drawn_evenly():
    state, found = State(2, seed=4), Counter()
    state.add_documents(np.zeros(0, np.int64), np.zeros(12, np.int64))
    for state.epochs in range(3000):
        found.update(drawn(state, 5, np.arange(12)).tolist())
    agrees_in_counts([found[d] for d in range(12)], np.full(12, 1 / 12))
    assert drawn(state, 12, np.arange(12)).tolist() == list(range(12))


def test_a_minibatch_is_learned_and_counts_are_those_of_its_topics():
    state = example(0)
    for begin in range(0, 80, 8):
        tokens = WORDS[LENGTHS[:begin].sum() : LENGTHS[: begin + 8].sum()]
        arrived = state.add_documents(tokens, LENGTHS[begin : begin + 8])
        assert learn(state, arrived, begin + 8, 30, None) < 0
        assert (state.z[: state.tokens] != NONE).all()
        assert (state.rows[:30] == counted(state)).all()
    assert (state.totals == state.rows.sum(axis=0)).all()


def test_each_epoch_of_visits_has_its_own_documents(monkeypatch):
    chosen = []
    state = State(2)
    state.add_words(1)
    state.add_documents(np.zeros(3000, np.int64), np.ones(3000, np.int64))
    real = stream.epoch
    monkeypatch.setattr(
        stream,
        "epoch",
        lambda state, part, *a, **b: (chosen.append(part), real(state, part, *a, **b))[1],
    )
    learn(state, np.arange(2900, 3000), 3000, 30, None)
    assert chosen[0].tolist() == list(range(2900, 3000)) and len(chosen) == 1 + 4
    assert len({part.tobytes() for part in chosen}) == 5


def test_tables_are_drawn_when_enough_was_visited(monkeypatch):
    monkeypatch.setattr(stream, "RESEAT", 1e9)
    state = example()
    learn(state, np.arange(80), 80, 1, None)
    assert not state.tables.any() and state.reseated == 0
    monkeypatch.setattr(stream, "RESEAT", 1)
    learn(state, np.arange(80), 80, 1, None)
    assert state.tables.any() and state.reseated == state.visits


def test_what_stays_is_a_uniform_sample_however_documents_come():
    found = []
    for size in (1, 5, 80):
        state, arrival = State(2, seed=6), np.zeros(0, np.int64)
        for begin in range(0, 80, size):
            state.add_documents(np.zeros(0, np.int64), np.zeros(size, np.int64))
            arrival = np.concatenate([arrival, np.arange(begin, begin + size)])
            arrival = arrival[keep_sample(state, places_of(state, arrival), 9)]
        assert state.documents == 9
        found.append(arrival.tolist())
    assert found[0] == found[1] == found[2]
    kept = Counter()
    for seed in range(400):
        state = State(2, seed)
        state.add_documents(np.zeros(0, np.int64), np.zeros(12, np.int64))
        kept.update(keep_sample(state, places_of(state, np.arange(12)), 4).tolist())
    agrees_in_counts([kept[d] for d in range(12)], np.full(12, 1 / 12))


@pytest.mark.parametrize("staying", [[0, 3, 4, 30, 79], [*range(79)], [*range(1, 80)], [], [79]])
def test_documents_leave_their_tokens_in_the_counts(staying):
    state = example()
    epoch(state, np.arange(80), 1)
    rows, totals, before = state.rows.copy(), state.totals.copy(), state.tokens
    z, words = state.z.copy(), state.words.copy()
    staying = np.array(staying, np.int64)
    state.keep_documents(staying)
    assert state.documents == len(staying) and state.tokens == LENGTHS[staying].sum() < before
    tokens = np.flatnonzero(np.repeat(np.isin(np.arange(80), staying), LENGTHS))
    assert (state.offsets[: len(staying) + 1] == [0, *np.cumsum(LENGTHS[staying])]).all()
    assert (state.z[: state.tokens] == z[tokens]).all()
    assert (state.words[: state.tokens] == words[tokens]).all()
    assert (state.rows == rows).all() and (state.totals == totals).all()
    # Documents that come later have no topic yet.
    state.add_documents(np.zeros(before, np.int64), np.array([before]))
    assert (state.z[len(tokens) : state.tokens] == NONE).all()


def test_words_leave_with_their_counts_and_tokens():
    state = example(unseen=1)
    epoch(state, np.arange(80), 1)
    staying = np.array([1, 2, 5, 8, 13, 29])
    rows, tables, words = state.rows[staying].copy(), state.tables[staying].copy(), state.words
    stays = np.isin(words[: state.tokens], staying)
    lengths = [
        stays[a:b].sum() for a, b in zip(state.offsets[:80], state.offsets[1:81], strict=True)
    ]
    state.keep_words(staying)
    assert state.size == 6 and state.documents == 80 and state.tokens == stays.sum()
    assert np.diff(state.offsets[:81]).tolist() == lengths
    assert (state.rows == rows).all() and (state.tables == tables).all()
    assert (state.totals == rows.sum(axis=0)).all() and (counted(state) == rows).all()
    assert state.base.sum() == pytest.approx(state.known_share)
    state.add_words(2)
    assert (state.rows[6:] == 0).all() and state.base[:8].sum() == pytest.approx(state.known_share)
    epoch(state, np.arange(80))
    assert (state.rows[:8] == counted(state)).all()


def test_a_word_to_come_has_its_share_of_the_base():
    state = example(unseen=1)
    assert state.base[:30].sum() == pytest.approx(30 / 31)
    epoch(state, np.arange(80), 1)
    left = state.a0 / 31 / (state.tables.sum() + state.a0)
    assert 1 - state.known_share == pytest.approx(left)
    assert state.base[:30].sum() == pytest.approx(1 - left, rel=1e-6)
    assert state.base_mean().sum() == pytest.approx(1 - left)
    state.add_words(1)
    left = state.a0 / 32 / (state.tables.sum() + state.a0)
    assert state.base[30] == pytest.approx(left)
    assert state.base[:31].sum() == pytest.approx(1 - left, rel=1e-6)
