"""Options of the input: files, Kafka, and the fields of a record.

The groups are of the form that :mod:`pipelines.cli.options` describes. The options of each source
are with the source, in :mod:`pipelines.graphs.sources`.
"""

from __future__ import annotations

import argparse
from typing import get_args

from apache_beam.options.pipeline_options import PipelineOptions

from model.reading.files import Format, TimeFrom
from model.reading.parsing import MEGABYTE, IdFrom, ParseSettings
from model.reading.timestamps import UNITS
from pipelines.cli import values


class InputOptions(PipelineOptions):
    """Input."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--input",
            type=values.patterns,
            help="files of JSON or CSV (also .gz), Avro or Parquet: paths or globs, with commas",
        )


class KafkaOptions(PipelineOptions):
    """Kafka."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--kafka_servers",
            help="brokers of --source=kafka and --sink=kafka: host:port, with commas",
        )
        parser.add_argument(
            "--kafka_config",
            help="file of client properties, name=value in each line, that workers can read",
        )


class RecordOptions(PipelineOptions):
    """Records."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--format",
            choices=get_args(Format),
            default="auto",
            help="of the files; auto: as each one's name ends",
        )
        parser.add_argument(
            "--encoding", default="utf-8", help="of files of JSON and CSV, for example latin-1"
        )
        parser.add_argument("--id_field", default="id", help="the field with a document's id")
        parser.add_argument(
            "--id_from",
            choices=get_args(IdFrom),
            default="field",
            help="place: a digest of file and place is the id",
        )
        parser.add_argument(
            "--timestamp_field",
            default="timestamp",
            help="ISO 8601 text, or a number of --timestamp_unit since 1970",
        )
        parser.add_argument(
            "--timestamp_unit",
            choices=tuple(UNITS),
            default="s",
            help="of times that are numbers without a schema",
        )
        parser.add_argument("--text_field", default="text", help="the field with its text")
        parser.add_argument(
            "--label_field",
            default="label",
            help="its known class, for evaluation only; records may lack it",
        )
        parser.add_argument(
            "--key_field",
            help="one model for each value of this field; without it, one model for all",
        )
        parser.add_argument(
            "--time_from",
            choices=get_args(TimeFrom),
            default="field",
            help="order: the order of the records is the time",
        )
        most = ParseSettings().max_document_bytes // MEGABYTE
        parser.add_argument(
            "--max_document_mb",
            type=values.positive,
            default=most,
            help="longer records become dead letters",
        )
        parser.add_argument(
            "--dead_letters",
            help="folder for the records that could not be used, each with source and reason",
        )
        parser.add_argument(
            "--file_period",
            type=values.duration,
            help="event time of one output file of a stream; without it, a bundle's",
        )
