"""A stream of an hour on Flink over Kafka: what grows? ``python -m benchmarks soak_flink``.

Made documents go to a topic at a steady rate, with the clock as their event time; one in twenty is
late by one to three windows. ``beam-topics stream`` learns and labels them. Each minute prints a
line of JSON: load and processor seconds, megabytes of processes, Flink's newest checkpoint, parts
of the model store, documents that are sent and not learned or not labelled, and the seconds from
sending a document to its label. The last line has the growth from the second quarter to the last.

``BENCHMARK_MINUTES=60`` (the default) is its length, ``BENCHMARK_RATE=10`` the documents a second.
SIGTERM ends it, and all that it started. Flink and Kafka come from the tools of the tests.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil

from beam_topics.model.learner_log.known import offsets_up_to
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.watch import StoreWatch

ROOT = Path(__file__).parent.parent
WINDOW = 20
RATE = float(os.environ.get("BENCHMARK_RATE", "10"))
LATE_EVERY, PARTITIONS = 20, 2
SUBJECTS, WORDS, TOKENS = 8, 400, 30
_MOST = 0.05
FLAGS = [
    "--checkpointing_interval=10000",
    f"--window={WINDOW}s",
    "--publish_every=1window",
    "--max_delay=1s",
    "--topics=10",
    # Full after some minutes.
    "--reservoir=2000",
    "--checkpoint_tokens=50000",
    "--keep=versions:5min,checkpoints:3,grace:2min",
]


def documents(seed: int = 1) -> Iterator[dict[str, Any]]:
    """Yield documents of a subject each as if they were sent when they are asked for."""
    draw = random.Random(seed)
    number = 0
    while True:
        subject = draw.randrange(SUBJECTS)
        words = (f"w{subject}x{int(draw.paretovariate(1)) % WORDS}" for _ in range(TOKENS))
        late = draw.uniform(1, 3) * WINDOW if number % LATE_EVERY == 0 else 0
        now = time.time()
        yield {"id": f"{number}@{now:.3f}", "timestamp": now - late, "text": " ".join(words)}
        number += 1


class Traffic:
    """Sends documents, and receives their mixtures, in a thread each.

    Attributes:
        sent: Documents sent.
        labelled: Documents whose mixture came.
        repeats: Mixtures of documents that had one.
    """

    def __init__(self, servers: str) -> None:
        self._servers, self._stop, self._latencies = servers, threading.Event(), list[float]()
        self.sent = self.labelled = self.repeats = 0
        self._threads = [threading.Thread(target=one) for one in (self._send, self._receive)]

    def __enter__(self) -> Traffic:
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        for one in self._threads:
            one.join()

    def latencies(self) -> list[float]:
        """Return the seconds of the documents that were labelled since the last call."""
        found, self._latencies = self._latencies, []
        return found

    def _send(self) -> None:
        from confluent_kafka import Producer

        producer, begin = Producer({"bootstrap.servers": self._servers}), time.monotonic()
        made = documents()
        while not self._stop.wait(max(0, self.sent / RATE - (time.monotonic() - begin))):
            row = json.dumps(next(made))
            producer.produce("given", row, partition=self.sent % PARTITIONS)
            producer.poll(0)
            self.sent += 1
        producer.flush(30)

    def _receive(self) -> None:
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": self._servers, "group.id": "soak"})
        consumer.assign([TopicPartition("mixtures", 0, 0)])
        # Of each number of a document a bit.
        seen = bytearray()
        while not self._stop.is_set():
            for message in consumer.consume(500, 0.5):
                if message.error() is not None:
                    continue
                number, _, at = json.loads(message.value())["id"].partition("@")
                seen.extend(bytes(max(0, int(number) + 1 - len(seen))))
                self.labelled += not seen[int(number)]
                self.repeats += seen[int(number)]
                seen[int(number)] = 1
                self._latencies.append(message.timestamp()[1] / 1000 - float(at))
        consumer.close()


class Figures:
    """What a minute shows of the cluster, the store and the traffic."""

    def __init__(self, cluster: Any, job: str, store: Path, processes: Mapping[str, int]) -> None:
        self._cluster, self._job, self._processes = cluster, job, processes
        self._store, self._watch = ModelStore(str(store)), StoreWatch(str(store))
        self._processor: dict[int, float] = {}

    def minute(self, number: int, traffic: Traffic) -> dict[str, Any]:
        """Return them; those that cannot be had at the moment are missing."""
        found: dict[str, Any] = {"minute": number, "load": os.getloadavg()[0]}
        found |= self._memory()
        with suppress(OSError, LookupError, TypeError):
            found |= self._checkpoint()
        # The job manager has no metrics at the first question.
        with suppress(OSError, LookupError):
            used = self._cluster.rest("/taskmanagers/0/metrics?get=Status.JVM.Memory.Heap.Used")
            found["heap_mb"] = float(used[0]["value"]) / 2**20
        found |= self._learned(traffic)
        seconds = sorted(traffic.latencies())
        found |= {"sent": traffic.sent, "labelled": traffic.labelled, "repeats": traffic.repeats}
        found["not_labelled"] = traffic.sent - traffic.labelled
        if seconds:
            found["latency_p50"] = statistics.median(seconds)
            found["latency_p95"] = seconds[int(0.95 * (len(seconds) - 1))]
        rounded = {k: round(v, 3) if isinstance(v, float) else v for k, v in found.items()}
        return {"time": time.strftime("%H:%M:%S", time.gmtime())} | rounded

    def _memory(self) -> dict[str, Any]:
        """Resident megabytes, and processor seconds since the last call."""
        found: dict[str, Any] = {}
        workers = self._cluster.workers()
        pids = {**self._processes, **{f"worker{n}": pid for n, pid in enumerate(workers)}}
        for name, pid in pids.items():
            with suppress(psutil.Error):
                process = psutil.Process(pid)
                spent = sum(process.cpu_times()[:2])
                found[f"{name}_mb"] = process.memory_info().rss / 2**20
                found[f"{name}_cpu"] = spent - self._processor.get(pid, 0)
                self._processor[pid] = spent
        return found

    def _checkpoint(self) -> dict[str, Any]:
        """Return what Flink says of its newest checkpoint."""
        told = self._cluster.rest(f"/jobs/{self._job}/checkpoints")
        newest = told["latest"]["completed"]
        return {
            "checkpoints": told["counts"]["completed"],
            "checkpoints_failed": told["counts"]["failed"],
            "restored": told["counts"]["restored"],
            "state_bytes": newest["state_size"],
            "checkpoint_ms": newest["end_to_end_duration"],
        }

    def _learned(self, traffic: Traffic) -> dict[str, Any]:
        """Versions, parts of the store, and how far what is learned is behind."""
        wrong = self._watch.read()
        found: dict[str, Any] = {"unread": wrong} if wrong else {}
        for seen in self._watch.seen.values():
            found |= {"version": seen.newest.sequence, "superseded": seen.superseded}
            found["not_learned"] = traffic.sent - seen.newest.documents
            for part, stamps in seen.files.items():
                found[f"{part}_files"] = len(stamps)
                found[f"{part}_bytes"] = sum(stamp.size for stamp in stamps.values())
            with suppress(Exception):
                point = self._store.resume_point("", "latest", 1, newest=seen.newest)[0]
                known = offsets_up_to(self._store, "", point.digest)
                ends = [pairs[0][1] for pairs in known.values()]
                found["offset_lag"] = traffic.sent - sum(ends)
        return found


def soak_flink() -> None:
    """Learn and label a topic on Flink for an hour: a line of JSON a minute, and what has grown."""
    # As pytest does: `tests` is also the name of a package of a dependency.
    sys.path.insert(0, str(ROOT / "tests"))
    from runners.broker import KafkaBroker
    from runners.flink_cluster import FlinkCluster
    from runners.processes import Server
    from runners.tools import Unavailable

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        folder = Path(name)
        try:
            broker = servers.enter_context(KafkaBroker(folder))
            cluster = servers.enter_context(FlinkCluster(folder / "flink", managers=1))
        except Unavailable as reason:
            print(f"left out: {reason}")
            return
        broker.create("given", PARTITIONS)
        broker.create("mixtures", 1)
        given = command(folder, broker.servers, cluster.flags(PARTITIONS))
        pipeline = servers.enter_context(Server("pipeline", given, folder, cwd=ROOT))
        job = cluster.running(pipeline)
        named = {
            "task_manager": cluster.managers[0].process.pid,
            "job_manager": cluster.manager.process.pid,
            "submitter": pipeline.process.pid,
            "benchmark": os.getpid(),
        }
        figures = Figures(cluster, job, folder / "models", named)
        traffic = servers.enter_context(Traffic(broker.servers))
        report(watched(figures, traffic))


def command(folder: Path, brokers: str, runner: Sequence[str]) -> list[str]:
    """Return the job's command."""
    return [
        *(sys.executable, "-m", "beam_topics.pipelines.stream", *runner, *FLAGS),
        *("--source=kafka", f"--kafka_servers={brokers}", "--kafka_topic=given"),
        *(f"--model_store={folder}/models", f"--dead_letters={folder}/dead"),
        "--output=kafka:mixtures",
    ]


