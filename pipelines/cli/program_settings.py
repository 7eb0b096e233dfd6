"""Settings of the programs: what they read, where they write, and what they show.

The settings of the work itself are beside its code in :mod:`model`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.errors import OptionError
from model.options import Record, option

DAY = 86_400_000_000


@dataclass(frozen=True)
class InputSettings(Record):
    """What is read."""

    input: tuple[str, ...] = option(
        (),
        "files of JSON or CSV (also .gz), Avro or Parquet: paths or globs, with commas",
        unit="paths",
        first=True,
    )


@dataclass(frozen=True)
class TrainingInputSettings(Record):
    """What the model learned."""

    training: tuple[str, ...] | None = option(
        None,
        "gibbs1: documents that the model learned: paths or globs, with commas",
        unit="paths",
        first=True,
    )


@dataclass(frozen=True)
class EvaluationInputSettings(Record):
    """What the versions of a model are evaluated on."""

    held_out: tuple[str, ...] = option(
        (),
        "documents that the model has not learned: paths or globs, with commas",
        unit="paths",
        first=True,
    )
    coherence_with: tuple[str, ...] | None = option(
        None, "documents whose word pairs give the coherence (PMI) of topics", unit="paths"
    )
    classify: tuple[str, ...] | None = option(
        None, "labelled documents for a linear SVM, tested on those of --held_out", unit="paths"
    )
    words: tuple[str, ...] = option(
        (), "words, with commas, whose rank in a topic is shown over the versions", unit="words"
    )
    versions: int = option(
        50, "number of versions to evaluate, evenly spread, with the newest", least=1
    )


@dataclass(frozen=True)
class KafkaClientSettings(Record):
    """How Kafka is reached."""

    servers: str = option(
        "",
        "brokers of --source=kafka, --sink=kafka and --events=kafka:TOPIC: host:port, with commas",
        name="kafka_servers",
    )
    config: str = option(
        "",
        "file of client properties that workers can read, one name=value in each line",
        name="kafka_config",
    )


@dataclass(frozen=True)
class OutputFileSettings(Record):
    """How output files are written, and where dead letters go."""

    dead_letters: str = option(
        "",
        "folder for the records that could not be used, each with source and reason",
        first=True,
    )
    file_period: int | None = option(
        None,
        "event time in one output file of a stream; without it, a file for each bundle",
        unit="microseconds",
        least=1,
    )


@dataclass(frozen=True)
class EventSettings(Record):
    """Where events go."""

    events: str | None = option(
        None,
        "folder, or kafka:TOPIC, for what the stream did: changes, floods, topics and chains that"
        " were replaced",
    )

    @property
    def topic(self) -> str | None:
        """The Kafka topic; None for a folder."""
        prefix, colon, topic = (self.events or "").partition(":")
        return topic if prefix == "kafka" and colon else None

    def check(self) -> None:
        if self.topic == "":
            raise OptionError(
                "--events",
                self.events,
                "a folder, or kafka: with the name of a topic",
                "Give the topic, for example --events=kafka:events.",
            )


@dataclass(frozen=True)
class CoverageFileSettings(Record):
    """Where coverage reports go."""

    coverage: str | None = option(
        None,
        "folder for the coverage reports, one for each window; without it they are only logged and"
        " counted",
        first=True,
    )


@dataclass(frozen=True)
class MixtureSettings(Record):
    """What is written of a mixture."""

    none_share: bool = option(
        False, "whether each mixture has the probability that no topic explains its document"
    )
    topic_names: bool = option(
        False, "whether mixtures have the topics that the catalogue shows, with their names"
    )


@dataclass(frozen=True)
class TrendSettings(Record):
    """What is written of the topics of a window."""

    trends: str | None = option(
        None, "folder for documents, tokens and mean shares by window and topic"
    )
    window: int | None = option(
        None,
        "event time in one row; 1d without it",
        name="trends_window",
        unit="microseconds",
        least=1,
    )
    format: Literal["jsonl", "parquet"] = option(
        "jsonl", "format of the files in --trends", name="trends_format"
    )
    by: Literal["all", "label", "group"] = option(
        "all",
        "rows of all documents, of those of each label, or of each value of --group_field",
        name="trends_by",
    )
    groups: int = option(
        1000,
        "most labels or groups in a window; others are one group, (others)",
        name="trends_groups",
        least=1,
        most=1_000_000,
    )
    typical: int = option(
        3,
        "typical documents in each row: those with the largest share",
        name="trends_typical",
        least=0,
        most=100,
    )
    topic: str | None = option(None, "Kafka topic for the rows, as JSON", name="trends_topic")
    table: str | None = option(
        None, "BigQuery table for the rows: project:dataset.table", name="trends_table"
    )


@dataclass(frozen=True)
class FigureSettings(Record):
    """Where figures go."""

    json: str | None = option(
        None, "file for the figures, one JSON line for each row of the table", first=True
    )


@dataclass(frozen=True)
class ShowSettings(Record):
    """What is shown of a topic."""

    top_words: int = option(10, "words shown for each topic", least=1)
    mixed: bool = option(
        False, "judge which topics are mixed, by the documents that the newest checkpoint holds"
    )


@dataclass(frozen=True)
class DemoSettings(Record):
    """Where the demo writes."""

    folder: str = option(
        "demo-run", "output folder; files of an earlier demo there are removed", first=True
    )


@dataclass(frozen=True)
class ArchiveSettings(Record):
    """How an archive is written."""

    archive: str = option("", "folder for the Avro files", first=True)
    shard_period: int = option(30 * DAY, "event time in one file", unit="microseconds", least=1)
