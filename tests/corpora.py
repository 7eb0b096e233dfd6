"""Small made-up corpora as minibatches for learners."""

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.learners import learner_for


def document_of(words, number=0, label=None):
    return Block.of_words([Document(f"d{number}", number, "", label)], [words])


def minibatches_of(documents, size):
    starts = range(0, len(documents), size)
    return [
        Minibatch.of_block(Block.joined(documents[at : at + size]), n + 1, n, True)
        for n, at in enumerate(starts)
    ]


def learned(settings, minibatches):
    """A learner's state after them."""
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches:
        learner.step(state, minibatch)
    return state


def topical(count, words=40, topics=3, length=25, seed=3, first=0):
    """Documents of synthetic topics with few words in common, labelled with their largest topic."""
    generator = np.random.default_rng(seed)
    phi = generator.dirichlet(np.full(words, 0.05), topics)
    documents = []
    for d in range(count):
        theta = generator.dirichlet(np.full(topics, 0.1))
        states = generator.choice(topics, generator.integers(1, 2 * length), p=theta)
        drawn = [f"w{first + generator.choice(words, p=phi[t])}" for t in states]
        documents.append(document_of(drawn, d, str(int(np.argmax(theta)))))
    return documents


def awkward():
    """Documents of two vocabularies, empty ones, of one word, of a repeated word; a long one."""
    late = topical(24, seed=4, first=30)
    long = [
        word
        for document in topical(220, seed=5)
        for word in np.array(document.words)[document.tokens]
    ][:5000]
    odd = [
        [],
        ["w1"],
        ["never-again"],
        ["w2"] * 70,
        [],
        [f"once{i}" for i in range(33)],
        ["w3"] * 32,
        long,
    ]
    return [
        *topical(40),
        *(document_of(words, 1000 + n, "odd") for n, words in enumerate(odd)),
        *late,
    ]
