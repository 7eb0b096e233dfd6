from collections import Counter

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from fake_learner import fake_settings
from learner_options import inferring
from streams import (
    SECOND,
    SEQUENCE,
    Collect,
    collected,
    counters,
    documents,
    learn_options,
    shuffled,
    timestamped,
)

from beam_topics.model.documents.block import Block
from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.inference.serving import Serving
from beam_topics.model.publishing.store import ModelStore
from beam_topics.transforms import shared
from beam_topics.transforms.infer import EachMixture, InferLabelled
from beam_topics.transforms.label import Label, shard_of
from beam_topics.transforms.learn import Learn
from beam_topics.transforms.publish import Publish
from beam_topics.transforms.sequence import Sequence

ITEMS = documents(40)


def run(
    store,
    before,
    *flags,
    items=ITEMS,
    label_with="window",
    publish_every=("windows", 3),
    islands=1,
    shards=3,
    streams=False,
):
    """Label a stream while it is learned; document id -> version."""
    settings = fake_settings(islands=islands)
    options = learn_options(store, settings, publish_every=publish_every)
    pipeline = beam.Pipeline(FnApiRunner(), options=PipelineOptions(list(flags)))
    sequenced = timestamped(pipeline, items) | Sequence(options, streams=streams)
    references, _ = sequenced.minibatches | Learn(options) | Publish(options)
    labelled = (sequenced.minibatches, references) | Label(
        before, label_with, shards, streams=streams
    )
    labelled.documents | "Keep" >> beam.ParDo(Collect("labelled"))
    labelled.dead_letters | "Keep dead" >> beam.ParDo(Collect("no model"))
    serving = Serving(str(store), inferring(sweeps=2), settings.topics, window=1, cache_mb=64)
    inferred = labelled.documents | InferLabelled(serving)
    inferred.blocks | EachMixture() | "Keep mixtures" >> beam.ParDo(Collect("mixtures"))
    result = pipeline.run()
    result.wait_until_finish()
    return result


def versions():
    found = [(Block.from_bytes(data), version) for _, (data, version) in collected("labelled")]
    return {(block.key, name): version for block, version in found for name in block.ids}


def labelled():
    """How many documents are labelled."""
    return sum(len(Block.from_bytes(data)) for _, (data, _) in collected("labelled"))


def expected(store, items=ITEMS, key=""):
    """The rule, from the manifests: the newest version strictly before the end of the window."""
    manifests = ModelStore(str(store)).manifests(key)
    labels = {}
    for item in items:
        end = SEQUENCE.window_end(int(item.timestamps[0]))
        labels[key, item.ids[0]] = next(
            (m.version for m in reversed(manifests) if m.event_time < end), ""
        )
    return labels


@pytest.mark.parametrize("streams", [True, False])
def test_every_document_is_labelled_once_by_the_rule(tmp_path, streams):
    result = run(tmp_path, "prior", streams=streams)
    assert labelled() == len(ITEMS) and collected("no model") == []
    assert versions() == expected(tmp_path)
    assert len(set(versions().values())) == 4
    assert counters(result)["labelled"] == len(ITEMS)


@pytest.mark.parametrize(
    ("before", "publish_every"),
    [
        ("prior", ("windows", 3)),
        ("wait", ("windows", 1000)),
        ("wait", ("period", 50 * SECOND)),
        ("dead_letter", ("period", 50 * SECOND)),
    ],
)
def test_labels_and_their_times_do_not_depend_on_whether_the_job_streams(
    tmp_path, monkeypatch, before, publish_every
):
    found = []
    for streams in (True, False):
        run(tmp_path / str(streams), before, publish_every=publish_every, streams=streams)
        found.append((sorted(collected("labelled")), sorted(collected("no model"))))
    # Each shard continues where the budget of a firing ended.
    monkeypatch.setattr(shared, "FIRING_BYTES", 1)
    run(tmp_path / "budget", before, publish_every=publish_every)
    found.append((sorted(collected("labelled")), sorted(collected("no model"))))
    assert found[0] == found[1] == found[2]
    assert labelled() + len(collected("no model")) == len(ITEMS)


@pytest.mark.parametrize("shards", [1, 7])
def test_shards_and_order_change_nothing(tmp_path, shards):
    run(tmp_path, "prior", items=shuffled(ITEMS, "s"), shards=shards)
    assert versions() == expected(tmp_path)


def test_nor_do_bundles_that_are_run_twice(tmp_path):
    run(tmp_path, "wait", "--direct_runner_bundle_repeat=2")
    first = ModelStore(str(tmp_path)).manifests("")[0].version
    assert versions() == {name: version or first for name, version in expected(tmp_path).items()}


def test_islands_are_awaited(tmp_path):
    run(tmp_path, "prior", islands=2)
    assert versions() == expected(tmp_path)


def test_the_prior_before_the_first_model(tmp_path):
    run(tmp_path, "prior")
    mixtures = [TopicMixture.from_bytes(data) for _, data in collected("mixtures")]
    assert Counter(m.model_version for m in mixtures) == Counter(versions().values())
    early = [m for m in mixtures if not m.model_version]
    assert early and all(
        m.method == "prior" and m.words_known == 0 and not m.proportions.any() for m in early
    )
    assert all(m.proportions.sum() == pytest.approx(1) for m in mixtures if m.words_known)


def test_waiting_for_the_first_model(tmp_path):
    run(tmp_path, "wait")
    first = ModelStore(str(tmp_path)).manifests("")[0].version
    assert versions() == {name: version or first for name, version in expected(tmp_path).items()}
    assert collected("no model") == []


def test_waiting_for_a_model_that_comes_at_the_end_of_the_stream(tmp_path):
    run(tmp_path, "wait", publish_every=("windows", 1000))
    (only,) = ModelStore(str(tmp_path)).manifests("")
    assert set(versions().values()) == {only.version} and len(versions()) == len(ITEMS)


def test_a_dead_letter_before_the_first_model(tmp_path):
    result = run(tmp_path, "dead_letter", publish_every=("period", 50 * SECOND))
    want = {name: version for name, version in expected(tmp_path).items() if version}
    assert versions() == want
    assert len(collected("no model")) == len(ITEMS) - len(want) > 0
    found = counters(result)
    assert found["labelled"] + found["dead_no_model"] == len(ITEMS)


def test_latest_labels_everything_with_something(tmp_path):
    run(tmp_path, "wait", label_with="latest")
    assert labelled() == len(ITEMS)
    assert set(versions().values()) <= {m.version for m in ModelStore(str(tmp_path)).manifests("")}


def test_keys_are_labelled_by_their_own_models(tmp_path):
    a, b = documents(20, "a"), documents(20, "b")
    run(tmp_path, "prior", items=shuffled(a + b, "keys"))
    assert versions() == expected(tmp_path, a, "a") | expected(tmp_path, b, "b")


def test_shards_are_a_function_of_the_id():
    assert [shard_of(name, 8) for name in ("a", "b", "日本")] == [2, 2, 3]
    assert len({shard_of(f"d{i}", 8) for i in range(100)}) == 8
