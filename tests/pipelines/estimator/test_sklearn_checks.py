"""scikit-learn's own checks of an estimator.

``check_estimator`` gives numbers to an estimator, and does not check one that takes texts.
:class:`OfNumbers` takes the numbers of the checks as texts, so that the checks run. Everything but
the reading of ``X`` is that of :class:`beam_topics.TopicModel`.
"""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import check_estimator, check_estimators_overwrite_params
from sklearn.utils.validation import check_is_fitted, validate_data

from beam_topics import TopicModel

# The checks that do not run, each with the reason.
SKIPPED = {"check_array_api_input": "documents are texts, which no array of a device holds"}
FEWEST = 40


class OfNumbers(TopicModel):
    """A topic model of rows of numbers: a column is a word as often as its value says."""

    def fit(self, X, y=None):
        return super().fit(self._texts(X, True))

    def partial_fit(self, X, y=None):
        return super().partial_fit(self._texts(X, not hasattr(self, "n_features_in_")))

    def transform(self, X, ids=None):
        check_is_fitted(self, "version_")
        return super().transform(self._texts(X, False))

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def score(self, X, y=None):
        return super().score(self._texts(X, False))

    def _texts(self, X, reset):
        checked = validate_data(self, X, reset=reset, dtype=float)
        words = np.abs(np.round(5 * np.clip(checked, -20, 20))).astype(int)
        return [
            " ".join(
                f"q{'abcdefghij'[j % 10]}{'x' * (j // 10)}z " * (1 + row[j])
                for j in range(len(row))
            )
            for row in words
        ]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False
        tags.input_tags.string = tags.no_validation = False
        return tags


def made():
    return OfNumbers(topics=2, births="off")


def test_every_check_holds_but_those_that_are_named():
    done = check_estimator(made(), on_fail=None, on_skip=None)
    found = {}
    for one in done:
        found.setdefault(one["status"], {})[one["check_name"]] = one["exception"]
    assert not found.get("failed")
    assert set(found.get("skipped", ())) <= set(SKIPPED)
    assert len(found["passed"]) >= FEWEST


def test_a_fault_is_found():
    class Forgetful(OfNumbers):
        def fit(self, X, y=None):
            super().fit(X)
            self.topics = 3
            return self

    with pytest.raises(AssertionError, match="should not change or mutate"):
        check_estimators_overwrite_params("Forgetful", Forgetful(topics=2, births="off"))


def test_of_texts_only_the_interface_is_checked():
    with pytest.warns(UserWarning, match="Can't test estimator TopicModel"):
        done = check_estimator(TopicModel(topics=2), on_fail=None)
    assert {one["status"] for one in done} == {"passed"} and len(done) < FEWEST
