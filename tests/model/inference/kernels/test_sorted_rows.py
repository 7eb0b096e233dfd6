import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from made import random_snapshot

from beam_topics.model.inference.kernels.gibbs3 import FEW, sorted_rows


def slow_sorted_rows(snapshot, rows):
    """Each distinct row in the order of first use, as (topic, count) by count, then by topic."""
    found = {}
    for row in rows:
        at = slice(snapshot.offsets[row], snapshot.offsets[row + 1])
        pairs = zip(snapshot.topics[at].tolist(), snapshot.counts[at].tolist(), strict=True)
        found.setdefault(row, sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
    return found


def fast_sorted_rows(snapshot, rows):
    given_rows = np.array(rows, np.int64)
    places, offsets, topics, counts = sorted_rows(
        given_rows, snapshot.offsets, snapshot.topics, snapshot.counts
    )
    assert len(topics) == len(counts) == offsets[-1]
    found = {}
    for row, place in zip(rows, places.tolist(), strict=True):
        at = slice(offsets[place], offsets[place + 1])
        found[row] = list(zip(topics[at].tolist(), counts[at].tolist(), strict=True))
    return found


def few_counts(topics, words):
    """A model with rows of every length, in which many counts are equal."""
    snapshot = random_snapshot(topics, words=words, topics=topics)
    snapshot.counts[:] = np.random.default_rng(1).integers(1, 4, len(snapshot.counts))
    return snapshot


LARGE, SMALL = few_counts(topics=4 * FEW, words=12), few_counts(topics=5, words=12)


@given(st.lists(st.integers(0, 11), max_size=40))
@example([])
@example([3, 3, 0, 3])
@example(list(range(12)))
def test_equals_its_slow_twin(rows):
    for snapshot in (LARGE, SMALL):
        fast, slow = fast_sorted_rows(snapshot, rows), slow_sorted_rows(snapshot, rows)
        assert list(fast.items()) == list(slow.items())


def test_the_models_have_rows_for_both_ways_of_sorting():
    assert np.diff(LARGE.offsets).max() > FEW >= np.diff(SMALL.offsets).max() > 1
    assert len(set(LARGE.counts.tolist())) < FEW
