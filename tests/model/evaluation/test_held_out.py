import json

import numpy as np
import pytest
from blocks import joined
from made import random_snapshot, snapshot_of

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation.held_out import clusters, coverage, evaluate
from beam_topics.model.evaluation.settings import EvaluationSettings
from beam_topics.model.inference.settings import RETRAIN_BELOW


def document_of(words, id="d", label=None):
    return Block.of_words([Document(id, 12, "", label)], [words])


CLEAR = snapshot_of(np.eye(3) * 100, alpha=0.1)
LABELLED = joined(
    [document_of([f"w{d % 3}"] * 5 + ["w0"], str(d), f"class {d % 3}") for d in range(12)]
)


def test_a_model_that_separates_the_classes():
    figures = evaluate(CLEAR, LABELLED)
    assert figures["nmi"] == pytest.approx(1)
    assert figures["documents"] == figures["labelled_documents"] == 12
    assert figures["tokens"] == figures["scored_tokens"] == figures["checked_tokens"] == 72
    assert (
        figures["left_out_tokens"] == 0 and figures["coverage"] == 1 and figures["retrain"] is False
    )
    assert 1 < figures["first_moment_perplexity"] < 3
    assert figures["first_moment_of_checked"] == figures["first_moment_perplexity"]
    assert figures["left_to_right_perplexity"] == pytest.approx(
        figures["first_moment_perplexity"], rel=0.05
    )


def test_a_model_that_cannot_tell_them_apart():
    figures = evaluate(snapshot_of(np.ones((3, 3)), alpha=0.1), LABELLED)
    assert figures["nmi"] < 0.6
    assert figures["first_moment_perplexity"] == pytest.approx(3)


def test_figures_are_json_and_the_same_in_any_order():
    one, two = (
        evaluate(random_snapshot(), LABELLED),
        evaluate(random_snapshot(), LABELLED.take(range(11, -1, -1))),
    )
    assert json.loads(json.dumps(one)) == one
    assert one["nmi"] == pytest.approx(two["nmi"])
    assert one["first_moment_perplexity"] == pytest.approx(
        two["first_moment_perplexity"], rel=1e-12
    )
    assert list(one) == list(two)


def test_documents_without_labels_or_words_and_no_documents_at_all():
    figures = evaluate(
        CLEAR, joined([document_of(["w1"]), document_of(["new"], "e"), document_of([], "f")])
    )
    assert figures["nmi"] is None and figures["labelled_documents"] == 0
    assert (figures["tokens"], figures["scored_tokens"], figures["left_out_tokens"]) == (2, 1, 1)
    nothing = evaluate(CLEAR, Block.empty())
    assert nothing["documents"] == 0
    assert (
        nothing["coverage"]
        is nothing["nmi"]
        is nothing["first_moment_perplexity"]
        is nothing["left_to_right_perplexity"]
        is None
    )
    assert nothing["retrain"] is False


def test_coverage_counts_distinct_words_and_advises():
    documents = [document_of(["w0", "w0", "w0", "a"]), document_of(["w1", "a"])]
    assert coverage(CLEAR, joined(documents)) == pytest.approx(2 / 3)
    assert evaluate(CLEAR, joined(documents))["retrain"] is True
    assert evaluate(CLEAR, joined([*documents, document_of(["w2"])]))["retrain"] is False


def test_retraining_is_advised_below_the_threshold_and_not_at_it():
    snapshot = snapshot_of(np.ones((10, 3)))
    words = [f"w{n}" for n in range(10)]
    at, below = [*words[:7], "a", "b", "c"], [*words[:6], "a", "b", "c", "d"]
    assert evaluate(snapshot, document_of(at))["coverage"] == RETRAIN_BELOW
    assert evaluate(snapshot, document_of(at))["retrain"] is False
    assert evaluate(snapshot, document_of(below))["retrain"] is True


def test_cluster_is_the_most_frequent_topic():
    assert clusters(CLEAR, LABELLED.take(range(4)), EvaluationSettings()) == [0, 1, 2, 0]
    assert clusters(CLEAR, document_of(["new"]), EvaluationSettings()) == [-1]
    assert clusters(CLEAR, Block.empty(), EvaluationSettings()) == []


def test_the_check_takes_so_many_documents_and_tokens():
    def checked(documents, tokens):
        return evaluate(
            CLEAR, LABELLED, EvaluationSettings(check_documents=documents, check_tokens=tokens)
        )

    assert checked(0, 10)["checked_tokens"] == 0
    assert checked(0, 10)["left_to_right_perplexity"] is None
    assert checked(1, 2)["checked_tokens"] == 2
    assert checked(5, 4)["checked_tokens"] == 20
    assert checked(100, 100)["checked_tokens"] == 72
    settings = EvaluationSettings(check_documents=1, check_tokens=2)
    beginning = evaluate(CLEAR, document_of(["w0", "w1", "w2", "w2"]), settings)
    assert (
        beginning["first_moment_of_checked"]
        == evaluate(CLEAR, document_of(["w0", "w1"]))["first_moment_perplexity"]
    )
    assert (
        beginning["first_moment_of_checked"]
        != evaluate(CLEAR, document_of(["w2", "w2"]))["first_moment_perplexity"]
    )


@pytest.mark.parametrize(
    ("given", "flag"),
    [
        ({"sweeps": -1}, "evaluation_sweeps"),
        ({"particles": 0}, "check_particles"),
        ({"check_tokens": 0}, "check_tokens"),
    ],
)
def test_wrong_settings(given, flag):
    with pytest.raises(
        OptionError, match=rf"--{flag}: -?\d was given; allowed is \d or more\. Correct the value\."
    ):
        EvaluationSettings(**given)
