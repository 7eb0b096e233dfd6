"""Evaluate the versions of a model store on held-out documents.

``python -m pipelines.evaluate --model_store=models --held_out='held/*.jsonl' --dead_letters=dead
--plot=quality.png``

The figures are nMI, perplexity and coherence over the stream, as a table, JSON lines and a plot.

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
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from model.evaluation.classification import check_classifier
from model.evaluation.coherence import MIXED, TOP_WORDS
from model.publishing.manifest import Manifest
from model.publishing.store import ModelStore
from pipelines.cli import plots
from pipelines.cli.command import command
from pipelines.cli.figures import run_for_figures, write_figures
from pipelines.cli.input_options import RecordOptions
from pipelines.cli.options import (
    EvaluationOptions,
    FigureOptions,
    ModelVersionOptions,
    PlotOptions,
    StoreOptions,
)
from pipelines.cli.settings_from_options import evaluation_settings_of
from pipelines.cli.terminal import (
    PREQUENTIAL,
    coherence_table,
    console,
    figure_table,
    rank_table,
    thin,
)
from pipelines.graphs.learning import write_dead_letters
from pipelines.graphs.sources import files_of_model
from transforms.evaluate import Evaluate, EvaluationPlan

GROUPS = (
    EvaluationOptions,
    FigureOptions,
    PlotOptions,
    RecordOptions,
    StoreOptions,
    ModelVersionOptions,
)
REQUIRED = {"held_out": "'held/*.jsonl'", "model_store": "models", "dead_letters": "dead"}
_COLUMNS = {
    "up to": "day",
    "learned documents": "learned_documents",
    "words": "learned_words",
    "coverage": "coverage",
    "nMI": "nmi",
    "nMI in sample": "in_sample_nmi",
    "PMI": "pmi",
    "NPMI": "npmi",
    "SVM": "svm_accuracy",
    "perplexity": "first_moment_perplexity",
    "left to right": "left_to_right_perplexity",
    "prequential": "prequential_perplexity",
}
_PERPLEXITY = (
    "Perplexity and left to right are of the held-out documents: where the coverage is low, the"
    " words that the model does not know make up most of them."
)
_ASKED_FOR = ("pmi", "npmi", "svm_accuracy")
_MIXED = (
    "Never: the share of pairs of a topic's first {words} words that no document of"
    " --coherence_with has. Apart: the share of pairs that occur together less often than by"
    " chance. From {mixed:g} on the topic is judged mixed (*): three or more of ten words are apart"
    " from the others."
)


def chosen_versions(options: PipelineOptions) -> list[Manifest]:
    """Return the versions up to ``--model_version``, evenly spread if they are many."""
    which = options.view_as(ModelVersionOptions)
    store = ModelStore(options.view_as(StoreOptions).model_store)
    last = store.manifest(which.model_key, which.model_version)
    # Some of the versions before may have expired.
    found = [
        one for one in store.up_to(last) if one.version == last.version or store.has_model(one)
    ]
    return thin(found, options.view_as(EvaluationOptions).versions)


def build(pipeline: beam.Pipeline, options: PipelineOptions) -> None:
    """Build the graph: score the versions, write the lines to ``--json``."""
    versions, given = chosen_versions(options), options.view_as(EvaluationOptions)
    read: list[beam.PCollection | None] = []
    dead = []
    for name in ("held_out", "coherence_with", "classify"):
        patterns = getattr(given, name)
        if patterns is None:
            read.append(None)
            continue
        # One model, one way to cut words: the store refuses versions with another tokeniser.
        documents, unread = files_of_model(pipeline, options, versions[-1], patterns, f"--{name}")
        read.append(documents)
        dead.append(unread)
    write_dead_letters(dead, options)
    plan = EvaluationPlan(
        options.view_as(StoreOptions).model_store, evaluation_settings_of(options), given.words
    )
    lines = (
        pipeline
        | "Versions" >> beam.Create([version.to_json() for version in versions])
        | "Evaluate" >> Evaluate(plan, *read)
    )
    write_figures(lines, options)


def evaluate_versions(options: PipelineOptions) -> None:
    """Run the graph, then print and draw what it wrote."""
    if options.view_as(EvaluationOptions).classify is not None:
        check_classifier("--classify", ",".join(options.view_as(EvaluationOptions).classify))
    run_for_figures(build, options, lambda lines: show(lines, options))


def show(lines: list[dict[str, Any]], options: PipelineOptions) -> None:
    """Print and draw the figures."""
    rows = sorted(lines, key=lambda row: row["sequence"])
    columns = {
        title: name
        for title, name in _COLUMNS.items()
        if name not in _ASKED_FOR or any(row[name] is not None for row in rows)
    }
    console().print(
        figure_table(
            f"{len(rows)} versions",
            list(columns),
            ([row[name] for name in columns.values()] for row in rows),
        )
    )
    console().print(f"\n{_PERPLEXITY}\n{PREQUENTIAL}")
    if rows and rows[-1]["topics"] is not None:
        console().print(coherence_table(rows[-1]))
        console().print(f"\n{_MIXED.format(words=TOP_WORDS, mixed=MIXED)}")
    if words := options.view_as(EvaluationOptions).words:
        console().print(rank_table(words, rows))
    if any(row["retrain"] for row in rows[-1:]):
        remedy = "retrain, for example with pipelines.train --add_documents"
        console().print(
            f"The newest version knows {rows[-1]['coverage']:.0%} of the distinct words: {remedy}."
        )
    if (plot := options.view_as(PlotOptions).plot) is not None:
        plots.draw(plot, rows)


main = command(
    "pipelines.evaluate", __doc__.partition("\n")[0], GROUPS, REQUIRED, evaluate_versions
)

if __name__ == "__main__":
    sys.exit(main())
