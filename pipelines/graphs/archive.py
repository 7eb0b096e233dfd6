"""The graph of ``pipelines.archive``."""

from __future__ import annotations

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.cli.program_settings import ArchiveSettings, InputSettings
from pipelines.cli.settings_from_options import read_settings_of
from pipelines.cli.settings_options import settings_of
from pipelines.graphs.execute import run
from pipelines.graphs.learning import write_dead_letters
from transforms.archive import WriteArchive
from transforms.read import ReadRecords, check_patterns


def build(pipeline: beam.Pipeline, options: PipelineOptions) -> None:
    """Build the graph: read, sort into periods, write."""
    patterns, settings = list(settings_of(options, InputSettings).input), read_settings_of(options)
    check_patterns(patterns, settings)
    given = settings_of(options, ArchiveSettings)
    documents, unreadable = pipeline | "Read" >> ReadRecords(patterns, settings)
    _ = documents | "Archive" >> WriteArchive(given.archive, given.shard_period)
    write_dead_letters([unreadable], options)


def run_graph(options: PipelineOptions) -> None:
    """Run the graph."""
    run(build, options)
