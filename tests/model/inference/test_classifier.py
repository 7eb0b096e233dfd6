from pathlib import Path

import numpy as np
import pytest
from made import random_snapshot

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.inference.classifier import Classifier, ClassifierStore, Provenance

V1, V2 = "000000000001-0123456789abcdef", "000000000002-0123456789abcdef"
MADE = Provenance(
    "a/b",
    V1,
    "5e",
    9,
    100,
    "pd",
    {"held_out": 0.2},
    {"method": "gibbs3"},
    0.01,
    [[0.01, 2.5]],
    12,
    "0.1.0",
)


def classifier_of(seed=1, version=V1, topics=5):
    weights = np.random.default_rng(seed).normal(size=(3, topics)).astype(np.float32)
    made = Provenance(**{**MADE.__dict__, "version": version})
    return Classifier(np.array([0, 4, 9]), weights, 1.25, "counts", made)


def test_bytes_there_and_back():
    one = classifier_of()
    again = Classifier.from_bytes(one.to_bytes())
    assert again.to_bytes() == one.to_bytes()
    assert again.provenance == one.provenance
    assert (again.temperature, again.features) == (1.25, "counts")
    assert again.weights.tolist() == one.weights.tolist()


def test_a_table_for_every_word_of_the_model():
    table = classifier_of().table(random_snapshot())
    assert table.shape == (30, 5)
    assert table[[0, 4, 9]].tolist() == classifier_of().weights.tolist()
    assert not np.delete(table, [0, 4, 9], axis=0).any()


@pytest.mark.parametrize("snapshot", [random_snapshot(topics=6), random_snapshot(words=9)])
def test_another_model(snapshot):
    with pytest.raises(
        DamagedDataError,
        match="the classifier has 5 topics and belongs to version 0{11}1-.*; the model has",
    ):
        classifier_of().table(snapshot)


def test_damaged_bytes():
    data = classifier_of().to_bytes()
    for wrong in (
        b"",
        data[:-1],
        data + b"x",
        data.replace(b'"temperature"', b'"temperatura"'),
        data.replace(b'"pairs"', b'"pears"'),
    ):
        with pytest.raises(DamagedDataError):
            Classifier.from_bytes(wrong)


class TestStore:
    @pytest.fixture
    def store(self, tmp_path):
        return ClassifierStore(str(tmp_path))

    def test_named_by_content_with_its_provenance_beside_it(self, store):
        digest = store.put(classifier_of())
        folder = Path(store.root, "a%2Fb", "classifiers")
        assert {path.name for path in folder.iterdir()} == {
            digest,
            f"{digest}.json",
            f"{V1}.latest",
        }
        assert f'"digest":"{digest}"' in (folder / f"{digest}.json").read_text()
        assert '"variance":0.01' in (folder / f"{digest}.json").read_text()
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert store.put(classifier_of()) == digest
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    def test_the_newest_of_a_version(self, store):
        digests = [store.put(classifier_of(seed)) for seed in (1, 2)]
        other = store.put(classifier_of(3, V2))
        assert store.find("a/b", V1, "maxent") == digests[1] == store.newest("a/b", V1)
        assert store.newest("a/b", V2) == other
        assert store.get("a/b", digests[0]).to_bytes() == classifier_of(1).to_bytes()

    def test_one_flipped_byte_is_refused_by_name(self, store):
        digest = store.put(classifier_of())
        path = Path(store.root, "a%2Fb", "classifiers", digest)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(bytes(data))
        with pytest.raises(
            DamagedDataError,
            match=f"classifiers/{digest} is damaged: its .* bytes do not have the digest",
        ):
            store.get("a/b", digest)
        with pytest.raises(
            DamagedDataError, match="holds other bytes than its name says. Delete it, and run again"
        ):
            store.put(classifier_of())

    def test_missing(self, store):
        assert store.newest("a/b", V1) is None
        told = (
            "--method: 'hybrid' was given; allowed is a method without a classifier: there is none"
            " for version 0{11}1-.*'a/b'.*Fit one"
        )
        with pytest.raises(OptionError, match=told):
            store.find("a/b", V1, "hybrid")
        with pytest.raises(
            DamagedDataError, match="classifiers/0{64} is missing from the model store"
        ):
            store.get("a/b", "0" * 64)
