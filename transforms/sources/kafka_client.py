"""Settings and clients of Kafka that the source and the sink share.

The client is ``confluent-kafka`` (the extra ``kafka``). Client properties such as
``security.protocol`` or ``sasl.password`` come from a file with one ``name=value`` per line, on any
file system that Beam knows. The file is read where the client runs, so no secret is in the graph of
the job.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from beam_topics.model.errors import OptionError
from beam_topics.model.files import check_regular
from beam_topics.model.publishing.settings import DAY
from beam_topics.model.settings.options import Record, option
from beam_topics.model.times import MICROSECONDS_PER_SECOND, parse_time

Until = Literal["end", "forever"]
# Consumer properties that a file must not set: with other values, messages would be skipped or the
# end of a partition would not be reported.
_RESERVED = ("auto.offset.reset", "enable.auto.commit", "enable.partition.eof")


def client_library(option: str = "--source") -> ModuleType:
    """Import ``confluent_kafka``.

    Args:
        option: The option that asks for Kafka, for the message.

    Raises:
        OptionError: The client is not installed.
    """
    try:
        import confluent_kafka
    except ImportError as error:
        remedy = "Run: pip install 'beam-topics[kafka]'"
        allowed = "another one while its client is missing"
        raise OptionError(option, "kafka", allowed, remedy) from error
    return confluent_kafka


@dataclass(frozen=True)
class KafkaClientSettings(Record):
    """How Kafka is reached."""

    servers: str = option(
        "",
        "brokers of --source=kafka and of each kafka:TOPIC: host:port, with commas",
        name="kafka_servers",
    )
    config: str = option(
        "",
        "file of client properties that workers can read, one name=value in each line",
        name="kafka_config",
    )


@dataclass(frozen=True)
class TopicSettings(Record):
    """What is read of a topic of Kafka, and when a partition counts as idle."""

    name: str = option("", "the topic to read", name="kafka_topic")
    start: str = option(
        "earliest",
        "where to begin: earliest, latest, or the ISO 8601 time of a message",
        name="kafka_start",
    )
    until: Until = option(
        "forever", "end: stop after the messages that the topic holds at the start"
    )
    idle_after: int = option(
        60 * MICROSECONDS_PER_SECOND,
        "a partition without a message for this time does not hold back the others",
        unit="microseconds",
        least=1,
    )
    max_delay: int | None = option(
        None,
        "largest difference in event time by which documents may be out of order; without it, none",
        unit="microseconds",
        least=0,
    )
    max_future: int = option(
        DAY,
        "documents that are later than their messages by more than this become dead letters",
        unit="microseconds",
        least=1,
    )

    def check(self) -> None:
        if self.start not in ("earliest", "latest"):
            self.start_micros()

    def start_micros(self) -> int:
        """Return ``start`` as a time in microseconds."""
        try:
            return parse_time(self.start)
        except ValueError as error:
            raise OptionError(
                "--kafka_start", self.start, "earliest, latest, or a time in ISO 8601", f"{error}."
            ) from error


@dataclass(frozen=True)
class KafkaSettings:
    """What is read, from which brokers.

    Attributes:
        client: How Kafka is reached.
        topic: The topic, and how it is read.
        offsets: Partitions, and the offset at which each begins in place of ``topic.start``.
    """

    client: KafkaClientSettings
    topic: TopicSettings
    offsets: tuple[tuple[int, int], ...] = ()


def properties(path: str) -> dict[str, str]:
    """Return the client properties of a file; the path ``""`` has none.

    Raises:
        OptionError: The file cannot be read, a line is not ``name=value``, or it sets a property
            that the source sets itself.
    """
    if not path:
        return {}
    # Imported here, because the options of Kafka are listed without Beam.
    from apache_beam.io.filesystem import BeamIOError
    from apache_beam.io.filesystems import FileSystems

    if FileSystems.get_scheme(path) is None:
        check_regular("--kafka_config", path)
    try:
        with FileSystems.open(path) as stream:
            lines = stream.read().decode().splitlines()
    except (BeamIOError, OSError, ValueError) as error:
        allowed, remedy = "a text file of name=value lines", f"It cannot be read: {error}."
        raise OptionError("--kafka_config", path, allowed, remedy) from error
    found = {}
    for number, line in enumerate(map(str.strip, lines), start=1):
        if line and not line.startswith("#"):
            (name, equals, value), place = line.partition("="), f"{path}:{number}"
            if not equals:
                allowed = "name=value in each line"
                raise OptionError("--kafka_config", place, allowed, "Correct the line.")
            if name.strip() in _RESERVED:
                allowed = f"properties other than {', '.join(_RESERVED)}"
                remedy = "Take the line out: this source sets it."
                raise OptionError("--kafka_config", place, allowed, remedy)
            found[name.strip()] = value.strip()
    return found


def consumer_of(settings: KafkaSettings) -> Any:
    """Return a consumer without a group.

    It is assigned its partition by hand, and the checkpoints of the runner hold its offset.
    """
    own = {
        "bootstrap.servers": settings.client.servers,
        "group.id": "beam-topics",
        "enable.auto.commit": False,
        # Messages that were removed must cause an error.
        "auto.offset.reset": "error",
        "enable.partition.eof": True,
        "queued.max.messages.kbytes": 16384,
    }
    return _client("Consumer", own, settings.client.config)


def producer_of(servers: str, config: str) -> Any:
    """Return a producer that retries messages without duplicating them."""
    own = {
        "bootstrap.servers": servers,
        "enable.idempotence": True,
        "linger.ms": 20,
        "compression.type": "zstd",
    }
    return _client("Producer", own, config)


def _client(kind: str, own: dict[str, Any], config: str) -> Any:
    library = client_library()
    try:
        return getattr(library, kind)({**own, **properties(config)})
    except library.KafkaException as error:
        remedy = f"Correct the file: {error}."
        raise OptionError(
            "--kafka_config", config, "a file of properties that the Kafka client knows", remedy
        ) from error
