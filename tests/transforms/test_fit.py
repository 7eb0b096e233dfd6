import apache_beam as beam
import pytest
from collecting import run
from fake_learner import fake_settings
from learner_options import inferring
from streams import document, documents, learn_options, shuffled, train

from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import FitSettings
from beam_topics.model.inference.classifier import ClassifierStore
from beam_topics.model.publishing.store import ModelStore
from beam_topics.transforms.fit import FitClassifier

ITEMS = documents(60)
SETTINGS = FitSettings()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store")
    train(ITEMS, learn_options(path, fake_settings(), publish_every=("windows", 4)))
    return ModelStore(str(path))


def fit(store, items, settings=SETTINGS, **others):
    def build(pipeline):
        given = pipeline | beam.Create([item.to_bytes() for item in items]).with_output_types(bytes)
        return {"digests": given | FitClassifier(store.root, settings=settings, **others)}

    held, counters = run(build)
    return [digest for _, digest in held["digests"]], counters


def test_one_classifier_whatever_the_order(store):
    empty = [item for item in ITEMS if not len(item.tokens)]
    (one,), counters = fit(store, ITEMS)
    assert fit(store, shuffled(ITEMS, "x"))[0] == [one]
    assert counters["pairs"] == len(ITEMS) - len(empty)
    assert counters["documents_without_known_words"] == len(empty)
    made = ClassifierStore(store.root).get("", one).provenance
    newest = store.latest("")
    assert (made.version, made.snapshot, made.pairs) == (
        newest.version,
        newest.snapshot,
        counters["pairs"],
    )
    assert made.method["kind"] == "gibbs3"
    assert ClassifierStore(store.root).newest("", newest.version) == one


def test_a_method_that_wants_more_than_a_document(store):
    for name in ("gibbs2", "maxent"):
        with pytest.raises(
            OptionError,
            match=(
                f"--method: '{name}' was given; allowed is to make training pairs, one of gibbs3,"
                " .* Use gibbs3"
            ),
        ):
            FitClassifier(store.root, inference=inferring(name))


def test_nothing_to_fit(store):
    digests, counters = fit(store, [document("new", 3)][:0])
    assert digests == []
    assert "pairs" not in counters
