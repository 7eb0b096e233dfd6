"""Laws of every registered inference method."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from blocks import joined, mixtures_of_documents
from learner_options import inferring
from made import random_snapshot, snapshot_of

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import (
    METHOD,
    Gibbs3,
    PublishedModel,
    inference_for,
    inference_named,
    inference_names,
)
from beam_topics.model.inference.classifier import Classifier
from beam_topics.model.reporting.encoding import mixture_fields
from beam_topics.model.settings.compositions import compose

TOGETHER = [name for name in inference_names() if inference_named(name).needs_all_documents]
ALONE = [name for name in inference_names() if name not in TOGETHER]
MULTIPLIED = ("naive-bayes", "maxent")


def document_of(words, id="d", key=""):
    return Block.of_words([Document(id, 12, "", key=key)], [words])


def published(snapshot, version="v1"):
    """With a classifier of some weights, and training documents."""
    rows = np.arange(len(snapshot.words))
    weights = (
        np.random.default_rng(1)
        .normal(0, 0.3, (len(rows), snapshot.topic_count))
        .astype(np.float32)
    )
    training = joined(
        [
            document_of([snapshot.words[(d * k) % len(rows)] for k in range(9)], f"t{d}")
            for d in range(5)
        ]
    )
    return PublishedModel(
        snapshot, version, Classifier(rows, weights, 1.5, "roots", None), training
    )


def infer_all(name, snapshot, documents, **others):
    settings = inferring(name, **others)
    return mixtures_of_documents(settings, published(snapshot), documents)


@pytest.fixture(params=inference_names())
def infer(request):
    def call(snapshot, document, **others):
        (mixture,) = infer_all(request.param, snapshot, [document], **others)
        return mixture

    call.name = request.param
    return call


WORDS = [f"w{w}" for w in (0, 3, 3, 7, 20, 3, 11)]


def test_says_what_it_says_of_which_document(infer):
    mixture = infer(random_snapshot(), document_of(["w1", "new", "w1", "w2"], "x", "k"))
    assert (mixture.id, mixture.key, mixture.timestamp, mixture.model_version) == (
        "x",
        "k",
        12,
        "v1",
    )
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
    reread = Block.from_bytes(document_of(WORDS).to_bytes())
    assert infer(snapshot, reread).proportions.tolist() == base
    assert (
        infer(
            snapshot, dataclasses.replace(reread, labels=("l",), timestamps=np.array([99]))
        ).proportions.tolist()
        == base
    )


DOCUMENTS = [document_of((WORDS * (1 + d % 5))[d % 7 :], str(d)) for d in range(40)]
DOCUMENTS[3] = document_of(["new"], "3")
DOCUMENTS[4] = document_of([], "4")


@pytest.mark.parametrize("name", ALONE)
def test_threads_and_neighbours_change_nothing(name):
    settings, model = inferring(name), published(random_snapshot(topics=11))
    prepared = inference_for(settings).prepare(settings, model)

    def found(documents):
        made = mixtures_of_documents(settings, model, documents, prepared)
        return [mixture.to_bytes() for mixture in made]

    alone = [found([document])[0] for document in DOCUMENTS]
    assert found(DOCUMENTS) == alone
    assert found(DOCUMENTS[1:10]) == alone[1:10]
    with ThreadPoolExecutor(4) as pool:
        assert [one[0] for one in pool.map(lambda d: found([d]), DOCUMENTS[::-1])] == alone[::-1]


@pytest.mark.parametrize("name", TOGETHER)
def test_the_order_of_documents_that_are_taken_together_changes_nothing(name):
    snapshot = random_snapshot(topics=11)
    found = [mixture.to_bytes() for mixture in infer_all(name, snapshot, DOCUMENTS)]
    assert [mixture.to_bytes() for mixture in infer_all(name, snapshot, DOCUMENTS[::-1])] == found[
        ::-1
    ]
    assert [mixture.to_bytes() for mixture in infer_all(name, snapshot, DOCUMENTS[20:])] != found[
        20:
    ]
    assert infer_all(name, snapshot, []) == []


@pytest.mark.parametrize("name", ["gibbs2", "gibbs2-s"])
def test_documents_learn_from_one_another(name):
    # Only the first document ties the word w1 to topic 0, and only by being there.
    snapshot = snapshot_of([[200.0, 0.0], [0.0, 0.0], [0.0, 200.0]], alpha=0.1, beta=0.01)
    teacher, pupil = document_of(["w0", "w1"] * 200, "a"), document_of(["w1"] * 5, "b")
    both = [
        infer_all(name, snapshot, [teacher, pupil], sweeps=30, seed=seed)[1].proportions[0]
        for seed in range(10)
    ]
    assert np.mean(both) > 0.75


def test_gibbs1_reads_the_training_documents():
    snapshot = snapshot_of([[20.0, 0.0], [0.0, 20.0], [0.0, 0.0]], alpha=0.1, beta=0.01)
    training = (document_of(["w0", "w2"] * 100, "x"), document_of(["w1"] * 100, "y"))
    found = []
    for seed in range(6):
        settings = inferring("gibbs1", sweeps=30, seed=seed)
        model = PublishedModel(snapshot, "v", None, joined(training))
        (mixture,) = mixtures_of_documents(settings, model, [document_of(["w2"] * 5)])
        found.append(mixture.proportions[0])
    assert np.mean(found) > 0.75


@pytest.mark.parametrize("words", [[], ["new"], ["new", "newer"] * 50])
def test_without_a_known_word_there_is_no_topic(infer, words):
    mixture = infer(random_snapshot(alpha=[1, 2, 3, 4, 6]), document_of(words))
    assert mixture.words_known == 0 and mixture.tokens == len(words)
    assert mixture.proportions.tolist() == [0.0] * 5
    assert mixture_fields(mixture)["topic"] is None


def test_unknown_words_change_nothing(infer):
    mixed = [word for known in WORDS for word in ("new" + known, known)]
    base = infer(random_snapshot(), document_of(WORDS))
    assert (
        infer(random_snapshot(), document_of(mixed)).proportions.tolist()
        == base.proportions.tolist()
    )


def test_one_topic(infer):
    assert infer(
        snapshot_of([[1.0], [2.0]]), document_of(["w0", "w1", "w1"])
    ).proportions.tolist() == [1.0]


def test_more_topics_than_tokens(infer):
    proportions = infer(random_snapshot(topics=200), document_of(["w0", "w1"])).proportions
    assert len(proportions) == 200 and abs(proportions.sum() - 1) < 1e-12


def test_one_token_and_thousands_of_topics(infer):
    # Each topic's share of the token is at first so small that exp(psi) of it is below every
    # number.
    own = np.arange(2000) == 7
    counts = [500.0 * own, 500.0 * ~own]
    proportions = infer(
        snapshot_of(counts, alpha=1 / 2000, beta=1e-5), document_of(["w0"])
    ).proportions
    assert np.all(proportions > 0) and abs(proportions.sum() - 1) < 1e-12
    if infer.name not in ("maxent", "hybrid", "gibbs1"):
        assert proportions.argmax() == 7 and proportions[7] > 0.49


def test_a_document_of_100_000_tokens_and_fractional_counts(infer):
    snapshot = snapshot_of([[9.5, 0.25], [0.25, 9.5]], alpha=0.01)
    mixture = infer(snapshot, document_of(["w0", "w1", "w0", "w0"] * 25_000), sweeps=10)
    assert mixture.words_known == 100_000
    assert np.all(mixture.proportions > 0)


def test_a_word_that_topics_never_drew(infer):
    assert infer(snapshot_of([[0.0, 0.0], [5.0, 1.0]]), document_of(["w0"])).words_known == 1


def test_finds_the_topic_of_its_words(infer):
    if infer.name in (*MULTIPLIED, "gibbs1"):
        pytest.skip("no shares of tokens; or not of this snapshot, but of its documents")
    snapshot = snapshot_of([[100, 0, 0], [0, 100, 0], [0, 0, 100]], alpha=0.1)
    proportions = infer(snapshot, document_of(["w1"] * 9 + ["w2"] * 3)).proportions
    # Two passes are one draw, and with so few tokens the variational optimum is a little off.
    rough = infer.name.endswith("-s") or infer.name in ("variational", "hybrid")
    assert np.allclose(
        proportions, [0.1 / 12.3, 9.1 / 12.3, 3.1 / 12.3], atol=0.1 if rough else 0.03
    )


@pytest.mark.parametrize("name", ["gibbs3", "gibbs3-s", "hybrid"])
def test_draws_depend_on_seed_key_and_id(name):
    snapshot = snapshot_of(np.ones((1, 2)))

    def counts(seed, key, id):
        (mixture,) = infer_all(
            name, snapshot, [document_of(["w0"] * 50, id, key)], seed=seed, sweeps=1, states="last"
        )
        return mixture.proportions[0]

    base = [counts(1, "k", str(d)) for d in range(5)]
    assert len(set(base)) > 1
    assert base != [counts(2, "k", str(d)) for d in range(5)]
    assert base != [counts(1, "l", str(d)) for d in range(5)]


@pytest.mark.parametrize("name", ["gibbs1", "gibbs2", "gibbs3"])
@pytest.mark.parametrize(
    ("others", "states"),
    [
        ({"states": "last"}, 1),
        ({}, 2),
    ],
)
def test_the_states_that_count(name, others, states):
    (mixture,) = infer_all(
        name, snapshot_of(np.ones((1, 2)), alpha=1.0), [document_of(["w0"] * 7)], sweeps=4, **others
    )
    share = mixture.proportions[0] * 9 * states
    assert share == pytest.approx(round(share))


@pytest.mark.parametrize("name", ["gibbs2", "gibbs3"])
def test_s_is_two_passes(name):
    snapshot = random_snapshot()
    short = [
        mixture.proportions.tolist()
        for mixture in infer_all(f"{name}-s", snapshot, DOCUMENTS, sweeps=50)
    ]
    assert short == [
        mixture.proportions.tolist() for mixture in infer_all(name, snapshot, DOCUMENTS, sweeps=1)
    ]


@pytest.mark.parametrize(("features", "power"), [("counts", 1), ("roots", 0.5)])
def test_maxent_is_one_product(features, power):
    model = published(random_snapshot())
    model = replace(model, classifier=replace(model.classifier, features=features))
    counts = np.bincount([int(word[1:]) for word in WORDS], minlength=30)
    scores = counts**power @ model.classifier.weights / 1.5
    (mixture,) = mixtures_of_documents(inferring("maxent"), model, [document_of(WORDS)])
    assert mixture.proportions == pytest.approx(np.exp(scores) / np.exp(scores).sum(), rel=1e-5)


def test_naive_bayes_multiplies():
    snapshot = random_snapshot()
    rows = [int(word[1:]) for word in WORDS]
    phi = (
        snapshot.rows(np.array(rows)) + snapshot.prior.shares(np.array(rows))
    ) / snapshot.normalisers
    (mixture,) = infer_all("naive-bayes", snapshot, [document_of(WORDS)])
    assert mixture.proportions == pytest.approx(phi.prod(axis=0) / phi.prod(axis=0).sum(), rel=1e-9)


def test_without_a_classifier():
    settings = inferring("hybrid")
    with pytest.raises(
        OptionError,
        match=r"--method: 'hybrid' was given; .*Fit one first, with beam-topics fit_classifier",
    ):
        inference_for(settings).prepare(settings, PublishedModel(random_snapshot(), "v"))


def test_wrong_settings():
    with pytest.raises(
        OptionError,
        match=r"--inference_sweeps: -1 was given; allowed is 0 or more\. Correct the value\.",
    ):
        Gibbs3(sweeps=-1)
    with pytest.raises(
        OptionError,
        match=r"--method: 'gibs3' was given; allowed is one of .*gibbs3.*\. Correct the spelling\.",
    ):
        inferring("gibs3")
    with pytest.raises(
        OptionError, match=r"--inference_sweeps=3 belongs to .*; --method=variational is chosen"
    ):
        compose(METHOD, {"method": "variational", "inference_sweeps": 3})
