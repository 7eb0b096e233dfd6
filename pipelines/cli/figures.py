"""Figures that a graph computes, for programs that print them.

The graph writes JSON lines into the file ``--json``, and the program reads them back.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions

from model.errors import OptionError
from pipelines.cli.options import FigureOptions
from pipelines.cli.program_settings import FigureSettings
from pipelines.cli.settings_options import settings_of
from pipelines.graphs.execute import run
from pipelines.graphs.runners import LOCAL_RUNNER


def write_figures(lines: beam.PCollection, options: PipelineOptions) -> None:
    """Write JSON lines into the one file ``--json``."""
    _ = lines | "Write" >> beam.io.WriteToText(
        settings_of(options, FigureSettings).json, num_shards=1, shard_name_template=""
    )


def run_for_figures(
    build: Callable[[beam.Pipeline, PipelineOptions], Any],
    options: PipelineOptions,
    show: Callable[[list[dict[str, Any]]], None],
) -> None:
    """Run a graph that ends in :func:`write_figures`, and show its lines.

    Without ``--json`` the lines are in a temporary file. Nothing is shown where the job is only
    submitted: ``--json`` will have the lines.

    Args:
        build: builds the graph.
        options: the parsed command line.
        show: prints the lines, which come in any order.

    Raises:
        OptionError: the workers of another runner have no file to write to.
    """
    given = options.view_as(FigureOptions)
    if given.json is None and options.view_as(StandardOptions).runner != LOCAL_RUNNER:
        raise OptionError(
            "--json",
            None,
            "a file that the runner's workers can write",
            "Give for example --json=gs://bucket/figures.jsonl.",
        )
    with tempfile.TemporaryDirectory() as folder:
        given.json = given.json or str(Path(folder) / "figures.jsonl")
        run(build, options, lambda counted: show(_lines(given.json)))


def _lines(path: str) -> list[dict[str, Any]]:
    with FileSystems.open(path) as lines:
        return [json.loads(line) for line in lines.read().splitlines()]
