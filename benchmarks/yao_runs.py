"""Single runs of the experiments of Yao, Mimno and McCallum (2009).

:mod:`benchmarks.yao` plans them. A run trains a model by batch Gibbs and fits a classifier to the
mixtures that Gibbs3 infers for the training documents. Each method then infers the new documents,
and the run compares the results. Times are processor seconds of one thread.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammaln

from beam_topics.model.documents.block import Block
from beam_topics.model.inference import METHOD, Gibbs3, PublishedModel
from beam_topics.model.inference.features import numbered, tally_documents
from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.kernels.random import stream_key
from beam_topics.model.papers.gibbs2 import Corpus, CorpusSampler, build_corpora
from beam_topics.model.settings.compositions import compose
from benchmarks.agreement import agreement
from benchmarks.corpora import (
    block_of,
    content_words,
    part,
    records,
    shuffled,
    stop_words,
    vocabulary,
)
from benchmarks.dense_gibbs import DenseSampler
from benchmarks.inference import BETA, classify, empty_model, infer, papers, split, train
from benchmarks.ledger import Result

TEST_YEAR = 2019


@dataclass(frozen=True)
class Size:
    """How much is run.

    Attributes:
        papers, fewer_papers: of NIPS, None for all; fewer where T varies. abstracts: of arXiv, for
        the shares. spans: abstracts in each span of years. topics, sweeps, inference: the main
        experiment's. varied: (training, inference) sweeps where topics or training data vary.
        arxiv_topics: on arXiv. every: one in so many abstracts of growing spans.
    """

    papers: int | None
    fewer_papers: int
    abstracts: int
    spans: int
    topics: int
    sweeps: int
    inference: int
    varied: tuple[int, int]
    arxiv_topics: int
    every: int


PAPER = Size(None, 400, 8000, 1500, 70, 1000, 1000, (150, 100), 50, 15)
SMALL = Size(60, 60, 400, 60, 10, 20, 10, (20, 10), 10, 500)
# Training ends when ln P(w, z) a token rises by less than this in a tenth of the sweeps.
FLAT = 0.002


def log_joint(counts: Any, in_documents: Any, alpha: Any) -> float:
    """Return ln P(w, z) of int32[V, T] and int32[D, T] counts under Dirichlet(alpha) and BETA."""
    alphas, lengths, totals = alpha.sum(), in_documents.sum(axis=1), counts.sum(axis=0)
    found = np.sum(gammaln(in_documents + alpha) - gammaln(alpha)) + np.sum(
        gammaln(alphas) - gammaln(lengths + alphas)
    )
    words = len(counts) * BETA
    found += np.sum(gammaln(counts[counts > 0] + BETA) - gammaln(BETA)) + np.sum(
        gammaln(words) - gammaln(totals + words)
    )
    return float(found)


def compare(
    most: int | None, topics: int, sweeps: int, inference: int, seed: int, methods: Sequence[str]
) -> Result:
    """Compare all methods on NIPS.

    Returns:
        Agreement with Gibbs1 and Gibbs2, milliseconds a paper, the likelihood during training, and
        the topics of one paper.
    """
    training, new = split(papers(most), seed)
    trace: list[list[float]] = []

    def flat(sweep: int, state: CorpusSampler, corpus: Corpus) -> bool:
        if sweep % max(sweeps // 20, 1):
            return False
        trace.append(
            [
                sweep,
                log_joint(state.counts(), corpus.in_documents, state.alpha) / len(corpus.tokens),
            ]
        )
        return len(trace) > 2 and trace[-1][1] - trace[-3][1] < FLAT

    snapshot = train(training, topics, sweeps, enough=flat)
    published = PublishedModel(snapshot, "nips", training=training)
    of_counts = replace(published, classifier=classify(published, training, 100, "counts"))
    runs = _infer_all(
        of_counts, new, {"inference_sweeps": inference, "inference_from": "last"}, methods
    )
    of_roots = replace(published, classifier=classify(published, training, 100, "roots"))
    for name in ("maxent", "hybrid"):
        runs[f"{name}, our defaults"] = infer(of_roots, new, compose(METHOD, {"method": name}))
    sample = {name: _major(mixtures[0]) for name, (mixtures, _) in runs.items()}
    return {"papers": len(new), "likelihood": trace, **_compared(runs), "sample": sample}


def _infer_all(
    published: PublishedModel,
    new: Block,
    base: dict[str, Any],
    methods: Sequence[str],
) -> dict[str, tuple[list[TopicMixture], float]]:
    runs = {
        name: infer(published, new, compose(METHOD, {"method": name}, base)) for name in methods
    }
    # How far two runs of the same method are apart: nothing can agree better.
    runs["gibbs2, another seed"] = infer(
        published, new, compose(METHOD, {"method": "gibbs2", "inference_seed": 2}, base)
    )
    runs["gibbs3, our defaults"] = infer(published, new, Gibbs3())
    return runs


def _compared(runs: dict[str, tuple[list[TopicMixture], float]]) -> dict[str, dict[str, Any]]:
    compared: dict[str, dict[str, Any]] = {}
    for reference in ("gibbs1", "gibbs2"):
        found = {
            name: agreement(runs[reference][0], mixtures) for name, (mixtures, _) in runs.items()
        }
        compared[reference] = {
            name: {**figures, "milliseconds": 1000 * runs[name][1]}
            for name, figures in found.items()
        }
    return compared


def _major(mixture: TopicMixture) -> list[list[float]]:
    return [
        [int(t), round(float(mixture.proportions[t]), 4)]
        for t in np.argsort(-mixture.proportions, kind="stable")[:8]
    ]


def speed(size: Size, topics: int, sampler: Any) -> Result:
    """Milliseconds a sweep over NIPS (the mean of the later ones) and the bytes of the counts."""
    documents = papers((size.papers and size.papers // 2) or 400)
    words = vocabulary(documents)
    empty = empty_model(words, topics)
    rows, (corpus,) = build_corpora(numbered(empty, documents))
    tracemalloc.start()
    key = stream_key(1, "speed")
    state = (
        DenseSampler(empty, rows, key)
        if sampler == "dense"
        else CorpusSampler(empty, rows, [corpus], key)
    )
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    times = []
    for sweep in range(size.varied[0] // 10 + 1):
        begin = time.thread_time()
        state.sweep(corpus, sweep, first=sweep == 0)
        times.append(time.thread_time() - begin)
    later = times[len(times) // 2 :]
    return {
        "milliseconds": 1000 * float(np.mean(later)),
        "bytes": held,
        "tokens": len(corpus.tokens),
        "words": len(words),
    }


@cache
def abstracts() -> dict[int, Block]:
    """Return arXiv's abstracts by year, in the order of time.

    The words are runs of letters in lower case, without stop words.
    """
    stop, found = stop_words(), dict[int, list[dict[str, Any]]]()
    for record in records("arxiv-cs-1994-2019"):
        found.setdefault(int(record["timestamp"][:4]), []).append(record)
    return {
        year: block_of(some, lambda text: content_words(text, stop)) for year, some in found.items()
    }


def _some(documents: Block, count: int, seed: int) -> Block:
    return part(shuffled(documents, seed), last=count)


def shares(size: Size, share: int, seed: int) -> Result:
    """Compare MaxEnt with Gibbs2 on 30 % of some abstracts (figure 8).

    The model learns from ``share`` percent of them.
    """
    documents = _some(Block.joined(list(abstracts().values())), size.abstracts, seed)
    cut = int(0.3 * len(documents))
    training = part(documents, cut, cut + len(documents) * share // 100)
    return _abstracts(size, training, part(documents, last=cut))


def span(size: Size, first: int, last: int, seed: int) -> Result:
    """Compare MaxEnt with Gibbs2 on abstracts of the last year (figure 9, left).

    The model learns from equally many abstracts of the years first..last.
    """
    new, rest = _newest(size, seed)
    by_year = {**abstracts(), TEST_YEAR: rest}
    documents = Block.joined([by_year[year] for year in range(first, last + 1)])
    return _abstracts(size, _some(documents, size.spans, seed), new)


def since(size: Size, first: int, seed: int) -> Result:
    """Compare MaxEnt with Gibbs2 on abstracts of the last year (figure 9, right).

    The model learns from one in ``size.every`` abstracts of the years first..2018: more years mean
    more abstracts.
    """
    documents = Block.joined([abstracts()[year] for year in range(first, TEST_YEAR)])
    return _abstracts(
        size, _some(documents, len(documents) // size.every, seed), _newest(size, seed)[0]
    )


def _newest(size: Size, seed: int) -> tuple[Block, Block]:
    """Return the documents of the last year that are inferred, and the rest of that year."""
    documents, cut = shuffled(abstracts()[TEST_YEAR], seed), size.spans * 2 // 3
    return part(documents, last=cut), part(documents, cut)


def _abstracts(size: Size, training: Block, new: Block) -> Result:
    sweeps, inference = size.varied
    published = PublishedModel(train(training, size.arxiv_topics, sweeps), "arxiv")
    published = replace(published, classifier=classify(published, training, inference, "counts"))
    base = {"inference_sweeps": inference}
    windows = np.zeros(len(new), np.int64)
    tally = tally_documents(numbered(published.snapshot, new), windows)[0]
    reference, _ = infer(published, new, compose(METHOD, {"method": "gibbs2"}, base))
    figures = {
        name: agreement(
            reference, infer(published, new, compose(METHOD, {"method": name}, base))[0]
        )
        for name in ("maxent", "hybrid", "gibbs3")
    }
    coverage = {
        "words": len(tally.known) / (len(tally.known) + len(tally.unknown)),
        "tokens": tally.tokens_known / tally.tokens,
    }
    return {"coverage": coverage, "trained": len(training), "documents": len(new), **figures}
