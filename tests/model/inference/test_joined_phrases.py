"""Every method reads a text as the text whose phrases are joined, where the model joins them."""

import dataclasses

import numpy as np
import pytest
from blocks import joined, mixtures_of_documents
from learner_options import inferring
from made import random_snapshot
from tallies import count

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.inference import PublishedModel, inference_names
from beam_topics.model.inference.classifier import Classifier
from beam_topics.model.inference.features import Tally, numbered, tally_documents

PLAIN = ["w1", "new", "york", "w2", "w2", "new", "york", "times", "w3", "york", "new", "w1"]
JOINED = ["w1", "new_york", "w2", "w2", "new_york_times", "w3", "york", "new", "w1"]
WORDS = ("new", "new_york", "new_york_times", "times", "w1", "w2", "w3", "york")


def document_of(words, name="d"):
    return Block.of_words([Document(name, 12, "")], [words])


def snapshot_of(joins):
    made = random_snapshot(topics=4, words=len(WORDS))
    return dataclasses.replace(made, words=WORDS, joins_phrases=joins)


def mixture_of(name, words, training, joins=True):
    snapshot, settings = snapshot_of(joins), inferring(name)
    rows = np.arange(len(WORDS))
    weights = np.random.default_rng(1).normal(0, 1, (len(rows), 4)).astype(np.float32)
    classifier = Classifier(rows, weights, 1.5, "roots", None)
    learned = joined([document_of(training, f"t{d}") for d in range(4)])
    model = PublishedModel(snapshot, "v1", classifier, learned)
    (mixture,) = mixtures_of_documents(settings, model, [document_of(words)])
    return mixture.proportions.tolist()


@pytest.mark.parametrize("name", inference_names())
def test_phrases_take_the_place_of_their_words(name):
    assert mixture_of(name, PLAIN, PLAIN) == mixture_of(name, JOINED, JOINED)


@pytest.mark.parametrize("name", inference_names())
def test_a_model_without_phrases_joins_nothing(name):
    apart = mixture_of(name, PLAIN, PLAIN, joins=False)
    assert apart != mixture_of(name, JOINED, JOINED, joins=False)


def test_coverage_counts_phrases():
    snapshot, documents = snapshot_of(True), [document_of(PLAIN), document_of(["new", "york"])]
    tally = Tally()
    for document in documents:
        count(tally, snapshot, document)
    found = numbered(snapshot, joined(documents))
    assert tally == tally_documents(found, np.zeros(2, np.int64))[0]
    assert tally.tokens == len(JOINED) + 1
