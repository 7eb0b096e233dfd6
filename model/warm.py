"""Compile the kernels ahead of the first job: ``python -m beam_topics.model.warm``.

The first job on a machine would otherwise begin with half a minute of compilation. numba keeps the
compiled code next to the sources, or in the user's cache if those cannot be written. Run this when
an image for workers is built. It compiles what ``train`` uses without options and what all methods
of inference use; other kernels are compiled when they are first used.
``python -m beam_topics.model.warm default`` leaves out the methods that are not the default one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.evaluation.held_out import evaluate
from beam_topics.model.inference import METHOD, PublishedModel, inference_for, inference_names
from beam_topics.model.inference.classifier import Classifier, Provenance
from beam_topics.model.inference.features import numbered
from beam_topics.model.kernels.jit import remove_stale_caches
from beam_topics.model.learners import Gibbs, LocalBirths, StreamSchedule, learner_for
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

# Documents of a minibatch, and minibatches: the first topics are chosen after 300 documents.
_SIZE, _MINIBATCHES = 20, 30


@dataclass(frozen=True)
class _EarlyBirths(LocalBirths):
    """Topics are proposed and born within some dozen documents."""

    apart = 3
    delay = 5 * _SIZE
    begins = 10
    every = 12
    level = 0.9
    rise_level = 0.9
    controls = 2
    window = _SIZE
    least = 1
    judges = 5


_DEFAULT = Gibbs(topics=2, schedule=StreamSchedule(moves=1, births=_EarlyBirths()))


def _documents() -> Block:
    """Return minibatches of documents; the last ones have a subject of their own."""
    numbers = range(_MINIBATCHES * _SIZE)
    return Block.of_words(
        [Document(str(d), d, "", "x") for d in numbers],
        [_words(d, late=d >= 20 * _SIZE and d % 2 == 0) for d in numbers],
    )


def _words(number: int, late: bool) -> list[str]:
    return [*(["six", "seven"] if late else ["one", "two", "three"]), f"w{number % 3}"] * 9


def warm(everything: bool = True) -> None:
    """Tokenise a text, and learn, save, load, infer and evaluate a few words.

    Args:
        everything: with every method of inference and with evaluation; else with the default one.
    """
    documents, learner = _documents(), learner_for(_DEFAULT)
    Tokeniser(tokeniser_settings()).block([Document("", 0, "x-ray", "")])
    state = learner.init(_DEFAULT, "", 0)
    for begin in range(0, len(documents), _SIZE):
        if begin == len(documents) // 2:
            state = learner.load(_DEFAULT, "", 0, learner.save(state))
        part, number = documents.take(range(begin, begin + _SIZE)), begin // _SIZE + 1
        minibatch = Minibatch.of_block(part, number, number, True)
        # In a job the arrays of a minibatch are read-only, for which kernels are compiled again.
        learner.step(state, Minibatch.from_bytes(minibatch.to_bytes()) if number > 5 else minibatch)
    # What a candidate tells of the state.
    for unlearned in (False, True):
        learner.arrivals(state, 0, unlearned)
    learner.summary(state)
    learner.witness(state)
    snapshot = learner.snapshot(state)
    methods = inference_names() if everything else (METHOD.default,)
    some = documents.take(range(24))
    warm_inference(snapshot, some, methods)
    if everything:
        evaluate(snapshot, some)


def warm_inference(snapshot: Snapshot, documents: Block, methods: Sequence[str]) -> None:
    """Run inference methods, on documents as they are and as they are read."""
    weights = np.zeros((0, snapshot.topic_count), np.float32)
    made = Provenance("", "", "", 0, 0, "", {}, {}, 1.0, [], 0, "")
    published = PublishedModel(
        snapshot,
        "warm",
        Classifier(np.zeros(0, np.int64), weights, 1.0, "roots", made),
        documents,
    )
    for name in methods:
        settings = compose(METHOD, {"method": name}, {"inference_sweeps": 1})
        method = inference_for(settings)
        for block in (documents.take(range(2)), Block.from_bytes(documents.to_bytes())):
            method.infer(method.prepare(settings, published), numbered(snapshot, block))


if __name__ == "__main__":
    remove_stale_caches()
    warm(everything=sys.argv[1:] != ["default"])
