"""Compile the kernels ahead of the first job: ``python -m beam_topics.model.warm``.

The first job on a machine would otherwise begin with half a minute of compilation. numba keeps the
compiled code beside the sources, or in the user's cache if those cannot be written. Run this when
an image for workers is built. ``python -m beam_topics.model.warm default`` compiles what ``train``,
``infer`` and ``label`` use without options; other kernels are then compiled when they are first
used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from beam_topics.model.compositions import compose
from beam_topics.model.evaluation.held_out import evaluate
from beam_topics.model.inference import METHOD, PublishedModel, inference_for, inference_names
from beam_topics.model.inference.classifier import Classifier, Provenance
from beam_topics.model.kernels.jit import remove_stale_caches
from beam_topics.model.learners import (
    ArchiveSchedule,
    BatchGibbs,
    CountOnce,
    FixvocHybrid,
    FixvocVb,
    Gibbs,
    Infvoc,
    InitialBatch,
    NoInitialBatch,
    OLda,
    ParticleFilter,
    Residual,
    StreamSchedule,
    learner_for,
)
from beam_topics.model.learners.base import LearnerSettings
from beam_topics.model.learners.engine.settings import LocalBirths
from beam_topics.model.records import Document, Minibatch, TokenisedDocument
from beam_topics.model.snapshot import Snapshot

_FEW = InitialBatch(documents=4, chains=2, sweeps=1)


class _SoonBorn(LocalBirths):
    """Births whose every part runs within some hundred documents."""

    apart, delay, begins, every, pasts = 3, 30, 10, 12, 2
    level, controls, patience, hope_after = 0.9, 2, 40, 30
    window, least, judges = 30, 1, 5


# What train uses without options.
_DEFAULT: tuple[LearnerSettings, ...] = (
    Gibbs(topics=4, duplicates=CountOnce(), schedule=StreamSchedule(births=_SoonBorn())),
)
_OTHERS: tuple[LearnerSettings, ...] = (
    Gibbs(topics=2, schedule=ArchiveSchedule(sweeps=1)),
    BatchGibbs(topics=2, chains=1, sweeps=1),
    OLda(topics=2, initial=_FEW),
    ParticleFilter(topics=2, particles=2, resampling=Residual(0.99), initial=NoInitialBatch()),
    FixvocVb(topics=2),
    FixvocHybrid(topics=2),
    Infvoc(topics=2, reorder_every=1),
)


def warm(everything: bool = True) -> None:
    """Learn, save, load, infer and evaluate a few words.

    The kernels of ``--history=tree`` are left out.

    Args:
        everything: with every learner and method; else with those of ``train`` without options.
    """
    documents = [
        TokenisedDocument.from_words(
            Document(str(d), d, "", "x"), ["one", "two", "three", f"w{d % 3}"] * 9
        )
        for d in range(400)
    ]
    for settings in (*_DEFAULT, *_OTHERS) if everything else _DEFAULT:
        size = 200 if settings in _DEFAULT else 12
        learner = learner_for(settings)
        state = learner.init(settings, "", 0)
        for sequence in (1, 2):
            part = documents[size * (sequence - 1) : size * sequence]
            learner.step(state, Minibatch.from_documents("", sequence, sequence, True, part))
        state = learner.load(settings, "", 0, learner.save(state))
        # In a job the arrays of a minibatch are read-only, for which kernels are compiled anew.
        last = Minibatch.from_documents("", 3, 3, True, documents[: size // 2])
        learner.step(state, Minibatch.from_bytes(last.to_bytes()))
        # What a candidate tells of the state.
        for unlearned in (False, True):
            learner.arrivals(state, 0, unlearned)
        learner.summary(state)
        learner.witness(state)
        snapshot = learner.snapshot(state)
        methods = inference_names() if everything else (METHOD.default,)
        warm_inference(snapshot, documents[:24], methods)
        if everything:
            evaluate(snapshot, documents[:24])


def warm_inference(
    snapshot: Snapshot, documents: list[TokenisedDocument], methods: Sequence[str]
) -> None:
    """Run inference methods."""
    weights = np.zeros((0, snapshot.topic_count), np.float32)
    made = Provenance("", "", "", 0, 0, "", {}, {}, 1.0, [], 0, "")
    published = PublishedModel(
        snapshot,
        "warm",
        Classifier(np.zeros(0, np.int64), weights, 1.0, "roots", made),
        tuple(documents),
    )
    for name in methods:
        settings = compose(METHOD, {"method": name}, {"inference_sweeps": 1})
        method = inference_for(settings)
        method.infer(method.prepare(settings, published), documents[:2])


if __name__ == "__main__":
    remove_stale_caches()
    warm(everything=sys.argv[1:] != ["default"])
