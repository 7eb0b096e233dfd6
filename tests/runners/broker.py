"""A Kafka broker on this machine, and documents to send to it.

with KafkaBroker(tmp_path) as broker:
    broker.create("documents", partitions=3)
    broker.send("documents", rows(1000), partitions=(0, 1))
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from runners.processes import Server, free_port, listening, run_until
from runners.tools import program, tool

_START_SECONDS = 90
_CONFIG = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{control}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{control}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/logs
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
auto.create.topics.enable=false
"""
# Sixteen bytes in base 64; one that begins with a hyphen would be taken for an option.
_CLUSTER = "YmVhbS10b3BpY3MtdGVzdA"
_TOPICS = (
    "ship sailed harbour sailor ocean wind mast anchor storm deck island captain",
    "judge court verdict lawyer witness trial appeal jury prison crime law oath",
)
_BEGIN, _MINUTE = 978_307_200, 60


class KafkaBroker:
    """One process that is broker and controller; its files are in the folder."""

    def __init__(self, folder: Path) -> None:
        self._java, self._lib = program("java"), tool("kafka")
        self._folder, self._port, self._control = folder, free_port(), free_port()

    @property
    def servers(self) -> str:
        """What ``--kafka_servers`` wants."""
        return f"127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        config = self._folder / "server.properties"
        config.write_text(
            _CONFIG.format(port=self._port, control=self._control, folder=self._folder),
            encoding="utf-8",
        )
        java = [
            self._java,
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            f"{self._lib}/*",
        ]
        storage = [*java, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(config)]
        subprocess.run(storage, check=True, capture_output=True, env={**os.environ})
        self._server = Server("kafka", [*java, "kafka.Kafka", str(config)], self._folder)
        try:
            run_until(lambda: listening(self._port), _START_SECONDS, "the broker", self._server)
        except BaseException:
            self._server.kill()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._server.stop()

    def create(self, topic: str, partitions: int) -> None:
        """Make a topic."""
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient({"bootstrap.servers": self.servers})
        for made in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
            made.result(30)

    def grow(self, topic: str, partitions: int) -> None:
        """Add partitions to a topic until it has so many."""
        from confluent_kafka.admin import AdminClient, NewPartitions

        admin = AdminClient({"bootstrap.servers": self.servers})
        for grown in admin.create_partitions([NewPartitions(topic, partitions)]).values():
            grown.result(30)

    def send(
        self,
        topic: str,
        rows: Iterable[dict[str, Any]],
        partitions: Sequence[int],
        rate: float | None = None,
    ) -> int:
        """Send rows as JSON to the partitions in turn, ``rate`` a second, and count them."""
        from confluent_kafka import Producer

        producer, begin, count = (
            Producer({"bootstrap.servers": self.servers, "linger.ms": 20}),
            time.monotonic(),
            0,
        )
        for count, row in enumerate(rows, start=1):
            if count % 100 == 0:
                producer.poll(0)
                if rate and (ahead := count / rate - (time.monotonic() - begin)) > 0:
                    time.sleep(ahead)
            while True:
                try:
                    producer.produce(
                        topic, json.dumps(row), partition=partitions[count % len(partitions)]
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(60) == 0
        return count

    def receive(self, topic: str) -> list[tuple[Any, Any]]:
        """(key, value) of every message that the topic has now, parsed."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer(
            {"bootstrap.servers": self.servers, "group.id": "tests", "enable.partition.eof": True}
        )
        found: list[tuple[Any, Any]] = []
        left = set(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, partition, 0) for partition in left])
        while left:
            for message in consumer.consume(500, 1.0):
                if message.error() is None:
                    found.append((json.loads(message.key()), json.loads(message.value())))
                else:
                    left.discard(message.partition())
        consumer.close()
        return found


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Documents about ships or courts, one for each minute of event time."""
    for number in range(count):
        words = _TOPICS[number % 2].split()
        text = " ".join(
            words[(number // 2 * step + step * step) % len(words)] for step in range(1, 9)
        )
        yield {"id": f"d{number}", "timestamp": _BEGIN + number * _MINUTE, "text": text}
