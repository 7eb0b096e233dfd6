"""Options of the programs, in groups (:mod:`beam_topics.pipelines.cli.groups`).

No two groups have an option of the same name, because all of them are in one namespace, but for one
that is declared as shared. The records of this module say what the programs read, where they write,
and what they show; other settings are next to their code in :mod:`beam_topics.model`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.inference import METHOD
from beam_topics.model.inference.base import (
    CacheSettings,
    CoverageSettings,
    FitSettings,
    LabelSettings,
)
from beam_topics.model.learner_log.options import RunSettings
from beam_topics.model.learners import LEARNER
from beam_topics.model.publishing.settings import (
    Keep,
    StoreSettings,
    VersionSettings,
)
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.settings.options import Record, option
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import OptionGroup
from beam_topics.pipelines.cli.values import check_webhook, is_webhook

DAY = 86_400_000_000
# The least window of trends of which bursts are reported: a cycle of shorter ones has too many.
LEAST_WINDOW = 60_000_000


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


@dataclass(frozen=True)
class DeadLetterSettings(Record):
    """Where dead letters are."""

    dead_letters: str = option(
        "",
        "folder for the records that could not be used, each with source and reason",
        first=True,
        shared=True,
    )


@dataclass(frozen=True)
class OutputFileSettings(DeadLetterSettings):
    """How output files are written, and where dead letters go."""

    file_period: int | None = option(
        None,
        "event time in one output file of a stream; without it, a file for each bundle",
        unit="microseconds",
        least=1,
    )


def kafka_topic(place: str | None) -> str | None:
    """Return the topic of ``kafka:TOPIC``; None for a folder, and for nothing."""
    prefix, colon, topic = (place or "").partition(":")
    return topic if prefix == "kafka" and colon else None


def is_elsewhere(name: str, place: str | None) -> bool:
    """Return whether an output is a topic or a webhook, and no path."""
    if name == "events" and is_webhook(place):
        return True
    return name in TOPICS and kafka_topic(place) is not None


def check_place(option: str, place: str | None) -> None:
    """Check that a place that begins with ``kafka:`` names a topic."""
    if kafka_topic(place) == "":
        allowed = "a folder, or kafka: with the name of a topic"
        raise OptionError(option, place, allowed, f"Name it, for example {option}=kafka:topics.")


@dataclass(frozen=True)
class EventSettings(Record):
    """Where events go."""

    events: str | None = option(
        None,
        "folder, kafka:TOPIC or https://HOST/PATH for what the stream did: changes, floods, topics"
        " and chains that were replaced",
    )

    def check(self) -> None:
        check_place("--events", self.events)
        if self.events is not None and is_webhook(self.events):
            check_webhook("--events", self.events)


@dataclass(frozen=True)
class AlertSettings(Record):
    """What is an alarm."""

    alerts: str | None = option(
        None,
        "YAML file of rules of alarms: topics, groups and words to watch, and where bursts of them"
        " go; without it, all topics are watched",
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
class SinkSettings(Record):
    """Where mixtures go."""

    output: str | None = option(None, "folder, or kafka:TOPIC, for the mixtures", first=True)
    output_format: Literal["jsonl", "avro"] = option(
        "jsonl", "format of the mixtures; messages are JSON"
    )

    def check(self) -> None:
        check_place("--output", self.output)
        if kafka_topic(self.output) is not None and self.output_format != "jsonl":
            allowed, remedy = "jsonl with --output=kafka:TOPIC", "Leave one of the two out."
            raise OptionError("--output_format", self.output_format, allowed, remedy)


@dataclass(frozen=True)
class TrendPlaceSettings(Record):
    """Where trends are."""

    trends: str | None = option(
        None,
        "folder, or kafka:TOPIC, for documents, tokens and mean shares by window and topic",
        shared=True,
    )


@dataclass(frozen=True)
class TrendSettings(TrendPlaceSettings):
    """What is written of the topics of a window."""

    window: int | None = option(
        None,
        "event time in one row; 1d without it",
        name="trends_window",
        unit="microseconds",
        least=1,
    )

    def check(self) -> None:
        check_place("--trends", self.trends)


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
class AddressSettings(Record):
    """Where a program listens."""

    host: str = option(
        "127.0.0.1", "address to listen on; the default is this machine alone", shared=True
    )
    port: int = option(8000, "port to listen on", least=1, most=65535, shared=True)


@dataclass(frozen=True)
class MonitorSettings(AddressSettings, DeadLetterSettings, TrendPlaceSettings):
    """What is watched in addition to a model store, and where the figures are."""


@dataclass(frozen=True)
class ServiceSettings(AddressSettings):
    """Where the service listens, and for whom."""

    allowed_hosts: tuple[str, ...] = option(
        (),
        "names of the service in addition to localhost and --host, with commas, as in"
        " topics.example; * for any",
        unit="names",
    )
    rate: float = option(
        0.0, "requests a second of one client, over ten seconds; 0 for any number", least=0
    )


@dataclass(frozen=True)
class KeepSettings(Record):
    """What stays when versions and checkpoints expire."""

    keep: Keep | None = option(
        None,
        "what stays when others expire: versions:30d keeps those of the last 30 days;"
        " versions:1d,1d/30d,30d/all keeps all of a day, one a day of 30 days, and one in 30 days"
        " for ever; checkpoints:3 keeps three points to continue from; grace:2d keeps what was"
        " written or used up to two days before the newest version (1d where it is absent). Nothing"
        " expires without this option",
    )


@dataclass(frozen=True)
class LabelledSettings(Record):
    """Documents that were labelled."""

    mixtures: tuple[str, ...] | None = option(
        None,
        "mixtures that infer or stream wrote: folders, paths or globs, with commas",
        unit="paths",
    )
    documents: tuple[str, ...] | None = option(
        None, "files of the documents, for their texts: paths or globs, with commas", unit="paths"
    )


@dataclass(frozen=True)
class ReportSettings(Record):
    """How a report looks."""

    title: str = option("Topics", "title of the page")


@dataclass(frozen=True)
class TextSettings(Record):
    """What is labelled."""

    text: tuple[str, ...] | None = option(None, "a text; without it, standard input", unit="texts")


@dataclass(frozen=True)
class FunctionSettings(Record):
    """A function of a person's own that a model names."""

    tokeniser: str | None = option(
        None, "module:function that the model names, which is imported only if you do", shared=True
    )


