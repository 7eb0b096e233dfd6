"""Sort documents into an archive of Avro files, for --source=replay.

``python -m pipelines.archive --input='raw/*.jsonl' --archive=archive --dead_letters=dead
--shard_period=30d``

The files are sorted by time, one for each period.
"""

from __future__ import annotations

import sys

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.cli.command import command
from pipelines.cli.input_options import InputOptions, RecordOptions
from pipelines.cli.options import ArchiveOptions
from pipelines.cli.settings_from_options import read_settings_of
from pipelines.graphs.execute import run
from pipelines.graphs.learning import write_dead_letters
from transforms.archive import WriteArchive
from transforms.read import ReadRecords, check_patterns

GROUPS = (InputOptions, ArchiveOptions, RecordOptions)
REQUIRED = {"input": "'raw/*.jsonl'", "archive": "archive", "dead_letters": "dead"}


def build(pipeline: beam.Pipeline, options: PipelineOptions) -> None:
    """Build the graph: read, sort into periods, write."""
    patterns, settings = options.view_as(InputOptions).input, read_settings_of(options)
    check_patterns(patterns, settings)
    given = options.view_as(ArchiveOptions)
    documents, unreadable = pipeline | "Read" >> ReadRecords(patterns, settings)
    _ = documents | "Archive" >> WriteArchive(given.archive, given.shard_period)
    write_dead_letters([unreadable], options)


main = command(
    "pipelines.archive",
    __doc__.partition("\n")[0],
    GROUPS,
    REQUIRED,
    lambda options: run(build, options),
)

if __name__ == "__main__":
    sys.exit(main())
