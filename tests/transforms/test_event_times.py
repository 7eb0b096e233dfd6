import apache_beam as beam
import pytest
from apache_beam.metrics import MetricsFilter
from fake_learner import fake_settings
from given import given_by
from streams import documents, learn_options

from beam_topics.pipelines.graphs.execute import metrics_of, run
from beam_topics.transforms.learn import Learn
from beam_topics.transforms.publish import Publish
from beam_topics.transforms.sequence import Sequence
from beam_topics.transforms.shared import END_OF_STREAM, EventTime, lags

SECOND = 1_000_000


class Stage(beam.DoFn):
    def __init__(self):
        self._event_time = EventTime("read")

    def start_bundle(self):
        self._event_time.start_bundle()

    def process(self, element):
        self._event_time.reached(element)


def reported(times):
    pipeline = beam.Pipeline("FnApiRunner")
    pipeline | beam.Create(times) | beam.ParDo(Stage())
    result = pipeline.run()
    result.wait_until_finish()
    found = result.metrics().query(MetricsFilter().with_name("event_time_read"))["distributions"]
    return metrics_of(result).newest, [(each.result.min, each.result.max) for each in found]


@pytest.mark.parametrize(
    ("times", "newest"),
    [
        ([3 * SECOND, SECOND, 2 * SECOND + 7], 3),
        # Documents of before 1970, and the time of the end of a stream, which no document has.
        ([-5 * SECOND, -7 * SECOND, END_OF_STREAM], -5),
    ],
)
def test_the_maximum_is_the_newest_time_in_seconds(times, newest):
    found, distributions = reported(times)
    assert found == {"read": newest} and [most for _, most in distributions] == [newest]


def test_without_a_document_there_is_no_time():
    assert reported([END_OF_STREAM]) == ({}, [])


@pytest.mark.parametrize(
    ("newest", "line"),
    [
        ({}, ""),
        ({"learned": 5}, ""),
        ({"read": 86_400}, "event time: read up to 1970-01-02T00:00:00"),
        (
            {"read": 86_400, "published": 80_000, "learned": 90_000, "sequenced": 90_000},
            "event time: read up to 1970-01-02T00:00:00; behind it: sequenced 0 s, learned 0 s,"
            " published 6,400 s",
        ),
    ],
)
def test_the_line_tells_how_far_each_stage_is_behind(newest, line):
    assert lags(newest) == line


def test_a_run_that_learns_tells_it_at_its_end(tmp_path, capsys):
    items = documents(30)
    options = learn_options(tmp_path, fake_settings())

    def build(pipeline, given):
        timed = (
            pipeline
            | beam.Create(items)
            | beam.Map(
                lambda item: beam.window.TimestampedValue(
                    item.to_bytes(), int(item.timestamps[0]) / SECOND
                )
            ).with_output_types(bytes)
        )
        found = timed | Sequence(options, streams=False)
        read = timed | beam.Map(lambda data: END_OF_STREAM - 1) | beam.ParDo(Stage())
        return read, found.minibatches | Learn(options) | Publish(options)

    run(build, given_by("--runner=FnApiRunner"))
    line = next(each for each in capsys.readouterr().err.splitlines() if "event time" in each)
    last = max(int(item.timestamps[0]) for item in items) // options.sequence.window + 1
    behind = (END_OF_STREAM - 1) // SECOND - last * options.sequence.window // SECOND
    assert line.endswith(
        f"; behind it: sequenced {behind:,} s, learned {behind:,} s, published {behind:,} s"
    )
