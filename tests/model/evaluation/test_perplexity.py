import dataclasses
from math import exp, log

import numpy as np
import pytest
from made import random_snapshot, snapshot_of

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.evaluation.perplexity import Score, first_moment, left_to_right, word_table
from beam_topics.model.snapshot import TopicWordPrior
from beam_topics.model.words.character_model import CharacterModel


def document_of(words, id="d", label=None):
    return Block.of_words([Document(id, 12, "", label)], [words])


def test_first_moment_by_hand():
    snapshot = snapshot_of([[3.0, 0.0], [1.0, 2.0]], words=("a", "b"), alpha=[0.5, 1.5], beta=1.0)
    phi = np.array([[4 / 6, 1 / 4], [2 / 6, 3 / 4]])
    first = phi[0] @ [0.25, 0.75]
    mean = phi[0] * [0.25, 0.75] / first
    second = phi[1] @ (np.array([0.5, 1.5]) + mean) / 3
    score = first_moment(snapshot, document_of(["a", "b"]))
    assert score.tokens == 2 and score.left_out == 0
    assert score.log_probability == pytest.approx(log(first * second), rel=1e-12)
    assert score.perplexity == pytest.approx((first * second) ** -0.5, rel=1e-12)


@pytest.mark.parametrize(
    "estimate", [first_moment, lambda snapshot, document: left_to_right(snapshot, document, 2, 1)]
)
class TestUnknownWords:
    document = document_of(["new", "w1", "new", "newer", "w2"])

    def test_of_a_fixed_vocabulary_are_left_out_and_counted(self, estimate):
        score = estimate(random_snapshot(), self.document)
        assert (score.tokens, score.left_out) == (2, 3)
        assert (
            score.log_probability
            == estimate(random_snapshot(), document_of(["w1", "w2"])).log_probability
        )

    def test_of_a_growing_vocabulary_have_their_mass_under_the_prior(self, estimate):
        snapshot = snapshot_of([[2.0]], words=("a",))
        snapshot = dataclasses.replace(snapshot, prior=TopicWordPrior.flat(8.0, 100, 1, topics=1))
        score = estimate(snapshot, document_of(["new", "newer", "a"]))
        assert (score.tokens, score.left_out) == (3, 0)
        assert exp(score.log_probability) == pytest.approx((0.08 / 10) ** 2 * (2.08 / 10))

    def test_nothing_to_score(self, estimate):
        score = estimate(random_snapshot(), document_of(["new"]))
        assert (score.tokens, score.left_out, score.perplexity) == (0, 1, None)
        assert estimate(random_snapshot(), document_of([])) == Score()


def test_unknown_words_can_be_left_out_where_the_prior_knows_them():
    snapshot = dataclasses.replace(
        random_snapshot(), prior=TopicWordPrior.flat(8.0, 100, 30, topics=5)
    )
    score = first_moment(snapshot, document_of(["new", "w1", "new", "w2"]), unseen=False)
    assert (score.tokens, score.left_out) == (2, 2)


def test_probabilities_of_all_words_sum_to_one():
    snapshot = dataclasses.replace(
        random_snapshot(words=8), prior=TopicWordPrior.flat(1.2, 12, 8, topics=5)
    )
    words = [*snapshot.words, "n1", "n2", "n3", "n4"]
    assert sum(
        exp(first_moment(snapshot, document_of([word])).log_probability) for word in words
    ) == pytest.approx(1)


def test_each_unknown_word_has_the_probability_of_its_own_spelling():
    characters = CharacterModel.fit(["tax", "law", "ship", "sea"])
    prior = TopicWordPrior(np.array([4.0]), np.array([0.3]), 0.7, characters)
    snapshot = dataclasses.replace(snapshot_of([[2.0]], words=("a",)), prior=prior)
    table, tokens = word_table(
        snapshot, document_of(["sea", "zzzz", "a", "sea", "ships"]), unseen=True
    )
    spelled = characters.probabilities(["sea", "zzzz", "ships"])
    assert len(set(spelled)) == 3
    want = [*(4 * 0.7 * spelled[:2] / 6), (2 + 4 * 0.3) / 6, 4 * 0.7 * spelled[2] / 6]
    assert table[:, 0].tolist() == pytest.approx(want) and tokens.tolist() == [0, 1, 2, 0, 3]


def test_left_to_right_depends_on_seed_and_id_alone():
    snapshot, words = random_snapshot(), ["w1", "w5", "w2", "w1", "w9"] * 4
    base = left_to_right(snapshot, document_of(words), 3, 1)
    assert left_to_right(snapshot, document_of(words, label="x"), 3, 1) == base
    assert left_to_right(snapshot, document_of(words), 3, 2) != base
    assert left_to_right(snapshot, document_of(words, "other"), 3, 1) != base


def test_the_estimates_are_close_to_each_other():
    snapshot = random_snapshot(3, words=30, topics=4)
    generator = np.random.default_rng(0)
    documents = [
        document_of([f"w{w}" for w in generator.integers(0, 30, 20)], str(d)) for d in range(30)
    ]
    fast = sum((first_moment(snapshot, document) for document in documents), Score())
    slow = sum((left_to_right(snapshot, document, 20, 1) for document in documents), Score())
    assert fast.tokens == slow.tokens == 600
    assert fast.perplexity == pytest.approx(slow.perplexity, rel=0.03)
