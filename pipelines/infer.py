"""Label documents with the topic mixtures of a published model.

``beam-topics infer --input='new/*.jsonl' --model_store=models --output=mixtures
--dead_letters=dead``

With ``--key_field`` each document is labelled by the model of its key, and a document of an unknown
key becomes a dead letter. ``--method`` chooses the inference method
(:mod:`beam_topics.model.inference`); ``gibbs1`` and ``gibbs2`` infer all documents of a model
together. Every run reports the share of each window's words that the model knows
(:mod:`beam_topics.transforms.infer`).
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
    group.FunctionOptions,
    group.ModelVersionOptions,
    group.SinkOptions,
    group.OutputOptions,
    group.MethodOptions,
    group.InferenceOptions,
    group.ModelCacheOptions,
    group.TrainingDocumentsOptions,
    group.CoverageOptions,
    group.RecordOptions,
)
REQUIRED = {"model_store": "models", "output": "mixtures", "dead_letters": "dead"}


main = command("infer", __doc__, GROUPS, REQUIRED, later("infer.run_graph"))

if __name__ == "__main__":
    sys.exit(main())
