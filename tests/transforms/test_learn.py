"""Sequence, learn and publish on Beam's runners give the same bits, whatever happens."""

import json
from collections import Counter
from dataclasses import replace

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.runners.portability.fn_api_runner import FnApiRunner, worker_handlers
from apache_beam.testing import test_stream
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from fake_learner import FAILURES, fake_settings
from streams import (
    SECOND,
    SEQUENCE,
    Collect,
    collected,
    counters,
    document,
    documents,
    final_states,
    learn_options,
    links_of,
    shuffled,
    train,
)
from without_beam import run_without_beam

import beam_topics.transforms.publish
from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.pending import ListBag
from beam_topics.model.learner_log.head import LIVE_LEARNERS, LiveLearners
from beam_topics.model.learner_log.log import Session, run_from_bytes
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.publication import Publisher, PublishHead
from beam_topics.model.publishing.settings import Keep, PublishSettings, Rule
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.version_events import records_of, summary_of
from beam_topics.transforms import shared
from beam_topics.transforms.learn import Learn, RunsDoFn
from beam_topics.transforms.publish import Publish
from beam_topics.transforms.sequence import Sequence
from beam_topics.transforms.shared import key_and_part, part_key

# The best chain is published whatever was published before.
AT_ONCE = PublishSettings(margin=0, versions=1)
ITEMS = documents(60)
LINKS = links_of(ITEMS)


@pytest.fixture(autouse=True)
def nothing_left_over():
    FAILURES.at, FAILURES.steps = [], 0
    LIVE_LEARNERS.clear()


def options(store, islands=1, **others):
    values = {"checkpoint_tokens": 40, "publish_every": ("windows", 3), **others}
    return learn_options(store, fake_settings(islands=islands), **values)


def history(store, key=""):
    return [manifest.to_json() for manifest in ModelStore(str(store)).manifests(key)]


