"""The graph of ``beam-topics infer``."""

from __future__ import annotations

import apache_beam as beam

from beam_topics.model.errors import OptionError
from beam_topics.model.inference import inference_for
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import TrainingInputSettings
from beam_topics.pipelines.cli.settings_from_options import inference_settings_of
from beam_topics.pipelines.graphs.execute import run
from beam_topics.pipelines.graphs.models import chosen_models, served_models, serving_of
from beam_topics.pipelines.graphs.outputs import report_coverage, write_dead_letters
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import write_mixtures
from beam_topics.pipelines.graphs.sources import read_source, source_settings_of
from beam_topics.pipelines.graphs.sources.files import read_files
from beam_topics.transforms.infer import InferByKey, InferTogether, check_training


def build(pipeline: beam.Pipeline, options: Options) -> None:
    """Wire the graph: read, infer and write, and the coverage."""
    source = source_settings_of(options)
    settings = inference_settings_of(options)
    # The other sources have no end. Refuse them before a broker is asked for anything.
    if inference_for(settings).needs_all_documents and source.is_log:
        raise OptionError(
            "--method",
            settings.kind,
            f"a method for one document at a time with --source={source.kind}",
            "Use gibbs3.",
        )
    chosen = chosen_models(options)
    serving = serving_of(options, 0)
    models = served_models(serving, chosen)
    tokeniser = next(iter(chosen.values())).tokeniser
    documents, unreadable = read_source(pipeline, options, tokeniser)
    patterns = settings_of(options, TrainingInputSettings).training
    check_training(settings, patterns)
    learned, dead = None, [unreadable]
    if patterns is not None:
        read = read_files(options, tokeniser, patterns, "--training")
        learned, unread = pipeline | "Read training" >> read
        dead.append(unread)
    together = inference_for(settings).needs_all_documents
    by_key = InferByKey(serving, models)
    infer = InferTogether(serving, models, learned) if together else by_key
    inferred = documents | "Infer" >> infer
    write_mixtures(inferred.blocks, options, streams(options))
    report_coverage(inferred.tallies, serving.window, options, retrains=True)
    write_dead_letters([*dead, inferred.dead_letters], options)


def run_graph(options: Options) -> None:
    """Run the graph."""
    run(build, options)
