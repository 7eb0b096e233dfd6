import apache_beam as beam
import pytest
from apache_beam.ml.inference.base import RunInference
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from collecting import run
from fake_learner import fake_settings
from learner_options import inferring
from streams import Collect, collected, document, documents, learn_options, shuffled, train

from model.errors import DamagedDataError, OptionError
from model.inference import PublishedModel, inference_for
from model.publishing.store import ModelStore
from model.records import TopicMixture
from transforms.infer import InferLabelled, InferTogether, TopicModelHandler

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
    method = inference_for(SETTINGS)
    prepared = method.prepare(
        SETTINGS, PublishedModel(store.get_snapshot(manifest), manifest.version)
    )
    assert found == {mixture.id: mixture.to_bytes() for mixture in method.infer(prepared, items)}
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


def labeller(root):
    step = InferLabelled(root, SETTINGS, fake_settings())
    step.setup()
    return step


def test_labelled_documents_by_versions_of_their_own(store):
    step = labeller(store.root)
    manifests = store.manifests("")
    method = inference_for(SETTINGS)
    for manifest in [*manifests, *manifests[::-1]]:
        prepared = method.prepare(
            SETTINGS, PublishedModel(store.get_snapshot(manifest), manifest.version)
        )
        (mixture,) = method.infer(prepared, ITEMS[:1])
        assert list(step.process((ITEMS[0].to_bytes(), manifest.version))) == [mixture.to_bytes()]


def test_models_are_kept_while_they_are_used(store, monkeypatch):
    reads = []
    read = ModelStore.get_snapshot
    monkeypatch.setattr(
        ModelStore,
        "get_snapshot",
        lambda self, manifest: reads.append(manifest) or read(self, manifest),
    )
    step = labeller(store.root)
    for item in ITEMS:
        list(step.process((item.to_bytes(), store.latest("").version)))
    assert len(reads) == 1


def test_a_damaged_model_is_refused(tmp_path):
    train(ITEMS, learn_options(tmp_path, fake_settings()))
    version = ModelStore(str(tmp_path)).latest("")
    path = tmp_path / "_" / "snapshots" / version.snapshot
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedDataError, match=version.snapshot):
        TopicModelHandler(str(tmp_path)).load_model()
    with pytest.raises(DamagedDataError, match=version.snapshot):
        list(labeller(str(tmp_path)).process((ITEMS[0].to_bytes(), version.version)))


def needs_all_documents(store, items, name, training=None):
    def build(pipeline):
        given = pipeline | beam.Create([item.to_bytes() for item in items]).with_output_types(bytes)
        again = None
        if training is not None:
            again = pipeline | "Again" >> beam.Create(
                [item.to_bytes() for item in training]
            ).with_output_types(bytes)
        return {
            "mixtures": (
                given | InferTogether(store.root, "", "latest", inferring(name, sweeps=3), again)
            )
        }

    held, _ = run(build)
    return {TopicMixture.from_bytes(data).id: data for _, data in held["mixtures"]}


@pytest.mark.parametrize("name", ["gibbs1", "gibbs2", "gibbs3"])
def test_all_documents_together(store, name):
    new, learned = ITEMS[:12], ITEMS[12:] if name == "gibbs1" else None
    found = needs_all_documents(store, shuffled(new, "t"), name, learned and shuffled(learned, "u"))
    manifest, settings = store.latest(""), inferring(name, sweeps=3)
    published = PublishedModel(
        store.get_snapshot(manifest), manifest.version, None, tuple(learned or ())
    )
    method = inference_for(settings)
    assert found == {
        mixture.id: mixture.to_bytes()
        for mixture in method.infer(method.prepare(settings, published), new)
    }


def test_methods_where_they_do_not_belong(store):
    with pytest.raises(
        OptionError,
        match="--method: 'gibbs2' was given; allowed is a method for one document at a time",
    ):
        TopicModelHandler(store.root, settings=inferring("gibbs2"))
    with pytest.raises(
        OptionError, match="--method: .* Fit one first: python -m pipelines.fit_classifier"
    ):
        TopicModelHandler(store.root, settings=inferring("hybrid"))
    with pytest.raises(
        OptionError,
        match=(
            "--training: None was given; allowed is with gibbs1, the files that the model was"
            " learned from. Name them."
        ),
    ):
        InferTogether(store.root, "", "latest", inferring("gibbs1"))
    with pytest.raises(
        OptionError,
        match=(
            "--training: 'files' was given; allowed is with gibbs2, nothing. Leave it out, or use"
            " gibbs1."
        ),
    ):
        InferTogether(
            store.root, "", "latest", inferring("gibbs2"), beam.Pipeline() | beam.Create([b""])
        )
    with pytest.raises(
        OptionError,
        match="--method: 'maxent' was given; allowed is in a stream that learns, one of gibbs3, ",
    ):
        InferLabelled(store.root, inferring("maxent"), fake_settings())
