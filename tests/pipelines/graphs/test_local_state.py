import apache_beam as beam
import pytest
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import worker_handlers
from apache_beam.runners.worker import statecache
from apache_beam.transforms.userstate import ReadModifyWriteStateSpec

from pipelines.graphs.execute import run
from pipelines.graphs.local_state import state_uncached

OPTIONS = PipelineOptions(["--runner=FnApiRunner"])


class Sum(beam.DoFn):
    """A sum by key in state."""

    STATE = ReadModifyWriteStateSpec("sum", BytesCoder())
    _STATE = beam.DoFn.StateParam(STATE)

    def process(self, element, state=_STATE):
        total = int(state.read() or 0) + element[1]
        state.write(b"%d" % total)
        Metrics.counter("beam_topics", "highest").inc(total)


def sums(pipeline, options=None):
    elements = [(b"ab"[n % 2 : n % 2 + 1], 1) for n in range(6)]
    return (
        pipeline
        | beam.Create(elements).with_output_types(tuple[bytes, int])
        | beam.ParDo(Sum()).with_output_types(bytes)
    )


def measured(monkeypatch):
    """What the cache measures from now on."""
    found, before = [], statecache.get_deep_size
    monkeypatch.setattr(
        statecache, "get_deep_size", lambda *values: found.append(values) or before(*values)
    )
    return found


def test_no_value_is_measured_and_the_results_are_those_of_the_state(monkeypatch):
    found, counted = measured(monkeypatch), {}
    run(sums, OPTIONS, counted.update)
    assert counted == {"highest": 2 * (1 + 2 + 3)} and not found


def test_beam_still_needs_it(monkeypatch):
    """If this fails, pipelines/graphs/local_state.py can go, or has lost what it changes."""
    found = measured(monkeypatch)
    pipeline = beam.Pipeline(options=OPTIONS)
    sums(pipeline)
    pipeline.run()
    assert found


def test_nothing_stays_changed():
    before = worker_handlers.STATE_CACHE_SIZE_MB
    with pytest.raises(ZeroDivisionError), state_uncached():
        assert before > 0 == worker_handlers.STATE_CACHE_SIZE_MB
        1 / 0  # noqa: B018
    assert before == worker_handlers.STATE_CACHE_SIZE_MB
