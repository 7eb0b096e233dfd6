"""Show shares, bursts and typical documents of written trends.

``python -m pipelines.trends --rows=trends --model_store=models``

The rows are those that ``--trends`` of infer and stream wrote. Without ``--trends_group`` all
groups are added up. Topics are named by the catalogue and by their words.
"""

from __future__ import annotations

import sys

from pipelines.cli.command import command
from pipelines.cli.groups import OptionGroup
from pipelines.cli.options import ModelVersionOptions, StoreOptions, TrendFileOptions

GROUPS = (TrendFileOptions, StoreOptions, ModelVersionOptions)


def run(options: OptionGroup) -> None:
    """Show the trends. What reads them is imported here, because --help needs no Beam."""
    from pipelines.graphs import trends

    trends.trends(options)


main = command(
    "pipelines.trends",
    __doc__.partition("\n")[0],
    GROUPS,
    {"rows": "trends", "model_store": "models"},
    run,
)

if __name__ == "__main__":
    sys.exit(main())
