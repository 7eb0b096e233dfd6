"""What a learner costs: ``python -m benchmarks capacity``, for docs/capacity.md.

Documents are synthetic: 100 words by Zipf's law from 8,000, as in
:mod:`benchmarks.scale.made_up`. A learner first learns 300 documents, which contain the initial
batch, and is then measured over the next ones. Rates are documents in a second of one processor.
Sizes are those of the state in memory (as ``--max_state_mb`` and ``--memory_mb`` count it), of a
checkpoint and of a snapshot.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.publishing.snapshots import snapshot_to_file
from beam_topics.model.settings.compositions import compose
from benchmarks.corpora import minibatches
from benchmarks.scale.made_up import made_up_words

_WORDS, _FIRST, _EACH = 100, 300, 50
# The name of a row, the options of the learner, and the number of documents that are measured.
_ROWS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("gibbs (default), T = 50", {}, 3000),
    ("gibbs, T = 20", {"topics": 20}, 3000),
    ("gibbs, T = 200", {"topics": 200}, 3000),
    ("gibbs, --moves=8", {"moves": 8}, 3000),
    ("gibbs, --moves=120", {"moves": 120}, 3000),
    ("gibbs, --births=off", {"births": "off"}, 3000),
    ("o-lda, T = 50", {"learner": "o-lda"}, 1000),
    ("fixvoc-vb, T = 50", {"learner": "fixvoc-vb"}, 1000),
    ("infvoc, T = 50", {"learner": "infvoc"}, 600),
)


class Cost(NamedTuple):
    """What a learner costs after some documents; sizes are in bytes."""

    rate: float
    memory: int
    checkpoint: int
    snapshot: int


def capacity() -> None:
    """Print documents a second and sizes of learners."""
    print(f"{'learner':36} {'documents/s':>11} {'memory':>9} {'checkpoint':>11} {'snapshot':>9}")
    for name, settings, count in _ROWS:
        cost = cost_of(settings, count)
        sizes = [f"{size / 2**20:.2f} MB" for size in cost[1:]]
        print(
            f"{name:36} {cost.rate:11,.0f} {sizes[0]:>9} {sizes[1]:>11} {sizes[2]:>9}", flush=True
        )


def cost_of(options: dict[str, Any], count: int) -> Cost:
    """Measure a learner over ``count`` documents after the first ones."""
    settings = compose(LEARNER, {"topics": 50, **options})
    learner = learner_for(settings)
    state: Any = learner.init(settings, "", 0)
    batches = list(minibatches(documents(_FIRST + count), _EACH))
    first = _FIRST // _EACH
    learn(learner, state, batches[:first])
    seconds = learn(learner, state, batches[first:])
    snapshot = snapshot_to_file(learner.snapshot(state))
    return Cost(
        count / seconds, learner.nbytes(state), len(learner.save(state)), len(snapshot.data)
    )


def learn(learner: Any, state: Any, batches: list[Minibatch]) -> float:
    """Return the processor seconds of learning."""
    began = time.process_time()
    for batch in batches:
        learner.step(state, batch)
    return time.process_time() - began


def documents(count: int) -> Block:
    """Return made-up documents."""
    words, weights = made_up_words()
    chosen = np.random.default_rng(1).choice(len(words), (count, _WORDS), p=weights).tolist()
    texts = [[words[word] for word in row] for row in chosen]
    return Block.of_words([Document(str(number), number, "") for number in range(count)], texts)
