"""Learn topics from documents, and publish versions of the model while it learns.

``python -m pipelines.train --input='data/*.jsonl.gz' --model_store=models --dead_letters=dead
--window=1d --publish_every=30d``
"""

from __future__ import annotations

import sys

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.cli.command import command
from pipelines.cli.input_options import InputOptions, KafkaOptions, RecordOptions
from pipelines.cli.options import (
    KeepOptions,
    LearnerOptions,
    SequenceOptions,
    StoreOptions,
    TokeniserOptions,
    TrainingOptions,
)
from pipelines.graphs.learning import (
    check_store,
    learn,
    learn_options_of,
    run_and_check,
    write_dead_letters,
    write_events,
)
from pipelines.graphs.sources import SourceOptions, read_source

GROUPS = (
    InputOptions,
    SourceOptions,
    KafkaOptions,
    StoreOptions,
    RecordOptions,
    TokeniserOptions,
    SequenceOptions,
    LearnerOptions,
    TrainingOptions,
    KeepOptions,
)
REQUIRED = {"model_store": "models", "dead_letters": "dead"}


def build(pipeline: beam.Pipeline, options: PipelineOptions) -> None:
    """Build the graph: read, sequence, learn, publish."""
    learning = learn_options_of(options)
    documents, unreadable = read_source(pipeline, options, learning.tokeniser)
    check_store(options, learning)
    learned = learn(documents, options, learning)
    write_events(learned.events, options)
    write_dead_letters([unreadable, learned.dead_letters], options)


main = command(
    "pipelines.train",
    __doc__.partition("\n")[0],
    GROUPS,
    REQUIRED,
    lambda options: run_and_check(build, options),
)

if __name__ == "__main__":
    sys.exit(main())
