"""How streams begin: what the benchmark counts."""

import numpy as np

from benchmarks.births_engine import Text
from benchmarks.starts import SIZE, alert, pure, steps, tokens_of, toy


def test_toys_have_words_of_their_own():
    rows = toy(3, 6, 1)
    assert len(rows) == 600 and {len(row.words) for row in rows} == {12}
    assert all(word.startswith(f"s{row.label}w") for row in rows for word in row.words)
    assert {alert(np.random.default_rng(n)).label for n in range(40)} == {
        f"alert{k}" for k in range(4)
    }


def test_a_topic_counts_by_its_tokens_and_is_pure_by_those_of_one_subject():
    table = np.array([[96, 90, 0, 500], [4, 10, 3, 0]])
    assert pure(table) == {"used": 3, "pure": 2}
    rows = [Text("0", ["a", "b"]), Text("1", ["c"])]
    assert tokens_of(rows, np.array([0, 2, 1]), np.array([2, 1])).tolist() == [[1, 0, 1], [0, 1, 0]]


def test_steps_learn_all_documents():
    rows = toy(3, 6, 1)[: SIZE + 20]
    counts = [state.documents for state, _ in steps(rows, 1, topics=3)]
    assert counts == [SIZE, SIZE + 20]
