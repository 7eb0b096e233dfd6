"""Document completion beside a slow twin, and the logarithm that it sums."""

import math

import numpy as np
import pytest
import restart_twin
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.evaluation.kernels.held_out import complete, draws_of
from beam_topics.model.kernels.random import COMPLETION
from beam_topics.model.kernels.special import ln
from beam_topics.model.learners.particles.kernels.arrivals import divergence
from beam_topics.model.learners.particles.kernels.particles import Draws

GENERATOR = np.random.default_rng(2)
PHI, ALPHA = GENERATOR.dirichlet(np.full(7, 0.3), 3).T.copy(), np.array([0.2, 0.5, 0.1])
TEXTS = [[0, 1, 2, 3, 4, 5, 6, 0], [3], [], [2, 2, 5], [6, 6]]


def completed(phi, texts=TEXTS, drawn=0):
    tokens, offsets = (
        np.concatenate([np.array(text, np.int32) for text in texts]),
        np.cumsum([0, *map(len, texts)]),
    )
    named = Draws(3, 4, 5, COMPLETION)
    return complete(tokens, offsets, phi, ALPHA, float(ALPHA.sum()), named, drawn)


@pytest.mark.parametrize("parts", range(1, len(TEXTS)))
def test_documents_in_parts_have_the_draws_of_the_whole(parts):
    drawn = draws_of([len(text) for text in TEXTS[:parts]])
    found = [*completed(PHI, TEXTS[:parts]), *completed(PHI, TEXTS[parts:], drawn)]
    assert found == completed(PHI).tolist()


def test_it_is_what_the_twin_says():
    expected = restart_twin.complete(
        TEXTS, PHI.tolist(), ALPHA.tolist(), ((3, 4), 0, 5, COMPLETION)
    )
    scores = completed(PHI)
    assert np.flatnonzero(scores).tolist() == [0, 3, 4]
    assert scores == pytest.approx(expected, rel=1e-12)


def test_topics_that_fit_foretell_better():
    assert completed(PHI).sum() > completed(np.full_like(PHI, 1 / 70)).sum()


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_the_logarithm_is_that_of_the_library_but_for_the_last_bits(x):
    assert ln.py_func(x) == pytest.approx(math.log(x), rel=4e-16, abs=4e-16)


def test_the_divergence_of_distributions():
    one, other = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 4.0])
    assert divergence(one, other) == pytest.approx(math.log(2), rel=1e-14)
    assert divergence(one, 3 * one) == 0
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.6, 0.3])
    middle = (p + q) / 2
    assert divergence(p, q) == pytest.approx(
        ((p * np.log(p / middle)).sum() + (q * np.log(q / middle)).sum()) / 2, rel=1e-12
    )
    assert divergence(np.zeros(3), p) == divergence(p, np.zeros(3)) == 0
