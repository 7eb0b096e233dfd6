"""The engine over topics, documents and words: ``python -m benchmarks.sizes``.

An archive of made-up documents is learned, each row in a process of its own.
``ns`` are nanoseconds of the processor for a token that is visited, merges and tables included;
``exponent`` is that of the seconds between a row and the one before it, so 1 is linear. Documents
have 30 tokens of two of T subjects, each with Zipf's law over the same words in another order.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from beam_topics.model.learners.engine.archive import archive
from beam_topics.model.learners.engine.state import State
from benchmarks.runners import ROOT

LENGTH, SUBJECTS = 30, 2
# Topics, documents and words.
ROWS = {
    "topics": [(t, 20_000, 20_000) for t in (10, 50, 200, 1000, 2000)],
    "documents": [(50, d, 20_000) for d in (10_000, 100_000, 1_000_000)],
    "words": [(50, 20_000, w) for w in (2_000, 20_000, 200_000)],
}


def made(topics: int, documents: int, words: int) -> State:
    """Return a state with documents that nobody has learned."""
    generator = np.random.default_rng(1)
    weights = np.cumsum(1.0 / np.arange(1, words + 1))
    ranks = np.searchsorted(weights, generator.random((documents, LENGTH)) * weights[-1])
    mine = generator.integers(topics, size=(documents, SUBJECTS))
    subjects = np.take_along_axis(mine, generator.integers(SUBJECTS, size=ranks.shape), axis=1)
    # Each subject has the words in an order of its own.
    tokens = (ranks + subjects * max(1, words // topics)) % words
    state = State(topics, 1, "sizes")
    state.add_words(words)
    state.add_documents(tokens.ravel().astype(np.int32), np.full(documents, LENGTH))
    return state


def row(topics: int, documents: int, words: int) -> dict[str, float]:
    """Learn an archive of one size."""
    state = made(topics, documents, words)
    with ThreadPoolExecutor(2) as pool:
        # Kernels are compiled before seconds count.
        archive(made(topics, 100, words), pool=pool)
        before = time.process_time()
        archive(state, pool=pool)
        seconds = time.process_time() - before
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ns = seconds / state.visits * 1e9
    return {"seconds": round(seconds, 2), "ns": round(ns, 1), "megabytes": round(megabytes)}


def main() -> None:
    """Print all rows, or the one that the command line names."""
    if len(sys.argv) == 4:
        print(json.dumps(row(*map(int, sys.argv[1:]))))
        return
    for what, sizes in ROWS.items():
        place, last = list(ROWS).index(what), None
        for size in sizes:
            command = [sys.executable, "-m", "benchmarks.sizes", *map(str, size)]
            out = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
            found = json.loads(out)
            if last is not None:
                ratio = math.log(found["seconds"] / last[1]) / math.log(size[place] / last[0])
                found["exponent"] = round(ratio, 2)
            last = size[place], found["seconds"]
            about = dict(zip(ROWS, size, strict=True))
            print(json.dumps({"over": what, **about, **found}), flush=True)


if __name__ == "__main__":
    main()
