import numpy as np
import pytest
from made import random_snapshot
from tiny_document import ROWS, TINY, TOKENS, p_value

from model.gibbs.kernels.gibbs3 import draw_topic, sample_document
from model.gibbs.kernels.records import ModelCounts
from model.kernels.random import INFERENCE, fill_uniforms, stream_key


def uniforms_of(key, sweeps, n):
    values = np.empty((sweeps + 1) * n)
    fill_uniforms(values, len(values), 0, *key, 0, 0, INFERENCE)
    return values.reshape(sweeps + 1, n)


def slow_sample(snapshot, rows, tokens, sweeps, kept, uniforms, bug=None):
    """The twin: every count in a dictionary, every sum in order."""
    topics = range(snapshot.topic_count)
    table = {
        (v, t): snapshot.prior.shares(rows)[v, t] + snapshot.rows(rows)[v, t]
        for v in range(len(rows))
        for t in topics
    }
    totals = snapshot.normalisers.tolist()
    alpha = [float(a) for a in snapshot.alpha]
    own, in_document, states = dict.fromkeys(table, 0), [0] * len(alpha), [None] * len(tokens)
    result = np.zeros(len(alpha), np.int64)
    for sweep in range(sweeps + 1):
        for i, v in enumerate(tokens.tolist()):
            if sweep and bug != "not taken out":
                own[v, states[i]] -= 1
                in_document[states[i]] -= 1
            total, sums = 0.0, []
            for t in topics:
                seen = 0 if bug == "own counts forgotten" else own[v, t]
                total += (
                    (alpha[t] + in_document[t])
                    / (totals[t] + in_document[t])
                    * (table[v, t] + seen)
                )
                sums.append(total)
            x = float(uniforms[sweep, i]) * total
            t = next(t for t in topics if sums[t] > x)
            if sweep and bug == "not taken out":
                own[v, states[i]] -= 1
                in_document[states[i]] -= 1
            own[v, t] += 1
            in_document[t] += 1
            states[i] = t
        if sweep > sweeps - kept:
            result += np.array(in_document)
    return result


def fast_sample(snapshot, rows, tokens, sweeps, kept, key):
    sparse = snapshot.offsets, snapshot.topics, snapshot.counts
    model = ModelCounts(*sparse, snapshot.normalisers, snapshot.alpha, snapshot.prior.strength)
    return sample_document(tokens, rows, snapshot.prior.base[rows], model, sweeps, kept, key)


@pytest.mark.parametrize(
    ("topics", "n", "sweeps", "kept"),
    [(1, 5, 2, 1), (2, 1, 0, 1), (5, 80, 4, 2), (13, 9, 3, 3), (7, 0, 3, 1)],
)
def test_equals_its_slow_twin(topics, n, sweeps, kept):
    snapshot = random_snapshot(topics, words=20, topics=topics, alpha=np.linspace(0.01, 2, topics))
    generator = np.random.default_rng(n)
    rows = generator.permutation(20)[:6]
    tokens = generator.integers(0, 6, n).astype(np.int32)
    key = stream_key(3, "document")
    slow = slow_sample(snapshot, rows, tokens, sweeps, kept, uniforms_of(key, sweeps, n))
    fast = fast_sample(snapshot, rows, tokens, sweeps, kept, key)
    assert fast.tolist() == slow.tolist()
    assert fast.sum() == n * kept


def test_draw_topic_takes_a_topic_with_a_weight_at_every_uniform():
    sums = np.array([0.0, 0.25, 0.25, 1.0, 1.0])
    drawn = [draw_topic(sums, u) for u in (0.0, 0.2499, 0.25, 0.5, 1 - 2.0**-53, 1.0)]
    assert drawn == [1, 1, 3, 3, 3, 3]
    assert draw_topic(np.array([2.0]), 0.7) == 0


def test_last_state_has_the_enumerated_law():
    draws = [fast_sample(TINY, ROWS, TOKENS, 8, 1, stream_key(1, str(d)))[0] for d in range(20_000)]
    assert p_value(draws) > 1e-3


@pytest.mark.parametrize("bug", ["own counts forgotten", "not taken out"])
def test_enumeration_finds_a_planted_bug(bug):
    keys = (stream_key(1, str(d)) for d in range(12_000))
    draws = [slow_sample(TINY, ROWS, TOKENS, 3, 1, uniforms_of(key, 3, 4), bug)[0] for key in keys]
    assert p_value(draws) < 1e-6
