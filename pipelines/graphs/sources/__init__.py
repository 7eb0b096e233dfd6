"""Sources: where documents come from, by ``--source``.

A source in a module of its own is registered by importing that module here.

A source is a record of settings with the name that ``--source`` gives as its ``kind``. Its fields
are the options that belong to this source alone. :meth:`SourceSettings.read` gives the transform
that reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.settings.compositions import Choice
from beam_topics.model.settings.options import Kinds, Record, option
from beam_topics.model.times import MICROSECONDS_PER_SECOND
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import Options, group, settings_of, settings_of_choice
from beam_topics.pipelines.cli.options import DAY, InputSettings, KafkaClientSettings
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.pipelines.graphs.sinks import shared_by_sinks
from beam_topics.transforms.sources.kafka_client import KafkaSettings, Until, properties

if TYPE_CHECKING:
    import apache_beam as beam

    from beam_topics.model.documents.gathering import Blocks
    from beam_topics.model.publishing.manifest import Manifest
    from beam_topics.transforms.read import Documents, ReadDocuments
    from beam_topics.transforms.sources.kafka import ReadKafka
    from beam_topics.transforms.sources.replay import ReplayArchive


class SourceSettings(Record):
    """The base of the settings of all sources.

    Attributes:
        shared: options of other groups that the source reads. Other sources refuse them.
        needed: options that must be given, each with an example.
        is_log: whether the documents come as a stream, with a watermark.
        endless: whether the source goes on for ever: ``never``, ``always``, or ``until`` where it
            ends with ``--until=end`` alone. The local runner reads a source to its end before it
            learns, so it refuses what does not end.
    """

    shared: ClassVar[tuple[str, ...]] = ()
    needed: ClassVar[Mapping[str, str]] = {}
    is_log: ClassVar[bool] = True
    endless: ClassVar[Literal["never", "until", "always"]] = "always"

    def read(
        self, options: Options, tokeniser: TokeniserSettings, blocks: Blocks | None
    ) -> beam.PTransform:
        """Return what reads the source into :class:`beam_topics.transforms.read.Documents`.

        Args:
            options: the parsed command line.
            tokeniser: the settings of the tokeniser.
            blocks: which documents may share a block
                (:mod:`beam_topics.model.documents.gathering`); None for none.

        Raises:
            OptionError: a value cannot be used.
            SourceError: the source does not exist.
        """
        raise NotImplementedError


SOURCES = Kinds()
SOURCE: Choice[SourceSettings] = Choice(
    "source", "where the documents come from", SOURCES, default="files"
)
SourceOptions = group("Source", choice=SOURCE)


def is_log(source: str | None) -> bool:
    """Return whether a value of ``--source`` names a source whose documents come as a stream."""
    return source in SOURCES and SOURCES[source].is_log  # type: ignore[attr-defined]


def ends(source: str | None, until: str | None) -> bool:
    """Return whether a source ends, by the values of ``--source`` and ``--until``."""
    if source not in SOURCES:
        return True
    endless = SOURCES[source].endless  # type: ignore[attr-defined]
    return endless == "never" or (endless == "until" and until == "end")


__all__ = [
    "SOURCES",
    "SourceOptions",
    "SourceSettings",
    "ends",
    "files_of_model",
    "is_log",
    "read_files",
    "read_source",
    "source_settings_of",
]


@SOURCES.register
@dataclass(frozen=True)
class Files(SourceSettings):
    """All files of --input, in any order."""

    kind = "files"
    shared = ("input", "format", "encoding", "chats", "time_from", "id_from", "timestamp_format")
    shared += ("records",)
    needed: ClassVar[Mapping[str, str]] = {"input": "'data/*.jsonl.gz'"}
    is_log = False
    endless = "never"

    def read(
        self, options: Options, tokeniser: TokeniserSettings, blocks: Blocks | None
    ) -> ReadDocuments:
        patterns = settings_of(options, InputSettings).input
        return read_files(options, tokeniser, patterns, blocks=blocks)


@SOURCES.register
@dataclass(frozen=True)
class Replay(SourceSettings):
    """An archive of beam-topics archive, in the order of time, as a stream."""

    kind = "replay"
    shared = ("input",)
    needed: ClassVar[Mapping[str, str]] = {"input": "'archive/*.avro'"}
    endless = "never"

    replay_speed: float | None = option(
        None,
        "event time in relation to real time, for example 3600x; without it, as fast as possible",
        unit="x",
        above=0,
    )

    def read(
        self, options: Options, tokeniser: TokeniserSettings, blocks: Blocks | None
    ) -> ReplayArchive:
        from beam_topics.transforms.sources.replay import ReplayArchive, archive_of

        patterns = list(settings_of(options, InputSettings).input)
        settings = read_settings_of(options)
        replay = ReplayArchive(patterns, settings, tokeniser, self.replay_speed, blocks=blocks)
        # Check now that the files are an archive.
        archive_of(b"", patterns, settings)
        return replay


@SOURCES.register
@dataclass(frozen=True)
class Kafka(SourceSettings):
    """A Kafka topic of JSON objects, as a stream."""

    kind = "kafka"
    shared = ("kafka_servers", "kafka_config", "id_from", "timestamp_format")
    needed: ClassVar[Mapping[str, str]] = {
        "kafka_servers": "localhost:9092",
        "kafka_topic": "documents",
    }
    endless = "until"

    kafka_topic: str | None = option(None, "the topic to read")
    kafka_start: str = option(
        "earliest", "where to begin: earliest, latest, or the ISO 8601 time of a message"
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

    def settings(self, options: Options) -> KafkaSettings:
        """Return the settings of the transform. Raises OptionError."""
        kafka = settings_of(options, KafkaClientSettings)
        return KafkaSettings(
            servers=kafka.servers,
            topic=self.kafka_topic or "",
            config=kafka.config,
            start=self.kafka_start,
            until=self.until,
            idle_after=self.idle_after / MICROSECONDS_PER_SECOND,
            max_delay=self.max_delay or 0,
            max_future=self.max_future,
        )

    def read(
        self, options: Options, tokeniser: TokeniserSettings, blocks: Blocks | None
    ) -> ReadKafka:
        from beam_topics.transforms.sources.kafka import ReadKafka, partitions_of

        settings = self.settings(options)
        properties(settings.config)
        # Check now that the topic exists. Workers list its partitions again.
        next(iter(partitions_of(settings)), None)
        return ReadKafka(settings, read_settings_of(options).parse, tokeniser, blocks=blocks)


def source_settings_of(options: Options) -> SourceSettings:
    """Return the checked settings of ``--source``.

    Raises:
        UsageError: an option that the source needs is missing.
        OptionError: an option belongs to another source, or has a value that cannot be used.
    """
    return settings_of_choice(options, SOURCE, shared_by_sinks(options))


def read_source(
    pipeline: beam.Pipeline,
    options: Options,
    tokeniser: TokeniserSettings,
    *,
    blocks: Blocks | None = None,
) -> Documents:
    """Read tokenised documents from ``--source``, and what could not be read.

    Args:
        pipeline: the pipeline.
        options: the parsed command line.
        tokeniser: the settings of the tokeniser.
        blocks: which documents may share a block
            (:mod:`beam_topics.model.documents.gathering`); None for none.

    Raises:
        UsageError: an option that the source needs is missing.
        OptionError: an option belongs to another source, or has a value that cannot be used.
        SourceError: the source does not exist.
    """
    source = source_settings_of(options)
    return pipeline | "Read" >> source.read(options, tokeniser, blocks)


def read_files(
    options: Options,
    tokeniser: TokeniserSettings,
    patterns: Sequence[str],
    option: str = "--input",
    *,
    blocks: Blocks | None = None,
) -> ReadDocuments:
    """Return the transform that reads all files that the patterns match, alone or in blocks.

    Raises:
        OptionError: a pattern of ``option`` matches nothing, or a value cannot be used.
    """
    from beam_topics.transforms.read import ReadDocuments, check_patterns

    settings = read_settings_of(options)
    check_patterns(list(patterns), settings, option)
    return ReadDocuments(list(patterns), settings, tokeniser, blocks=blocks)


def files_of_model(
    pipeline: beam.Pipeline,
    options: Options,
    manifest: Manifest,
    patterns: Sequence[str],
    option: str = "--input",
) -> Documents:
    """Read documents for one model version, with its tokeniser.

    Where documents have keys, those of other model keys become dead letters.
    """
    import apache_beam as beam

    from beam_topics.transforms.infer import Route
    from beam_topics.transforms.read import Documents

    tokeniser, name = manifest.tokeniser, option.removeprefix("--")
    read: Documents = pipeline | f"Read {name}" >> read_files(options, tokeniser, patterns, option)
    if settings_of(options, ReadSettings).parse.fields.key is None and not tokeniser.has_keys:
        return read
    routed = read.documents | f"Route {name}" >> Route([manifest.key])
    dead_letters = (
        read.dead_letters,
        routed.dead_letters,
    ) | f"Dead letters of {name}" >> beam.Flatten()
    return Documents(routed.documents, dead_letters)
