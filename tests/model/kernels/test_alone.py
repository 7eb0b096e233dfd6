import numpy as np
import pytest
from corpus_twin import sweeps_of
from made import random_snapshot
from sparse_twin import slow_alone

from model.inference.corpus import descending
from model.kernels.alone import sample_document
from model.kernels.random import stream_key

KEYS = stream_key(3, "k")


@pytest.mark.parametrize(
    ("topics", "n", "sweeps", "kept"), [(1, 5, 2, 1), (2, 1, 0, 1), (5, 80, 4, 2), (13, 9, 3, 3), (7, 0, 3, 1), (50, 200, 6, 2)]
)
def test_equals_its_slow_twin(topics, n, sweeps, kept):
    snapshot = random_snapshot(topics, words=20, topics=topics, alpha=np.linspace(0.01, 2, topics))
    generator = np.random.default_rng(n)
    rows, tokens = generator.permutation(20)[:6], generator.integers(0, 6, n).astype(np.int32)
    parts = *descending(snapshot), snapshot.normalisers, snapshot.alpha, snapshot.prior.strength, snapshot.prior.base[rows]
    fast = sample_document(tokens, rows, snapshot.offsets, *parts, sweeps, kept, *KEYS)
    slow = slow_alone(snapshot, rows, tokens.tolist(), sweeps, kept, sweeps_of(KEYS, sweeps + 1, n).tolist())
    assert fast.tolist() == slow.tolist()
    assert fast.sum() == n * kept
