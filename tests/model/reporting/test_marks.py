"""Marks: planted boilerplate and halves of one topic are marked, and nothing else is."""

import numpy as np
import pytest
from made import manifest_of, snapshot_of

from beam_topics.model.publishing.catalogue import Catalogue
from beam_topics.model.reporting.shown import Shown

WORDS, TOPICS = 2000, 12


def zipf(seed, topics=TOPICS, tokens=20_000):
    """Topics with words of their own order, whose counts fall as those of a language do."""
    generator = np.random.default_rng(seed)
    falling = 1 / (3 + np.arange(WORDS))
    shares = np.stack([generator.permutation(falling) for _ in range(topics)])
    return np.stack([generator.multinomial(tokens, p / p.sum()) for p in shares], axis=1)


def marks(counts, catalogue=None, ids=None, **others):
    snapshot = snapshot_of(counts, beta=0.01, **others)
    manifest = manifest_of(3, topic_ids=ids or [*range(10, 10 + snapshot.topic_count)])
    return Shown(catalogue or Catalogue(), manifest, snapshot).marks


@pytest.mark.parametrize("seed", range(5))
def test_clean_topics_have_no_mark(seed):
    assert not any(marks(zipf(seed)))


def test_a_footer_is_marked_with_its_share():
    counts = zipf(1)
    counts[:10, 4] = [3000, 3000, 2990, 2980, 2980, 2970, 2960, 2950, 2950, 2940]
    found = marks(counts)
    share = counts[:10, 4].sum() / counts[:, 4].sum()
    assert found[4] == f"boilerplate (10 words with like counts hold {share:.0%})"
    assert sum(map(bool, found)) == 1


@pytest.mark.parametrize(("words", "step"), [(4, 1.0), (10, 0.7)])
def test_few_frequent_words_and_counts_that_fall_are_no_boilerplate(words, step):
    counts = zipf(1)
    counts[:words, 4] = 6000 * step ** np.arange(words)
    assert not any(marks(counts))


def test_flat_counts_of_all_topics_say_nothing():
    assert not any(marks(np.kron(np.eye(TOPICS), np.full((6, 1), 400.0))))


def test_halves_of_one_topic_are_like_each_other():
    counts = zipf(2)
    half = np.random.default_rng(1).binomial(counts[:, 3], 0.5)
    found = marks(np.column_stack([counts, half]) - np.outer(half, np.arange(13) == 3))
    assert found[3].startswith("like 22 (distance 0.") and found[12].startswith("like 13 (")
    assert sum(map(bool, found)) == 2


def test_topics_without_enough_tokens_are_not_judged():
    counts = zipf(3)
    # Their distributions are those of the prior.
    counts[:, :3] = 0
    counts[0, 1:3] = 1
    assert not any(marks(counts))
    assert marks(np.zeros((5, 2))) == ["", ""] and marks(zipf(1, topics=1)) == [""]


def test_merged_topics_are_not_like_each_other():
    counts = zipf(2)
    both = np.column_stack([counts, counts[:, 0]])
    assert marks(both)[12] == "like 10 (distance 0.00)"
    assert not any(marks(both, Catalogue().merged([22], into=10)))
