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
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from beam_topics.model.compositions import compose
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.learners.base import LearnerSettings
from beam_topics.model.learners.particles import initial_batch
from beam_topics.model.learners.particles.initial_batch import Chains
from beam_topics.model.learners.particles.state import ParticleState
from beam_topics.model.records import TokenisedDocument
from benchmarks.comparison import Model, log_probability, model_of
from benchmarks.corpora import abstracts, minibatches, newsgroups

OTHERS = 60
LEARNERS = ("default", "o-lda")


class Given(NamedTuple):
    """What is measured.

    Attributes:
        topics: T.
        sizes: the numbers of documents.
        samples: the samples of documents of each row.
        sweeps: those of the chain of an incomplete batch, a row for each; 0 for those of the
            product.
    """

    topics: int
    sizes: tuple[int, ...]
    samples: int
    sweeps: tuple[int, ...]

    @classmethod
    def by_environment(cls) -> Given:
        """Return what the environment asks for, see the module's docstring."""
        return cls(
            _numbers("TOPICS", "50")[0],
            _numbers("SIZES", "8,32,128"),
            _numbers("SAMPLES", "10")[0],
            _numbers("SWEEPS", "0"),
        )


def _numbers(name: str, default: str) -> tuple[int, ...]:
    return tuple(map(int, os.environ.get(f"BENCHMARK_{name}", default).split(",")))


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
    documents: Sequence[TokenisedDocument], settings: LearnerSettings, sweeps: int = 0
) -> tuple[Model, float]:
    """Return the version after some documents, and the seconds that it took.

    Args:
        documents: the documents.
        settings: those of the learner.
        sweeps: those of the chain of an incomplete batch; 0 for those of the product.
    """
    found = learner_for(settings)
    state, started = found.init(settings, "", 0), time.process_time()
    for minibatch in minibatches(list(documents), 100):
        found.step(state, minibatch)
    with patch.object(initial_batch, "few_chains", _with_sweeps(sweeps)):
        snapshot = found.snapshot(state)
    return model_of(snapshot), time.process_time() - started


def _with_sweeps(sweeps: int) -> Callable[[ParticleState, int], Chains]:
    """Return the function that says how chains run, with another number of sweeps."""
    few_chains = initial_batch.few_chains

    def chosen(state: ParticleState, documents: int) -> Chains:
        found = few_chains(state, documents)
        return found._replace(sweeps=sweeps or found.sweeps)

    return chosen


def first_versions() -> None:
    """Print a row for each corpus, learner and size."""
    given = Given.by_environment()
    least = max(given.sizes) + OTHERS
    for name, groups in (("arxiv", _by_label(abstracts(1), least)), ("20news", [_newsgroups()])):
        for learner in LEARNERS:
            for size in given.sizes:
                _print_row(f"{name:7} {learner:8}", learner, size, groups, given)


def _print_row(
    title: str,
    learner: str,
    size: int,
    groups: Sequence[list[TokenisedDocument]],
    given: Given,
) -> None:
    draws = np.random.default_rng(size)
    logs, seconds = np.empty((len(given.sweeps), given.samples)), np.zeros((len(given.sweeps), 2))
    for sample in range(given.samples):
        group, seed = groups[draws.integers(len(groups))], sample + 1
        chosen = [group[place] for place in draws.permutation(len(group))[: size + OTHERS]]
        eight, took = version(chosen[:size], _settings(learner, given.topics, size, seed))
        wanted = mean_log_probability(eight, chosen[size:])
        incomplete = _settings(learner, given.topics, size + 1, seed)
        for row, sweeps in enumerate(given.sweeps):
            one, spent = version(chosen[:size], incomplete, sweeps)
            logs[row, sample] = wanted - mean_log_probability(one, chosen[size:])
            seconds[row] += spent, took
    for row, sweeps in enumerate(given.sweeps):
        error = np.std(logs[row], ddof=1) / np.sqrt(given.samples)
        print(
            f"{title} {size:4} documents{f', {sweeps} sweeps' * (sweeps > 0)}:"
            f" perplexity {np.exp(np.mean(logs[row])):.3f} (+-{error:.3f}),"
            f" seconds {seconds[row, 0] / seconds[row, 1]:.2f}",
            flush=True,
        )


def _settings(learner: str, topics: int, batch: int, seed: int) -> LearnerSettings:
    """Return the settings of a learner whose complete initial batch has so many documents."""
    chosen = {} if learner == "default" else {"learner": learner}
    given = {"topics": topics, "seed": seed, "initial_documents": batch, **chosen}
    return compose(LEARNER, given)


def _by_label(documents: Sequence[TokenisedDocument], least: int) -> list[list[TokenisedDocument]]:
    """Return the documents of each label that has at least so many."""
    found: dict[str | None, list[TokenisedDocument]] = {}
    for document in documents:
        found.setdefault(document.label, []).append(document)
    return [group for group in found.values() if len(group) >= least]


def _newsgroups() -> list[TokenisedDocument]:
    return newsgroups("subset20")[0]