def expected(links=LINKS, islands=1, key=""):
    found = [
        run_without_beam(links, fake_settings(islands=islands), key, island)
        for island in range(islands)
    ]
    return [(one.sequence, one.fingerprint, one.witness, one.state_digest) for one in found]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The versions of a run without any trouble."""
    store = tmp_path_factory.mktemp("plain")
    train(ITEMS, options(store))
    return history(store)


def test_the_pipeline_equals_the_learner_without_beam(tmp_path, plain):
    result = train(shuffled(ITEMS, "files"), options(tmp_path))
    assert final_states(tmp_path) == expected()
    assert history(tmp_path) == plain
    found = counters(result)
    assert found["minibatches"] == found["learned_minibatches"] == len(LINKS)
    assert found["learned_documents"] == 60 and found["learned_tokens"] == sum(
        len(item.tokens) for item in ITEMS
    )
    assert found["versions"] == len(plain) == 4


def test_every_bundle_run_twice(tmp_path, plain):
    train(ITEMS, options(tmp_path), "--direct_runner_bundle_repeat=2")
    assert final_states(tmp_path) == expected()
    assert history(tmp_path) == plain


def test_two_workers(tmp_path, plain, monkeypatch):
    # Beam's runner gives every bundle the same cache token, so two workers of one process read each
    # other's old state.
    monkeypatch.setattr(worker_handlers, "STATE_CACHE_SIZE_MB", 0)
    train(
        shuffled(ITEMS, "two"),
        options(tmp_path),
        "--direct_num_workers=2",
        "--direct_running_mode=multi_threading",
    )
    assert final_states(tmp_path) == expected()
    assert history(tmp_path) == plain


def test_stale_state_of_a_runner_is_noticed(tmp_path, monkeypatch):
    flags = ("--direct_num_workers=2", "--direct_running_mode=multi_threading")
    # A bundle for each window: the runner then hands on the state of one that came before.
    monkeypatch.setattr(shared, "FIRING_BYTES", 1)
    with pytest.raises(Exception, match="beam_topics.model.errors"):
        train(ITEMS, options(tmp_path, checkpoint_tokens=10**6), *flags, streams=True)


def test_the_other_local_runner(tmp_path, plain):
    train(ITEMS, options(tmp_path), runner=BundleBasedDirectRunner())
    assert final_states(tmp_path) == expected()
    assert history(tmp_path) == plain


@pytest.mark.parametrize("failing", [1, 9, len(LINKS)], ids=["first", "middle", "last"])
def test_a_runner_that_tries_again(tmp_path, plain, failing):
    # This runner gives a bundle four attempts.
    FAILURES.at = [failing] * 3
    train(ITEMS, options(tmp_path), runner=BundleBasedDirectRunner())
    assert FAILURES.at == []
    assert final_states(tmp_path) == expected()
    assert history(tmp_path) == plain


def test_islands_agree_on_what_they_saw(tmp_path):
    train(ITEMS, options(tmp_path, islands=2, publishing=AT_ONCE))
    assert final_states(tmp_path, islands=2) == expected(islands=2)
    manifests = ModelStore(str(tmp_path)).manifests("")
    assert {manifest.chain for manifest in manifests} <= {link.fingerprint.hex() for link in LINKS}
    # Both islands win at times, and then topics are numbered as before.
    assert {manifest.island for manifest in manifests} == {0, 1}
    assert any(manifest.topic_order for manifest in manifests)


def test_one_model_for_each_key(tmp_path):
    keys = ("", "en", "日本")
    by_key = {key: documents(25, key) for key in keys}
    train(
        shuffled([item for items in by_key.values() for item in items], "keys"), options(tmp_path)
    )
    for key in keys:
        assert final_states(tmp_path, key) == expected(links_of(by_key[key], key), key=key)
    assert ModelStore(str(tmp_path)).keys() == sorted(keys)


def test_an_empty_stream_makes_nothing(tmp_path):
    train([], options(tmp_path))
    assert ModelStore(str(tmp_path)).keys() == []
    assert collected("references") == []


def test_a_repeated_id_goes_to_the_dead_letters(tmp_path):
    train([*ITEMS, replace(ITEMS[0])], options(tmp_path))
    assert [b'"copy"' in letter for _, letter in collected("dead")] == [True]
    assert final_states(tmp_path) == expected()


@pytest.mark.parametrize("adds", [False, True])
def test_resuming_after_a_kill_equals_an_uninterrupted_run(tmp_path, plain, adds):
    FAILURES.at = [14] * 9
    with pytest.raises(Exception, match="at 14"):
        train(ITEMS, options(tmp_path))
    FAILURES.at = []
    LIVE_LEARNERS.clear()
    (entry,) = ModelStore(str(tmp_path)).resume_point("", "latest", 1)
    # A source that continues holds what comes after a window that was learned whole.
    whole = max(link.sequence for link in LINKS[: entry.sequence] if link.minibatch().closes_window)
    points = {one.sequence for one in ModelStore(str(tmp_path)).checkpoints("")}
    at = (
        "latest"
        if not adds
        else str(max(n for n in points if n <= whole and LINKS[n - 1].minibatch().closes_window))
    )
    chosen = options(tmp_path, resume_from=at)
    after = 0 if at == "latest" else LINKS[int(at) - 1].minibatch().window_end
    items = ITEMS if not adds else [item for item in ITEMS if int(item.timestamps[0]) >= after]
    train(items, chosen, adds=adds)
    assert final_states(tmp_path) == expected()
    assert history(tmp_path) == plain


@pytest.mark.parametrize("islands", [1, 2])
def test_what_an_earlier_job_published_comes_no_earlier_than_the_first_minibatch_and_not_at_the_end(
    tmp_path, islands
):
    cut = 50 * SECOND
    train([item for item in ITEMS if int(item.timestamps[0]) < cut], options(tmp_path, islands))
    LIVE_LEARNERS.clear()
    before = history(tmp_path)
    train(
        [item for item in ITEMS if int(item.timestamps[0]) >= cut],
        options(tmp_path, islands, resume_from="latest"),
        adds=True,
    )
    found = {data: time for time, (_, data) in collected("references")}
    assert len(before) > 1 and set(before) < set(found)
    assert {found[data] for data in before} == {cut + SEQUENCE.window}


def test_references_are_the_manifests_at_their_event_times(tmp_path, plain):
    train(ITEMS, options(tmp_path))
    found = collected("references")
    assert [data for _, (_, data) in found] == plain
    manifests = [Manifest.from_json(data) for data in plain]
    # The last one belongs to the end of the stream.
    assert [time for time, _ in found][:-1] == [manifest.event_time for manifest in manifests][:-1]
    assert [manifest.parent for manifest in manifests] == [
        None,
        *[manifest.version for manifest in manifests[:-1]],
    ]
    assert manifests[0].settings["sequence"]["window"] == SEQUENCE.window


def streamed(events, chosen, name):
    flags = PipelineOptions([])
    flags.view_as(StandardOptions).streaming = True
    pipeline = beam.Pipeline(BundleBasedDirectRunner(), options=flags)
    sequenced = (
        pipeline
        | events
        | "Typed" >> beam.Map(_same).with_output_types(bytes)
        | Sequence(chosen, streams=True)
    )
    sequenced.minibatches | "Keep" >> beam.ParDo(Collect(name))
    sequenced.minibatches | Learn(chosen, streams=True) | Publish(chosen)
    pipeline.run().wait_until_finish()


def _same(element):
    return element


def at(item, seconds=None):
    when = int(item.timestamps[0]) if seconds is None else seconds * SECOND
    return TimestampedValue(item.to_bytes(), Timestamp(micros=when))


def test_late_documents_are_learned_and_all_islands_agree(tmp_path):
    events = test_stream.TestStream()
    for window in range(6):
        early = [document(f"w{window} d{i}", 10 * window + i) for i in range(3)]
        events.add_elements([at(item) for item in early]).advance_watermark_to(10 * window + 10)
        events.add_elements([at(document(f"late {window}", 10 * window + 5))])
    events.advance_watermark_to_infinity()
    streamed(events, options(tmp_path, islands=2), "late")
    links = [NumberedMinibatch.from_bytes(data) for _, (_, data) in collected("late")]
    assert links.pop().is_end
    learned = sorted(id for link in links for id in link.minibatch().ids)
    assert len(learned) == 24 and len(set(learned)) == 24
    # The log can be replayed: what was sent is what both islands learned.
    assert final_states(tmp_path, islands=2) == expected(links, islands=2)
    late = {
        id: link.minibatch().window_end
        for link in links
        for id in link.minibatch().ids
        if id.startswith("late")
    }
    assert late["late 0"] == 20 * SECOND


def test_windows_close_while_the_stream_goes_on(tmp_path):
    events = test_stream.TestStream()
    for item in sorted(ITEMS, key=lambda item: int(item.timestamps[0])):
        events.advance_watermark_to(int(item.timestamps[0]) / SECOND).add_elements([at(item)])
    streamed(events.advance_watermark_to_infinity(), options(tmp_path), "live")
    found = collected("live")
    assert [time for time, _ in found[:-1]] == [link.minibatch().window_end for link in LINKS]
    assert [data for _, (_, data) in found[:-1]] == [link.to_bytes() for link in LINKS]
    assert final_states(tmp_path) == expected()


def silent_and_back():
    """A key with documents, then another one for a long time, then the first one again."""
    first = [replace(item, key="a") for item in documents(15)]
    end = max(int(item.timestamps[0]) for item in first) // SECOND + 1
    other = [document(f"b{at}", end + 10 * at, key="b") for at in range(20)]
    again = [document(f"again {at}", end + 200 + at, key="a") for at in range(12)]
    return [*first, *other, *again]


@pytest.mark.parametrize("islands", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_key_that_falls_silent_leaves_memory_and_continues_with_the_same_bits(tmp_path, islands):
    found = {}
    for name, silent in (("kept", None), ("rests", 60 * SECOND), ("never", 900 * SECOND)):
        LIVE_LEARNERS.clear()
        events = test_stream.TestStream()
        for item in sorted(silent_and_back(), key=lambda item: int(item.timestamps[0])):
            events.advance_watermark_to(int(item.timestamps[0]) / SECOND).add_elements([at(item)])
        chosen = options(tmp_path / name, islands, checkpoint_tokens=10**6, silent_after=silent)
        streamed(events.advance_watermark_to_infinity(), chosen, name)
        store = ModelStore(chosen.store)
        points = {one.window_end // SECOND for one in store.checkpoints("a")}
        states = [final_states(chosen.store, key, islands) for key in ("a", "b")]
        found[name] = points, states, [history(chosen.store, key) for key in ("a", "b")]
    assert found["kept"][1:] == found["rests"][1:] == found["never"][1:]
    # One checkpoint at the end; one more where the key fell silent.
    assert found["kept"][0] == {310} and found["rests"][0] >= {100, 310}
    assert 100 not in found["never"][0]
    assert LIVE_LEARNERS.check_out(("a", 0, chosen.settings_digest)) is None


def test_no_pickle_between_steps_or_in_state(tmp_path):
    pipeline = beam.Pipeline(FnApiRunner())
    chosen = options(tmp_path, silent_after=SECOND)
    sequenced = (
        pipeline | beam.Create([b""]).with_output_types(bytes) | Sequence(chosen, streams=True)
    )
    sequenced.minibatches | Learn(chosen, streams=True) | Publish(chosen)
    proto = pipeline.to_runner_api()
    for transform in proto.components.transforms.values():
        if transform.spec.urn == "beam:transform:pardo:v1":
            payload = beam.portability.api.beam_runner_api_pb2.ParDoPayload.FromString(
                transform.spec.payload
            )
            specs = payload.state_specs.values()
            used = [
                spec.bag_spec.element_coder_id or spec.read_modify_write_spec.coder_id
                for spec in specs
            ]
            assert {proto.components.coders[name].spec.urn for name in used} <= {
                "beam:coder:bytes:v1"
            }
    stateful = {"ParDo(SequenceDoFn)", "Learn/Learn", "ParDo(PublishDoFn)"}
    for transform in proto.components.transforms.values():
        if any(transform.unique_name.endswith(name) for name in stateful):
            for name in transform.inputs.values():
                coder = proto.components.coders[proto.components.pcollections[name].coder_id]
                assert coder.spec.urn == "beam:coder:kv:v1"
                assert [
                    proto.components.coders[part].spec.urn for part in coder.component_coder_ids
                ] == ["beam:coder:bytes:v1"] * 2


def test_keys_of_islands():
    assert key_and_part(part_key("日本".encode(), 7)) == ("日本", 7)


def sent(fn, elements):
    """What a bundle of :class:`RunsDoFn` sends: Beam key, minibatches and time."""
    fn.start_bundle()
    outputs = []
    for key, link, micros in elements:
        outputs += fn.process((key, link.to_bytes()), Timestamp(micros=micros))
    outputs += fn.finish_bundle()
    return [
        (*key_and_part(output.value[0]), run_from_bytes(output.value[1]), output.timestamp)
        for output in outputs
    ]


def test_a_bundle_sends_the_minibatches_of_a_key_as_one_run_to_each_island():
    elements = [(b"a", LINKS[0], 20), (b"b", LINKS[0], 9), (b"a", LINKS[1], 10)]
    wanted = [
        (key, island, run, Timestamp(micros=micros))
        for key, run, micros in (("a", LINKS[:2], 10), ("b", LINKS[:1], 9))
        for island in (0, 1)
    ]
    fn = RunsDoFn(2)
    assert sent(fn, elements) == wanted
    assert sent(fn, elements[:1]) == [
        ("a", island, LINKS[:1], Timestamp(micros=20)) for island in (0, 1)
    ]


def test_a_run_ends_by_its_number_of_minibatches_and_by_its_size():
    small = [(b"k", NumberedMinibatch.link(n, bytes(32), b"x"), n) for n in range(130)]
    assert [len(run) for _, _, run, _ in sent(RunsDoFn(1), small)] == [64, 64, 2]
    large = NumberedMinibatch.link(1, bytes(32), bytes(100 << 10))
    runs = sent(RunsDoFn(1), [(b"k", large, n) for n in range(7)])
    assert [(len(run), time.micros) for _, _, run, time in runs] == [(3, 0), (3, 3), (1, 6)]


def test_each_event_is_emitted_and_logged_once(tmp_path, caplog):
    caplog.set_level("INFO", "beam_topics.events")
    given = options(tmp_path, 2, publish_every=("windows", 1), publishing=AT_ONCE)
    train(ITEMS, given)
    manifests = ModelStore(str(tmp_path)).manifests("")
    records = [record for manifest in manifests for record in records_of(manifest)]
    assert sorted(record for _, record in collected("events")) == sorted(records)
    kinds = Counter(json.loads(record)["kind"] for record in records)
    assert kinds["flood"] > 1 and kinds["chain_replaced"] > 1
    lines = list(filter(None, map(summary_of, manifests)))
    said = [one.getMessage() for one in caplog.records if one.name == "beam_topics.events"]
    assert sorted(said) == sorted(lines)


def test_a_job_that_continues_emits_the_events_of_its_own_versions_alone(tmp_path):
    given = options(tmp_path, publish_every=("windows", 1), checkpoint_tokens=10)
    train(ITEMS, given)
    before = sorted(record for _, record in collected("events"))
    train(ITEMS, replace(given, run=replace(given.run, resume_from="latest")))
    assert {record for _, record in collected("events")} <= set(before)
    assert len(before) > len(collected("events"))


def test_a_job_that_streams_tells_what_it_supersedes(tmp_path, caplog):
    caplog.set_level("INFO", "beam_topics.events")
    given = options(tmp_path, publish_every=("windows", 1))

    def candidates(links):
        # Before anything was published: the job began with an empty store.
        session, offered = Session(given, "", 0, LiveLearners()), []
        head, _ = session.first()
        for link in links:
            out = session.handle(head, [link], ListBag(), ListBag())
            head, offered = out.head, offered + out.candidates
        return offered

    # What the job has published before a failure, and what it comes to after it.
    before, late = candidates(LINKS), document("late", 55)
    after = candidates(links_of([*ITEMS, late]))
    publisher, head = Publisher(given, "", ModelStore(given.store)), PublishHead()
    for candidate in before:
        head, _ = publisher.handle(head, candidate, ListBag())
    abandoned = ModelStore(given.store).manifests("")

    def published(streams):
        pipeline = beam.Pipeline(FnApiRunner())
        data = [(b"", candidate.to_bytes()) for candidate in after]
        found = pipeline | beam.Create(data, reshuffle=False) | Publish(given, streams=streams)
        found.events | beam.ParDo(Collect("events"))
        result = pipeline.run()
        result.wait_until_finish()
        return counters(result)

    with pytest.raises(Exception, match="another one, 0"):
        published(streams=False)
    assert ModelStore(given.store).manifests("") == abandoned
    assert published(streams=True)["superseded_versions"] == 5
    manifests = ModelStore(given.store).manifests("")
    assert manifests[:5] == abandoned[:5] and len(manifests) == len(abandoned) == 10
    assert not {one.version for one in manifests[5:]} & {one.version for one in abandoned}
    (event,) = [
        json.loads(record)
        for _, record in collected("events")
        if json.loads(record)["kind"] == "superseded"
    ]
    assert event["version"] == manifests[5].version and event["figures"] == {"versions": 5}
    assert event["document_ids"] == []
    assert (
        "supersedes 5 versions that the job does not come to again after a restore" in caplog.text
    )


def test_old_versions_and_checkpoints_expire_where_versions_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr(beam_topics.transforms.publish, "_EXPIRE_EVERY", 4)
    given = {"publish_every": ("windows", 1), "checkpoint_tokens": 10}
    whole, short = options(tmp_path / "whole", **given), options(tmp_path / "short", **given)
    keep = Keep((Rule(0, 2 * SEQUENCE.window),), checkpoints=1, grace=0)
    short = replace(short, keep=keep)
    kept, found = ModelStore(whole.store), ModelStore(short.store)
    train(ITEMS, whole)
    counted = counters(train(ITEMS, short))
    assert found.latest("") == kept.latest("")
    assert counted["expired_files"] > 0
    whole_history, history = kept.manifests(""), found.manifests("")
    assert 2 <= len(history) < len(whole_history)
    assert history == whole_history[-len(history) :]
    assert len(found.checkpoints("")) < len(kept.checkpoints(""))
    for manifest in history:
        assert found.get_snapshot(manifest).words == kept.get_snapshot(manifest).words
    point = found.resume_point("", "latest", 1)
    assert point == kept.resume_point("", "latest", 1)
    # The rest of a run that was interrupted is the same.
    train(ITEMS, replace(short, run=replace(short.run, resume_from="latest")))
    assert found.latest("") == kept.latest("")
