"""``beam-topics train`` on every runner of this machine, against the bare learner.

Run ``python -m benchmarks runners``. Each runner learns the same archive twice: all of it, and its
first hundred documents, whose time is almost only the start. ``BENCHMARK_EVERY=20`` (the default)
takes every twentieth abstract of arXiv. Processor seconds of all processes of a run are given
beside wall-clock seconds, because they hardly depend on what else runs on the machine. Prism and
Flink come from the tools of the tests.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from beam_topics.model.learners import Gibbs
from benchmarks.corpora import records
from benchmarks.pipeline import batches_of
from benchmarks.speed import learn

ROOT = Path(__file__).parent.parent
FEW = 100
_USAGES = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
FLAGS = ["--window=30d", "--publish_every=3650d"]


def runners() -> None:
    """Measure each runner: documents a second with and without the start, learner's share."""
    every = int(os.environ.get("BENCHMARK_EVERY", "20"))
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        folder = Path(name)
        whole, few = folder / "whole.jsonl.gz", folder / "few.jsonl.gz"
        documents = write(whole, every, None)
        write(few, every, FEW)
        batches = batches_of(whole)
        # The first time compiles.
        learn(Gibbs(), batches)
        bare = cost(lambda: learn(Gibbs(), batches))
        print(
            f"{documents} documents; the learner alone: {bare.clock:.1f} s ({bare.processor:.1f} of"
            " the processor)",
            flush=True,
        )
        for runner, flags in on_this_machine(folder, servers):
            start, whole_run = (
                cost(partial(train, source, folder, flags)) for source in (few, whole)
            )
            work = whole_run.processor - start.processor
            print(
                f"{runner:24} start {start.clock:5.1f} s ({start.processor:5.1f} of the processor) "
                f"  whole {whole_run.clock:6.1f} s ({whole_run.processor:6.1f})  "
                f" {documents / whole_run.clock:5.0f} documents/s   without the start"
                f" {(documents - FEW) / (whole_run.clock - start.clock):5.0f}"
                f" ({(documents - FEW) / work:5.0f})   of that the learner"
                f" {bare.processor / work:.0%}",
                flush=True,
            )


class Cost(NamedTuple):
    """Seconds of the clock, and of the processor in all processes together."""

    clock: float
    processor: float


def cost(run: Callable[[], object]) -> Cost:
    """Return the cost of a call, with the processes that it starts and those that serve it."""
    before, clock = processor_seconds(), time.perf_counter()
    run()
    return Cost(time.perf_counter() - clock, processor_seconds() - before)


def processor_seconds() -> float:
    """Return processor seconds of this process, of ended children and of their sessions."""
    spent = sum(
        getattr(usage, part)
        for usage in map(resource.getrusage, _USAGES)
        for part in ("ru_utime", "ru_stime")
    )
    stats = [
        path.read_text().rpartition(")")[2].split()
        for path in Path("/proc").glob("[0-9]*/stat")
        if path.exists()
    ]
    sessions = {
        stat[3] for stat in stats if stat[1] == str(os.getpid()) and stat[3] != str(os.getsid(0))
    }
    return spent + sum(
        sum(map(int, stat[11:15])) for stat in stats if stat[3] in sessions
    ) / os.sysconf("SC_CLK_TCK")


def write(path: Path, every: int, most: int | None) -> int:
    """Every so many abstracts of arXiv, ``most`` of them at most; how many."""
    count = 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as lines:
        for number, record in enumerate(records("arxiv-cs-1994-2019")):
            if number % every == 0 and (most is None or count < most):
                lines.write(json.dumps(record) + "\n")
                count += 1
    return count


def on_this_machine(folder: Path, servers: ExitStack) -> Iterator[tuple[str, list[str]]]:
    """Names and flags of the runners that can be had."""
    # As pytest does: `tests` is also the name of a package of a dependency.
    sys.path.insert(0, str(ROOT / "tests"))
    from runners.flink_cluster import FlinkCluster
    from runners.tools import Unavailable, tool

    yield "FnApiRunner", []
    try:
        yield "Prism", ["--runner=PrismRunner", f"--prism_location={tool('prism')}"]
        jar = f"--flink_job_server_jar={tool('flink-job-server')}"
        yield (
            "embedded Flink, 1 task",
            ["--runner=FlinkRunner", "--flink_master=[local]", jar, "--parallelism=1"],
        )
        cluster = servers.enter_context(FlinkCluster(folder / "flink"))
        yield "Flink cluster, 2 tasks", cluster.flags(2)
        checkpoints = [
            "--streaming",
            "--checkpointing_interval=10000",
            "--shutdown_sources_after_idle_ms=1000",
        ]
        yield "the same, streaming", [*cluster.flags(2), *checkpoints]
    except Unavailable as reason:
        print(reason)


def train(source: Path, folder: Path, flags: list[str]) -> None:
    """One run into a store of its own, as a user would start it."""
    with tempfile.TemporaryDirectory(dir=folder) as store:
        places = [
            f"--input={source}",
            f"--model_store={store}/models",
            f"--dead_letters={store}/dead",
        ]
        subprocess.run(
            [sys.executable, "-m", "beam_topics.pipelines.train", *places, *FLAGS, *flags],
            cwd=ROOT,
            check=True,
            stderr=subprocess.DEVNULL,
        )
