"""Where the trends of mixtures go: files, Kafka and BigQuery, any of them beside the others.

| option | writes |
|---|---|
| ``--trends`` | files of ``--trends_format`` in a folder |
| ``--trends_topic`` | JSON messages to a Kafka topic, with ``--kafka_servers`` |
| ``--trends_table`` | rows of a BigQuery table, by Beam's own sink |
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from model.errors import OptionError
from model.options import options_of
from model.times import duration_text
from pipelines.cli.groups import OptionGroup, Options
from pipelines.cli.options import OutputOptions
from pipelines.cli.program_settings import DAY, KafkaClientSettings, TrendSettings
from pipelines.cli.settings_from_options import read_settings_of
from pipelines.cli.settings_options import fields_given, settings_of

if TYPE_CHECKING:
    import apache_beam as beam

_TABLE = re.compile(r"(?:[a-z][-a-z0-9.:]*[a-z0-9]:)?[A-Za-z0-9_]{1,1024}\.[\w-]{1,1024}")


def write_trends(blocks: beam.PCollection, options: Options, streams: bool) -> None:
    """Write the trends of mixtures, if they are wanted.

    Args:
        blocks: bytes of :class:`model.inference.mixture_blocks.MixtureBlock`.
        options: the parsed command line.
        streams: whether the job streams (:func:`pipelines.graphs.runners.streams`).

    Raises:
        OptionError: an option has no effect here, or a value cannot be used.
    """
    wanted = settings_of(options, TrendSettings)
    if not check_trends(wanted, options):
        return
    # Imported here, because --help needs no Beam.
    from transforms.sinks.trends import WriteTrendsToBigQuery, trends_encoder
    from transforms.trends import AddUpTrends
    from transforms.write import WriteRecords

    added = AddUpTrends(
        wanted.window or DAY,
        streams=streams,
        by=wanted.by,
        typical=wanted.typical,
        groups=wanted.groups,
    )
    rows = blocks | "Trends" >> added
    if wanted.trends is not None:
        encode = trends_encoder(wanted.format)
        written = WriteRecords(wanted.trends, "trends", f".{wanted.format}", encode)
        _ = rows | "Write trends" >> written
    if wanted.topic is not None:
        _ = rows | "Send trends" >> _to_kafka(wanted.topic, options)
    if wanted.table is not None:
        _ = rows | "Insert trends" >> WriteTrendsToBigQuery(wanted.table, streams=streams)


def check_trends(wanted: TrendSettings, options: OptionGroup) -> bool:
    """Return whether trends are wanted anywhere.

    Raises:
        OptionError: an option has no effect, or a value cannot be used.
    """
    places = {"trends", "topic", "table"}
    names = {option.field: option.name for option in options_of(TrendSettings)}
    given = fields_given(options, OutputOptions, TrendSettings)
    _check_groups(wanted, options, given)
    if not places & set(given):
        for field, value in given.items():
            allowed = "nothing without --trends, --trends_topic or --trends_table"
            shown = duration_text(value) if field == "window" else value
            raise OptionError(f"--{names[field]}", shown, allowed, "Leave it out.")
        return False
    if wanted.trends is None and "format" in given:
        allowed = "nothing without --trends"
        raise OptionError("--trends_format", wanted.format, allowed, "Leave it out.")
    if wanted.topic is not None and not settings_of(options, KafkaClientSettings).servers:
        allowed = "a topic with --kafka_servers beside it"
        raise OptionError("--trends_topic", wanted.topic, allowed, "Say where the brokers are.")
    if wanted.table is not None:
        _check_table(wanted.table)
    return True


def _check_groups(wanted: TrendSettings, options: OptionGroup, given: Mapping[str, Any]) -> None:
    field = read_settings_of(options).parse.fields.group
    if field is not None and wanted.by != "group":
        allowed = "nothing without --trends_by=group"
        raise OptionError("--group_field", field, allowed, "Add it, or leave the field out.")
    if field is None and wanted.by == "group":
        allowed = "group beside --group_field"
        raise OptionError("--trends_by", "group", allowed, "Name the field, for example region.")
    if wanted.by == "all" and "groups" in given:
        allowed = "nothing without --trends_by=label or group"
        raise OptionError("--trends_groups", wanted.groups, allowed, "Leave it out.")


def _check_table(table: str) -> None:
    if not _TABLE.fullmatch(table):
        allowed = "project:dataset.table or dataset.table"
        raise OptionError("--trends_table", table, allowed, "Correct the name.")
    if importlib.util.find_spec("google.cloud.bigquery") is None:
        allowed = "nothing unless Beam's client of BigQuery is installed"
        remedy = "Run: pip install 'apache-beam[gcp]'."
        raise OptionError("--trends_table", table, allowed, remedy)


def _to_kafka(topic: str, options: Options) -> beam.PTransform:
    from transforms.sinks.kafka import WriteTrendsToKafka
    from transforms.sources.kafka_client import client_library, properties

    kafka = settings_of(options, KafkaClientSettings)
    client_library("--trends_topic")
    properties(kafka.config)
    return WriteTrendsToKafka(kafka.servers, topic, kafka.config)
