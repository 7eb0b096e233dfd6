import numpy as np
import pytest
from corpora import document_of, learned, minibatches_of, topical
from learner_options import made
from scipy.special import digamma
from twins import uniform
from variational_twin import counts_of, elbo, sweep_documents, vb_step

from beam_topics.model.kernels.random import FIRST_TOPICS, stream_key
from beam_topics.model.learners import learner_for
from beam_topics.model.words.word_list import bucket

COMMON = {"topics": 3, "alpha": 0.3, "beta": 0.05, "max_words": 60}
BATCH = {
    **COMMON,
    "learner": "fixvoc-vb",
    "kappa": 0.0,
    "stream_documents": 12,
}


def fixed(documents, **others):
    words = tuple(dict.fromkeys(word for document in documents for word in document.words))
    return made(
        {**COMMON, **others}, vocabulary="given", vocabulary_file=words, learner=others["learner"]
    )


def first_lambda(settings):
    """Return eta and a count between 1/2 and 3/2, by name."""
    key, (words, topics) = (
        stream_key(settings.seed, ""),
        (len(settings.vocabulary.words), settings.topics),
    )
    return (
        settings.beta
        + 0.5
        + np.array([uniform(i, key, 0, 0, FIRST_TOPICS) for i in range(words * topics)]).reshape(
            words, topics
        )
    )


def lambda_of(state):
    return state.settings.beta + state.scale * state.counts[: state.rows]


def test_batch_vb_is_the_paper_read_slowly_and_its_bound_never_falls():
    documents = topical(12)
    (minibatch,) = minibatches_of(documents, 12)
    settings = fixed(documents, **BATCH)
    counts, lam, bounds = (
        counts_of(minibatch, settings.vocabulary.words),
        first_lambda(settings),
        [],
    )
    learner, state = learner_for(settings), None
    state = learner.init(settings, "", 0)
    for _ in range(8):
        learner.step(state, minibatch)
        before = lam
        lam, gamma = vb_step(counts, lam, settings.topic_alpha, settings.beta, settings.sweeps)
        assert lambda_of(state) == pytest.approx(lam, rel=1e-7)
        bounds.append(elbo(counts, before, gamma, settings.topic_alpha, settings.beta))
    assert all(later >= earlier - 1e-7 for earlier, later in zip(bounds, bounds[1:], strict=False))
    assert bounds[-1] > bounds[0] + 1


def test_a_bound_of_wrong_updates_falls():
    """The negative control: counts that are added to the wrong word."""
    documents = topical(12)
    (minibatch,) = minibatches_of(documents, 12)
    settings = fixed(documents, **BATCH)
    counts, lam, bounds = (
        counts_of(minibatch, settings.vocabulary.words),
        first_lambda(settings),
        [],
    )
    for _ in range(6):
        before = lam
        lam, gamma = vb_step(counts, lam, settings.topic_alpha, settings.beta, 100)
        lam = np.roll(lam, 1, axis=0)
        bounds.append(elbo(counts, before, gamma, settings.topic_alpha, settings.beta))
    assert not all(
        later >= earlier - 1e-7 for earlier, later in zip(bounds, bounds[1:], strict=False)
    )


@pytest.mark.parametrize("kappa", [0.6, 1.0])
def test_the_hybrid_is_the_paper_read_slowly(kappa):
    documents = topical(18)
    settings = fixed(documents, learner="fixvoc-hybrid", kappa=kappa, tau0=1.0)
    minibatches = minibatches_of(documents, 6)
    lam, seen = first_lambda(settings), 0
    for i, minibatch in enumerate(minibatches, start=1):
        weights = np.exp(digamma(lam) - digamma(lam.sum(axis=0)))
        found = sweep_documents(
            settings,
            minibatch,
            lambda word, weights=weights: weights[settings.vocabulary.words.index(word)].tolist(),
        )
        seen += len(minibatch)
        step = (1.0 + i) ** -kappa
        target = np.full_like(lam, settings.beta)
        for (word, k), uses in found.items():
            target[settings.vocabulary.words.index(word), k] += uses / 10 * seen / len(minibatch)
        lam = (1 - step) * lam + step * target
    assert lambda_of(learned(settings, minibatches)) == pytest.approx(lam, rel=1e-9)


