"""Learn topics and label documents at once.

``beam-topics stream --input='data/*.jsonl.gz' --model_store=models
--output=mixtures --dead_letters=dead --window=1d``

Each document is labelled by the newest model that was published before the end of its window.
"""

from __future__ import annotations

import sys

from beam_topics.pipelines import train
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command, later

GROUPS = (
    *train.GROUPS[:4],
    group.SinkOptions,
    group.OutputOptions,
    group.AlertOptions,
    group.StreamOptions,
    *train.GROUPS[4:],
    group.MethodOptions,
    group.InferenceOptions,
    group.ModelCacheOptions,
    group.CoverageOptions,
)
REQUIRED = {"model_store": "models", "output": "mixtures", "dead_letters": "dead"}


main = command("stream", __doc__, GROUPS, REQUIRED, later("stream.stream"))

if __name__ == "__main__":
    sys.exit(main())
