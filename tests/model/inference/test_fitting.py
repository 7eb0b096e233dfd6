import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from beam_topics.model.errors import OptionError
from beam_topics.model.inference import fitting
from beam_topics.model.inference.base import FitSettings
from beam_topics.model.inference.classifier import log_likelihoods
from beam_topics.model.inference.fitting import Objective, Pair, fit

GENERATOR = np.random.default_rng(4)
WORDS, TOPICS, NUMBER = 15, 4, 80
TRUE = GENERATOR.normal(0, 0.7, (WORDS, TOPICS))
COUNTS = GENERATOR.poisson(0.6, (NUMBER, WORDS)).astype(float)
SOFT = np.exp(log_likelihoods(COUNTS @ TRUE))


def pairs_of(counts=COUNTS, proportions=SOFT):
    rows = [np.nonzero(row)[0] for row in counts]
    return [
        Pair(f"d{d}", 7 * at, counts[d, at], proportions[d]) for d, at in enumerate(rows) if len(at)
    ]


@pytest.mark.parametrize("bug", [None, "no prior", "labels not taken off"])
def test_the_gradient_is_that_of_finite_differences(bug):
    problem = Objective(csr_array(COUNTS), SOFT, 0.3)
    at = GENERATOR.normal(0, 1, WORDS * TOPICS)
    _, gradient = problem.objective(at)
    if bug == "no prior":
        gradient = gradient - at / 0.3 / NUMBER
    if bug == "labels not taken off":
        gradient = gradient + (COUNTS.T @ SOFT).ravel() / NUMBER
    step, differences = 1e-6, []
    for i in range(len(at)):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] -= step
        differences.append((problem.objective(up)[0] - problem.objective(down)[0]) / (2 * step))
    assert np.allclose(gradient, differences, atol=1e-7) == (bug is None)


def narrowed(monkeypatch, variances, iterations=100, tolerance=1e-6):
    monkeypatch.setattr(fitting, "VARIANCES", variances)
    monkeypatch.setattr(fitting, "ITERATIONS", iterations)
    monkeypatch.setattr(fitting, "TOLERANCE", tolerance)


def test_the_optimum_is_that_of_logistic_regression_where_labels_are_hard(monkeypatch):
    labels = SOFT.argmax(axis=1)
    variance = 0.5
    narrowed(monkeypatch, (variance,), iterations=2000, tolerance=1e-14)
    fitted = fit(
        pairs_of(COUNTS, np.eye(TOPICS)[labels]),
        TOPICS,
        FitSettings("counts"),
    )
    theirs = LogisticRegression(C=variance, fit_intercept=False, tol=1e-10, max_iter=5000).fit(
        COUNTS, labels
    )
    assert fitted.rows.tolist() == [7 * w for w in range(WORDS)]
    # Both are only fixed up to what is common to all topics; the prior's optimum has sums of 0.
    assert fitted.weights == pytest.approx(theirs.coef_.T, abs=2e-4)


def test_soft_labels_are_learned(monkeypatch):
    narrowed(monkeypatch, (100.0,), iterations=1000, tolerance=1e-12)
    fitted = fit(pairs_of(), TOPICS, FitSettings("counts"))
    found = np.exp(log_likelihoods(COUNTS @ fitted.weights.astype(float)))
    assert np.abs(found - SOFT).max() < 0.02


def test_roots_are_the_counts_of_which_they_are_the_roots(monkeypatch):
    narrowed(monkeypatch, (1.0,))
    squared = fit(pairs_of(COUNTS**2), TOPICS, FitSettings("roots"))
    assert (
        squared.weights.tolist() == fit(pairs_of(), TOPICS, FitSettings("counts")).weights.tolist()
    )
    assert (
        squared.weights.tolist()
        != fit(pairs_of(COUNTS**2), TOPICS, FitSettings("counts")).weights.tolist()
    )


def test_the_variance_and_the_temperature_come_from_held_out_pairs(monkeypatch):
    narrowed(monkeypatch, (1e-6, 1.0), iterations=200)
    fitted = fit(pairs_of(), TOPICS, FitSettings("counts"))
    assert [tried for tried, _ in fitted.held_out_loss] == [1e-6, 1.0]
    assert fitted.variance == min(fitted.held_out_loss, key=lambda row: row[1])[0] == 1.0
    # A narrow prior keeps weights small, so only a sharp temperature can use them.
    narrowed(monkeypatch, (1e-3,), iterations=200)
    narrow = fit(pairs_of(), TOPICS, FitSettings("counts"))
    assert narrow.temperature < fitted.temperature


def test_a_function_of_the_set_of_pairs():
    pairs = pairs_of()
    one, other = fit(pairs, TOPICS), fit(pairs[::-1], TOPICS)
    assert one.weights.tobytes() == other.weights.tobytes()
    assert (one.temperature, one.held_out_loss) == (other.temperature, other.held_out_loss)


def test_progress_is_told(monkeypatch):
    narrowed(monkeypatch, (0.1, 1.0))
    steps = []
    fit(pairs_of(), TOPICS, FitSettings("counts"), steps.append)
    assert list(dict.fromkeys(step.stage for step in steps)) == [
        "sigma^2 = 0.1",
        "sigma^2 = 1",
        f"all pairs, {steps[-1].stage[11:]}",
    ]
    assert steps[0].iteration == 1
    assert steps[0].objective > steps[-1].objective


def test_pairs_there_and_back():
    pair = pairs_of()[0]
    again = Pair.from_bytes(pair.to_bytes())
    assert again.to_bytes() == pair.to_bytes()
    assert again.proportions.tolist() == pair.proportions.tolist()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"features": "words"},
            "--features: 'words' was given; allowed is one of roots, counts. Correct the spelling.",
        ),
    ],
)
def test_wrong_settings(values, message):
    with pytest.raises(OptionError) as error:
        FitSettings(**values)
    assert message in str(error.value)


def test_too_few_pairs():
    with pytest.raises(
        OptionError,
        match="--input: '1 documents with known words' was given; allowed is at least 2",
    ):
        fit(pairs_of()[:1], TOPICS)
