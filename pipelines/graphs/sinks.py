"""``--sink``: where the mixtures go, and which options go with which sink.

| ``--sink`` | writes | options of its own |
|---|---|---|
| ``files`` | JSON lines or Avro | ``--output``, ``--output_format`` |
| ``kafka`` | JSON messages | ``--kafka_servers``, ``--kafka_config``, ``--output_topic`` |

Files are one for each bundle, or with ``--file_period`` one for each period of event time; dead
letters too.
"""

from __future__ import annotations

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from model.errors import at_least
from pipelines.cli.exclusive_options import Own, check_own
from pipelines.cli.input_options import KafkaOptions, RecordOptions
from pipelines.cli.options import OutputOptions
from pipelines.graphs.runners import streams
from transforms.sinks.kafka import WriteMixturesToKafka
from transforms.sinks.write_by_period import WriteByPeriod
from transforms.sources.kafka_client import client_library, properties
from transforms.write import WriteMixtures, mixture_encoder

_OWN: Own = {
    "files": {"output": None, "output_format": "jsonl"},
    "kafka": {"kafka_servers": None, "kafka_config": None, "output_topic": None},
}
_NEEDED = {
    "files": {"output": "mixtures"},
    "kafka": {"kafka_servers": "localhost:9092", "output_topic": "mixtures"},
}


def write_mixtures(mixtures: beam.PCollection, options: PipelineOptions) -> None:
    """Write the mixtures to ``--sink``.

    Raises:
        UsageError: an option that the sink needs is missing.
        OptionError: one is given that it does not have, or a value cannot be used.
    """
    given = options.view_as(OutputOptions)
    # A source has these too, and checks them.
    check_own(options, "sink", given.sink, _OWN, _NEEDED, shared={"kafka_servers", "kafka_config"})
    at_least("--top_topics", given.top_topics, 0)
    if given.sink == "kafka":
        kafka = options.view_as(KafkaOptions)
        client_library("--sink")
        properties(kafka.kafka_config or "")
        sink: beam.PTransform = WriteMixturesToKafka(
            kafka.kafka_servers, given.output_topic, kafka.kafka_config or "", given.top_topics
        )
    elif period := options.view_as(RecordOptions).file_period:
        encode = mixture_encoder(given.output_format, given.top_topics)
        sink = WriteByPeriod(
            given.output,
            "mixtures",
            f".{given.output_format}",
            encode,
            period,
            streams=streams(options),
        )
    else:
        sink = WriteMixtures(given.output, given.output_format, given.top_topics)
    _ = mixtures | "Write mixtures" >> sink
