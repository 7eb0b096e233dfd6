"""A problem that can be solved by enumeration: two topics, six tokens, 64 assignments; and the closed form of P(w, z)."""

import itertools
from math import exp

import numpy as np
from scipy.special import gammaln

TEXTS = [[0, 0], [1, 0], [1, 1]]
ALPHA, BETA, WORDS, TOPICS = 0.3, 0.2, 2, 2
PAIRS = list(itertools.combinations(range(6), 2))


def log_joint(word_counts, document_counts, alpha, prior_words, beta):
    """ln P(w, z) of DESIGN section 7. word_counts: [words, T]; document_counts: [documents, T]; alpha: [T]; B(w) = 1/W."""
    words, documents, alpha = np.asarray(word_counts, float), np.asarray(document_counts, float), np.asarray(alpha, float)
    by_document = gammaln(alpha.sum()) - gammaln(documents.sum(1) + alpha.sum()) + (gammaln(documents + alpha) - gammaln(alpha)).sum(1)
    by_topic = gammaln(prior_words * beta) - gammaln(words.sum(0) + prior_words * beta) + (gammaln(words + beta) - gammaln(beta)).sum(0)
    return float(by_document.sum() + by_topic.sum())


def joint_of(states):
    """P(w, z) of six topics in the order of the tokens."""
    words, documents, at = np.zeros((WORDS, TOPICS)), np.zeros((len(TEXTS), TOPICS)), iter(states)
    for d, text in enumerate(TEXTS):
        for w in text:
            t = next(at)
            words[w, t] += 1
            documents[d, t] += 1
    return exp(log_joint(words, documents, [ALPHA] * TOPICS, WORDS, BETA))


ASSIGNMENTS = list(itertools.product(range(TOPICS), repeat=6))
JOINT = np.array([joint_of(states) for states in ASSIGNMENTS])
EVIDENCE = JOINT.sum()
POSTERIOR = JOINT / EVIDENCE


def alike(states):
    """1 for each pair of tokens with one topic; works on any leading shape."""
    states = np.asarray(states)
    return np.stack([states[..., i] == states[..., j] for i, j in PAIRS], -1).astype(float)
