"""Laws of every registered inference method."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from made import random_snapshot, snapshot_of

from model.errors import OptionError
from model.inference import InferenceSettings, inference_for, inference_names
from model.inference.base import known_tokens
from model.records import Document, TokenisedDocument


def document_of(words, id="d", key=""):
    return TokenisedDocument.from_words(Document(id, 12, "", key=key), words)


@pytest.fixture(params=inference_names())
def infer(request):
    def call(snapshot, document, **others):
        settings = InferenceSettings(method=request.param, **others)
        method = inference_for(settings)
        return method.infer(method.prepare(settings, snapshot, "v1"), document)

    return call


WORDS = [f"w{w}" for w in (0, 3, 3, 7, 20, 3, 11)]


def test_says_what_it_says_of_which_document(infer):
    mixture = infer(random_snapshot(), document_of(["w1", "new", "w1", "w2"], "x", "k"))
    assert (mixture.id, mixture.key, mixture.timestamp, mixture.model_version) == ("x", "k", 12, "v1")
    assert (mixture.words_known, mixture.tokens) == (3, 4)
    assert mixture.method in inference_names()


def test_proportions_are_positive_and_sum_to_one(infer):
    for seed in range(10):
        proportions = infer(random_snapshot(seed), document_of(WORDS, str(seed))).proportions
        assert proportions.dtype == np.float64 and proportions.shape == (5,)
        assert np.all(proportions > 0) and abs(proportions.sum() - 1) < 1e-12


def test_function_of_seed_key_id_and_words_alone(infer):
    snapshot = random_snapshot()
    base = infer(snapshot, document_of(WORDS)).proportions.tolist()
    for _ in range(3):
        infer(snapshot, document_of(WORDS[::-1], "another"))
        assert infer(snapshot, document_of(WORDS)).proportions.tolist() == base
    reread = TokenisedDocument.from_bytes(document_of(WORDS).to_bytes())
    assert infer(snapshot, reread).proportions.tolist() == base
    assert infer(snapshot, dataclasses.replace(reread, label="l", timestamp=99)).proportions.tolist() == base


def test_threads_change_nothing():
    settings = InferenceSettings()
    method = inference_for(settings)
    prepared = method.prepare(settings, random_snapshot(), "v1")
    documents = [document_of(WORDS * (1 + d % 5), str(d)) for d in range(40)]
    alone = [method.infer(prepared, document).to_bytes() for document in documents]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda document: method.infer(prepared, document).to_bytes(), documents[::-1])) == alone[::-1]


@pytest.mark.parametrize("words", [[], ["new"], ["new", "newer"] * 50])
def test_without_a_known_word_the_prior(infer, words):
    mixture = infer(random_snapshot(alpha=[1, 2, 3, 4, 6]), document_of(words))
    assert mixture.words_known == 0 and mixture.tokens == len(words)
    assert mixture.proportions.tolist() == (np.array([1.0, 2, 3, 4, 6]) / 16).tolist()


def test_unknown_words_change_nothing(infer):
    mixed = [word for known in WORDS for word in ("new" + known, known)]
    base = infer(random_snapshot(), document_of(WORDS))
    assert infer(random_snapshot(), document_of(mixed)).proportions.tolist() == base.proportions.tolist()


def test_one_topic(infer):
    assert infer(snapshot_of([[1.0], [2.0]]), document_of(["w0", "w1", "w1"])).proportions.tolist() == [1.0]


def test_more_topics_than_tokens(infer):
    proportions = infer(random_snapshot(topics=200), document_of(["w0", "w1"])).proportions
    assert len(proportions) == 200 and abs(proportions.sum() - 1) < 1e-12


def test_a_document_of_100_000_tokens_and_fractional_counts(infer):
    snapshot = snapshot_of([[9.5, 0.25], [0.25, 9.5]], alpha=0.01)
    mixture = infer(snapshot, document_of(["w0", "w1", "w0", "w0"] * 25_000), sweeps=10)
    assert mixture.words_known == 100_000
    assert np.all(mixture.proportions > 0)


def test_a_word_that_topics_never_drew(infer):
    assert infer(snapshot_of([[0.0, 0.0], [5.0, 1.0]]), document_of(["w0"])).words_known == 1


def test_finds_the_topic_of_its_words(infer):
    snapshot = snapshot_of([[100, 0, 0], [0, 100, 0], [0, 0, 100]], alpha=0.1)
    proportions = infer(snapshot, document_of(["w1"] * 9 + ["w2"] * 3)).proportions
    assert np.allclose(proportions, [0.1 / 12.3, 9.1 / 12.3, 3.1 / 12.3], atol=0.02)


def test_gibbs3_draws_depend_on_seed_key_and_id():
    snapshot = snapshot_of(np.ones((1, 2)))
    settings = InferenceSettings(method="gibbs3", sweeps=1, average=False)

    def counts(seed, key, id):
        own = dataclasses.replace(settings, seed=seed)
        method = inference_for(own)
        return method.infer(method.prepare(own, snapshot, ""), document_of(["w0"] * 50, id, key)).proportions[0]

    base = [counts(1, "k", str(d)) for d in range(5)]
    assert len(set(base)) > 1
    assert base != [counts(2, "k", str(d)) for d in range(5)]
    assert base != [counts(1, "l", str(d)) for d in range(5)]


def test_gibbs3_averages_the_later_half():
    snapshot = snapshot_of(np.ones((1, 2)), alpha=1.0)
    proportions = {}
    for average in (False, True):
        settings = InferenceSettings(sweeps=4, average=average)
        method = inference_for(settings)
        proportions[average] = method.infer(method.prepare(settings, snapshot, ""), document_of(["w0"] * 7)).proportions[0]
    assert (proportions[False] * 9) == pytest.approx(round(proportions[False] * 9))
    assert (proportions[True] * 18) == pytest.approx(round(proportions[True] * 18))


def test_known_tokens():
    snapshot = snapshot_of(np.ones((3, 1)), words=("a", "b", "c"))
    rows, tokens = known_tokens(snapshot, document_of(["x", "c", "y", "a", "c", "x"]))
    assert rows.tolist() == [2, 0] and tokens.tolist() == [0, 1, 0]
    assert rows.dtype == np.int64 and tokens.dtype == np.int32


def test_wrong_settings():
    with pytest.raises(OptionError, match=r"--inference_sweeps: -1 was given; allowed is a whole number of 0 or more"):
        InferenceSettings(sweeps=-1)
    with pytest.raises(OptionError, match=r"--inference: 'gibs3' was given; allowed is one of .*gibbs3.*\. Correct the spelling\."):
        inference_for(InferenceSettings(method="gibs3"))
