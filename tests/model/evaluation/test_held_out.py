import dataclasses
import importlib.util
import json
from math import exp, log

import numpy as np
import pytest
from blocks import joined
from made import random_snapshot, snapshot_of

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation import held_out
from beam_topics.model.evaluation.held_out import (
    Score,
    clusters,
    coverage,
    evaluate,
    first_moment,
    left_to_right,
    svm_accuracy,
    word_table,
)
from beam_topics.model.inference.base import RETRAIN_BELOW
from beam_topics.model.publishing.snapshot import TopicWordPrior
from beam_topics.model.words.character_model import CharacterModel

CLEAR = snapshot_of(np.eye(3) * 100, alpha=0.1)


def document_of(words, id="d", label=None):
    return Block.of_words([Document(id, 12, "", label)], [words])


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
    assert clusters(CLEAR, LABELLED.take(range(4))) == [0, 1, 2, 0]
    assert clusters(CLEAR, document_of(["new"])) == [-1]
    assert clusters(CLEAR, Block.empty()) == []


def test_the_check_takes_so_many_documents_and_tokens(monkeypatch):
    def checked(documents, tokens, block=LABELLED):
        monkeypatch.setattr(held_out, "CHECK_DOCUMENTS", documents)
        monkeypatch.setattr(held_out, "CHECK_TOKENS", tokens)
        return evaluate(CLEAR, block)

    assert checked(0, 10)["checked_tokens"] == 0
    assert checked(0, 10)["left_to_right_perplexity"] is None
    assert checked(1, 2)["checked_tokens"] == 2
    assert checked(5, 4)["checked_tokens"] == 20
    assert checked(100, 100)["checked_tokens"] == 72
    beginning = checked(1, 2, document_of(["w0", "w1", "w2", "w2"]))
    assert (
        beginning["first_moment_of_checked"]
        == evaluate(CLEAR, document_of(["w0", "w1"]))["first_moment_perplexity"]
    )
    assert (
        beginning["first_moment_of_checked"]
        != evaluate(CLEAR, document_of(["w2", "w2"]))["first_moment_perplexity"]
    )


def scored_document(words, id="d", label=None):
    return Block.of_words([Document(id, 12, "", label)], [words])


def test_first_moment_by_hand():
    snapshot = snapshot_of([[3.0, 0.0], [1.0, 2.0]], words=("a", "b"), alpha=[0.5, 1.5], beta=1.0)
    phi = np.array([[4 / 6, 1 / 4], [2 / 6, 3 / 4]])
    first = phi[0] @ [0.25, 0.75]
    mean = phi[0] * [0.25, 0.75] / first
    second = phi[1] @ (np.array([0.5, 1.5]) + mean) / 3
    score = first_moment(snapshot, scored_document(["a", "b"]))
    assert score.tokens == 2 and score.left_out == 0
    assert score.log_probability == pytest.approx(log(first * second), rel=1e-12)
    assert score.perplexity == pytest.approx((first * second) ** -0.5, rel=1e-12)


@pytest.mark.parametrize(
    "estimate", [first_moment, lambda snapshot, document: left_to_right(snapshot, document, 2, 1)]
)
class TestUnknownWords:
    document = scored_document(["new", "w1", "new", "newer", "w2"])

    def test_of_a_fixed_vocabulary_are_left_out_and_counted(self, estimate):
        score = estimate(random_snapshot(), self.document)
        assert (score.tokens, score.left_out) == (2, 3)
        assert (
            score.log_probability
            == estimate(random_snapshot(), scored_document(["w1", "w2"])).log_probability
        )

    def test_of_a_growing_vocabulary_have_their_mass_under_the_prior(self, estimate):
        snapshot = snapshot_of([[2.0]], words=("a",))
        snapshot = dataclasses.replace(snapshot, prior=TopicWordPrior.flat(8.0, 100, 1, topics=1))
        score = estimate(snapshot, scored_document(["new", "newer", "a"]))
        assert (score.tokens, score.left_out) == (3, 0)
        assert exp(score.log_probability) == pytest.approx((0.08 / 10) ** 2 * (2.08 / 10))

    def test_nothing_to_score(self, estimate):
        score = estimate(random_snapshot(), scored_document(["new"]))
        assert (score.tokens, score.left_out, score.perplexity) == (0, 1, None)
        assert estimate(random_snapshot(), scored_document([])) == Score()


def test_unknown_words_can_be_left_out_where_the_prior_knows_them():
    snapshot = dataclasses.replace(
        random_snapshot(), prior=TopicWordPrior.flat(8.0, 100, 30, topics=5)
    )
    score = first_moment(snapshot, scored_document(["new", "w1", "new", "w2"]), unseen=False)
    assert (score.tokens, score.left_out) == (2, 2)


def test_probabilities_of_all_words_sum_to_one():
    snapshot = dataclasses.replace(
        random_snapshot(words=8), prior=TopicWordPrior.flat(1.2, 12, 8, topics=5)
    )
    words = [*snapshot.words, "n1", "n2", "n3", "n4"]
    assert sum(
        exp(first_moment(snapshot, scored_document([word])).log_probability) for word in words
    ) == pytest.approx(1)


def test_each_unknown_word_has_the_probability_of_its_own_spelling():
    characters = CharacterModel.fit(["tax", "law", "ship", "sea"])
    prior = TopicWordPrior(np.array([4.0]), np.array([0.3]), 0.7, characters)
    snapshot = dataclasses.replace(snapshot_of([[2.0]], words=("a",)), prior=prior)
    table, tokens = word_table(
        snapshot, scored_document(["sea", "zzzz", "a", "sea", "ships"]), unseen=True
    )
    spelled = characters.probabilities(["sea", "zzzz", "ships"])
    assert len(set(spelled)) == 3
    want = [*(4 * 0.7 * spelled[:2] / 6), (2 + 4 * 0.3) / 6, 4 * 0.7 * spelled[2] / 6]
    assert table[:, 0].tolist() == pytest.approx(want) and tokens.tolist() == [0, 1, 2, 0, 3]


def test_left_to_right_depends_on_seed_and_id_alone():
    snapshot, words = random_snapshot(), ["w1", "w5", "w2", "w1", "w9"] * 4
    base = left_to_right(snapshot, scored_document(words), 3, 1)
    assert left_to_right(snapshot, scored_document(words, label="x"), 3, 1) == base
    assert left_to_right(snapshot, scored_document(words), 3, 2) != base
    assert left_to_right(snapshot, scored_document(words, "other"), 3, 1) != base


def test_the_estimates_are_close_to_each_other():
    snapshot = random_snapshot(3, words=30, topics=4)
    generator = np.random.default_rng(0)
    documents = [
        scored_document([f"w{w}" for w in generator.integers(0, 30, 20)], str(d)) for d in range(30)
    ]
    fast = sum((first_moment(snapshot, document) for document in documents), Score())
    slow = sum((left_to_right(snapshot, document, 20, 1) for document in documents), Score())
    assert fast.tokens == slow.tokens == 600
    assert fast.perplexity == pytest.approx(slow.perplexity, rel=0.03)


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
