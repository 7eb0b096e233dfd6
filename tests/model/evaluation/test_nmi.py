from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.evaluation.held_out import nmi

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcd")), min_size=1, max_size=40)


def test_known_values():
    assert nmi(["a", "a", "b", "b"], [0, 0, 1, 1]) == 1
    assert nmi(["a", "a", "b", "b"], [0, 1, 0, 1]) == 0
    assert nmi(["a"], [7]) == 1
    assert nmi(["a", "b"], [0, 0]) == 0
    # I = ln 2 - (3/4) H(1/3, 2/3) with labels 2 + 2 and clusters 3 + 1.
    information = log(2) - 0.75 * (log(3) - 2 / 3 * log(2))
    clusters = log(4) - 0.75 * log(3)
    assert nmi(["a", "a", "b", "b"], [0, 0, 0, 1]) == pytest.approx(
        2 * information / (log(2) + clusters)
    )


def test_the_arithmetic_mean_normalises():
    labels, clusters = ["a", "b"] * 4, list(range(8))
    assert nmi(labels, clusters) == pytest.approx(log(2) / ((log(2) + log(8)) / 2))
    assert abs(nmi(labels, clusters) - log(2) / np.sqrt(log(2) * log(8))) > 0.05


@settings(max_examples=100)
@given(PAIRS, st.randoms(use_true_random=False))
def test_laws(pairs, shuffler):
    labels, clusters = zip(*pairs, strict=True)
    value = nmi(labels, clusters)
    assert 0 <= value <= 1
    assert nmi(clusters, labels) == pytest.approx(value, abs=1e-12)
    assert nmi(labels, [f"renamed {cluster}" for cluster in clusters]) == value
    assert nmi(labels, labels) == pytest.approx(1)
    shuffled = shuffler.sample(pairs, len(pairs))
    assert nmi(*zip(*shuffled, strict=True)) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("labels", "clusters"), [([], []), (["a"], [])])
def test_partitions_of_no_document(labels, clusters):
    with pytest.raises(
        ValueError, match=r"one label and one cluster for each of at least one document"
    ):
        nmi(labels, clusters)
