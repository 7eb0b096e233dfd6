import importlib.util

import numpy as np
import pytest

from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation.classification import svm_accuracy


def proportions(seed, count=90):
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, count)
    return generator.dirichlet(np.full(4, 0.4), count) + 2 * np.eye(4)[labels], [
        f"g{label}" for label in labels
    ]


def test_labels_that_topics_tell_apart_are_found():
    assert svm_accuracy(*proportions(1), *proportions(2)) > 0.95


def test_labels_that_have_nothing_to_do_with_topics_are_not():
    features, labels = proportions(1)
    shuffled = np.random.default_rng(5).permutation(labels).tolist()
    assert svm_accuracy(features, shuffled, *proportions(2)) < 0.6


def test_a_topic_of_constant_size_and_other_units_change_nothing():
    (train, labels), (test, truth) = proportions(1), proportions(2)
    plain = svm_accuracy(train, labels, test, truth)
    widened = [
        np.column_stack([part * [1, 1000, 1e-3, 1], np.full(len(part), 0.2)])
        for part in (train, test)
    ]
    assert svm_accuracy(widened[0], labels, widened[1], truth) == plain


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        OptionError,
        match=(
            r"--classify: 'svm' was given; .* scikit-learn is installed. Run: pip install"
            r" scikit-learn"
        ),
    ):
        svm_accuracy(*proportions(1), *proportions(2))
