"""Evaluate the versions of a model store on held-out documents.

``beam-topics evaluate --model_store=models --held_out='held/*.jsonl'
--dead_letters=dead``

The figures are nMI, perplexity and coherence over the stream, as a table and JSON lines.

* ``--held_out`` names documents that the model has not learned. Each version is scored on all of
  them, versions in parallel.
* ``--coherence_with`` adds the coherence (PMI) of the topics, and which of them are mixed.
* ``--classify`` adds the accuracy of a linear SVM on the held-out documents. It is trained with the
  proportions of the documents that this option names.
* ``--words=wolverine,hulk`` adds the rank of each word, in the topic where it ranks highest now.

In-sample nMI and prequential perplexity are measured while the model learns. They come from the
manifests.
"""

from __future__ import annotations

import sys

from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command, later

GROUPS = (
    group.EvaluationOptions,
    group.FigureOptions,
    group.RecordOptions,
    group.StoreOptions,
    group.FunctionOptions,
    group.ModelVersionOptions,
)
REQUIRED = {"held_out": "'held/*.jsonl'", "model_store": "models", "dead_letters": "dead"}


main = command("evaluate", __doc__, GROUPS, REQUIRED, later("evaluate.evaluate_versions"))

if __name__ == "__main__":
    sys.exit(main())
