import dataclasses

import numpy as np
import pytest
from made import random_snapshot, snapshot_of

from beam_topics.model.publishing.succession import match_topics, reorder, similarity
from beam_topics.model.words.word_list import WordList


def dense(snapshot):
    return snapshot.rows(np.arange(len(snapshot.words)))


def word_probabilities(snapshot):
    """P(w | z) by the equation of model.snapshot: float64[W, T]."""
    strength = snapshot.prior.strength
    return (dense(snapshot) + np.outer(snapshot.prior.base, strength)) / (
        dense(snapshot).sum(axis=0) + strength
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_permutation_is_undone(seed):
    snapshot = random_snapshot(seed, words=60, topics=7, alpha=np.arange(1.0, 8.0))
    order = np.random.default_rng(seed).permutation(7).tolist()
    permuted = reorder(snapshot, order)
    assert np.array_equal(dense(permuted), dense(snapshot)[:, order])
    assert np.array_equal(permuted.alpha, snapshot.alpha[order])
    assert np.array_equal(permuted.prior.strength, snapshot.prior.strength[order])
    assert np.array_equal(permuted.normalisers, snapshot.normalisers[order])
    assert np.allclose(
        word_probabilities(permuted), word_probabilities(snapshot)[:, order], rtol=1e-14
    )
    back = reorder(permuted, match_topics(snapshot, permuted)[0])
    for field in ("alpha", "topics", "counts", "offsets"):
        assert np.array_equal(getattr(back, field), getattr(snapshot, field)), field
    assert np.array_equal(back.prior.strength, snapshot.prior.strength)
    assert np.array_equal(back.prior.base, snapshot.prior.base)
    assert back.topics.dtype == np.int32


def test_topics_are_ascending_within_a_word_after_reordering():
    permuted = reorder(snapshot_of([[1, 2, 3], [0, 4, 5]]), [2, 0, 1])
    assert permuted.topics.tolist() == [0, 1, 2, 0, 2]
    assert permuted.counts.tolist() == [3, 1, 2, 5, 4]


def test_identity_where_nothing_moved_even_with_empty_topics():
    snapshot = snapshot_of([[0, 3, 0, 0], [0, 0, 0, 4], [0, 0, 0, 1]])
    assert match_topics(snapshot, snapshot)[0] == [0, 1, 2, 3]


def test_best_sum_not_greedy():
    # Greedy would pair the largest similarity (topic 0 with 0) and leave 1 with 1, which share
    # nothing.
    previous = snapshot_of([[10, 0], [0, 0], [8, 0], [0, 9]], words=("a", "b", "c", "d"))
    new = snapshot_of([[10, 10], [10, 0], [9, 8], [9, 0]], words=("a", "b", "c", "d"))
    assert match_topics(previous, new)[0] == [1, 0]


def test_similarity_is_of_the_roots_of_frequencies():
    # The sums of products of the frequencies themselves would exchange the topics.
    previous = snapshot_of([[0, 4], [3, 3], [1, 8], [2, 7], [0, 0]])
    new = snapshot_of([[0, 5], [4, 8], [3, 1], [1, 0], [7, 0]])
    assert match_topics(previous, new)[0] == [0, 1]


def test_words_are_matched_by_name_and_new_ones_ignored():
    previous = snapshot_of([[5, 0], [0, 5]], words=("a", "b"))
    new = snapshot_of([[9, 9], [4, 0], [0, 4]], words=("new", "b", "a"))
    assert match_topics(previous, new)[0] == [1, 0]


def test_words_that_are_read_as_a_text_are_matched_without_strings():
    before = random_snapshot(1, words=60, topics=5)
    after = before.without(before.words[3:9])
    texts = [
        dataclasses.replace(one, words=WordList.from_bytes("\n".join(one.words).encode()))
        for one in (before, after)
    ]
    assert np.array_equal(similarity(*texts), similarity(before, after))
    assert all("_words" not in vars(one.words) and "numbers" not in vars(one) for one in texts)


def test_no_shared_word_keeps_the_ids():
    assert match_topics(snapshot_of([[5, 0]], words=("a",)), snapshot_of([[0, 5]], words=("b",)))[
        0
    ] == [0, 1]


def test_one_topic_and_other_numbers_of_topics():
    one = snapshot_of([[1.0]])
    assert match_topics(one, one)[0] == [0]
    with pytest.raises(ValueError, match="1 topics cannot be matched one to one with 2"):
        match_topics(one, dataclasses.replace(snapshot_of([[1.0, 2.0]])))
