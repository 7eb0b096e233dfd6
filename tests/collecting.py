"""The elements of a pipeline's collections, as lists.

The local runner works in the test's own process.
"""

import apache_beam as beam
from apache_beam.metrics import MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner


class Keep(beam.DoFn):
    """Puts (element time in microseconds, element) into ``HELD[name]``."""

    HELD = {}

    def __init__(self, name):
        self._name = name
        self.HELD[name] = []

    def process(self, element, time=beam.DoFn.TimestampParam):
        self.HELD[self._name].append((time.micros, element))


def run(build, *flags):
    """Run the collections, by name, that ``build(pipeline)`` returns.

    Each passes a shuffle first, so that elements and times are encoded and decoded as between
    workers.

    Returns:
        The contents by name, sorted, and the counters.
    """
    pipeline = beam.Pipeline(FnApiRunner(), options=PipelineOptions(list(flags)))
    built = build(pipeline)
    for name, collection in built.items():
        (
            collection
            | f"Shuffle {name}" >> beam.Reshuffle()
            | f"Keep {name}" >> beam.ParDo(Keep(name))
        )
    result = pipeline.run()
    result.wait_until_finish()
    found = result.metrics().query(MetricsFilter().with_namespace("beam_topics"))["counters"]
    counters = {counter.key.metric.name: counter.committed for counter in found}
    return {name: sorted(Keep.HELD[name]) for name in built}, counters
