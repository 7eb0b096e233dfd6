"""Sort documents into an archive of Avro files, for --source=replay.

``python -m pipelines.archive --input='raw/*.jsonl' --archive=archive --dead_letters=dead
--shard_period=30d``

The files are sorted by time, one for each period.
"""

from __future__ import annotations

import sys

from pipelines.cli.command import command
from pipelines.cli.groups import Options
from pipelines.cli.options import ArchiveOptions, InputOptions, RecordOptions

GROUPS = (InputOptions, ArchiveOptions, RecordOptions)
REQUIRED = {"input": "'raw/*.jsonl'", "archive": "archive", "dead_letters": "dead"}


def run(options: Options) -> None:
    """Run the graph. It is imported here, because --help needs no Beam."""
    from pipelines.graphs import archive

    archive.run_graph(options)


main = command("pipelines.archive", __doc__.partition("\n")[0], GROUPS, REQUIRED, run)

if __name__ == "__main__":
    sys.exit(main())
