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

from beam_topics.model.arrays import FloatArray
from beam_topics.model.documents.block import Block
from beam_topics.model.inference.base import METHOD, Gibbs2, InferenceSettings, PublishedModel
from beam_topics.model.inference.classifier import Classifier, Provenance
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.learners import ArchiveSchedule, Gibbs, Given, learner_for
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.settings.compositions import compose
from benchmarks.agreement import agreement, divergence
from benchmarks.corpora import known_tokens, minibatches, part, vocabulary
from benchmarks.inference import papers, prepared_for
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
    "hybrid": {"method": "hybrid"},
    "maxent": {"method": "maxent"},
}
UNFITTED = ("maxent", "hybrid")


def labelling() -> None:
    """Compare inference methods with MALLET's inferencer and gensim: documents a second, and KL."""
    documents = papers()
    # As a worker gets them.
    new = Block.from_bytes(part(documents, every=10).to_bytes())
    training = documents.take([row for row in range(len(documents)) if row % 10])
    for topics in map(int, os.environ.get("BENCHMARK_TOPICS", "50,400").split(",")):
        compare(training, new, topics)


def compare(training: Block, new: Block, topics: int) -> None:
    """One number of topics."""
    words = vocabulary(training)
    snapshot = trained(training, words, topics)
    published = PublishedModel(snapshot, "nips", unfitted(snapshot))
    reference = list(prepared_for(published, Gibbs2(sweeps=200))(new).mixtures())
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
                (rival(folder, Path(name), training, new, words, topics), None) for _ in range(2)
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


def trained(training: Block, words: tuple[str, ...], topics: int) -> Snapshot:
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
    new: Block,
    settings: InferenceSettings,
    reference: Sequence[TopicMixture],
) -> Callable[[], tuple[float, float | None]]:
    """Seconds and KL of a method, its preparation left out."""
    infer = prepared_for(published, settings)
    infer(part(new, last=3))

    def run() -> tuple[float, float | None]:
        mixtures: list[TopicMixture] = []
        taken = seconds_of(lambda: mixtures.extend(infer(new).mixtures()))
        kl = agreement(reference, mixtures)["kl"]
        return taken, None if settings.kind in UNFITTED or kl is None else float(kl)

    return run


def gensim(
    snapshot: Snapshot, new: Block, reference: Sequence[TopicMixture]
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
    counts = numbered(snapshot, new).counts
    pairs = list(zip(counts.rows.tolist(), counts.occurrences.tolist(), strict=True))
    chunk = [pairs[document] for document in counts.document_slices()]

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


def rival(
    folder: Path,
    place: Path,
    training: Block,
    new: Block,
    words: tuple[str, ...],
    topics: int,
) -> float:
    """Seconds of MALLET's inferencer, after it was trained."""
    source = write_numbers(place / "training", known_tokens(training, words))
    others = write_numbers(place / "new", known_tokens(new, words))
    return mallet_seconds(folder, source, topics, ALPHA, BETA, TRAINED, 1, 0, others, ITERATIONS)[
        -1
    ]
