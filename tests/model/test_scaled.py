"""Products of very many probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.scaled import Scaled

PROBABILITIES = st.floats(1e-300, 1.0)


def one_by_one(factors):
    result = Scaled(0.5, 1)
    for factor in factors:
        result = result * Scaled.of(float(factor))
    return result


@given(st.lists(PROBABILITIES, max_size=30))
def test_a_product_has_the_bits_of_one_multiplication_after_another(factors):
    assert Scaled.product(np.array(factors)) == one_by_one(factors)


@pytest.mark.parametrize("count", [999, 1000, 1001, 5000])
def test_a_long_product_does_not_underflow(count):
    factors = np.random.default_rng(count).random(count) * 1e-9
    assert Scaled.product(factors) == one_by_one(factors)
    assert Scaled.product(factors).exponent < -30 * count


def test_a_product_with_zero_is_zero():
    assert Scaled.product(np.array([0.3, 0.0, 0.7])) == Scaled(0.0, 0)
