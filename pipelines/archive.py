"""Sort documents into an archive of Avro files, for --source=replay.

``beam-topics archive --input='raw/*.jsonl' --output=archive
--dead_letters=dead``

The files are sorted by time, one for each period.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from beam_topics.model.settings.options import Record, option
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import OptionGroup, Options, settings_of
from beam_topics.pipelines.cli.options import InputSettings
from beam_topics.pipelines.cli.settings_from_options import read_settings_of


@dataclass(frozen=True)
class _ArchiveSettings(Record):
    """Where the archive goes."""

    output: str | None = option(None, "folder for the Avro files")


GROUPS = (group.InputOptions, OptionGroup("Archive", _ArchiveSettings), group.RecordOptions)
REQUIRED = {"input": "'raw/*.jsonl'", "output": "archive", "dead_letters": "dead"}


def archive(options: Options) -> None:
    """Run the graph: read, sort into periods, write."""
    # Imported here, because --help needs no Beam.
    import apache_beam as beam

    from beam_topics.pipelines.graphs.execute import run
    from beam_topics.pipelines.graphs.outputs import write_dead_letters
    from beam_topics.transforms.read import ReadDocuments, check_patterns
    from beam_topics.transforms.write import WriteArchive

    def build(pipeline: beam.Pipeline, options: Options) -> None:
        patterns, settings = settings_of(options, InputSettings).input, read_settings_of(options)
        check_patterns(list(patterns), settings)
        documents, unreadable = pipeline | "Read" >> ReadDocuments(list(patterns), settings, None)
        _ = documents | "Archive" >> WriteArchive(options.output)
        write_dead_letters([unreadable], options)

    run(build, options)


main = command("archive", __doc__, GROUPS, REQUIRED, archive)

if __name__ == "__main__":
    sys.exit(main())
