"""The engine's state: growth, digests, and what is refused."""

import numpy as np
import pytest
from engine_digest import digest

from beam_topics.model.learners.engine.epoch import epoch
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.state import State, with_room

G = np.random.default_rng(5)
LENGTHS = G.integers(0, 25, 60)
WORDS = G.integers(0, 30, LENGTHS.sum())


def learner(words=30, documents=60, **settings):
    """A state with the first documents."""
    state = State(**{"topics": 5, "seed": 3, "a": 20.0} | settings)
    state.add_words(words)
    state.add_documents(WORDS[: LENGTHS[:documents].sum()], LENGTHS[:documents])
    return state


def test_documents_and_words_that_come_one_by_one_are_those_that_come_at_once():
    state, start = State(topics=5, seed=3, a=20.0), 0
    for _ in range(30):
        state.add_words(1)
    for d, length in enumerate(LENGTHS):
        assert state.add_documents(WORDS[start : start + length], LENGTHS[d : d + 1]).tolist() == [
            d
        ]
        start += length
    assert digest(state) == digest(learner())
    assert len(state.words) > state.tokens or len(state.rows) > state.size


def test_documents_may_come_after_epochs_over_others():
    known, growing = learner(), learner(documents=40)
    for state in (known, growing):
        epoch(state, np.arange(40), 1)
        epoch(state, np.arange(40)[::-1])
    assert digest(known) != digest(growing)
    growing.add_documents(WORDS[LENGTHS[:40].sum() :], LENGTHS[40:])
    assert digest(known) == digest(growing)
    for state in (known, growing):
        epoch(state, np.arange(20, 60))
    assert digest(known) == digest(growing)


def test_new_words_get_mass_from_the_base():
    state = learner()
    epoch(state, np.arange(60), 1)
    before, tables, strength = state.base[:30].copy(), int(state.tables.sum()), state.a0
    state.add_words(10)
    assert state.base[30:40] == pytest.approx(strength / 40 / (tables + strength), rel=1e-12)
    assert state.base[:40].sum() == pytest.approx(before.sum(), rel=1e-9)
    assert state.base[:30] / state.base[0] == pytest.approx(before / before[0], rel=1e-12)
    assert (state.rows[30:40] == 0).all()
    state.add_documents(np.array([35, 35, 2]), np.array([3]))
    epoch(state, np.array([60]))
    assert (state.z[: state.tokens] != NONE).all()
    assert state.rows[35].sum() == 2
    assert state.phi().sum(axis=1) == pytest.approx(1.0)


def test_words_that_are_not_in_use_before_the_first_epoch_may_come_later():
    known, growing = learner(words=70), learner(words=30)
    growing.add_words(40)
    for state in (known, growing):
        epoch(state, np.arange(60), 1)
    assert digest(known) == digest(growing)


@pytest.mark.parametrize(
    "changes",
    [{"seed": 4}, {"name": "other"}, {"shards": 4}, {"topics": 6}, {"a": 21.0}, {"owed": 3}],
)
def test_a_digest_covers_settings(changes):
    assert digest(learner()) != digest(learner(**changes))


def test_a_digest_covers_what_is_learned():
    digests = {digest(learner())}
    for name in ("z", "words", "rows", "tables", "base", "totals", "alpha", "offsets"):
        state = learner()
        getattr(state, name)[1] = 77
        digests.add(digest(state))
    assert len(digests) == 9


def test_published_topics_are_means():
    state = learner()
    epoch(state, np.arange(60), 1)
    mean = (state.tables[:30] + state.a0 / 30) / (state.tables.sum() + state.a0)
    expected = (state.rows[:30, 3] + state.a * mean) / (state.totals[3] + state.a)
    assert state.phi()[3] == pytest.approx(expected, rel=1e-12)
    assert State(topics=2).phi().shape == (2, 0)


def test_room_doubles():
    array = np.arange(4)
    assert with_room(array, 4, 4) is array
    assert with_room(array, 3, 5, 9).tolist() == [0, 1, 2, 9, 9, 9, 9, 9]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"topics": 0}, r"topics: 0 is not in \[1, 65535\]"),
        ({"topics": 65536}, "topics: 65536"),
        ({"shards": 0}, "shards: 0"),
        ({"a": -1.0}, "a = -1.0"),
        ({"a0": 0.0}, "a0 above 0"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        State(**{"topics": 3} | settings)


@pytest.mark.parametrize(
    ("words", "lengths", "message"),
    [
        ([0, 30], [2], r"are not in \[0, 30\)"),
        ([-1], [1], r"are not in \[0, 30\)"),
        ([1, 2], [1], "lengths sum to 1, and there are 2 tokens"),
        ([1, 2], [3, -1], "lengths"),
    ],
)
def test_wrong_documents_are_refused(words, lengths, message):
    state = learner()
    before = digest(state)
    with pytest.raises(ValueError, match=message):
        state.add_documents(np.array(words), np.array(lengths))
    assert digest(state) == before


def test_words_do_not_leave():
    with pytest.raises(ValueError, match="words: -1"):
        learner().add_words(-1)
