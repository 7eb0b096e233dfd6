"""What tells a change, when trials are due, and bytes of what is remembered."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model import wire
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners.particles.following import Block, Cusum, Following, threshold_of
from beam_topics.model.learners.particles.stored_state import (
    following_from_bytes,
    following_to_bytes,
)
from beam_topics.model.scaled import Scaled


def noticed(following, documents, level, learned, shares=None):
    """One step of so many documents of ten tokens."""
    shares = np.full(3, documents / 3) if shares is None else shares
    evidence = Scaled.of(2.0 ** (10 * documents * level % 1), int(np.floor(10 * documents * level)))
    return following.notice(evidence, 10 * documents, documents, shares, learned)


def test_minibatches_become_blocks_and_a_change_begins_with_its_block():
    following = Following(10, Cusum(threshold=threshold_of(100)))
    for learned in range(4, 76, 4):
        assert not noticed(following, 4, -5.0, learned)
    assert len(following.test.blocks) == 6 and following.documents == 0
    assert following.test.blocks[0].level == pytest.approx(-5 * np.log(2), rel=1e-12)
    following.notice(Scaled(0.5, 1), 0, 7, np.zeros(3), 72)
    assert following.documents == 0
    assert noticed(following, 16, -9.0, 88)
    assert (following.changed, following.changes, following.fresh, following.trial) == (
        72,
        1,
        True,
        0,
    )
    assert not following.test.blocks and not following.test.waiting


def test_trials_are_due_at_multiples_of_the_judges():
    following = Following(100)
    assert next(n for n in range(0, 5000, 100) if following.due(n)) == 400
    following.trial_held(400, won=False)
    assert not following.due(799) and following.due(800)
    assert not following.repeated
    following.trial_held(1600, won=True)
    assert following.won == 1 and following.repeated
    assert not following.due(6399) and following.due(6400)
    following.trial_held(7000, won=False)
    assert not following.due(25_599) and following.due(25_600)
    following.changed, following.changes, following.trial, following.fresh = 3000, 1, 0, True
    assert not following.due(3099) and following.due(3100)
    following.trial_held(3300, won=False)
    assert following.trial == 2 and following.fresh
    following.trial_held(3500, won=True)
    assert not following.repeated and not following.fresh and following.makes_room
    assert not following.due(3999) and following.due(4000)
    following.trial_held(4000, won=True)
    assert following.trial == 4 and following.makes_room and not following.repeated
    following.trial_held(5000, won=False)
    assert following.trial == 5 and following.repeated


FOLLOWING = st.builds(
    lambda levels, shares, held, begun, numbers, waiting: Following(
        200,
        Cusum(
            1.0,
            deque(Block(level, np.array(shares)) for level in levels),
            [Block(level, np.array(shares)) for level in waiting],
            (0.25, float(len(waiting))) if waiting else (0.0, 0.0),
        ),
        *numbers,
        began=3 * bool(waiting),
        since=70 * len(waiting),
        held=held,
        evidence=Scaled.of(0.7, -30),
        tokens=9 * begun,
        documents=begun,
        shares=np.array(shares) * begun if begun else np.zeros(0),
    ),
    st.lists(st.floats(-20, 0), max_size=3),
    st.lists(st.floats(0, 1), min_size=2, max_size=2),
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 99), max_size=4).map(lambda t: np.array(t, np.int32)),
            st.none() | st.text(),
        ),
        max_size=3,
    ),
    st.integers(0, 2),
    st.tuples(
        st.integers(0, 99), st.integers(0, 9), st.integers(0, 4), st.booleans(), st.integers(0, 9)
    ),
    st.lists(st.floats(-20, 0), max_size=3),
)


def restored(data, topics=2, words=100, learned=10**6):
    following = Following(200, Cusum())
    following_from_bytes(data, following, topics, words, learned)
    return following


@given(FOLLOWING)
def test_bytes_there_and_back(following):
    data = following_to_bytes(following)
    back = restored(data)
    assert following_to_bytes(back) == data
    assert [(tokens.tolist(), label) for tokens, label in back.held] == [
        (tokens.tolist(), label) for tokens, label in following.held
    ]
    for name in ("blocks", "waiting"):
        assert [(b.level, b.shares.tolist()) for b in getattr(back.test, name)] == [
            (b.level, b.shares.tolist()) for b in getattr(following.test, name)
        ]
    assert back.test.sums == following.test.sums
    assert back.shares.tolist() == following.shares.tolist() and back.evidence == following.evidence
    numbers = (
        "changed",
        "changes",
        "trial",
        "fresh",
        "won",
        "tokens",
        "documents",
        "began",
        "since",
    )
    assert [getattr(back, name) for name in numbers] == [
        getattr(following, name) for name in numbers
    ]


def test_bytes_of_another_vocabulary_or_of_other_topics_are_refused():
    following = Following(
        200,
        Cusum(blocks=deque([Block(-8.0, np.array([0.5, 0.5]))])),
        held=[(np.array([3, 7], np.int32), None)],
    )
    data = following_to_bytes(following)
    restored(data, words=8)
    with pytest.raises(
        DamagedDataError, match="tokens of documents that wait: found 7, allowed is 0 to 6"
    ):
        restored(data, words=7)
    with pytest.raises(DamagedDataError, match="shares of topics"):
        restored(data, topics=3)
    with pytest.raises(
        DamagedDataError,
        match="changed of a stream: found 5, allowed is a whole number from 0 to 4",
    ):
        restored(following_to_bytes(Following(200, changed=5)), learned=4)
    with pytest.raises(DamagedDataError):
        restored(data[:-1])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"waiting": 3}, "blocks that wait: found 3, allowed is a whole number from 0 to 2"),
        ({"sums": [1.0]}, "sums of a stream"),
        ({"sums": [1.0, -2.0]}, "sums of a stream: found -2.0"),
        ({"sums": "x"}, "sums of a stream: found 'x'"),
        ({"began": 10**7}, "began of a stream"),
    ],
    ids=str,
)
def test_bytes_of_an_impossible_test_are_refused(changed, said):
    blocks = [Block(-8.0, np.array([0.5, 0.5])) for _ in range(2)]
    data = following_to_bytes(Following(200, Cusum(1.0, deque(blocks[:1]), blocks[1:], (0.5, 0.0))))
    header, blobs = wire.unpack(b"BTj1", data, 4)
    with pytest.raises(DamagedDataError, match=said):
        restored(wire.pack(b"BTj1", {**header, **changed}, *blobs))


def test_a_change_begins_with_the_first_block_that_waited():
    following, learned = Following(10, Cusum(threshold=threshold_of(100))), 0
    generator = np.random.default_rng(3)
    for number in range(60):
        level = -5.0 - 0.04 * max(0, number - 39) + 0.03 * generator.standard_normal()
        learned += 10
        told = noticed(following, 10, level, learned, generator.dirichlet(np.full(3, 50)) * 10)
        if told:
            break
    assert told.by == "evidence" and 40 <= number < 50
    assert 390 <= following.changed <= 420 and told.documents == learned - following.changed > 10
    assert told.tokens == 10 * told.documents and following.fresh
