"""Slow twins of the variational learners, written from the papers.

They use dictionaries and scipy's digamma, with one line for each line of the paper. ``bug`` plants
one of the errors that the tests must find.
"""

import math
from collections import Counter

import numpy as np
from ngram_twin import probability_of
from scipy.special import digamma, gammaln
from twins import uniform

from beam_topics.model.kernels.random import LOCAL, stream_key


def draw(weights, alpha, in_document, u):
    """First the document's own topics, then all of them by alpha."""
    parts = [n * weight for n, weight in zip(in_document, weights, strict=True)] + [
        alpha * weight for weight in weights
    ]
    x = u * sum(parts)
    for i, part in enumerate(parts):
        x -= part
        if x < 0:
            return i % len(weights)
    raise AssertionError("rounding")


def sweep_documents(settings, minibatch, weights_of):
    """{(word, topic): kept uses} by Gibbs sweeps within each document (eq. 4)."""
    key = stream_key(settings.seed, "")
    found = Counter()
    for d in range(len(minibatch)):
        words = [
            minibatch.words[w]
            for w in minibatch.tokens[minibatch.offsets[d] : minibatch.offsets[d + 1]]
        ]
        in_document, states = [0] * settings.topics, [None] * len(words)
        for sweep in range(settings.local_burn_in + settings.local_sweeps):
            for n, word in enumerate(words):
                if states[n] is not None:
                    in_document[states[n]] -= 1
                u = uniform(sweep * len(words) + n, key, d, minibatch.sequence, LOCAL)
                states[n] = draw(weights_of(word), settings.topic_alpha, in_document, u)
                in_document[states[n]] += 1
                if sweep >= settings.local_burn_in:
                    found[word, states[n]] += 1
    return found


class InfvocTwin:
    """Sections 4 and 5 of the paper.

    Attributes:
        nu1, nu2, R: {topic: {word: value}}.
        order: {topic: [words]}.
    """

    def __init__(self, settings, letters, bug=None):
        self.settings, self.letters, self.bug = settings, letters, bug
        self.order = {k: [] for k in range(settings.topics)}
        self.nu1, self.nu2, self.rank = ({k: {} for k in range(settings.topics)} for _ in range(3))
        self.minibatches = self.documents = 0

    def sticks(self, k):
        """Return exp E[log beta] of the topic's words, and of what is left."""
        nu1, nu2 = self.nu1[k], self.nu2[k]
        broken, weights = 0.0, {}
        for word in self.order[k]:
            whole = digamma(nu1[word] + nu2[word])
            left = digamma(nu2[word]) - whole
            weights[word] = math.exp(
                digamma(nu1[word]) - whole + broken + (left if self.bug == "inclusive" else 0.0)
            )
            broken += left
        return weights, math.exp(broken)

    def step(self, minibatch):
        s = self.settings
        self.minibatches += 1
        self.documents += len(minibatch)
        step = (s.tau0 + self.minibatches) ** -s.kappa
        scale = (s.stream_documents or self.documents) / len(minibatch)
        sticks = [self.sticks(k) for k in range(s.topics)]
        known = {word for order in self.order.values() for word in order}

        def share(word):
            return (
                1.0
                if s.remainder != "share"
                else ((word in known) + math.exp(probability_of(self.letters, word).log()))
                / (len(known) + 1)
            )

        counts = sweep_documents(
            s,
            minibatch,
            lambda word: [weights.get(word, left * share(word)) for weights, left in sticks],
        )
        for k in range(s.topics):
            uses = {word: n / s.local_sweeps for (word, topic), n in counts.items() if topic == k}
            self.expand(k, [word for word in minibatch.words if word in uses])
            self.update(k, uses, step, scale)
            if self.minibatches % s.reorder_every == 0:
                self.refine(k)

    def expand(self, k, words):
        for word in words:
            if word not in self.nu1[k]:
                self.order[k].append(word)
                self.nu1[k][word], self.rank[k][word] = 1.0, 0.0
                self.nu2[k][word] = (
                    self.settings.stick_concentration if self.settings.remainder == "share" else 1.0
                )

    def update(self, k, uses, step, scale):
        """Eq. 8, 9 and 10."""
        later = 0.0
        for word in self.order[k] if self.bug == "earlier" else reversed(self.order[k]):
            count = scale * uses.get(word, 0.0)
            self.nu1[k][word] += step * (1 + count - self.nu1[k][word])
            self.nu2[k][word] += step * (
                self.settings.stick_concentration + later - self.nu2[k][word]
            )
            base = (
                1.0 if self.bug == "no G0" else math.exp(probability_of(self.letters, word).log())
            )
            self.rank[k][word] = (1 - step) * self.rank[k][word] + step * base * count
            later += count

    def refine(self, k):
        if self.bug != "no order":
            self.order[k].sort(key=lambda word: -self.rank[k][word])
        if self.bug != "no contraction":
            for word in self.order[k][self.settings.truncation :]:
                del self.nu1[k][word], self.nu2[k][word], self.rank[k][word]
            del self.order[k][self.settings.truncation :]


def elbo(counts, lam, gamma, alpha, eta):
    """The bound of Hoffman, Blei and Bach (2010) at the best phi.

    Args:
        counts: [D, W].
        lam: [W, K].
        gamma: [D, K].
        alpha: the Dirichlet prior of a document's topics.
        eta: the Dirichlet prior of a topic's words.
    """
    log_theta = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    log_beta = digamma(lam) - digamma(lam.sum(axis=0))
    bound = 0.0
    for d, w in zip(*np.nonzero(counts), strict=True):
        bound += counts[d, w] * np.log(np.exp(log_theta[d] + log_beta[w]).sum())
    for parameters, prior, logs in ((gamma, alpha, log_theta), (lam.T, eta, log_beta.T)):
        bound += ((prior - parameters) * logs + gammaln(parameters) - gammaln(prior)).sum()
        bound += (gammaln(prior * parameters.shape[1]) - gammaln(parameters.sum(axis=1))).sum()
    return bound


def best_gamma(counts, lam, alpha, iterations):
    """Coordinate ascent on every document from gamma's prior state, where all topics are alike."""
    beta = np.exp(digamma(lam) - digamma(lam.sum(axis=0)))
    gamma = np.empty((len(counts), lam.shape[1]))
    for d, row in enumerate(counts):
        theta = np.ones(lam.shape[1])
        for _ in range(iterations):
            gamma[d] = alpha + theta * ((row / np.maximum(beta @ theta, 1e-300)) @ beta)
            theta = np.exp(digamma(gamma[d]))
    return gamma, beta


def vb_step(counts, lam, alpha, eta, iterations):
    """Lambda after one step in batch mode, and the gamma that it came from."""
    gamma, beta = best_gamma(counts, lam, alpha, iterations)
    theta = np.exp(digamma(gamma))
    expected = np.zeros_like(lam)
    for d, row in enumerate(counts):
        phi = theta[d] * beta
        expected += row[:, None] * phi / phi.sum(axis=1, keepdims=True)
    return eta + expected, gamma


def counts_of(minibatch, words):
    """[D, W] of a minibatch."""
    counts, column = (
        np.zeros((len(minibatch), len(words))),
        {word: n for n, word in enumerate(words)},
    )
    for d, document in enumerate(minibatch.documents()):
        for word, n in Counter(np.array(document.words)[document.tokens].tolist()).items():
            counts[d, column[word]] += n
    return counts
