"""The graph of ``beam-topics stream``: documents are learned and labelled."""

from __future__ import annotations

import apache_beam as beam

from beam_topics.model.inference.base import LabelSettings
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.graphs.additions import Beginning, additions_began
from beam_topics.pipelines.graphs.bursts import told_rules, write_bursts, write_noted
from beam_topics.pipelines.graphs.learning import read_and_learn
from beam_topics.pipelines.graphs.models import serving_of
from beam_topics.pipelines.graphs.outcomes import run_and_check
from beam_topics.pipelines.graphs.outputs import report_coverage, write_dead_letters
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import write_mixtures
from beam_topics.transforms.infer import InferLabelled
from beam_topics.transforms.label import Label


def build_stream(pipeline: beam.Pipeline, options: Options, beginning: Beginning) -> None:
    """Build the graph: read, sequence, learn, publish, and label.

    ``Label`` takes the numbered minibatches and the references to versions.
    """
    learned, dead = read_and_learn(pipeline, options, beginning)
    serving = serving_of(options, beginning.learning.settings.topic_count)
    judged, noted = told_rules(options)
    serving.stories = bool(judged)
    given = settings_of(options, LabelSettings)
    label = Label(given.before_first_model, given.label_with, streams=streams(options))
    labelled = (learned.minibatches, learned.references) | "Label" >> label
    inferred = labelled.documents | "Infer" >> InferLabelled(serving)
    # The model is being trained: low coverage is no signal to train it, as it is in
    # beam-topics infer.
    report_coverage(inferred.tallies, serving.window, options, retrains=False)
    runs = additions_began(beginning.learning) if options.get("trends") is not None else None
    rows = write_mixtures(inferred.blocks, options, streams(options), runs)
    dead += write_noted(learned.events, options, noted)
    if judged:
        dead += write_bursts(rows, inferred.blocks, options, judged, runs)
    write_dead_letters([*dead, labelled.dead_letters], options)


def stream(options: Options) -> None:
    """Run the graph of ``beam-topics stream``, and check what it learned."""
    run_and_check(build_stream, options)
