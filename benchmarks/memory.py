"""The bare learner's resident memory from the second to the tenth pass over arXiv.

Run ``python -m benchmarks memory``. The passes are one stream, and the vocabulary is given, so the
memory of the learner should not grow. ``BENCHMARK_EVERY=10`` (the default) takes every tenth
abstract, 1 takes all of them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.settings.compositions import compose
from benchmarks.corpora import abstracts, minibatches, vocabulary

PASSES = 10
# Small enough for ten passes in a few minutes.
SMALL: dict[str, dict[str, Any]] = {
    "o-lda": {"particles": 4},
    "gibbs": {"moves": 2},
}


def memory() -> None:
    """Resident megabytes after each pass."""
    documents = abstracts(int(os.environ.get("BENCHMARK_EVERY", "10")))
    batches = list(minibatches(documents, 200))
    words = vocabulary(documents)
    for name, changes in SMALL.items():
        settings = compose(
            LEARNER, {"learner": name, "vocabulary": "given", "vocabulary_file": words, **changes}
        )
        learner = learner_for(settings)
        state, found = learner.init(settings, "", 0), []
        for number in range(PASSES):
            for batch in batches:
                learner.step(state, replace(batch, sequence=batch.sequence + number * len(batches)))
            found.append(_resident())
        grown = 100 * (found[-1] / found[1] - 1)
        print(
            f"{name:16} {len(documents)} documents a pass, MB:"
            f" {' '.join(f'{size:.1f}' for size in found)}   grown {grown:+.1f} %"
        )


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
