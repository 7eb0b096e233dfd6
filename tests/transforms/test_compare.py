import json

import apache_beam as beam
import pytest
from collecting import run
from fake_learner import fake_settings
from streams import documents, learn_options, shuffled, train

from model.errors import OptionError
from model.evaluation.agreement import agreement
from model.inference import InferenceSettings, PublishedModel, inference_for
from model.publishing.store import ModelStore
from transforms.compare import Compare

ITEMS = documents(30)
SETTINGS = InferenceSettings(sweeps=5)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store")
    train(ITEMS, learn_options(path, fake_settings()))
    return ModelStore(str(path))


def compared(store, items, methods, training=None):
    def build(pipeline):
        given = pipeline | beam.Create([item.to_bytes() for item in items]).with_output_types(bytes)
        again = None
        if training:
            again = pipeline | "Again" >> beam.Create([item.to_bytes() for item in training]).with_output_types(bytes)
        return {"lines": given | Compare(store.root, "", "latest", SETTINGS, methods, again)}

    held, _ = run(build)
    return {row["method"]: row for row in (json.loads(line) for _, line in held["lines"])}


def test_methods_are_compared_with_the_first(store):
    methods = ["gibbs2", "variational", "gibbs3", "variational"]
    rows = compared(store, shuffled(ITEMS, "c"), methods)
    assert set(rows) == set(methods)
    newest = store.latest("")
    published, mixtures = PublishedModel(store.get_snapshot("", newest.snapshot), newest.version), {}
    ordered = sorted(ITEMS, key=lambda item: (item.timestamp, item.id))
    for name in set(methods):
        settings = InferenceSettings(name, sweeps=5)
        method = inference_for(settings)
        mixtures[name] = method.infer(method.prepare(settings, published), ordered)
    for name, row in rows.items():
        expected = agreement(mixtures["gibbs2"], mixtures[name])
        assert {measure: row[measure] for measure in expected} == expected
        assert row["reference"] == "gibbs2"
        assert row["seconds_per_document"] > 0
    assert rows["gibbs2"]["kl"] == 0


def test_gibbs1_gets_the_training_documents(store):
    rows = compared(store, ITEMS[:10], ["gibbs1", "gibbs3"], ITEMS[10:])
    assert rows["gibbs3"]["kl"] > 0


def test_what_methods_need_is_checked_when_the_graph_is_built(store):
    with pytest.raises(OptionError, match="--training: None was given; allowed is the files that the model was learned from"):
        Compare(store.root, "", "latest", SETTINGS, ["gibbs3", "gibbs1"])
    with pytest.raises(OptionError, match="Fit one first"):
        Compare(store.root, "", "latest", SETTINGS, ["gibbs3", "maxent"])
    with pytest.raises(OptionError, match="--method: 'gibbs4' was given"):
        Compare(store.root, "", "latest", SETTINGS, ["gibbs4"])
