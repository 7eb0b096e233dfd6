"""The graphs of ``beam-topics train`` and ``beam-topics stream``."""

from __future__ import annotations

from typing import NamedTuple

import apache_beam as beam

from beam_topics.model.errors import (
    OptionError,
)
from beam_topics.model.inference.base import LabelSettings
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.times import duration_text
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.settings_from_options import (
    learn_options_of,
)
from beam_topics.pipelines.graphs.additions import additions_began, check_store
from beam_topics.pipelines.graphs.models import serving_of
from beam_topics.pipelines.graphs.outcomes import run_and_check
from beam_topics.pipelines.graphs.outputs import (
    report_coverage,
    tells_bursts,
    write_dead_letters,
    write_events,
)
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import write_mixtures
from beam_topics.pipelines.graphs.sources import read_source
from beam_topics.transforms import sequence
from beam_topics.transforms.infer import Coverage, InferLabelled
from beam_topics.transforms.label import Label
from beam_topics.transforms.learn import Learn
from beam_topics.transforms.publish import Publish


class Learned(NamedTuple):
    """The outputs of learning."""

    minibatches: beam.PCollection
    references: beam.PCollection
    events: beam.PCollection
    dead_letters: beam.PCollection


def learn(documents: beam.PCollection, learning: LearnOptions, *, streams: bool) -> Learned:
    """Learn documents (bytes of Block), and publish versions into the model store."""
    run = learning.run
    if run.silent_after and not streams:
        given = duration_text(run.silent_after)
        remedy = "Event time passes once in this job. Leave it out; --memory_mb bounds the memory."
        raise OptionError("--silent_after", given, "a length of time in a job that streams", remedy)
    sequenced = documents | "Sequence" >> sequence.Sequence(learning, streams=streams)
    candidates = sequenced.minibatches | "Learn" >> Learn(learning, streams=streams)
    published = candidates | "Publish" >> Publish(learning, streams=streams)
    return Learned(sequenced.minibatches, *published, sequenced.dead_letters)


def build_train(pipeline: beam.Pipeline, options: Options) -> None:
    """Build the graph: read, sequence, learn, publish."""
    learning = learn_options_of(options)
    documents, unreadable = read_source(pipeline, options, learning.tokeniser, in_blocks=True)
    check_store(options, learning)
    learned = learn(documents, learning, streams=streams(options))
    undelivered = write_events(learned.events, options)
    write_dead_letters([unreadable, learned.dead_letters, *undelivered], options)


def build_stream(pipeline: beam.Pipeline, options: Options) -> None:
    """Build the graph: read, sequence, learn, publish; label and infer beside it.

    ``Label`` takes the numbered minibatches and the references to versions.
    """
    learning = learn_options_of(options)
    serving = serving_of(options, learning.settings.topic_count)
    serving.stories = tells_bursts(options)
    given = settings_of(options, LabelSettings)
    documents, unreadable = read_source(pipeline, options, learning.tokeniser, in_blocks=True)
    check_store(options, learning)
    learned = learn(documents, learning, streams=streams(options))
    label = Label(given.before_first_model, given.label_with, streams=streams(options))
    labelled = (learned.minibatches, learned.references) | "Label" >> label
    inferred = labelled.documents | "Infer" >> InferLabelled(serving)
    # The model is being trained: low coverage is no signal to train it, as it is in
    # beam-topics infer.
    known = Coverage(serving.window, retrain_below=None, streams=streams(options))
    report_coverage(inferred.tallies | "Coverage" >> known, options)
    rows = write_mixtures(inferred.blocks, options, streams(options), additions_began(options))
    undelivered = write_events(learned.events, options, rows, inferred.blocks)
    dead = [unreadable, learned.dead_letters, labelled.dead_letters, *undelivered]
    write_dead_letters(dead, options)


def train(options: Options) -> None:
    """Run the graph of ``beam-topics train``, and check what it learned."""
    run_and_check(build_train, options)


def stream(options: Options) -> None:
    """Run the graph of ``beam-topics stream``, and check what it learned."""
    run_and_check(build_stream, options)
