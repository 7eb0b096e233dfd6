"""Learn topics from documents, and publish versions of the model while it learns.

``beam-topics train --input='data/*.jsonl.gz' --model_store=models
--dead_letters=dead --window=1d --publish_every=30d``
"""

from __future__ import annotations

import sys

from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command, later
from beam_topics.pipelines.graphs.sources import KafkaOptions, SourceOptions

GROUPS = (
    group.InputOptions,
    SourceOptions,
    KafkaOptions,
    group.StoreOptions,
    group.RecordOptions,
    group.TokeniserOptions,
    group.SequenceOptions,
    group.LearnerOptions,
    group.TrainingOptions,
    group.KeepOptions,
)
REQUIRED = {"model_store": "models", "dead_letters": "dead"}


main = command("train", __doc__, GROUPS, REQUIRED, later("learning.train"))

if __name__ == "__main__":
    sys.exit(main())
