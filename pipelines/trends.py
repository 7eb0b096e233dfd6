"""Show shares, bursts and typical documents of written trends.

``beam-topics trends --rows=trends --model_store=models``

The rows are those that ``--trends`` of infer and stream wrote. Without ``--trends_group`` all
groups are added up. Topics are named by the catalogue and by their words.
"""

from __future__ import annotations

import sys

from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command, later

GROUPS = (group.RowOptions, group.TrendFileOptions, group.StoreOptions, group.ModelVersionOptions)


REQUIRED = {"rows": "trends", "model_store": "models"}
main = command("trends", __doc__, GROUPS, REQUIRED, later("trends.trends"))

if __name__ == "__main__":
    sys.exit(main())
