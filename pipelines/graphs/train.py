"""The graph of ``pipelines.train``."""

from __future__ import annotations

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from model.document_blocks import Blocks
from pipelines.cli.settings_from_options import learn_options_of
from pipelines.graphs.learning import (
    check_store,
    learn,
    run_and_check,
    write_dead_letters,
    write_events,
)
from pipelines.graphs.runners import streams
from pipelines.graphs.sources import read_source


def build(pipeline: beam.Pipeline, options: PipelineOptions) -> None:
    """Build the graph: read, sequence, learn, publish."""
    learning = learn_options_of(options)
    blocks = Blocks(learning.sequence)
    documents, unreadable = read_source(pipeline, options, learning.tokeniser, blocks=blocks)
    check_store(options, learning)
    learned = learn(documents, learning, streams=streams(options))
    write_events(learned.events, options)
    write_dead_letters([unreadable, learned.dead_letters], options)


def run_graph(options: PipelineOptions) -> None:
    """Run the graph, and check what it learned."""
    run_and_check(build, options)