@pytest.mark.parametrize("name", ["fixvoc-vb", "fixvoc-hybrid"])
def test_topics_are_found(name):
    documents = topical(240, seed=11)
    settings = fixed(documents, learner=name, stream_documents=240, tau0=1.0, alpha=0.1)
    learner = learner_for(settings)
    state, infos = learner.init(settings, "", 0), []
    for minibatch in minibatches_of(documents, 12):
        infos.append(learner.step(state, minibatch))
    perplexities = [np.exp(-info.log_evidence / info.scored_tokens) for info in infos[1:]]
    assert np.mean(perplexities[-5:]) < 0.75 * perplexities[0]


def test_the_first_minibatch_makes_the_null_vocabulary():
    texts = [[], ["a", "b"], ["b", "c", "c"]]
    settings = made(COMMON, learner="fixvoc-vb", vocabulary="null")
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    infos = [
        learner.step(state, minibatch)
        for minibatch in minibatches_of([document_of(text, d) for d, text in enumerate(texts)], 1)
    ]
    assert list(state.vocabulary.words) == ["a", "b"]
    assert [info.unknown_tokens for info in infos] == [0, 0, 2]
    assert state.vocabulary.expected == 2


@pytest.mark.parametrize("kind", ["dict-hash", "full-hash"])
def test_hashed_words_share_a_number(kind):
    listed = tuple(f"l{n}" for n in range(7))
    settings = made(
        {**COMMON, "word_list": listed, "buckets": 7}, learner="fixvoc-hybrid", vocabulary=kind
    )
    texts = [[f"new{n}" for n in range(40)] + ["l3"] * 5]
    state = learned(
        settings, minibatches_of([document_of(text, d) for d, text in enumerate(texts)], 1)
    )
    snapshot = learner_for(settings).snapshot(state)
    assert state.rows == len(snapshot.words) == snapshot.buckets == 7
    assert [snapshot.row_of(f"new{n}") for n in range(40)] == [
        bucket(f"new{n}", 7) for n in range(40)
    ]
    if kind == "dict-hash":
        assert snapshot.words == listed
        assert snapshot.row_of("l3") == 3
    else:
        assert snapshot.words[bucket("l3", 7)] == "l3"
        assert all(
            snapshot.row_of(word) == row
            for row, word in enumerate(snapshot.words)
            if not word.startswith("#")
        )


def test_a_bucket_is_named_after_the_word_that_it_mostly_holds():
    rivals = [
        word for word in (f"r{n}" for n in range(200)) if bucket(word, 5) == bucket("sea", 5)
    ][:6]
    texts = [[rival, rival, "sea", "sea", "sea"] for rival in rivals]
    settings = made(COMMON, learner="fixvoc-vb", vocabulary="full-hash", buckets=5)
    state = learned(
        settings, minibatches_of([document_of(text, d) for d, text in enumerate(texts)], 2)
    )
    assert state.vocabulary.words[bucket("sea", 5)] == "sea"


def test_buckets_are_the_same_everywhere():
    assert [bucket(word, 1000) for word in ("sea", "שלום", "\N{GRINNING FACE}")] == [345, 287, 805]


def test_a_word_that_comes_late_begins_as_small_as_the_start_has_become():
    settings = made(learner="fixvoc-vb", topics=2, max_words=9)
    state = learner_for(settings).init(settings, "", 0)
    state.vocabulary.numbers(["early"], np.ones(1, np.int32))
    state.make_rows()
    state.scale = 2.0**-299
    state.vocabulary.numbers(["middle"], np.ones(1, np.int32))
    state.make_rows()
    state.decay(0.9)
    before = state.counts[:2].copy()
    state.vocabulary.numbers(["late"], np.ones(1, np.int32))
    state.make_rows()
    assert state.scale == 1.0 and before.max() < 2.0**-298 and not state.counts[2].any()
    restored = learner_for(settings).load(settings, "", 0, learner_for(settings).save(state))
    assert restored.fresh == 0.0