@dataclass(frozen=True)
class TopicSettings(Record):
    """Which topics are meant."""

    topic_ids: tuple[int, ...] = option((), "the numbers of topics, with commas", unit="topics")


@dataclass(frozen=True)
class CatalogueSettings(Record):
    """What changes in the catalogue."""

    topic_name: str | None = option(None, "name of these topics; empty: by their words")
    hide: bool | None = option(None, "leave these topics out of lists; false shows them again")
    merge_into: int | None = option(
        None, "show these topics as parts of another; its own number takes a topic apart again"
    )
    name_topics: bool = option(
        False, "name all topics that nobody named, by --documents with --mixtures"
    )
    namer: str | None = option(
        None, "module:function of yours that names a topic (model/reporting/names.py)"
    )
    roll_back: str | None = option(
        None, "make an earlier catalogue the newest one: the digits it begins with"
    )


@dataclass(frozen=True)
class RowSettings(Record):
    """Which rows of trends are shown."""

    rows: tuple[str, ...] | None = option(
        None,
        "what --trends of infer or stream wrote: folders, paths or globs, with commas",
        unit="paths",
    )


@dataclass(frozen=True)
class TrendGroupSettings(Record):
    """Whose rows of trends are shown."""

    trends_group: str | None = option(
        None, "only the rows of this group; without it, all are added up"
    )


@dataclass(frozen=True)
class SignSettings(Record):
    """Who signs what programs write that do not learn; others have --sign among their settings."""

    sign: str = option(
        "", "file of a private Ed25519 key in PEM that signs what is written", shared=True
    )


# Options that name what workers write, through Beam's file systems. The model store has file
# systems of its own.
OUTPUTS = ("output", "dead_letters", "coverage", "trends", "events", "json")
# Of these, what may be a topic.
TOPICS = ("output", "trends", "events")


TokeniserOptions = OptionGroup("Words", TokeniserSettings)
SequenceOptions = OptionGroup("Minibatches", SequenceSettings)
LearnerOptions = OptionGroup("Learner", choice=LEARNER)
StoreOptions = OptionGroup("Model store", StoreSettings)
TrainingOptions = OptionGroup("Running", RunSettings, EventSettings)
ServiceOptions = OptionGroup("Service", ServiceSettings)
MonitorOptions = OptionGroup("Monitor", MonitorSettings)
ModelVersionOptions = OptionGroup("Which model", VersionSettings)
StreamOptions = OptionGroup("Labelling", LabelSettings)
AlertOptions = OptionGroup("Alarms", AlertSettings)
SinkOptions = OptionGroup("Sink", SinkSettings)
OutputOptions = OptionGroup("Output", MixtureSettings, TrendSettings)
FigureOptions = OptionGroup("Figures", FigureSettings)
EvaluationOptions = OptionGroup("Evaluation", EvaluationInputSettings)
ShowOptions = OptionGroup("Display", ShowSettings)
InputOptions = OptionGroup("Input", InputSettings)
RecordOptions = OptionGroup("Records", ReadSettings, OutputFileSettings)
TrainingDocumentsOptions = OptionGroup("Training documents", TrainingInputSettings)
ModelCacheOptions = OptionGroup("Models in memory", CacheSettings)
CoverageOptions = OptionGroup("Coverage", CoverageFileSettings, CoverageSettings)
FitOptions = OptionGroup("Classifier", FitSettings)
KeepOptions = OptionGroup("Expiry", KeepSettings)
MethodOptions = OptionGroup("Method", only=METHOD)
InferenceOptions = OptionGroup("Inference", within=METHOD)
LabelledOptions = OptionGroup("Labelled documents", LabelledSettings)
ReportOptions = OptionGroup("Report", ReportSettings)
TextOptions = OptionGroup("Text", TextSettings)
FunctionOptions = OptionGroup("Words", FunctionSettings)
TopicOptions = OptionGroup("Topics", TopicSettings)
CatalogueOptions = OptionGroup("Catalogue", CatalogueSettings)
RowOptions = OptionGroup("Rows", RowSettings)
TrendFileOptions = OptionGroup("Trends", TrendGroupSettings)
SignOptions = OptionGroup("Signatures", SignSettings)
