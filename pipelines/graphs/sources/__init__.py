"""Sources: where documents come from, by ``--source``.

:mod:`pipelines.graphs.sources.base` has the contract. A source is registered by importing its
module here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.settings import TokeniserSettings
from pipelines.cli.groups import Options
from pipelines.cli.shared_options import settings_of_choice
from pipelines.graphs.sinks import shared_by_sink
from pipelines.graphs.sources.base import (
    SOURCE,
    SOURCES,
    SourceOptions,
    SourceSettings,
    ends,
    is_log,
)
from pipelines.graphs.sources.files import Files, files_of_model, read_files
from pipelines.graphs.sources.kafka import Kafka
from pipelines.graphs.sources.pubsub import PubSub
from pipelines.graphs.sources.replay import Replay

if TYPE_CHECKING:
    import apache_beam as beam

    from model.document_blocks import Blocks
    from transforms.read import Documents
__all__ = [
    "SOURCES",
    "Files",
    "Kafka",
    "PubSub",
    "Replay",
    "SourceOptions",
    "SourceSettings",
    "ends",
    "files_of_model",
    "is_log",
    "read_files",
    "read_source",
    "source_settings_of",
]


def source_settings_of(options: Options) -> SourceSettings:
    """Return the checked settings of ``--source``.

    Raises:
        UsageError: an option that the source needs is missing.
        OptionError: an option belongs to another source, or has a value that cannot be used.
    """
    return settings_of_choice(options, SourceOptions, SOURCE, shared_by_sink(options))


def read_source(
    pipeline: beam.Pipeline,
    options: Options,
    tokeniser: TokeniserSettings,
    *,
    blocks: Blocks | None = None,
) -> Documents:
    """Read tokenised documents from ``--source``, and what could not be read.

    Args:
        pipeline: the pipeline.
        options: the parsed command line.
        tokeniser: the settings of the tokeniser.
        blocks: which documents may share a block (:mod:`model.document_blocks`); None for none.

    Raises:
        UsageError: an option that the source needs is missing.
        OptionError: an option belongs to another source, or has a value that cannot be used.
        SourceError: the source does not exist.
    """
    source = source_settings_of(options)
    return pipeline | "Read" >> source.read(options, tokeniser, blocks)
