"""The inference methods on NIPS papers, after Yao, Mimno and McCallum (2009).

``python -m benchmarks.inference --help`` has the options. Stop words and words of fewer than three
papers are dropped. Batch Gibbs with a learned alpha trains on seven tenths of the papers, and every
method infers the rest. Agreement with Gibbs1 and with Gibbs2 is the cosine, KL, the part of KL from
topics that a method leaves without a token, and F1 at 80 %. Times are processor seconds of one
thread without the preparation of the model.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import digamma

from beam_topics.model.arrays import FloatArray, IntArray
from beam_topics.model.documents.block import Block
from beam_topics.model.inference import (
    METHOD,
    Gibbs3,
    InferenceSettings,
    PublishedModel,
    inference_for,
)
from beam_topics.model.inference.base import FitSettings
from beam_topics.model.inference.classifier import Classifier, Provenance
from beam_topics.model.inference.features import FEATURES, numbered
from beam_topics.model.inference.fitting import fit, make_pair
from beam_topics.model.inference.mixtures import MixtureBlock, TopicMixture, inferred
from beam_topics.model.kernels.random import stream_key
from beam_topics.model.papers.gibbs2 import Corpus, CorpusSampler, build_corpora
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.settings.compositions import compose
from beam_topics.pipelines.cli.terminal import thin
from benchmarks.agreement import agreement
from benchmarks.corpora import block_of, frequent, part, records, shuffled, stop_words, vocabulary

_LETTERS = re.compile(r"[a-z]{2,}")
ALPHA, BETA = 0.1, 0.01
GIBBS = ("gibbs1", "gibbs2", "gibbs2-s", "gibbs3", "gibbs3-s")
OTHERS = ("variational", "hybrid", "maxent", "naive-bayes")


def papers(most: int | None = None, least: int = 3) -> Block:
    """Return NIPS 0 to 12, or ``most`` of the papers, as words in lower case.

    Stop words and words of fewer than ``least`` papers are dropped.
    """
    stop, chosen = stop_words(), thin(list(records("nips-00-12")), most or 10**9)

    def words(text: str) -> list[str]:
        return [word for word in _LETTERS.findall(text.lower()) if word not in stop]

    return frequent(block_of(chosen, words), least)


def split(documents: Block, seed: int = 1) -> tuple[Block, Block]:
    """70 % and 30 %, at random."""
    cut, documents = int(0.7 * len(documents)), shuffled(documents, seed)
    return part(documents, last=cut), part(documents, cut)


def empty_model(words: tuple[str, ...], topics: int) -> Snapshot:
    """Return a model without counts."""
    prior = TopicWordPrior.flat(BETA * len(words), len(words), len(words), topics)
    facts: dict[str, Any] = {
        "key": "",
        "sequence": 0,
        "event_time": 0,
        "fingerprint": "",
        "words": words,
        "prior": prior,
    }
    return Snapshot.from_dense(
        np.zeros((len(words), topics)), alpha=np.full(topics, ALPHA), **facts
    )


def train(
    documents: Block,
    topics: int,
    sweeps: int,
    enough: Callable[[int, CorpusSampler, Corpus], bool] = lambda sweep, state, corpus: False,
) -> Snapshot:
    """Run batch Gibbs until it is ``enough``.

    Alpha is learned every tenth sweep after the first fifty.
    """
    words = vocabulary(documents)
    empty = empty_model(words, topics)
    rows, (corpus,) = build_corpora(numbered(empty, documents))
    state = CorpusSampler(empty, rows, [corpus], stream_key(1, "train"))
    begin = time.thread_time()
    for sweep in range(sweeps + 1):
        state.sweep(corpus, sweep, first=sweep == 0)
        if sweep >= 50 and sweep % 10 == 0:
            state.alpha = fit_alpha(corpus.in_documents, state.alpha)
        if enough(sweep, state, corpus):
            break
    seconds = time.thread_time() - begin
    rate = (sweep + 1) * len(corpus.tokens) / seconds / 1e6
    print(
        f"trained: {len(documents)} papers, {len(corpus.tokens)} tokens, {len(words)} words,"
        f" {sweep} sweeps, {rate:.2f} M visits/s"
    )
    return replace(
        Snapshot.from_dense(state.counts().astype(float), **_facts(empty)), alpha=state.alpha
    )


def fit_alpha(in_documents: IntArray, alpha: FloatArray, steps: int = 5) -> FloatArray:
    """Make steps of Minka's fixed point, which estimates the Dirichlet prior of documents' topics.

    Args:
        in_documents: int32[D, T], the tokens of each document and topic.
        alpha: float64[T], the start.
        steps: The number of steps.
    """
    lengths = in_documents.sum(axis=1)
    for _ in range(steps):
        above = (digamma(alpha + in_documents) - digamma(alpha)).sum(axis=0)
        below = (digamma(alpha.sum() + lengths) - digamma(alpha.sum())).sum()
        # The alpha of a topic that no document uses would converge to 0 and stay there.
        alpha = np.maximum(alpha * above / below, 1e-4)
    return alpha


def _facts(snapshot: Snapshot) -> dict[str, Any]:
    names = ("key", "sequence", "event_time", "fingerprint", "alpha", "prior", "words")
    return {name: getattr(snapshot, name) for name in names}


def classify(published: PublishedModel, documents: Block, sweeps: int, features: str) -> Classifier:
    """Fit a classifier to pairs that Gibbs3 makes."""
    settings = Gibbs3(sweeps=sweeps)
    prepared = inference_for(settings).prepare(settings, published)
    begin = time.thread_time()
    pairs = [
        pair
        for document in documents.documents()
        if (pair := make_pair(settings, prepared, published, document)) is not None
    ]
    made = time.thread_time()
    fitted = fit(pairs, published.snapshot.topic_count, FitSettings(features))
    print(
        f"classifier of {features}: pairs {made - begin:.1f} s, fit"
        f" {time.thread_time() - made:.1f} s,",
        end=" ",
    )
    losses = ", ".join(f"{variance:g}: {loss:.4f}" for variance, loss in fitted.held_out_loss)
    print(
        f"sigma^2 {fitted.variance:g} ({losses}), temperature {fitted.temperature:.3f}", flush=True
    )
    nowhere = Provenance("", "", "", 0, 0, "", {}, {}, 0.0, [], 0, "")
    return Classifier(fitted.rows, fitted.weights, fitted.temperature, features, nowhere)


def infer(
    published: PublishedModel, documents: Block, settings: InferenceSettings
) -> tuple[list[TopicMixture], float]:
    """(mixtures, seconds for each document)."""
    run = prepared_for(published, settings)
    if not inference_for(settings).needs_all_documents:
        run(part(documents, last=3))
    begin = time.thread_time()
    found = list(run(documents).mixtures())
    return found, (time.thread_time() - begin) / len(documents)


def prepared_for(
    published: PublishedModel, settings: InferenceSettings
) -> Callable[[Block], MixtureBlock]:
    """Return a function that infers the mixtures of documents; the model is prepared once."""
    prepared = inference_for(settings).prepare(settings, published)

    def run(documents: Block) -> MixtureBlock:
        found = numbered(published.snapshot, documents)
        return inferred(settings, prepared, found, published.version)

    return run


def unheld(
    reference: Sequence[TopicMixture], estimate: Sequence[TopicMixture], alpha: FloatArray
) -> float:
    """Return the part of the mean KL from topics that have only their prior in the estimate."""
    found = []
    for one, other in zip(reference, estimate, strict=True):
        p, q = one.proportions, other.proportions
        without = q < 1.5 * alpha / (other.words_known + alpha.sum())
        found.append(float(np.sum(p[without] * np.log(p[without] / q[without]))))
    return float(np.mean(found))


def _arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=70)
    parser.add_argument("--train_sweeps", type=int, default=1000)
    parser.add_argument("--sweeps", type=int, default=1000, help="of gibbs1, gibbs2 and gibbs3")
    parser.add_argument(
        "--average",
        action="store_true",
        help="over the later half of the states; the paper takes the last",
    )
    parser.add_argument("--methods", nargs="+", default=[*GIBBS, *OTHERS])
    parser.add_argument("--json", help="write the figures here")
    parser.add_argument(
        "--papers", type=int, help="only so many, evenly spread; without it all 1,740"
    )
    parser.add_argument(
        "--features", choices=FEATURES, default=FEATURES[0], help="of the classifier"
    )
    parser.add_argument(
        "--pair_sweeps", type=int, default=100, help="of the pairs that the classifier is fitted to"
    )
    return parser.parse_args()


def _run_methods(
    given: argparse.Namespace, published: PublishedModel, new: Block
) -> dict[str, tuple[list[TopicMixture], float]]:
    """Return the mixtures and the seconds a document of each method.

    Gibbs2 and Gibbs3 also run with another seed. No method can agree better with a run than another
    run of the same method does.
    """
    base = {
        "inference_sweeps": given.sweeps,
        "inference_from": "average" if given.average else "last",
    }
    runs = {}
    for name in given.methods:
        runs[name] = infer(published, new, compose(METHOD, {"method": name}, base))
        print(f"{name} done, {runs[name][1] * 1000:.3f} ms a document", flush=True)
    for name in ("gibbs2", "gibbs3"):
        if name in given.methods:
            settings = compose(METHOD, {"method": name, "inference_seed": 2}, base)
            runs[f"{name}, other seed"] = infer(published, new, settings)
    return runs


def main() -> None:
    """Print a table, and write the figures as JSON lines where asked to."""
    given = _arguments()
    training, new = split(papers(given.papers))
    snapshot = train(training, given.topics, given.train_sweeps)
    published = PublishedModel(snapshot, "nips", training=training)
    if {"maxent", "hybrid"} & set(given.methods):
        published = replace(
            published, classifier=classify(published, training, given.pair_sweeps, given.features)
        )
    runs, rows = _run_methods(given, published, new), []
    for reference in [name for name in ("gibbs1", "gibbs2") if name in runs]:
        print(
            f"\nagainst {reference:18} {'cosine':>8} {'KL':>8} {'unheld':>8} {'F1':>8}"
            f" {'ms/document':>12}"
        )
        for name, (mixtures, seconds) in runs.items():
            found = agreement(runs[reference][0], mixtures)
            facts = {"reference": reference, "method": name, "milliseconds": 1000 * seconds}
            rows.append({**facts, **found, **vars(given)})
            apart = unheld(runs[reference][0], mixtures, snapshot.alpha)
            print(
                f"{name:26} {found['cosine']:8.3f} {found['kl']:8.3f} {apart:8.3f}"
                f" {found['f1']:8.3f} {1000 * seconds:12.3f}"
            )
    if given.json:
        Path(given.json).write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
