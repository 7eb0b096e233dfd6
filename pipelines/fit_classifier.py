"""Fit the classifier that --method=maxent and --method=hybrid need.

``beam-topics fit_classifier --input='data/*.jsonl' --model_store=models
--dead_letters=dead``

It predicts a model's topic mixtures from words alone, and is written into the model store next to
its model version. The documents should be like those that it will label; those that the model was
learned from will do.
"""

from __future__ import annotations

import sys

from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command, later

GROUPS = (
    group.InputOptions,
    group.StoreOptions,
    group.FunctionOptions,
    group.ModelVersionOptions,
    group.FitOptions,
    group.MethodOptions,
    group.InferenceOptions,
    group.RecordOptions,
    group.SignOptions,
)
REQUIRED = {"input": "'data/*.jsonl'", "model_store": "models", "dead_letters": "dead"}


main = command("fit_classifier", __doc__, GROUPS, REQUIRED, later("fit_classifier.fit_and_show"))

if __name__ == "__main__":
    sys.exit(main())
