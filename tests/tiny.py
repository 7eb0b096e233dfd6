"""A problem small enough to enumerate, and the closed form of P(w, z).

It has two topics and six tokens, hence 64 assignments.
"""

import itertools
from math import exp

import numpy as np
from scipy.special import gammaln

TEXTS = [[0, 0], [1, 0], [1, 1]]
ALPHA, BETA, WORDS, TOPICS = 0.3, 0.2, 2, 2
PAIRS = list(itertools.combinations(range(6), 2))


def log_documents(document_counts, alpha):
    """Return ln P(z). document_counts: [documents, T]; alpha: [T]."""
    documents, alpha = np.asarray(document_counts, float), np.asarray(alpha, float)
    by_document = (
        gammaln(alpha.sum())
        - gammaln(documents.sum(1) + alpha.sum())
        + (gammaln(documents + alpha) - gammaln(alpha)).sum(1)
    )
    return float(by_document.sum())


def log_joint(word_counts, document_counts, alpha, a, base):
    """Return ln P(w, z) from counts. word_counts: [words, T]; base: [words], B(w)."""
    words, shares = np.asarray(word_counts, float), a * np.asarray(base, float)[:, None]
    by_topic = (
        gammaln(a) - gammaln(words.sum(0) + a) + (gammaln(words + shares) - gammaln(shares)).sum(0)
    )
    return log_documents(document_counts, alpha) + float(by_topic.sum())


def joint_of(states, a=WORDS * BETA, base=(1 / WORDS,) * WORDS):
    """Return P(w, z) of six topics in the order of the tokens, where topics share nothing."""
    words = np.zeros((WORDS, TOPICS))
    for w, t in zip((w for text in TEXTS for w in text), states, strict=True):
        words[w, t] += 1
    return exp(log_joint(words, _document_counts(states), [ALPHA] * TOPICS, a, base))


def _document_counts(states):
    ends = list(itertools.accumulate(map(len, TEXTS)))
    return [
        np.bincount(states[end - len(text) : end], minlength=TOPICS)
        for text, end in zip(TEXTS, ends, strict=True)
    ]


ASSIGNMENTS = list(itertools.product(range(TOPICS), repeat=6))
JOINT = np.array([joint_of(states) for states in ASSIGNMENTS])
POSTERIOR = JOINT / JOINT.sum()


def alike(states):
    """Return 1 for each pair of tokens with one topic, for any leading shape."""
    states = np.asarray(states)
    return np.stack([states[..., i] == states[..., j] for i, j in PAIRS], -1).astype(float)
