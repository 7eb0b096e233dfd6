import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.learners.filters.frequent_words import FrequentItems

BLOCKS = st.lists(st.lists(st.integers(0, 25), max_size=30), max_size=12)


def counted(blocks, most):
    found, truth = FrequentItems(most), dict.fromkeys(range(26), 0)
    for block in blocks:
        found.add((item, 1) for item in block)
        found.prune()
        for item in block:
            truth[item] += 1
    return found, truth


@given(BLOCKS, st.integers(1, 8))
def test_the_bounds_hold(blocks, most):
    found, truth = counted(blocks, most)
    total = sum(truth.values())
    assert len(found.counts) <= 2 * most
    assert found.short <= total / most
    for item, count in truth.items():
        assert found.least(item) <= count <= found.greatest(item)


@given(BLOCKS, st.integers(1, 8), st.randoms(use_true_random=False))
def test_the_order_within_a_block_does_not_matter(blocks, most, random):
    shuffled = [random.sample(block, len(block)) for block in blocks]
    one, other = counted(blocks, most)[0], counted(shuffled, most)[0]
    assert (one.counts, one.short) == (other.counts, other.short)


@given(BLOCKS, st.integers(1, 8))
def test_halved_bounds_hold_for_half_of_the_counts(blocks, most):
    found, truth = counted(blocks, most)
    found.halve()
    for item, count in truth.items():
        assert found.least(item) <= count / 2 <= found.greatest(item)


def test_without_pruning_the_counts_are_exact():
    found, truth = counted([[1, 2, 2], [2, 3]], 4)
    assert found.short == 0
    assert found.counts == {item: count for item, count in truth.items() if count}


@pytest.mark.parametrize("most", [5, 50])
def test_frequent_items_of_a_long_stream_are_kept(most):
    generator = np.random.default_rng(1)
    # An item with a share of more than one in ``most`` cannot be lost.
    blocks = generator.integers(1, 10_000, (200, 100))
    blocks[generator.random(blocks.shape) < 1.5 / most] = 0
    found = FrequentItems(most)
    for block in blocks.tolist():
        found.add((item, 1) for item in block)
        found.prune()
    assert found.least(0) > 0
