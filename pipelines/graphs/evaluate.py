"""The graph of ``beam-topics evaluate``, and what it shows."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation.coherence import TOP_WORDS
from beam_topics.model.evaluation.held_out import check_classifier
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import EvaluationInputSettings, FigureSettings
from beam_topics.pipelines.cli.stored import opened
from beam_topics.pipelines.cli.terminal import (
    ACROSS,
    PREQUENTIAL,
    coherence_table,
    console,
    figure_table,
    rank_table,
    thin,
)
from beam_topics.pipelines.graphs.execute import run
from beam_topics.pipelines.graphs.outputs import write_dead_letters
from beam_topics.pipelines.graphs.runners import LOCAL_RUNNER
from beam_topics.pipelines.graphs.sources.files import files_of_model
from beam_topics.transforms.evaluate import Evaluate

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
# The versions that are evaluated, evenly spread, with the newest.
MOST_VERSIONS = 50
_MIXED = (
    f"Never: the share of pairs of a topic's first {TOP_WORDS} words that no document of"
    f" --coherence_with has. {ACROSS} Mixed topics (*) have their characteristic words in place of"
    " their first ones."
)


def build(pipeline: beam.Pipeline, options: Options) -> None:
    """Build the graph: score the versions, write the lines to ``--json``."""
    store, last = opened(options)
    versions = thin(store.with_models(last), MOST_VERSIONS)
    given = settings_of(options, EvaluationInputSettings)
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
    lines = (
        pipeline
        | "Versions" >> beam.Create([version.to_json() for version in versions])
        | "Evaluate" >> Evaluate(store.root, given.words, *read)
    )
    # One file, --json.
    _ = lines | "Write" >> beam.io.WriteToText(
        settings_of(options, FigureSettings).json, num_shards=1, shard_name_template=""
    )


def evaluate_versions(options: Options) -> None:
    """Run the graph, then print and draw what it wrote."""
    if (labelled := settings_of(options, EvaluationInputSettings).classify) is not None:
        check_classifier(",".join(labelled))
    run_for_figures(build, options, lambda lines: show(lines, options))


def show(lines: list[dict[str, Any]], options: Options) -> None:
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
        console().print(f"\n{_MIXED}")
    if words := settings_of(options, EvaluationInputSettings).words:
        console().print(rank_table(words, rows))
    if any(row["retrain"] for row in rows[-1:]):
        remedy = "retrain, for example with beam-topics train --add_documents"
        console().print(
            f"The newest version knows {rows[-1]['coverage']:.0%} of the distinct words: {remedy}."
        )


def run_for_figures(
    build: Callable[[beam.Pipeline, Options], Any],
    options: Options,
    show: Callable[[list[dict[str, Any]]], None],
) -> None:
    """Run a graph that writes the one file ``--json``, and show its lines.

    Without ``--json`` the lines are in a temporary file. Nothing is shown where the job is only
    submitted: ``--json`` will have the lines.

    Raises:
        OptionError: the workers of another runner have no file to write to.
    """
    if options.json is None and options.runner != LOCAL_RUNNER:
        raise OptionError(
            "--json",
            None,
            "a file that the runner's workers can write",
            "Give for example --json=gs://bucket/figures.jsonl.",
        )
    with tempfile.TemporaryDirectory() as folder:
        options.json = options.json or str(Path(folder) / "figures.jsonl")
        run(build, options, lambda counted: show(_lines(options.json)))


def _lines(path: str) -> list[dict[str, Any]]:
    with FileSystems.open(path) as lines:
        return [json.loads(line) for line in lines.read().splitlines()]
