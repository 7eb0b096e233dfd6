"""Chains of the first versions of a key: ``python -m benchmarks first_versions``.

With 50 topics a version that is published while the initial batch is incomplete runs one Gibbs
chain over the first 1, 2, 4, 8, ... documents that have come. A complete batch of the same
documents runs eight chains and starts from the best. Each row learns D documents in both ways and
compares how well the versions predict up to 60 other documents: the ratio is the perplexity of one
chain to that of eight (below 1: one chain is better), the geometric mean over samples of documents
and its standard error. ``seconds`` are those of the snapshot, one chain to eight.

θ of a document is found on its tokens at even places, as in :mod:`benchmarks.comparison`, and the
tokens at odd places count. Words that the D documents lack do not count. The documents of a sample
of arXiv have one label, as a key's documents are alike. Those of 20 Newsgroups come from all
groups.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from benchmarks.comparison import Model, log_probability, model_of
from benchmarks.corpora import abstracts, minibatches, newsgroups
from model.compositions import compose
from model.learners import LEARNER, learner_for
from model.records import TokenisedDocument

SIZES, SAMPLES, OTHERS = (8, 32, 128), 10, 60
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
    documents: Sequence[TokenisedDocument], learner: str, batch: int, seed: int
) -> tuple[Model, float]:
    """Return the version after some documents, and the seconds that it took.

    Args:
        documents: the documents.
        learner: a name of :data:`LEARNERS`.
        batch: the number of documents of a complete initial batch.
        seed: of the draws.
    """
    chosen = {} if learner == "default" else {"learner": learner}
    settings = compose(LEARNER, {"topics": 50, "seed": seed, "initial_documents": batch, **chosen})
    found = learner_for(settings)
    state, started = found.init(settings, "", 0), time.process_time()
    for minibatch in minibatches(list(documents), 100):
        found.step(state, minibatch)
    snapshot = found.snapshot(state)
    return model_of(snapshot), time.process_time() - started


def first_versions() -> None:
    """Print a row for each corpus, learner and size."""
    for name, groups in (("arxiv", _by_label(abstracts(1))), ("20news", [_newsgroups()])):
        for learner in LEARNERS:
            for size in SIZES:
                _print_row(name, learner, size, groups)


def _print_row(
    name: str, learner: str, size: int, groups: Sequence[list[TokenisedDocument]]
) -> None:
    draws, logs, seconds = np.random.default_rng(size), [], np.zeros(2)
    for seed in range(1, SAMPLES + 1):
        group = groups[draws.integers(len(groups))]
        chosen = [group[place] for place in draws.permutation(len(group))[: size + OTHERS]]
        both = [version(chosen[:size], learner, batch, seed) for batch in (size + 1, size)]
        one, eight = (mean_log_probability(model, chosen[size:]) for model, _ in both)
        logs.append(eight - one)
        seconds += [took for _, took in both]
    ratio, error = np.exp(np.mean(logs)), np.std(logs, ddof=1) / np.sqrt(SAMPLES)
    print(
        f"{name:7} {learner:8} {size:4} documents: perplexity {ratio:.3f} (+-{error:.3f}),"
        f" seconds {seconds[0] / seconds[1]:.2f}",
        flush=True,
    )


def _by_label(documents: Sequence[TokenisedDocument]) -> list[list[TokenisedDocument]]:
    found: dict[str | None, list[TokenisedDocument]] = {}
    for document in documents:
        found.setdefault(document.label, []).append(document)
    return [group for group in found.values() if len(group) >= max(SIZES) + OTHERS]


def _newsgroups() -> list[TokenisedDocument]:
    return newsgroups("subset20")[0]
