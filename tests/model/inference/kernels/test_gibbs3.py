import numpy as np
import pytest
from corpus_twin import sweeps_of
from made import random_snapshot
from sparse_twin import slow_alone
from tiny_document import ROWS, TINY, TOKENS, p_value

from beam_topics.model.inference.kernels.gibbs3 import ModelCounts, sample_document, sorted_rows
from beam_topics.model.kernels.random import stream_key

KEYS = stream_key(3, "k")


def fast_alone(snapshot, rows, occurrences, sweeps, kept, keys):
    stored = snapshot.offsets, snapshot.topics, snapshot.counts
    model = ModelCounts(
        *sorted_rows(np.arange(len(snapshot.words)), *stored)[1:],
        snapshot.normalisers,
        snapshot.alpha,
        snapshot.prior.strength,
    )
    words = np.array(occurrences, np.int64), rows, snapshot.prior.base[rows]
    return sample_document(*words, model, sweeps, kept, keys)


@pytest.mark.parametrize(
    ("topics", "n", "sweeps", "kept"),
    [(1, 5, 2, 1), (2, 1, 0, 1), (5, 80, 4, 2), (13, 9, 3, 3), (7, 0, 3, 1), (50, 200, 6, 2)],
)
def test_equals_its_slow_twin(topics, n, sweeps, kept):
    snapshot = random_snapshot(topics, words=20, topics=topics, alpha=np.linspace(0.01, 2, topics))
    generator = np.random.default_rng(n)
    rows, occurrences = (
        generator.permutation(20)[:6],
        np.bincount(generator.integers(0, 6, n), minlength=6),
    )
    fast = fast_alone(snapshot, rows, occurrences, sweeps, kept, KEYS)
    slow = slow_alone(
        snapshot, rows, occurrences.tolist(), sweeps, kept, sweeps_of(KEYS, sweeps + 1, n).tolist()
    )
    assert fast.tolist() == slow.tolist()
    assert fast.sum() == n * kept


TIMES = np.bincount(TOKENS).tolist()


def test_last_state_has_the_enumerated_law():
    assert (
        p_value(
            [fast_alone(TINY, ROWS, TIMES, 8, 1, stream_key(1, str(d)))[0] for d in range(20_000)]
        )
        > 1e-3
    )


def test_enumeration_finds_a_planted_bug():
    draws = []
    for d in range(12_000):
        uniforms = sweeps_of(stream_key(1, str(d)), 4, len(TOKENS)).tolist()
        draws.append(slow_alone(TINY, ROWS, TIMES, 3, 1, uniforms, "not taken out")[0])
    assert p_value(draws) < 1e-6
