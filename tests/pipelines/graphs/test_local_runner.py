import inspect
import sys

import apache_beam as beam
import pytest
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics, MetricsFilter, monitoring_infos
from apache_beam.runners.portability.fn_api_runner import fn_runner, worker_handlers
from apache_beam.runners.worker import statecache
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import ReadModifyWriteStateSpec, TimerSpec, on_timer
from apache_beam.utils.timestamp import Timestamp
from given import given_by

from beam_topics.pipelines.graphs.execute import changed, run

OPTIONS = given_by("--runner=FnApiRunner")


class Again(beam.DoFn):
    """A timer that sets itself again, each time in a bundle of its own."""

    LEFT = ReadModifyWriteStateSpec("left", BytesCoder())
    TIMER = TimerSpec("again", TimeDomain.WATERMARK)
    _LEFT = beam.DoFn.StateParam(LEFT)
    _TIMER = beam.DoFn.TimerParam(TIMER)

    def setup(self):
        self._fired = Metrics.counter("beam_topics", "fired")

    def process(self, element, timer=_TIMER, left=_LEFT):
        left.write(element[1])
        timer.set(Timestamp(1))

    @on_timer(TIMER)
    def fire(self, timer=_TIMER, left=_LEFT):
        self._fired.inc()
        more = int(left.read()) - 1
        left.write(b"%d" % more)
        if more:
            timer.set(Timestamp(1))


def firings(count):
    def build(pipeline, options=None):
        return (
            pipeline
            | beam.Create([(b"k", b"%d" % count)]).with_output_types(tuple[bytes, bytes])
            | beam.ParDo(Again())
        )

    return build


@pytest.fixture
def few_frames():
    """So that few bundles are enough to exceed them; how many more there are than now."""
    before, more = sys.getrecursionlimit(), 300
    sys.setrecursionlimit(len(inspect.stack(0)) + more)
    yield more
    sys.setrecursionlimit(before)


def test_counters_survive_more_bundles_than_the_interpreter_has_frames(few_frames):
    bundles = few_frames + 50
    counted = {}
    run(firings(bundles), given_by("--runner=FnApiRunner"), counted.update)
    assert counted == {"fired": bundles}


def test_beam_still_needs_it():
    """If this fails, Beam adds up the metrics, and local_runner.py can leave them."""
    assert fn_runner.consolidate_monitoring_infos is monitoring_infos.consolidate
    assert inspect.isgenerator(monitoring_infos.consolidate([]))


def test_nothing_stays_replaced():
    before = fn_runner.consolidate_monitoring_infos
    with pytest.raises(ZeroDivisionError), changed():
        assert fn_runner.consolidate_monitoring_infos is not before
        1 / 0  # noqa: B018
    assert fn_runner.consolidate_monitoring_infos is before


def test_the_sums_are_those_of_beam():
    def counted(*contexts):
        pipeline = beam.Pipeline("FnApiRunner")
        firings(20)(pipeline)
        for context in contexts:
            context.__enter__()
        result = pipeline.run()
        for context in contexts:
            context.__exit__(None, None, None)
        return [
            metric.committed
            for metric in result.metrics().query(MetricsFilter().with_namespace("beam_topics"))[
                "counters"
            ]
        ]

    assert counted() == counted(changed()) == [20]


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


def test_beam_still_measures_what_is_cached(monkeypatch):
    """If this fails, local_runner.py can leave the cache, or has lost what it changes."""
    found = measured(monkeypatch)
    pipeline = beam.Pipeline(options=OPTIONS.beam)
    sums(pipeline)
    pipeline.run()
    assert found


def test_the_cache_is_on_afterwards():
    before = worker_handlers.STATE_CACHE_SIZE_MB
    with pytest.raises(ZeroDivisionError), changed():
        assert before > 0 == worker_handlers.STATE_CACHE_SIZE_MB
        1 / 0  # noqa: B018
    assert before == worker_handlers.STATE_CACHE_SIZE_MB