def watched(figures: Figures, traffic: Traffic) -> list[dict[str, Any]]:
    """Print and return the figures of each minute."""
    found, begin = [], time.monotonic()
    for number in range(1, int(os.environ.get("BENCHMARK_MINUTES", "60")) + 1):
        time.sleep(max(0, begin + 60 * number - time.monotonic()))
        found.append(figures.minute(number, traffic))
        print(json.dumps(found[-1]), flush=True)
    return found


def report(minutes: Sequence[Mapping[str, Any]]) -> None:
    """Print the growth of medians from the second quarter to the last, and the latency."""
    quarter = len(minutes) // 4
    grown: dict[str, float] = {}
    for name in minutes[-1]:
        if not name.endswith(("_mb", "_bytes", "checkpoint_ms")):
            continue
        before, after = (
            [one[name] for one in part if name in one]
            for part in (minutes[quarter : 2 * quarter], minutes[-quarter:])
        )
        if before and after and statistics.median(before):
            grown[name] = round(statistics.median(after) / statistics.median(before) - 1, 4)
    latest = [one["latency_p95"] for one in minutes[quarter:] if "latency_p95" in one]
    worst = max(latest, default=None)
    verdict = {"growth": grown, "grows": [name for name, by in grown.items() if by > _MOST]}
    verdict |= {"latency_p95_worst": worst, "latency_wanted": 2 * WINDOW}
    print(json.dumps(verdict), flush=True)
