"""Chains of the first versions of a key: ``python -m benchmarks first_versions``.

With 50 topics a version that is published while the initial batch is incomplete runs one Gibbs
chain over the first 1, 2, 4, 8, ... documents that have come. A complete batch of the same
documents runs eight chains and starts from the best. Each row learns D documents in both ways and
compares how well the versions predict up to 60 other documents: the ratio is the perplexity of one
chain to that of eight (below 1: one chain is better), the geometric mean over samples of documents
and its standard error. ``seconds`` are those of the snapshot, one chain to eight.

``BENCHMARK_TOPICS=20`` names another number of topics, ``BENCHMARK_SIZES=1,8`` other numbers of
documents and ``BENCHMARK_SAMPLES=40`` other samples. ``BENCHMARK_SWEEPS=10,20,50`` has a row for
each number of sweeps of the one chain, which the product chooses otherwise.

θ of a document is found on its tokens at even places, as in :mod:`benchmarks.comparison`, and the
tokens at odd places count. Words that the D documents lack do not count. The documents of a sample
of arXiv have one label, as a key's documents are alike. Those of 20 Newsgroups come from all
groups.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from unittest.mock import patch

import numpy as np

from benchmarks.comparison import Model, log_probability, model_of
from benchmarks.corpora import abstracts, minibatches, newsgroups
from model.compositions import compose
from model.learners import LEARNER, learner_for
from model.learners.particles import provisional
from model.learners.particles.initial_batch import Chains
from model.learners.particles.state import ParticleState
from model.records import TokenisedDocument

SIZES = tuple(map(int, os.environ.get("BENCHMARK_SIZES", "8,32,128").split(",")))
SAMPLES, OTHERS = int(os.environ.get("BENCHMARK_SAMPLES", "10")), 60
TOPICS = int(os.environ.get("BENCHMARK_TOPICS", "50"))
# Sweeps of the chain of an incomplete batch; 0 for those of the product.
SWEEPS = tuple(map(int, os.environ.get("BENCHMARK_SWEEPS", "0").split(",")))
LEARNERS = ("default", "o-lda")


def mean_log_probability(model: Model, others: Sequence[TokenisedDocument]) -> float:
    """Return the mean log probability of a token at an odd place."""
    numbers = {word: number for number, word in enumerate(model.words)}
    phi = model.phi / model.phi.sum(axis=1, keepdims=True)
    log, count = 0.0, 0
    for document in others:
        words = [document.words[token] for token in document.tokens]
        tokens = np.array([numbers[word] for word in words if word in numbers], np.int64)
        log += log_probability(phi[:, tokens], model.alpha)
        count += len(tokens[1::2])
    return log / count


def version(
    documents: Sequence[TokenisedDocument], learner: str, batch: int, seed: int, sweeps: int = 0
) -> tuple[Model, float]:
    """Return the version after some documents, and the seconds that it took.

    Args:
        documents: the documents.
        learner: a name of :data:`LEARNERS`.
        batch: the number of documents of a complete initial batch.
        seed: of the draws.
        sweeps: those of the chain of an incomplete batch; 0 for those of the product.
    """
    chosen = {} if learner == "default" else {"learner": learner}
    given = {"topics": TOPICS, "seed": seed, "initial_documents": batch, **chosen}
    settings = compose(LEARNER, given)
    found = learner_for(settings)
    state, started = found.init(settings, "", 0), time.process_time()
    for minibatch in minibatches(list(documents), 100):
        found.step(state, minibatch)
    with patch.object(provisional, "few_chains", _with_sweeps(sweeps)):
        snapshot = found.snapshot(state)
    return model_of(snapshot), time.process_time() - started


def _with_sweeps(sweeps: int) -> Callable[[ParticleState, int], Chains]:
    """Return the function that says how chains run, with another number of sweeps."""
    few_chains = provisional.few_chains

    def chosen(state: ParticleState, documents: int) -> Chains:
        found = few_chains(state, documents)
        return found._replace(sweeps=sweeps or found.sweeps)

    return chosen


def first_versions() -> None:
    """Print a row for each corpus, learner and size."""
    for name, groups in (("arxiv", _by_label(abstracts(1))), ("20news", [_newsgroups()])):
        for learner in LEARNERS:
            for size in SIZES:
                _print_row(name, learner, size, groups)


def _print_row(
    name: str, learner: str, size: int, groups: Sequence[list[TokenisedDocument]]
) -> None:
    draws = np.random.default_rng(size)
    logs, seconds = np.empty((len(SWEEPS), SAMPLES)), np.zeros((len(SWEEPS), 2))
    for sample in range(SAMPLES):
        group, seed = groups[draws.integers(len(groups))], sample + 1
        chosen = [group[place] for place in draws.permutation(len(group))[: size + OTHERS]]
        eight, took = version(chosen[:size], learner, size, seed)
        wanted = mean_log_probability(eight, chosen[size:])
        for row, sweeps in enumerate(SWEEPS):
            one, spent = version(chosen[:size], learner, size + 1, seed, sweeps)
            logs[row, sample] = wanted - mean_log_probability(one, chosen[size:])
            seconds[row] += spent, took
    for row, sweeps in enumerate(SWEEPS):
        error = np.std(logs[row], ddof=1) / np.sqrt(SAMPLES)
        print(
            f"{name:7} {learner:8} {size:4} documents{f', {sweeps} sweeps' * (sweeps > 0)}:"
            f" perplexity {np.exp(np.mean(logs[row])):.3f} (+-{error:.3f}),"
            f" seconds {seconds[row, 0] / seconds[row, 1]:.2f}",
            flush=True,
        )


def _by_label(documents: Sequence[TokenisedDocument]) -> list[list[TokenisedDocument]]:
    found: dict[str | None, list[TokenisedDocument]] = {}
    for document in documents:
        found.setdefault(document.label, []).append(document)
    return [group for group in found.values() if len(group) >= max(SIZES) + OTHERS]


def _newsgroups() -> list[TokenisedDocument]:
    return newsgroups("subset20")[0]
