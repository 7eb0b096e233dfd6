"""An archive ten times over as one stream on Prism: what grows? ``python -m benchmarks soak``.

Each pass has the same documents, later and under other ids. Measured for each pass: the peak of the
SDK worker's resident memory and of Prism's, the size of what each stateful step keeps for its key,
and documents a second of the worker's CPU. From the second pass, when all words are known, to the
tenth nothing may grow by more than 5 %, and the last may not be slower than 0.95 of the second.

Prism does not slow a source down that is faster than the steps behind it: what they have not taken
waits in memory. So the archive is replayed at a pace that leaves the worker idle for a part of the
time, and what is compared is CPU, not the clock. ``BENCHMARK_EVERY=10`` (the default) takes every
tenth abstract of arXiv; ``BEAM_TOPICS_PRISM`` is the path of the program.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from beam_topics.model.documents import sequencing
from beam_topics.model.documents.document import Document
from beam_topics.model.learner_log.log import Session
from beam_topics.model.publishing.publication import Publisher
from beam_topics.model.times import parse_time
from beam_topics.pipelines import train
from beam_topics.transforms.write import shard_start, write_shard
from benchmarks.corpora import records

PRISM = "BEAM_TOPICS_PRISM"
PASSES = 10
DAY = 86_400_000_000
YEAR = 365 * DAY
_WINDOW_DAYS, _PUBLISH_DAYS = 30, 5 * 365
_PASS_SECONDS = 45
_MOST = 0.05
_LEAST = 0.95


@dataclass
class Watch:
    """Peaks of each pass, by the learner's event time."""

    first: int
    span: int
    passed: int = 1
    resident: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    peaks: dict[str, dict[int, float]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(float))
    )
    documents: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    ended: dict[int, tuple[float, float]] = field(default_factory=dict)

    def note(self, name: str, value: float) -> None:
        """Record a value; the largest of each pass is kept."""
        peaks = self.peaks[name]
        peaks[self.passed] = max(peaks[self.passed], value)

    def learned(self, until: int, documents: int) -> None:
        """Note that the learner has reached this event time."""
        self.passed = min(PASSES, max(1, -(-(until - self.first) // self.span)))
        self.documents[self.passed] += documents
        self.ended[self.passed] = time.monotonic(), time.process_time()

    def sample(self, stop: threading.Event) -> None:
        """Memory, in megabytes, twice a second since something was learned."""
        own = psutil.Process()
        while not stop.wait(0.5):
            if not self.ended:
                continue
            self.resident[self.passed].append(own.memory_info().rss / 2**20)
            for child in own.children(recursive=True):
                if child.name() == "prism":
                    self.note("prism MB", child.memory_info().rss / 2**20)

    def rates(self, clock: int) -> dict[int, float]:
        """Return the documents a second of each pass whose begin and end were seen.

        The first pass has no beginning.

        Args:
            clock: 0 for wall-clock seconds, 1 for processor seconds.
        """
        return {
            n: self.documents[n] / (self.ended[n][clock] - self.ended[n - 1][clock])
            for n in range(2, PASSES + 1)
            if n in self.ended and n - 1 in self.ended
        }


def soak() -> None:
    """Learn the archive ten times as one stream on Prism: memory, state and throughput by pass."""
    if PRISM not in os.environ:
        print(f"left out: {PRISM} does not say where Prism is")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        watch = Watch(
            *write_archive(folder / "archive", int(os.environ.get("BENCHMARK_EVERY", "10")))
        )
        with observe(watch), sampled(watch):
            run(folder, watch.span / 1e6 / _PASS_SECONDS)
    report(watch)


@contextmanager
def sampled(watch: Watch) -> Iterator[None]:
    """Let the watch sample memory."""
    stop = threading.Event()
    sampler = threading.Thread(target=watch.sample, args=(stop,))
    sampler.start()
    try:
        yield
    finally:
        stop.set()
        sampler.join()


def write_archive(folder: Path, every: int) -> tuple[int, int]:
    """Write ten passes over one in ``every`` abstracts.

    Returns:
        The time at which the first pass begins, and the length of a pass, in microseconds.
    """
    chosen = [
        record for number, record in enumerate(records("arxiv-cs-1994-2019")) if number % every == 0
    ]
    times = [parse_time(record["timestamp"]) for record in chosen]
    first = min(times) // YEAR * YEAR
    span = (max(times) - first) // YEAR * YEAR + YEAR
    shards: dict[int, list[bytes]] = defaultdict(list)
    for number in range(PASSES):
        for record, micros in zip(chosen, times, strict=True):
            document = Document(
                f"{number}/{record['id']}", micros + number * span, record["text"]
            ).to_bytes()
            shards[shard_start(document, YEAR)[0]].append(document)
    for shard in sorted(shards.items()):
        write_shard(shard, str(folder))
    return first, span


@contextmanager
def observe(watch: Watch) -> Iterator[None]:
    """Let the stateful steps tell what they keep, each time that they have worked."""
    add_documents, close_windows = sequencing.add_documents, sequencing.close_windows
    handle, publish = Session.handle, Publisher.handle

    def sequenced(head: Any) -> None:
        watch.note("waiting documents", head.pending.stored)
        watch.note("sequence head bytes", len(head.to_bytes()))

    def adding(*arguments: Any, **named: Any) -> Any:
        found = add_documents(*arguments, **named)
        watch.note("waiting documents", found[0].pending.stored)
        return found

    def closing(*arguments: Any, **named: Any) -> Any:
        for closed in close_windows(*arguments, **named):
            sequenced(closed.head)
            yield closed

    def learning(self: Any, *arguments: Any) -> Any:
        found = handle(self, *arguments)
        for step in found.steps:
            watch.learned(step.window_end, step.info.documents)
        watch.note("log minibatches", found.head.log_count)
        watch.note("learner head bytes", len(found.head.to_bytes()))
        return found

    def publishing(self: Any, *arguments: Any) -> Any:
        found = publish(self, *arguments)
        watch.note("publisher head bytes", len(found[0].to_bytes()))
        return found

    sequencing.add_documents, sequencing.close_windows = adding, closing
    Session.handle, Publisher.handle = learning, publishing  # type: ignore[method-assign]
    try:
        yield
    finally:
        sequencing.add_documents, sequencing.close_windows = add_documents, close_windows
        Session.handle, Publisher.handle = handle, publish  # type: ignore[method-assign]


def run(folder: Path, speed: float) -> None:
    """Train on the archive as a stream."""
    status = train.main(
        [
            "--source=replay",
            f"--replay_speed={speed:.0f}x",
            f"--input={folder}/archive/*.avro",
            f"--model_store={folder}/models",
            f"--dead_letters={folder}/dead",
            f"--window={_WINDOW_DAYS}d",
            f"--publish_every={_PUBLISH_DAYS}d",
            "--learner=o-lda",
            "--topics=20",
            "--particles=2",
            "--checkpoint_tokens=500000",
            "--runner=PrismRunner",
            f"--prism_location={os.environ[PRISM]}",
        ]
    )
    if status:
        raise SystemExit(f"beam-topics train ended with {status}")


def report(watch: Watch, since: int = 2) -> None:
    """Print a table of the passes, and whether it is flat from pass ``since`` to the last.

    A worker that does not follow the pace may learn several passes at once. A step is then not seen
    in some passes, and the table has no figure for them.
    """
    print(f"{'pass':22}" + "".join(f"{n:>9}" for n in range(1, PASSES + 1)))
    rates = watch.rates(1)
    for name, found in (("documents/s", watch.rates(0)), ("documents/CPU second", rates)):
        print(f"{name:22}{cells(found)}")
    memory = {
        "worker MB, median": {n: statistics.median(found) for n, found in watch.resident.items()},
        "worker MB, peak": {n: max(found) for n, found in watch.resident.items()},
    }
    for name, peaks in sorted((watch.peaks | memory).items()):
        grown = growth(peaks, since)
        verdict = "not seen in both passes" if grown is None else f"{grown:+.1%}"
        print(f"{name:22}{cells(peaks)}   {verdict}{'   grows' * ((grown or 0) > _MOST)}")
    slower = growth(rates, 2)
    verdict = "not known" if slower is None else f"{1 + slower:.2f}"
    print(
        f"documents {sum(watch.documents.values())}   throughput of the last pass / the second:"
        f" {verdict}"
    )
    if slower is not None and 1 + slower < _LEAST:
        print(f"slower than {_LEAST} of the second pass")


def cells(figures: Mapping[int, float]) -> str:
    """Return the figures of the passes in columns."""
    return "".join(
        f"{figures[n]:9.0f}" if n in figures else f"{'-':>9}" for n in range(1, PASSES + 1)
    )


def growth(figures: Mapping[int, float], since: int) -> float | None:
    """Return the growth from a pass to the last; None where one of them has no figure."""
    if not figures.get(since) or PASSES not in figures:
        return None
    return figures[PASSES] / figures[since] - 1
