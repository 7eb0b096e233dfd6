"""Topics that are born and die: ``python -m benchmarks.births --help``.

A stream is drawn from the model of LDA: topics are drawn from a Dirichlet distribution over a
vocabulary, and a document mixes the topics that are alive when it comes. Twenty topics are alive at
the start. Five of them die along the stream, one after the other, and five are born, each half a
period after a death.

A window is :data:`WINDOW` documents. A topic of the learner is in use in a window if it holds at
least :data:`SHARE` of the tokens that came in it. A true topic is found in a window if a topic in
use has the Bhattacharyya coefficient :data:`LIKE` or more with it. The delay of a birth is the
number of windows from the birth to the end of the first window that finds it, that of a death the
number to the end of the first window in which no topic that is like it is in use.

A run is one line of ``docs/results/births.jsonl``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from beam_topics.model.compositions import compose
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.records import Document, FloatArray, LongArray, TokenisedDocument
from beam_topics.model.snapshot import Snapshot
from benchmarks.corpora import minibatches
from benchmarks.ledger import Ledger, Result, Run, mean_and_error, print_table, size_of

TOPICS, CHANGING, WORDS, TOKENS = 20, 5, 1000, 60
THETA, PHI = 0.1, 0.02
MINIBATCH, WINDOW = 100, 500
SHARE, LIKE = 0.01, 0.8
_AUTO = {"topics": "auto", "max_topics": 40}
ROWS: dict[str, dict[str, Any]] = {
    "even, T = 20": {"topics": 20},
    "even, T = 40": {"topics": 40},
    "auto, at most 40": _AUTO,
    "auto, at most 100": {**_AUTO, "max_topics": 100},
    "auto, at most 200": {**_AUTO, "max_topics": 200},
    "even, T = 40, alpha .1": {"topics": 40, "alpha": 0.1},
    "auto, at most 40, alpha .1": {**_AUTO, "alpha": 0.1},
    "auto, at most 100, alpha .1": {**_AUTO, "max_topics": 100, "alpha": 0.1},
    "auto, at most 200, alpha .1": {**_AUTO, "max_topics": 200, "alpha": 0.1},
    "auto, no challengers": {**_AUTO, "challengers": "off"},
    "auto, flat prior": {**_AUTO, "prior": "flat", "max_words": WORDS},
}


@dataclass(frozen=True)
class Truth:
    """What a stream was drawn from.

    Attributes:
        phi: float64[25, W], the topics.
        born: int64[25], the document before which each is born.
        died: int64[25], the document before which each has died.
    """

    phi: FloatArray
    born: LongArray
    died: LongArray

    def alive(self, begin: int, end: int) -> int:
        """Return how many topics live in the middle of documents begin..end-1."""
        middle = (begin + end) // 2
        return int(np.count_nonzero((self.born <= middle) & (middle < self.died)))


def drawn_stream(size: int, seed: int) -> tuple[list[TokenisedDocument], Truth]:
    """Return a stream of ``size`` documents, and what it was drawn from."""
    generator = np.random.default_rng(seed)
    phi = generator.dirichlet(np.full(WORDS, PHI), TOPICS + CHANGING)
    truth = Truth(phi, np.zeros(len(phi), np.int64), np.full(len(phi), size))
    half = size / (2 * CHANGING + 4)
    for k in range(CHANGING):
        truth.died[k] = int((2 * k + 3) * half)
        truth.born[TOPICS + k] = int((2 * k + 4) * half)
    sums = np.cumsum(phi, axis=1)
    documents = []
    for number in range(size):
        alive = np.flatnonzero((truth.born <= number) & (number < truth.died))
        theta = np.cumsum(generator.dirichlet(np.full(len(alive), THETA)))
        drawn = np.minimum(np.searchsorted(theta, generator.random(TOKENS)), len(alive) - 1)
        words = [
            f"w{min(int(np.searchsorted(sums[topic], u)), WORDS - 1)}"
            for topic, u in zip(alive[drawn], generator.random(TOKENS), strict=True)
        ]
        document = Document(str(number), 0, "", "")
        documents.append(TokenisedDocument.from_words(document, words))
    return documents, truth


def likeness(truth: Truth, snapshot: Snapshot) -> FloatArray:
    """Return float64[25, T], the Bhattacharyya coefficients of true and learned topics."""
    counts = np.zeros((WORDS, snapshot.topic_count))
    rows = np.array([int(word[1:]) for word in snapshot.words])
    np.add.at(
        counts, (np.repeat(rows, np.diff(snapshot.offsets)), snapshot.topics), snapshot.counts
    )
    found: FloatArray = np.sqrt(truth.phi) @ np.sqrt(counts / np.maximum(counts.sum(axis=0), 1))
    return found


def births_and_deaths(run: Run) -> Result:
    """Return the topics in use in each window, and the delays, in windows."""
    documents, truth = drawn_stream(size_of(run.dataset), run.seed)
    settings = compose(LEARNER, {"seed": run.seed}, {"topics": TOPICS, **ROWS[run.row]})
    learner: Any = learner_for(settings)
    state = learner.init(settings, "", 0)
    in_use, alive, found, seconds = [], [], [], 0.0
    for sequence, minibatch in enumerate(minibatches(documents, MINIBATCH), 1):
        begin = time.thread_time()
        learner.step(state, replace(minibatch, sequence=sequence))
        seconds += time.thread_time() - begin
        end = sequence * MINIBATCH
        if end % WINDOW == 0:
            tokens = learner.arrivals(state, end - WINDOW).counts[0, 0]
            used = tokens >= SHARE * tokens.sum()
            in_use.append(int(used.sum()))
            alive.append(truth.alive(end - WINDOW, end))
            snapshot = learner.snapshot(state)
            found.append((likeness(truth, snapshot)[:, used] >= LIKE).any(axis=1))
    seen = np.array(found)
    return {
        "in_use": in_use,
        "alive": alive,
        "births": [_delay(seen[:, TOPICS + k], truth.born[TOPICS + k]) for k in range(CHANGING)],
        "deaths": [_delay(~seen[:, k], truth.died[k]) for k in range(CHANGING)],
        "seconds": seconds,
    }


def _delay(told: Sequence[bool], moment: int) -> float | None:
    """Return the windows from a moment to the end of the first window that tells; None for never.

    A window tells the moment only if it begins after it, or contains it.
    """
    for number in range(int(moment) // WINDOW, len(told)):
        if told[number]:
            return (number + 1) - float(moment) / WINDOW
    return None


def report(ledger: Ledger) -> None:
    """Print the table."""
    head = [
        "learner",
        "runs",
        "births found within 2 windows",
        "deaths",
        "topics in use beside those alive",
        "largest difference",
        "processor seconds",
    ]
    rows = []
    for row in dict.fromkeys(line["row"] for line in ledger.lines):
        lines = ledger.of(row=row)
        off = [
            abs(used - alive) / alive
            for line in lines
            for used, alive in zip(line["in_use"], line["alive"], strict=True)
        ]
        signed = [
            used / alive
            for line in lines
            for used, alive in zip(line["in_use"], line["alive"], strict=True)
        ]
        rows.append(
            [
                row,
                str(len(lines)),
                *(_within([delay for line in lines for delay in line[what]]) for what in _KINDS),
                f"{mean_and_error(signed)[0]:.2f} x",
                f"{100 * max(off):.0f} %",
                f"{mean_and_error(line['seconds'] for line in lines)[0]:.0f}",
            ]
        )
    print_table("Births and deaths", head, rows)


_KINDS = ("births", "deaths")


def _within(delays: Sequence[float | None]) -> str:
    told = [delay for delay in delays if delay is not None]
    mean = f", mean delay {np.mean(told):.1f}" if told else ""
    return f"{sum(delay <= 2 for delay in told)} of {len(delays)}{mean}"


def plan(given: argparse.Namespace) -> Iterator[Run]:
    """Return all rows with one seed before any with two."""
    for seed in range(1, 1 + given.seeds):
        yield from (Run("births", f"stream-{given.size}", row, seed) for row in given.rows)


def births() -> None:
    """Run a small stream in which topics are born and die: 2,000 documents."""
    folder = tempfile.mkdtemp(prefix="births-")
    main(["--size=2000", "--rows=auto, at most 40", "--seeds=1", f"--results={folder}"])


def main(arguments: list[str] | None = None) -> None:
    """Make the runs that are not there yet, then the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=10_000, help="documents of the stream")
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--seeds", type=int, default=5, help="runs of each row; 0: the table only")
    parser.add_argument("--results", type=Path, default=Path("docs/results"))
    given = parser.parse_args(arguments)
    ledger = Ledger(given.results / "births.jsonl")
    ledger.make(plan(given), births_and_deaths)
    report(ledger)


if __name__ == "__main__":
    main()
