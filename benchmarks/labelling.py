"""Documents a second of the inference methods, MALLET's inferencer and gensim.

``python -m benchmarks labelling`` holds out a tenth of the NIPS papers (174). SparseLDA samples the
rest for 100 sweeps, and MALLET trains a model of its own in the same way. Gibbs3 and MALLET make
100 iterations. gensim gets the counts of our model and infers in one chunk. KL is in nats and is
measured from Gibbs2 (200 sweeps, the second half averaged).

Times are processor seconds of one thread, the best of several repetitions, so run it with
``OPENBLAS_NUM_THREADS=1``. ``BENCHMARK_TOPICS=50`` names other numbers of topics. The weights of
MaxEnt are random: its time does not depend on them, and its KL is not printed.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from beam_topics.model.compositions import compose
from beam_topics.model.evaluation.agreement import agreement, divergence
from beam_topics.model.inference import (
    METHOD,
    Gibbs2,
    InferenceSettings,
    PublishedModel,
    inference_for,
)
from beam_topics.model.inference.classifier import Classifier, Provenance
from beam_topics.model.learners import ArchiveSchedule, Gibbs, Given, learner_for
from beam_topics.model.records import FloatArray, TokenisedDocument, TopicMixture
from beam_topics.model.snapshot import Snapshot
from benchmarks.corpora import minibatches, numbered, vocabulary
from benchmarks.inference import papers
from benchmarks.rivals import mallet, mallet_seconds, write_numbers

TRAINED, ITERATIONS, REPETITIONS = 100, 100, 3
ALPHA, BETA = 0.1, 0.01
METHODS: dict[str, dict[str, Any]] = {
    "gibbs3, 100 sweeps": {
        "method": "gibbs3",
        "inference_sweeps": ITERATIONS,
        "inference_from": "last",
    },
    "gibbs3, 20 sweeps": {"method": "gibbs3"},
    "gibbs3, 4 sweeps": {"method": "gibbs3", "inference_sweeps": 4},
    "gibbs3-s": {"method": "gibbs3-s"},
    "variational": {"method": "variational"},
    "variational, 10 iterations": {"method": "variational", "variational_iterations": 10},
    "hybrid": {"method": "hybrid"},
    "maxent": {"method": "maxent"},
}
UNFITTED = ("maxent", "hybrid")


def labelling() -> None:
    """Compare inference methods with MALLET's inferencer and gensim: documents a second, and KL."""
    documents = papers()
    # As a worker gets them.
    new = [TokenisedDocument.from_bytes(document.to_bytes()) for document in documents[::10]]
    training = [document for number, document in enumerate(documents) if number % 10]
    words = vocabulary(training)
    tokens, offsets = numbered(training, words)
    texts = np.split(tokens, offsets[1:-1])
    for topics in map(int, os.environ.get("BENCHMARK_TOPICS", "50,400").split(",")):
        compare(training, texts, words, new, topics)


def compare(
    training: list[TokenisedDocument],
    texts: list[Any],
    words: tuple[str, ...],
    new: list[TokenisedDocument],
    topics: int,
) -> None:
    """One number of topics."""
    snapshot = trained(training, words, topics)
    published = PublishedModel(snapshot, "nips", unfitted(snapshot))
    whole = Gibbs2(sweeps=200)
    reference = inference_for(whole).infer(inference_for(whole).prepare(whole, published), new)
    runs: dict[str, Callable[[], tuple[float, float | None]]] = {
        label: ours(published, new, compose(METHOD, settings), reference)
        for label, settings in METHODS.items()
    }
    runs["gensim"] = gensim(snapshot, new, reference)
    found: dict[str, list[tuple[float, float | None]]] = {}
    for _ in range(REPETITIONS):
        for label, run in runs.items():
            found.setdefault(label, []).append(run())
    with tempfile.TemporaryDirectory() as name:
        folder = mallet()
        if folder is not None:
            found["MALLET, 100 iterations"] = [
                (rival(folder, Path(name), texts, new, words, topics), None) for _ in range(2)
            ]
    known = sum(mixture.words_known for mixture in reference) / len(new)
    print(f"K = {topics}: {len(new)} papers of {known:.0f} known tokens on average")
    for label, results in found.items():
        taken, kl = min(results, key=lambda result: result[0])
        print(
            f"  {label:28} {len(new) / taken:9.1f} documents/s   KL"
            f" {'' if kl is None else format(kl, '.3f')}",
            flush=True,
        )


