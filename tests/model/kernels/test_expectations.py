import numpy as np
import pytest
from scipy.special import digamma

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.kernels.special import (
    SMALLEST,
    dirichlet_means,
    dirichlet_weights,
    exp_digamma_below,
)


@kernel
def exp_digammas(values, out):
    for i in range(values.shape[0]):
        out[i] = exp_digamma_below(values[i])


def test_exp_digamma_is_that_of_scipy():
    values = np.concatenate(
        [np.geomspace(2e-3, 1, 500), np.geomspace(1, 1e12, 2000), np.arange(1.0, 40.0)]
    )
    found = np.empty_like(values)
    exp_digammas(values, found)
    expected = np.exp(digamma(values))
    assert found == pytest.approx(expected, rel=2e-11)
    # Without exp(-1/x), the error is that of the series.
    assert found[values >= 1] == pytest.approx(expected[values >= 1], rel=5e-12)


@pytest.mark.parametrize("eta", [1e-4, 0.05, 2.0])
def test_dirichlets(eta):
    counts, rows = np.random.default_rng(1).gamma(0.3, 9.0, (7, 3)), np.array([5, 0, 2])
    lam = eta + 0.25 * counts
    totals = lam.sum(axis=0)
    found = np.empty((2, 3, 3))
    dirichlet_weights(rows, counts, 0.25, eta, totals, found[0])
    dirichlet_means(rows, counts, 0.25, eta, totals, found[1])
    expected = np.maximum(np.exp(digamma(lam) - digamma(totals)), SMALLEST)
    assert found[0] == pytest.approx(expected[rows], rel=1e-10)
    assert found[1] == pytest.approx((lam / totals)[rows])
