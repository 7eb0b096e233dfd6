import json
from dataclasses import replace

import apache_beam as beam
import numpy as np
import pytest
from apache_beam.ml.inference.base import ModelMetadata, RunInference
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from blocks import mixtures_of_documents
from fake_learner import fake_settings
from learner_options import inferring
from made import manifest_of, random_snapshot
from streams import Collect, collected, document, documents, learn_options, shuffled, train

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.inference import PublishedModel
from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.encoding import mixtures_to_json_lines
from beam_topics.transforms.infer import TopicModelHandler

SETTINGS = inferring(sweeps=3)
ITEMS = documents(30)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store")
    train(ITEMS, learn_options(path, fake_settings(), publish_every=("windows", 4)))
    return ModelStore(str(path))


def infer(items, handler):
    pipeline = beam.Pipeline(FnApiRunner())
    documents = pipeline | beam.Create([item.to_bytes() for item in items]).with_output_types(bytes)
    documents | RunInference(handler) | beam.ParDo(Collect("mixtures"))
    pipeline.run().wait_until_finish()
    return {TopicMixture.from_bytes(data).id: data for _, data in collected("mixtures")}


def test_run_inference_gives_what_the_method_gives(store):
    items = [*ITEMS, document("new", 5)]
    found = infer(items, TopicModelHandler(store.root, settings=SETTINGS))
    manifest = store.latest("")
    model = PublishedModel(store.get_snapshot(manifest), manifest.version)
    wanted = mixtures_of_documents(SETTINGS, model, items)
    assert found == {mixture.id: mixture.to_bytes() for mixture in wanted}
    assert {TopicMixture.from_bytes(data).model_version for data in found.values()} == {
        manifest.version
    }


def test_neighbours_and_batches_change_nothing(store):
    handler = TopicModelHandler(store.root, settings=SETTINGS)
    assert infer(ITEMS, handler) == infer(shuffled(ITEMS * 4, "i"), handler)


def test_an_explicit_version(store):
    version = store.manifests("")[0].version
    found = infer(ITEMS[:3], TopicModelHandler(store.root, "", version, SETTINGS))
    assert {TopicMixture.from_bytes(data).model_version for data in found.values()} == {version}


def test_a_pipeline_that_runs_on_names_another_version(store):
    first, last = store.manifests("")[0].version, store.latest("").version
    handler = TopicModelHandler(store.root, "", first, SETTINGS)
    pipeline = beam.Pipeline(FnApiRunner())
    metadata = pipeline | "Newest" >> beam.Create([ModelMetadata(last, "newest")])
    documents = pipeline | beam.Create([ITEMS[0].to_bytes()]).with_output_types(bytes)
    named = RunInference(handler, model_metadata_pcoll=metadata)
    documents | named | beam.ParDo(Collect("mixtures"))
    pipeline.run().wait_until_finish()
    ((_, data),) = collected("mixtures")
    assert TopicMixture.from_bytes(data).model_version == last != first


def test_a_version_that_is_not_there_is_refused_when_it_is_named(store):
    handler = TopicModelHandler(store.root)
    handler.update_model_path("")
    assert handler.version == store.latest("").version
    with pytest.raises(OptionError, match="--model_version: '7' was given"):
        handler.update_model_path("7")


def test_mixtures_have_the_ids_of_their_topics(store):
    ids = (3, 4, 2)
    handler = TopicModelHandler(store.root, settings=SETTINGS)
    loaded = handler.load_model()
    loaded = replace(loaded, published=replace(loaded.published, ids=ids))
    (data,) = handler.run_inference([ITEMS[0].to_bytes()], loaded)
    row = json.loads(mixtures_to_json_lines([data]))
    assert row["topic"] == ids[np.argmax(TopicMixture.from_bytes(data).proportions)]


def test_a_loaded_model_has_the_ids_of_its_manifest(tmp_path):
    store, ids = ModelStore(str(tmp_path)), [0, 6, 2, 13, 4]
    digest = store.put_snapshot(random_snapshot())
    store.publish(manifest_of(3, snapshot=digest, topic_ids=ids))
    loaded = TopicModelHandler(store.root, settings=SETTINGS).load_model()
    assert loaded.published.ids == tuple(ids)


def test_latest_is_the_newest_when_the_graph_is_built(store):
    assert TopicModelHandler(store.root).version == store.latest("").version


def test_a_model_that_is_not_there(store):
    with pytest.raises(OptionError, match="--model_version: '7' was given"):
        TopicModelHandler(store.root, version="7")
    with pytest.raises(OptionError, match="'other'"):
        TopicModelHandler(store.root, key="other")


def test_batches_are_fixed_and_measured_without_a_pickle(store):
    handler = TopicModelHandler(store.root)
    sizes = handler.batch_elements_kwargs()
    assert sizes["min_batch_size"] == sizes["max_batch_size"]
    assert handler.get_num_bytes([b"abc", b"de"]) == 5


def test_a_damaged_model_is_refused(tmp_path):
    train(ITEMS, learn_options(tmp_path, fake_settings()))
    version = ModelStore(str(tmp_path)).latest("")
    path = tmp_path / "_" / "snapshots" / version.snapshot
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedDataError, match=version.snapshot):
        TopicModelHandler(str(tmp_path)).load_model()


def test_methods_where_they_do_not_belong(store):
    with pytest.raises(
        OptionError,
        match="--method: 'gibbs2' was given; allowed is a method for one document at a time",
    ):
        TopicModelHandler(store.root, settings=inferring("gibbs2"))
    with pytest.raises(
        OptionError,
        match="--method: .* Fit one first: beam-topics fit_classifier",
    ):
        TopicModelHandler(store.root, settings=inferring("hybrid"))
