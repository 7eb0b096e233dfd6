"""Compare inference methods: agreement with a reference, and time per document.

``python -m pipelines.compare --input='held/*.jsonl' --model_store=models --dead_letters=dead
--methods=gibbs3,variational --reference=gibbs2``

``maxent`` and ``hybrid`` want a classifier (pipelines.fit_classifier), ``gibbs1`` the documents
that the model was learned from (--training).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pipelines.cli.command import command
from pipelines.cli.inference_options import CompareOptions, TrainingDocumentsOptions
from pipelines.cli.input_options import InputOptions, RecordOptions
from pipelines.cli.options import (
    FigureOptions,
    InferenceOptions,
    ModelVersionOptions,
    PlotOptions,
    StoreOptions,
)

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

GROUPS = (
    InputOptions,
    StoreOptions,
    ModelVersionOptions,
    CompareOptions,
    TrainingDocumentsOptions,
    InferenceOptions,
    FigureOptions,
    PlotOptions,
    RecordOptions,
)
REQUIRED = {"input": "'held/*.jsonl'", "model_store": "models", "dead_letters": "dead"}


def run(options: PipelineOptions) -> None:
    """Run the graph. It is imported here, because --help needs no Beam."""
    from pipelines.graphs import compare

    compare.compare_methods(options)


main = command("pipelines.compare", __doc__.partition("\n")[0], GROUPS, REQUIRED, run)

if __name__ == "__main__":
    sys.exit(main())
