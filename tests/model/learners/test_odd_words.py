"""Odd words cost bounded memory, give the same bits again, and crash no learner."""

import unicodedata

import numpy as np
import pytest
from blocks import mixtures_of_documents
from corpora import document_of, minibatches_of
from learner_options import inferring, made

from beam_topics.model.inference import PublishedModel
from beam_topics.model.learners import learner_for
from beam_topics.model.publishing.snapshots import snapshot_from_bytes, snapshot_to_file

ODD = [
    "a" * 10_000,
    "b" * 10_000,
    "🦊",
    "👩‍👩‍👧‍👦",
    "e\u0301",
    unicodedata.normalize("NFC", "e\u0301"),
    "שלום",
    "مرحبا",
    "\u202eevil",
    "Å",
    "Å",
    "\ufeff",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "x\u0300\u0301\u0302\u0303\u0304",
]
LEARNERS = {
    "gibbs": {"births": "off"},
    "particle-filter": {"learner": "particle-filter"},
    "infvoc": {"learner": "infvoc"},
}
COMMON = {
    "topics": 3,
    "particles": 2,
    "initial_documents": 4,
    "chains": 2,
    "initial_sweeps": 2,
    "moves": 3,
    "max_words": 60,
    "truncation": 40,
    "reservoir": 20,
}


def learned(name, documents):
    """The learner, its last state, and the bytes that it held after each minibatch."""
    settings = made(COMMON, **LEARNERS[name])
    learner, sizes = learner_for(settings), []
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(documents, 5):
        learner.step(state, minibatch)
        sizes.append(learner.nbytes(state))
    return learner, state, sizes


@pytest.mark.parametrize("name", LEARNERS)
def test_odd_words(name):
    generator = np.random.default_rng(1)
    documents = [document_of(generator.choice(ODD, 12).tolist(), i) for i in range(40)]
    learner, state, _ = learned(name, documents)
    again, same, _ = learned(name, documents)
    assert learner.save(state) == again.save(same)
    snapshot = learner.snapshot(state)
    # "Å" twice: the letter and the sign for the unit are different strings; the tokeniser makes
    # them one.
    assert set(snapshot.words) == set(ODD)
    assert np.isfinite(snapshot.counts).all()
    assert (snapshot.prior.base > 0).all()
    reread = snapshot_from_bytes(snapshot_to_file(snapshot).data)
    for method in ("gibbs3", "variational", "naive-bayes"):
        settings = inferring(method)
        mixtures = mixtures_of_documents(settings, PublishedModel(reread, "v"), documents[:3])
        assert all(
            mixture.proportions.sum() == pytest.approx(1) and (mixture.proportions > 0).all()
            for mixture in mixtures
        )


@pytest.mark.parametrize("name", LEARNERS)
def test_a_stream_in_which_every_word_is_new(name):
    documents = [document_of([f"{chr(0x4E00 + i)}{k}" for k in range(12)], i) for i in range(300)]
    learner, state, sizes = learned(name, documents)
    assert learner.summary(state).words <= 180
    assert max(sizes[30:]) < 1.3 * max(sizes[:30])
    _, earlier, _ = learned(name, documents[:150])
    assert len(learner.save(state)) < 1.3 * len(learner.save(earlier))
