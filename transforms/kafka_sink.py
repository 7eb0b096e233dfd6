"""``WriteMixturesToKafka``: topic mixtures as JSON messages, each at least once.

    mixtures: bytes (TopicMixture) -> nothing

A message's value is the line that :class:`transforms.write.WriteMixtures` would write; its key is the JSON list of key, id and model
version, so readers drop what came twice by it, and a compacted topic does so by itself. A bundle ends when the brokers have
acknowledged all of its messages; if they refuse one, the bundle fails, and the runner does it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindows

from model import wire
from model.encoding import mixture_to_json
from model.errors import SourceError
from model.records import TopicMixture
from transforms.kafka_client import producer_of
from transforms.sequence import NAMESPACE

_TIMEOUT = 60.0


def message_of(data: bytes, top_topics: int) -> tuple[bytes, bytes]:
    """(key, value) of a mixture's message."""
    mixture = TopicMixture.from_bytes(data)
    key = wire.canonical_json([mixture.key, mixture.id, mixture.model_version]).encode()
    return key, mixture_to_json(mixture, top_topics)


class KafkaSinkDoFn(beam.DoFn):
    """Sends during the bundle, waits at its end."""

    def __init__(self, servers: str, topic: str, config: str, top_topics: int) -> None:
        self._servers, self._topic, self._config, self._top_topics = servers, topic, config, top_topics
        self._sent = Metrics.counter(NAMESPACE, "mixtures_written")
        self._producer: Any = None
        self._refused: list[str] = []
        self._count = 0

    def setup(self) -> None:
        self._producer = producer_of(self._servers, self._config)

    def start_bundle(self) -> None:
        self._refused = []
        self._count = 0

    def process(self, element: bytes) -> Iterator[Any]:
        key, value = message_of(element, self._top_topics)
        while True:
            try:
                self._producer.produce(self._topic, value, key, on_delivery=self._delivered)
                break
            except BufferError:
                # The client's buffer is full: wait until some of it is acknowledged.
                self._producer.poll(1)
        self._producer.poll(0)
        self._count += 1
        yield from ()

    def finish_bundle(self) -> None:
        waiting = self._producer.flush(_TIMEOUT)
        if self._refused or waiting:
            why = self._refused[0] if self._refused else f"no answer in {_TIMEOUT:g} s"
            raise SourceError(
                f"Kafka topic {self._topic!r} at {self._servers}: {len(self._refused) + waiting} of {self._count} mixtures"
                f" were not taken: {why}. Check --output_topic and --kafka_servers."
            )
        self._sent.inc(self._count)

    def _delivered(self, error: Any, _: Any) -> None:
        if error is not None:
            self._refused.append(error.str())


class WriteMixturesToKafka(beam.PTransform):
    """See the module's docstring.

    Args:
        servers, config: as in :class:`transforms.kafka_client.KafkaSettings`. topic: it must exist. top_topics: named in each message.
    """

    def __init__(self, servers: str, topic: str, config: str = "", top_topics: int = 3) -> None:
        super().__init__()
        self._fn = KafkaSinkDoFn(servers, topic, config, top_topics)

    def expand(self, mixtures: beam.PCollection) -> beam.PCollection:
        windowed = mixtures | "Global" >> beam.WindowInto(GlobalWindows())
        return windowed | "Send" >> beam.ParDo(self._fn).with_output_types(bytes)
