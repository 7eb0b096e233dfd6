from dataclasses import replace
from types import SimpleNamespace

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing import test_stream
from apache_beam.transforms.window import GlobalWindow, TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from fake_learner import fake_settings
from made import manifest_of
from streams import (
    SECOND,
    SEQUENCE,
    Collect,
    collected,
    counters,
    document,
    documents,
    learn_options,
    links_of,
    shuffled,
    timestamped,
)

from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.learner_log.restoring import SequenceStart
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.store import ModelStore
from beam_topics.transforms import shared
from beam_topics.transforms.label import LabelDoFn
from beam_topics.transforms.sequence import Sequence, SequenceDoFn
from beam_topics.transforms.shared import (
    END_OF_LABELS,
    END_OF_STREAM,
    LAST_TIME,
    StatefulDoFn,
    timer_time,
)

ITEMS = documents(50)


def run(items, *flags, runner=None, streams=False, store="no-store", adds=False):
    pipeline = beam.Pipeline(runner or FnApiRunner(), options=PipelineOptions(list(flags)))
    options = learn_options(store, fake_settings(), add_documents=adds)
    sequenced = timestamped(pipeline, items) | Sequence(options, streams=streams)
    sequenced.minibatches | "Keep" >> beam.ParDo(Collect("minibatches"))
    sequenced.dead_letters | "Keep dead" >> beam.ParDo(Collect("dead"))
    result = pipeline.run()
    result.wait_until_finish()
    return result


def links(key=""):
    found = [
        NumberedMinibatch.from_bytes(data)
        for _, (name, data) in collected("minibatches")
        if name == key.encode()
    ]
    return [link for link in found if not link.is_end], [link for link in found if link.is_end]


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("runner", [FnApiRunner, BundleBasedDirectRunner])
def test_the_pipeline_sends_what_the_function_gives(runner, streams):
    run(shuffled(ITEMS, "x"), runner=runner(), streams=streams)
    sent, (end,) = links()
    assert sent == links_of(ITEMS)
    assert end == NumberedMinibatch.end(sent[-1].sequence, sent[-1].fingerprint)


@pytest.mark.parametrize("streams", [True, False])
def test_outputs_travel_at_the_end_of_their_window(streams):
    run([*ITEMS, *ITEMS[:7]], streams=streams)
    assert sorted(time for time, _ in collected("dead")) == sorted(
        SEQUENCE.window_end(int(item.timestamps[0])) for item in ITEMS[:7]
    )
    for time, (_, data) in collected("minibatches"):
        link = NumberedMinibatch.from_bytes(data)
        assert time == (END_OF_STREAM if link.is_end else link.minibatch().window_end)


def test_each_step_ends_before_those_that_use_its_output():
    assert END_OF_STREAM < END_OF_LABELS < LAST_TIME <= GlobalWindow().max_timestamp().micros


@pytest.mark.parametrize("streams", [True, False])
def test_windows_that_are_due_together_cost_one_bundle(streams, monkeypatch):
    bundles = []
    monkeypatch.setattr(
        SequenceDoFn, "finish_bundle", lambda self: bundles.append(1), raising=False
    )
    run(ITEMS, streams=streams)
    assert len({link.minibatch().window_end for link in links()[0]}) == 10
    # One for the documents, and one for all windows and the end marker.
    assert len(bundles) == 2


@pytest.mark.parametrize("streams", [True, False])
def test_what_one_firing_does_not_emit_follows_in_the_next(streams, monkeypatch):
    monkeypatch.setattr(shared, "FIRING_BYTES", 1)
    run(ITEMS, streams=streams)
    sent, ends = links()
    assert sent == links_of(ITEMS) and len(ends) == 1


def test_keys_are_sequenced_apart():
    a, b = documents(20, "a"), documents(30, "b")
    run(shuffled(a + b, "keys"))
    assert links("a")[0] == links_of(a, "a") and links("b")[0] == links_of(b, "b")
    assert len(links("a")[1]) == len(links("b")[1]) == 1


@pytest.mark.parametrize("years", [-180, 0, 8029])
def test_times_far_away(years):
    start = years * 31_557_600
    items = [document(f"d{i}", start + i) for i in range(25)]
    run(items)
    assert links()[0] == links_of(items)


def test_records_in_equal_records_out():
    items = [*ITEMS, *ITEMS[:7]]
    result = run(items)
    assert sum(len(link.minibatch()) for link in links()[0]) + len(collected("dead")) == len(items)
    found = counters(result)
    assert (found["minibatches"], found["dead_copy"]) == (len(links()[0]), 7)


def test_one_window_of_many_documents():
    items = [document(f"d{i}", i % 10) for i in range(3000)]
    run(items)
    assert links()[0] == links_of(items)