def trained(training: list[TokenisedDocument], words: tuple[str, ...], topics: int) -> Snapshot:
    """Return a model of an archive."""
    schedule = ArchiveSchedule(sweeps=TRAINED)
    settings = Gibbs(topics=topics, alpha=ALPHA, schedule=schedule, vocabulary=Given(words))
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches(training, 200):
        learner.step(state, minibatch)
    return learner.snapshot(state)


def seconds_of(run: Callable[[], object]) -> float:
    """Return the processor seconds of a call in this process."""
    start = time.process_time()
    run()
    return time.process_time() - start


def unfitted(snapshot: Snapshot) -> Classifier:
    """Weights that were not fitted."""
    weights = (
        np.random.default_rng(1)
        .normal(size=(len(snapshot.words), snapshot.topic_count))
        .astype(np.float32)
    )
    return Classifier(
        np.arange(len(snapshot.words)),
        weights,
        1.0,
        "roots",
        Provenance("", "", "", 0, 0, "", {}, {}, 0.0, [], 0, ""),
    )


def ours(
    published: PublishedModel,
    new: Sequence[TokenisedDocument],
    settings: InferenceSettings,
    reference: Sequence[TopicMixture],
) -> Callable[[], tuple[float, float | None]]:
    """Seconds and KL of a method, its preparation left out."""
    method = inference_for(settings)
    prepared = method.prepare(settings, published)
    method.infer(prepared, new[:3])

    def run() -> tuple[float, float | None]:
        mixtures: list[TopicMixture] = []
        taken = seconds_of(lambda: mixtures.extend(method.infer(prepared, new)))
        kl = agreement(reference, mixtures)["kl"]
        return taken, None if settings.kind in UNFITTED or kl is None else float(kl)

    return run


def gensim(
    snapshot: Snapshot, new: Sequence[TokenisedDocument], reference: Sequence[TopicMixture]
) -> Callable[[], tuple[float, float]]:
    """Measure gensim with our topics."""
    from gensim.models import LdaModel

    names = dict(enumerate(snapshot.words))
    rival = LdaModel(
        num_topics=snapshot.topic_count,
        id2word=names,
        alpha=snapshot.alpha.copy(),
        eta=BETA,
        dtype=np.float64,
    )
    rival.state.sstats = np.ascontiguousarray(snapshot.rows(np.arange(len(names))).T)
    rival.sync_state()
    chunk = [bag(snapshot, document) for document in new]

    def run() -> tuple[float, float]:
        found: list[FloatArray] = []
        taken = seconds_of(lambda: found.append(rival.inference(chunk)[0]))
        theta = found[0] / found[0].sum(axis=1, keepdims=True)
        return taken, float(
            np.mean(
                [
                    divergence(mixture.proportions, row)
                    for mixture, row in zip(reference, theta, strict=True)
                ]
            )
        )

    return run


def bag(snapshot: Snapshot, document: TokenisedDocument) -> list[tuple[int, int]]:
    """(word, how often) of the words that the model knows."""
    times = np.bincount(document.tokens, minlength=len(document.words))
    return [
        (snapshot.numbers[word], int(n))
        for word, n in zip(document.words, times, strict=True)
        if word in snapshot.numbers
    ]


def rival(
    folder: Path,
    place: Path,
    texts: list[Any],
    new: Sequence[TokenisedDocument],
    words: tuple[str, ...],
    topics: int,
) -> float:
    """Seconds of MALLET's inferencer, after it was trained."""
    numbers = {word: number for number, word in enumerate(words)}
    source = write_numbers(place / "training", texts)
    others = write_numbers(
        place / "new",
        (
            np.array([numbers[w] for w in document.words if w in numbers], np.int64)[
                local(document, numbers)
            ]
            for document in new
        ),
    )
    return mallet_seconds(folder, source, topics, ALPHA, BETA, TRAINED, 1, 0, others, ITERATIONS)[
        -1
    ]


def local(document: TokenisedDocument, numbers: dict[str, int]) -> Any:
    """Return the document's known tokens as indices into its known words."""
    known = np.array([word in numbers for word in document.words], bool)
    return (np.cumsum(known) - 1)[document.tokens[known[document.tokens]]]
