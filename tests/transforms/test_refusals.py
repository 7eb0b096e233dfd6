import apache_beam as beam
import pytest
from apache_beam.metrics import MetricsFilter

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.refused import Example
from beam_topics.transforms.shared import EXAMPLES, Refusals


class Refuse(beam.DoFn):
    def __init__(self):
        self._refusals = Refusals(("odd", "even"))

    def process(self, number):
        self._refusals.refuse(
            DeadLetter(f"a.jsonl:{number}", "odd" if number % 2 else "even", "a detail", "")
        )


@pytest.mark.parametrize("flags", [[]])
def test_the_first_example_of_each_reason_arrives(flags):
    pipeline = beam.Pipeline(
        "FnApiRunner", options=beam.options.pipeline_options.PipelineOptions(flags)
    )
    _ = pipeline | beam.Create(list(range(99, 0, -1))) | beam.Reshuffle() | beam.ParDo(Refuse())
    result = pipeline.run()
    result.wait_until_finish()
    found = result.metrics().query(MetricsFilter().with_name(EXAMPLES))["string_sets"]
    examples = [Example.from_json(text) for metric in found for text in metric.committed]
    for reason, first in (("odd", "a.jsonl:1"), ("even", "a.jsonl:2")):
        assert min((e for e in examples if e.reason == reason), key=Example.order).source == first


def test_an_example_that_comes_later_is_not_reported(monkeypatch):
    refusals, reported = Refusals(("odd",)), []
    monkeypatch.setattr(
        refusals, "_examples", type("Set", (), {"add": lambda self, text: reported.append(text)})()
    )
    for number in (5, 7, 9, 3, 5, 11):
        refusals.refuse(DeadLetter(f"a.jsonl:{number}", "odd", "", ""))
    assert [Example.from_json(text).source for text in reported] == ["a.jsonl:5", "a.jsonl:3"]
