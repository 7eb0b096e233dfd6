"""The graph of ``beam-topics train``; that of ``beam-topics stream`` begins with it, too."""

from __future__ import annotations

from typing import NamedTuple

import apache_beam as beam

from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.graphs.additions import Beginning, check_store
from beam_topics.pipelines.graphs.outcomes import run_and_check
from beam_topics.pipelines.graphs.outputs import write_dead_letters, write_events
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sources import read_source
from beam_topics.transforms import sequence
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
    learning.run.check_streams(streams)
    sequenced = documents | "Sequence" >> sequence.Sequence(learning, streams=streams)
    candidates = sequenced.minibatches | "Learn" >> Learn(learning, streams=streams)
    published = candidates | "Publish" >> Publish(learning, streams=streams)
    return Learned(sequenced.minibatches, *published, sequenced.dead_letters)


def read_and_learn(
    pipeline: beam.Pipeline, options: Options, beginning: Beginning
) -> tuple[Learned, list[beam.PCollection]]:
    """Read the source, learn it and write events; return what was learned, and dead letters."""
    learning, start = beginning
    documents, unreadable = read_source(pipeline, options, learning.tokeniser, learning)
    check_store(options, learning, start)
    learned = learn(documents, learning, streams=streams(options))
    undelivered = write_events(learned.events, options)
    return learned, [unreadable, learned.dead_letters, *undelivered]


def build_train(pipeline: beam.Pipeline, options: Options, beginning: Beginning) -> None:
    """Build the graph: read, sequence, learn, publish."""
    write_dead_letters(read_and_learn(pipeline, options, beginning)[1], options)


def train(options: Options) -> None:
    """Run the graph of ``beam-topics train``, and check what it learned."""
    run_and_check(build_train, options)
