"""The cost of a window: one archive, learned with 10 to 100,000 windows.

Run ``python -m benchmarks windows``. The archive is synthetic: 100,000 documents of 100 words, one
every ten seconds, whose words follow Zipf's law. The learner is o-lda with fixed concentrations.
Learning is then cheap, because other concentrations are drawn after each minibatch. A minibatch
ends where its window ends, so 100,000 windows mean 100,000 minibatches instead of 500. Times are
processor seconds, because they hardly depend on what else runs on the machine.

``BENCHMARK_DOCUMENTS=20000`` makes a smaller archive, with up to as many windows. The last number
of windows should cost at most :data:`MOST` times what the first costs.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.runners import cost, train

DOCUMENTS = 100_000
WINDOWS = (10, 100, 1_000, 10_000, 100_000)
MOST = 2.0
_WORDS, _VOCABULARY, _SECONDS = 100, 20_000, 10


def windows() -> None:
    """Seconds of pipelines.train on the local runner for each number of windows."""
    documents = int(os.environ.get("BENCHMARK_DOCUMENTS", DOCUMENTS))
    with tempfile.TemporaryDirectory() as name:
        source, first = Path(name) / "documents.jsonl.gz", 0.0
        write(source, documents)
        for count in (number for number in WINDOWS if number <= documents):
            seconds = documents * _SECONDS // count
            flags = [
                "--learner=o-lda",
                "--concentrations=fixed",
                f"--window={seconds}s",
                f"--publish_every={documents * _SECONDS // 10}s",
            ]
            spent = cost(partial(train, source, Path(name), flags)).processor
            first = first or spent
            ratio = f"{spent / first:.2f} x (wanted {MOST})"
            print(
                f"{count:7,} windows of {seconds:7,} s   {spent:6.1f} s of the processor   {ratio}",
                flush=True,
            )


def write(path: Path, documents: int) -> None:
    """Made-up documents in the order of time."""
    generator = np.random.default_rng(1)
    weights = 1 / np.arange(1, _VOCABULARY + 1)
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as lines:
        for number in range(documents):
            words = generator.choice(_VOCABULARY, _WORDS, p=weights / weights.sum())
            text = " ".join(map(_word, words.tolist()))
            lines.write(
                json.dumps({"id": str(number), "timestamp": number * _SECONDS, "text": text}) + "\n"
            )


def _word(number: int) -> str:
    """Return a word of letters for a number."""
    letters = ""
    while True:
        number, letter = divmod(number, 26)
        letters += chr(ord("a") + letter)
        if not number:
            return f"w{letters}"