def test_going_on_from_a_checkpoint(tmp_path):
    sent = links_of(ITEMS)
    at = next(link for link in sent[5:] if link.minibatch().closes_window)
    end = at.minibatch().window_end
    entry = CheckpointEntry(
        key="",
        island=0,
        sequence=at.sequence,
        chain=at.fingerprint.hex(),
        window_end=end,
        offered=0,
        settings_digest=learn_options(tmp_path, fake_settings()).settings_digest,
    )
    store = ModelStore(str(tmp_path))
    store.put_checkpoint(entry, b"state")
    newest = replace(manifest_of(at.sequence), chain=at.fingerprint.hex())
    store.publish(newest)
    entry = store.put_checkpoint(replace(entry, offered=at.sequence), b"state of the version")
    later = [item for item in ITEMS if int(item.timestamps[0]) >= end]
    run(later, store=tmp_path, adds=True)
    assert links()[0] == sent[at.sequence :]
    # The last window that was learned takes more documents.
    begin = SEQUENCE.window_start(end)
    assert added_start(tmp_path).head("").closed == begin
    # From its beginning the same input goes by the version, and another one does not.
    run(ITEMS, store=tmp_path)
    assert links()[0] == sent
    ordered = sorted(ITEMS, key=lambda item: int(item.timestamps[0]))
    for other in (ordered[1:], ordered[:4]):
        with pytest.raises(Exception, match="holds other documents up to there, or fewer"):
            run(other, store=tmp_path)


def added_start(store):
    return SequenceStart(learn_options(store, fake_settings(), add_documents=True))


def test_a_key_without_a_checkpoint_begins_anew(tmp_path):
    head = added_start(tmp_path).head("new")
    assert head == SequenceStart(learn_options(tmp_path, fake_settings())).head("new")
    assert head.sequence == 0


def at(item):
    return TimestampedValue(item.to_bytes(), Timestamp(micros=int(item.timestamps[0])))


def sequence_stream(events):
    """Sequence the events of a test stream; :func:`links` has the minibatches."""
    flags = PipelineOptions([])
    flags.view_as(StandardOptions).streaming = True
    pipeline = beam.Pipeline(BundleBasedDirectRunner(), options=flags)
    sequenced = (
        pipeline
        | events
        | "Typed" >> beam.Map(lambda data: data).with_output_types(bytes)
        | Sequence(learn_options("no-store", fake_settings()), streams=True)
    )
    sequenced.minibatches | beam.ParDo(Collect("minibatches"))
    pipeline.run().wait_until_finish()


def test_late_documents_are_kept():
    events = (
        test_stream.TestStream()
        .add_elements([at(document("a", 5)), at(document("b", 25))])
        .advance_watermark_to(20)
    )
    events.add_elements([at(document("late", 6))]).advance_watermark_to_infinity()
    sequence_stream(events)
    found = [(link.minibatch().ids, link.minibatch().window_end // SECOND) for link in links()[0]]
    assert found == [(("a",), 10), (("late",), 20), (("b",), 30)]


def test_documents_of_a_window_that_has_not_ended_are_sent_when_the_stream_is_drained():
    """A drain takes the watermark to its end; nobody would send these documents again."""
    events = (
        test_stream.TestStream()
        .add_elements([at(document("a", 5)), at(document("b", 13))])
        .advance_watermark_to(11)
    )
    events.add_elements([at(document("c", 12))]).advance_watermark_to(
        14
    ).advance_watermark_to_infinity()
    sequence_stream(events)
    sent, (end,) = links()
    assert [link.minibatch().ids for link in sent] == [("a",), ("c", "b")]
    assert end.sequence == 2


def test_timers_are_whole_milliseconds_rounded_up():
    assert [timer_time(t).micros for t in (0, 1, 999, 1000, -1, -1000)] == [
        0,
        1000,
        1000,
        1000,
        0,
        -1000,
    ]


def test_each_time_has_a_timer_only_where_the_job_streams():
    steps = [LabelDoFn("wait", "window", streams) for streams in (True, False)]
    found = [[step.fires_at(due) for due in (10, 20)] for step in steps]
    assert found == [[10, 20], [END_OF_LABELS, END_OF_LABELS]]


def test_a_timer_is_set_once_in_a_bundle_until_it_has_fired():
    step, found = StatefulDoFn(), []
    timer = SimpleNamespace(set=lambda time, dynamic_timer_tag: found.append(dynamic_timer_tag))
    step.start_bundle()
    for due in (10_000, 10_000, 9_001, 20_000):
        step.set_timer(b"a", timer, due)
    step.set_timer(b"b", timer, 10_000)
    step.timer_fired(b"a", Timestamp(micros=10_000))
    step.set_timer(b"a", timer, 10_000)
    step.start_bundle()
    step.set_timer(b"a", timer, 20_000)
    assert found == ["10000", "20000", "10000", "10000", "20000"]
