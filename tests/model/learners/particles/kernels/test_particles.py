"""First pass and moves against their twins, with particles that share rows."""

import numpy as np
import pytest
from populations import Pair

from beam_topics.model.learners.particles.kernels.particles import normalise, times


def text_of(generator, words, length):
    return generator.choice(words, length, p=generator.dirichlet(np.full(words, 0.3))).tolist()


PRIORS = (
    {"kind": None},
    {"kind": "minimal"},
    {"kind": "minimal", "discount": 0.35},
    {"kind": "sampled"},
    {"kind": "sampled", "discount": 0.35},
)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(
    ("topics", "words", "parted"),
    [
        (1, 3, False),
        (3, 70, False),
        (9, 200, False),
        (20, 5, False),
        (20, 5, True),
        (140, 70, True),
    ],
)
def test_learning_sharing_and_moving_equal_the_twins(topics, words, parted, prior):
    generator = np.random.default_rng(topics)
    pair, slots = Pair(topics, words, parted=parted, **prior), []
    for length in (5, 0, 32, 70, 1, 33, 64, 20):
        slots.append(pair.learn(text_of(generator, words, length)))
        pair.assert_same()
        tokens = [(slot, i) for slot in slots for i in range(len(pair.twins[0].texts[slot]))]
        pair.move([tokens[k] for k in generator.integers(len(tokens), size=5)])
        pair.assert_same()
        pair.resample([0, int(generator.choice([0, 1])), int(generator.choice([0, 2]))])
        pair.move([(int(slot), -1) for slot in generator.choice(slots, 3)])
        pair.assert_same()


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("topics", "parted"), [(4, False), (60, True)])
def test_a_document_in_parts_is_the_same_but_for_normal_forms(prior, topics, parted):
    """Products are normalised after each part; powers of two change no later bit."""
    text = text_of(np.random.default_rng(2), 10, 80)
    whole, parts = (Pair(topics, 10, parted=parted, **prior) for _ in range(2))
    for pair, ends in ((whole, ()), (parts, (1, 2, 31, 32, 33, 64, 79))):
        pair.learn([3, 4, 5])
        pair.learn(text, ends)
        pair.assert_same()


def test_uniform_draws_count_as_drawn_topics_do():
    pair = Pair(5, 8)
    slot = pair.learn([w % 8 for w in range(400)], evenly=True)
    pair.assert_same()
    drawn = np.bincount(np.concatenate([twin.topics[slot] for twin in pair.twins]), minlength=5)
    assert drawn.sum() == 1200
    assert abs(drawn - 240).max() < 80


@pytest.mark.slow
def test_rows_of_64_bits_equal_the_twins():
    generator = np.random.default_rng(8)
    pair = Pair(4, 12, wide=True)
    slots = [pair.learn(text_of(generator, 12, 40)) for _ in range(4)]
    pair.move([(slot, -1) for slot in slots])
    pair.assert_same()


def test_scaled_products_never_leave_the_range_of_a_float():
    mantissa, exponent = np.array([0.5]), np.array([1], np.int64)
    for factor in [1e-300] * 40 + [1e200] * 30:
        times.py_func(mantissa, exponent, 0, factor)
        assert 2.0**-401 <= mantissa[0] <= 2.0**401
    normalise.py_func(mantissa, exponent, 0)
    assert 0.5 <= mantissa[0] < 1
    assert np.log10(mantissa[0]) + exponent[0] * np.log10(2) == pytest.approx(
        -300 * 40 + 200 * 30, rel=1e-9
    )


def test_a_twin_that_leaves_the_token_in_is_found():
    """The planted bug: the token is not taken out of the old topic before a move."""
    pair = Pair(40, 8, parted=True, bug="not taken out", **PRIORS[4])
    slot = pair.learn([w % 8 for w in range(60)])
    pair.assert_same()
    with pytest.raises(AssertionError):
        for _ in range(5):
            pair.move([(slot, -1)])
            pair.assert_same()
