import json

import apache_beam as beam
import pytest
from collecting import run
from fake_learner import fake_settings
from learner_options import inferring
from streams import documents, learn_options, shuffled, train

from model.errors import OptionError
from model.evaluation.agreement import agreement
from model.inference import Gibbs1, Gibbs2, Gibbs3, PublishedModel, inference_for
from model.publishing.store import ModelStore
from transforms.compare import Compare, methods_of

ITEMS = documents(30)
OPTIONS = {"inference_sweeps": 5}


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
            again = pipeline | "Again" >> beam.Create(
                [item.to_bytes() for item in training]
            ).with_output_types(bytes)
        return {
            "lines": (
                given
                | Compare(
                    store.root,
                    "",
                    "latest",
                    methods_of(methods[0], methods[1:], OPTIONS),
                    training=again,
                )
            )
        }

    held, _ = run(build)
    return {row["method"]: row for row in (json.loads(line) for _, line in held["lines"])}


def test_methods_are_compared_with_the_first(store):
    methods = ["gibbs2", "variational", "gibbs3", "variational"]
    rows = compared(store, shuffled(ITEMS, "c"), methods)
    assert set(rows) == set(methods)
    newest = store.latest("")
    published, mixtures = (
        PublishedModel(store.get_snapshot(newest), newest.version),
        {},
    )
    ordered = sorted(ITEMS, key=lambda item: (item.timestamp, item.id))
    for name in set(methods):
        settings = inferring(name, sweeps=5)
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
    def refused(method, message):
        with pytest.raises(OptionError, match=message):
            Compare(store.root, "", "latest", methods_of("gibbs3", [method], OPTIONS))

    refused(
        "gibbs1",
        "--training: None was given; allowed is with gibbs1, the files that the model was learned"
        " from. Name them.",
    )
    refused(
        "maxent",
        "--methods: 'maxent' was given; allowed is a method without a classifier: there is none"
        " .*Fit one first",
    )
    refused(
        "gibbs4", "--methods: 'gibbs4' was given; allowed is one of .*gibbs3.* Correct the spelling"
    )


def test_a_reference_that_there_is_not_is_told_by_its_option():
    with pytest.raises(
        OptionError,
        match="--reference: 'gibs2' was given; allowed is one of .*gibbs2.* Correct the spelling",
    ):
        methods_of("gibs2", ["gibbs3"], OPTIONS)


def test_alpha_is_learned_by_the_methods_that_can():
    learning = {"learn_alpha": True}
    assert methods_of("gibbs2", ["gibbs3", "gibbs1"], learning) == [
        Gibbs2(learn_alpha=True),
        Gibbs3(),
        Gibbs1(learn_alpha=True),
    ]
    with pytest.raises(
        OptionError,
        match="--learn_alpha=True belongs to gibbs2, gibbs2-s, gibbs1; none of them is compared",
    ):
        methods_of("gibbs3", ["variational"], learning)
