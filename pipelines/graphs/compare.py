"""The graph of ``pipelines.compare``, and what it shows."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from model.publishing.store_settings import StoreSettings
from pipelines.cli import plots
from pipelines.cli.figures import run_for_figures, write_figures
from pipelines.cli.program_settings import (
    CompareSettings,
    InputSettings,
    PlotSettings,
    TrainingInputSettings,
)
from pipelines.cli.settings_from_options import chosen_version, inference_options_of
from pipelines.cli.settings_options import settings_of
from pipelines.cli.terminal import console, figure_table
from pipelines.graphs.learning import write_dead_letters
from pipelines.graphs.sources import files_of_model
from transforms.compare import Compare, methods_of
from transforms.infer import check_training

_COLUMNS = {
    "method": "method",
    "cosine": "cosine",
    "KL": "kl",
    "F1": "f1",
    "documents/s": "rate",
    "ms/document": "milliseconds",
}


def build(pipeline: beam.Pipeline, options: PipelineOptions) -> None:
    """Build the graph: read, compare, write the lines to ``--json``."""
    store, given = settings_of(options, StoreSettings).root, settings_of(options, CompareSettings)
    manifest = chosen_version(options)
    methods = methods_of(given.reference, given.methods, inference_options_of(options))
    patterns = settings_of(options, TrainingInputSettings).training
    check_training(methods, patterns)
    documents, dead = files_of_model(
        pipeline, options, manifest, settings_of(options, InputSettings).input
    )
    letters, training = [dead], None
    if patterns is not None:
        training, unreadable = files_of_model(pipeline, options, manifest, patterns, "--training")
        letters.append(unreadable)
    lines = documents | "Compare" >> Compare(
        store, manifest.key, manifest.version, methods, training=training, mass=given.mass
    )
    write_figures(lines, options)
    write_dead_letters(letters, options)


def compare_methods(options: PipelineOptions) -> None:
    """Run the graph, then print and draw what it wrote."""
    run_for_figures(build, options, lambda lines: show(ordered(lines), options))


def show(rows: list[dict[str, Any]], options: PipelineOptions) -> None:
    """Print and draw the figures."""
    title = (
        f"against {rows[0]['reference']}, means of {rows[0]['documents']:,} documents"
        if rows
        else "no documents"
    )
    console().print(
        figure_table(
            title, list(_COLUMNS), ([row[name] for name in _COLUMNS.values()] for row in rows)
        )
    )
    if (plot := settings_of(options, PlotSettings).plot) is not None:
        plots.draw_comparison(plot, rows)


def ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add rates to the figures, and sort them: the reference first, then the fastest."""
    for row in rows:
        row["milliseconds"] = 1000 * row["seconds_per_document"]
        row["rate"] = 1 / row["seconds_per_document"] if row["seconds_per_document"] else None
    return sorted(
        rows, key=lambda row: (row["method"] != row["reference"], row["seconds_per_document"])
    )
