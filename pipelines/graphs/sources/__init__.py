"""Sources: where documents come from, by ``--source``.

A source is a record of settings in a module of its own, which is imported here. Its fields are the
options that belong to this source alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import OptionGroup, Options, settings_of_choice
from beam_topics.pipelines.cli.options import TOPICS, kafka_topic
from beam_topics.pipelines.graphs.sources import files, kafka  # noqa: F401
from beam_topics.pipelines.graphs.sources.base import SOURCE, SOURCES, SourceSettings
from beam_topics.transforms.sources.kafka_client import KafkaClientSettings

if TYPE_CHECKING:
    import apache_beam as beam

    from beam_topics.model.learner_log.options import LearnOptions
    from beam_topics.transforms.read import Documents

KafkaOptions = OptionGroup("Kafka", KafkaClientSettings)
SourceOptions = OptionGroup("Source", choice=SOURCE)


def is_log(source: str | None) -> bool:
    """Return whether a value of ``--source`` names a source whose documents come as a stream."""
    return source in SOURCES and SOURCES[source].is_log  # type: ignore[attr-defined]


def ends(source: str | None, until: str | None) -> bool:
    """Return whether a source ends, by the values of ``--source`` and ``--until``."""
    if source not in SOURCES:
        return True
    endless = SOURCES[source].endless  # type: ignore[attr-defined]
    return endless == "never" or (endless == "until" and until == "end")


def source_settings_of(options: Options) -> SourceSettings:
    """Return the checked settings of ``--source``.

    Raises:
        UsageError: an option that the source needs is missing.
        OptionError: an option belongs to another source, or has a value that cannot be used.
    """
    topics = (kafka_topic(options.get(name)) for name in TOPICS)
    sends = any(topic is not None for topic in topics) or options.get("alerts") is not None
    # Outputs read these, too.
    return settings_of_choice(options, SOURCE, ("kafka_servers", "kafka_config") if sends else ())


def read_source(
    pipeline: beam.Pipeline,
    options: Options,
    tokeniser: TokeniserSettings,
    learning: LearnOptions | None = None,
) -> Documents:
    """Read tokenised documents from ``--source``, and what could not be read."""
    return pipeline | "Read" >> source_settings_of(options).read(options, tokeniser, learning)
