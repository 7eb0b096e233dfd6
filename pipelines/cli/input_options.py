"""Options of the input: files, Kafka, and the fields of a record.

The groups are of the form that :mod:`pipelines.cli.options` describes. The options of each source
are with the source, in :mod:`pipelines.graphs.sources`.
"""

from __future__ import annotations

import argparse
from typing import get_args

from model.options import options_of
from model.reading.files import Format, TimeFrom
from model.reading.parsing import MEGABYTE, FieldNames, IdFrom, ParseSettings
from model.reading.timestamps import TimestampUnit
from pipelines.cli import values
from pipelines.cli.groups import OptionGroup
from pipelines.cli.settings_options import add_options


class InputOptions(OptionGroup):
    """Input."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--input",
            type=values.patterns,
            help="files of JSON or CSV (also .gz), Avro or Parquet: paths or globs, with commas",
        )


class KafkaOptions(OptionGroup):
    """Kafka."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--kafka_servers",
            help="brokers of --source=kafka and --sink=kafka: host:port, with commas",
        )
        parser.add_argument(
            "--kafka_config",
            help="file of client properties that workers can read, one name=value in each line",
        )


class RecordOptions(OptionGroup):
    """Records."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--format",
            choices=get_args(Format),
            default="auto",
            help="format of the files; auto: by the ending of each name",
        )
        parser.add_argument(
            "--encoding",
            default="utf-8",
            help="encoding of JSON and CSV files, for example latin-1",
        )
        add_options(parser, options_of(FieldNames))
        parser.add_argument(
            "--id_from",
            choices=get_args(IdFrom),
            default="field",
            help="field: --id_field; place: a digest of the file and the place in it",
        )
        parser.add_argument(
            "--timestamp_unit",
            choices=get_args(TimestampUnit),
            default="s",
            help="unit of times that are numbers without a schema: since 1970, or a year",
        )
        parser.add_argument(
            "--time_from",
            choices=get_args(TimeFrom),
            default="field",
            help="field: --timestamp_field; order: the order of the records is their time",
        )
        most = ParseSettings().max_document_bytes // MEGABYTE
        parser.add_argument(
            "--max_document_mb",
            type=values.positive,
            default=most,
            help="megabytes; longer records become dead letters",
        )
        parser.add_argument(
            "--dead_letters",
            help="folder for the records that could not be used, each with source and reason",
        )
        parser.add_argument(
            "--file_period",
            type=values.duration,
            help="event time in one output file of a stream; without it, a file for each bundle",
        )
