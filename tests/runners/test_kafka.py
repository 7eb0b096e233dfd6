"""A Kafka topic of three partitions, one of them idle, that is learned while it is written.

The tests run it undisturbed and with kills.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from runners.broker import KafkaBroker, rows
from runners.conftest import or_skip
from runners.processes import Server, run_until
from runners.tools import ROOT

from beam_topics.model.documents.document import Document
from beam_topics.model.documents.sequencing import chain_start, sequence_documents
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reading.parsing import parse_line
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.reporting.encoding import ROW_KEY
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

pytest.importorskip("confluent_kafka")

SEQUENCE = SequenceSettings(window=86_400_000_000, minibatch_size=1000)
FLAGS = [
    "--window=1d",
    "--publish_every=1window",
    "--minibatch_size=1000",
    "--learner=o-lda",
    "--topics=2",
    "--initial=none",
]
IDLE = "--idle_after=15s"


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[KafkaBroker]:
    with or_skip():
        made = KafkaBroker(tmp_path_factory.mktemp("kafka"))
    with made:
        yield made


def chain_of(count: int) -> tuple[int, str]:
    """(documents, fingerprint of their history) that learning the rows comes to, without Beam."""
    settings = tokeniser_settings()
    lines = (json.dumps(row).encode() for row in rows(count))
    read = [parse_line(line, "", ParseSettings()) for line in lines]
    documents = Tokeniser(settings).block([one for one in read if isinstance(one, Document)])
    assert len(documents) == len(read)
    learned, link = 0, None
    for link in sequence_documents(documents, SEQUENCE, chain_start("", settings, SEQUENCE)):
        learned += len(link.minibatch())
    assert link is not None
    return learned, link.fingerprint.hex()


class Live:
    """A producer and a training pipeline, side by side."""

    def __init__(
        self,
        broker: KafkaBroker,
        topic: str,
        folder: Path,
        count: int,
        rate: float,
        *flags: str,
        sent: Callable[[int], Iterator[dict[str, Any]]] = rows,
    ) -> None:
        broker.create(topic, 3)
        self._broker, self._topic, self._folder = broker, topic, folder
        self._count, self.store = count, ModelStore(str(folder / "models"))
        self._producer = threading.Thread(
            target=broker.send, args=(topic, sent(count), (0, 1), rate)
        )
        source = [
            "--source=kafka",
            f"--kafka_servers={broker.servers}",
            f"--kafka_topic={topic}",
            IDLE,
        ]
        places = [f"--model_store={folder / 'models'}", f"--dead_letters={folder / 'dead'}"]
        self._command = [
            sys.executable,
            "-m",
            "beam_topics.pipelines.train",
            *source,
            *places,
            *FLAGS,
            *flags,
        ]
        self.pipeline = self._start()

    def _start(self, *flags: str) -> Server:
        command = [*self._command, *flags]
        return Server(f"train-{self._topic}", command, self._folder, cwd=ROOT)

    def restart(self, *flags: str) -> None:
        """Run the pipeline again, with more flags."""
        self.pipeline.kill()
        self.pipeline = self._start(*flags)

    def add_partition(self, partitions: int, count: int) -> None:
        """Add the last of so many partitions to the topic, and send it old documents."""
        self._broker.grow(self._topic, partitions)
        added = ({**row, "id": f"{partitions}-{row['id']}"} for row in rows(count))
        self._broker.send(self._topic, added, (partitions - 1,))
        self._count += count

    def __enter__(self) -> Live:
        self._producer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.pipeline.kill()
        self._producer.join()

    def learned(self) -> int:
        """Documents in the newest version."""
        newest = self.store.latest("")
        return 0 if newest is None else newest.documents

    def until(self, documents: int, seconds: float) -> None:
        """Wait until so many documents are learned."""
        run_until(
            lambda: self.learned() >= documents, seconds, f"{documents} documents", self.pipeline
        )

    def check(self, dead: Path) -> None:
        """Check that all sent documents were learned, and none became a dead letter as a repeat."""
        self.until(self._count, 900)
        assert self.store.latest("").documents == self._count
        assert not list(dead.glob("*"))

    def check_order(self) -> None:
        """They are the documents that were sent, each once, in the order of their times."""
        newest = self.store.latest("")
        assert (newest.documents, newest.chain) == chain_of(self._count)


COUNTS = pytest.mark.parametrize("count", [20_000, pytest.param(200_000, marks=pytest.mark.faults)])


@COUNTS
def test_prism_learns_a_live_topic(broker, prism, tmp_path, count):
    flags = ("--runner=PrismRunner", f"--prism_location={prism}")
    with Live(broker, f"prism{count}", tmp_path, count, count / 40, *flags) as live:
        # Not the order: Prism takes the watermark from the partitions of the last bundle alone, so
        # documents may be late there.
        live.check(tmp_path / "dead")


@COUNTS
def test_a_killed_worker_and_a_killed_task_manager_change_nothing(broker, flink, tmp_path, count):
    flags = ("--checkpointing_interval=2000", *flink.flags(4))
    with Live(broker, f"flink{count}", tmp_path, count, count / 40, *flags) as live:
        live.until(count // 5, 600)
        job = flink.running(live.pipeline)
        try:
            flink.kill_worker(flink.workers()[0])
            live.until(count // 2, 600)
            flink.kill_manager(0)
            live.check(tmp_path / "dead")
            live.check_order()
        finally:
            flink.cancel(job)


# Long enough for some versions before the last partition is added.
LONG, EACH_SECOND = 6000, 100


def test_prism_reads_a_partition_that_is_added(broker, prism, tmp_path):
    flags = ("--runner=PrismRunner", f"--prism_location={prism}")
    with Live(broker, "prism-grows", tmp_path, LONG, EACH_SECOND, *flags) as live:
        live.until(1, 120)
        live.add_partition(4, 500)
        live.check(tmp_path / "dead")


def late_rows(count):
    """Rows of which every twentieth is up to two days late."""
    for number, row in enumerate(rows(count)):
        late = 0 if number % 20 else number * 7919 % 172_800
        yield {**row, "timestamp": row["timestamp"] - late}


def test_new_jobs_read_on_after_kills_and_each_document_is_learned_once(broker, prism, tmp_path):
    flags = ("--runner=PrismRunner", f"--prism_location={prism}")
    with Live(broker, "killed", tmp_path, LONG, EACH_SECOND, *flags, sent=late_rows) as live:
        for part in (1, LONG // 3, 2 * LONG // 3):
            live.until(part, 200)
            live.restart()
        live.check(tmp_path / "dead")
        assert "reads killed on at the offsets of the model store" in live.pipeline.output()
        assert [one.parent for one in live.store.manifests("")].count(None) == 1


@pytest.mark.faults
def test_a_restored_job_comes_to_its_versions_again(broker, flink, tmp_path):
    """Every version that LATEST named is in the history after kills, with late documents, too."""
    named = set()
    # Several versions come between two checkpoints.
    flags = ("--window=3h", "--idle_after=2s", "--checkpointing_interval=5000", *flink.flags(2))
    with Live(broker, "repeats", tmp_path, 7_000, 50, *flags, sent=late_rows) as live:
        job = None
        try:
            for part in (3_000, 4_500, 6_000):
                live.until(part, 200)
                job = job or flink.running(live.pipeline)
                named |= {one.version for one in live.store.manifests("")}
                flink.kill_worker(flink.workers()[-1])
            live.check(tmp_path / "dead")
            assert flink.restored(job) > 0
        finally:
            if job:
                flink.cancel(job)
    left = {one.version for one in live.store.manifests("")}
    assert not named - left, (len(named - left), len(named))


def test_flink_reads_partitions_that_are_added_after_a_savepoint_and_while_it_runs(
    broker, flink, tmp_path
):
    flags = ("--checkpointing_interval=2000", *flink.flags(2))
    with Live(broker, "flink-grows", tmp_path, LONG, EACH_SECOND, *flags) as live:
        live.until(1, 120)
        savepoint = flink.savepoint(flink.running(live.pipeline))
        learned = live.learned()
        live.add_partition(4, 500)
        live.restart(f"--savepoint_path={savepoint}")
        job = flink.running(live.pipeline)
        try:
            live.until(learned + 1, 120)
            live.add_partition(5, 500)
            live.check(tmp_path / "dead")
        finally:
            flink.cancel(job)


def test_mixtures_go_to_a_topic_once_for_each_document(broker, tmp_path):
    broker.create("given", 2)
    broker.create("mixtures", 2)
    sent = broker.send("given", rows(500), (0, 1))
    source = [
        "--source=kafka",
        f"--kafka_servers={broker.servers}",
        "--kafka_topic=given",
        "--until=end",
    ]
    places = [f"--model_store={tmp_path / 'models'}", f"--dead_letters={tmp_path / 'dead'}"]
    stream = [
        sys.executable,
        "-m",
        "beam_topics.pipelines.stream",
        *source,
        *places,
        "--output=kafka:mixtures",
        *FLAGS,
    ]
    subprocess.run(stream, check=True, cwd=ROOT)
    found = broker.receive("mixtures")
    assert sorted(key[1] for key, _ in found) == sorted(row["id"] for row in rows(sent))
    for key, value in found:
        assert key == [value[name] for name in ROW_KEY]
