"""``--seeds`` from the command line to the store: settings, names in the catalogue, refusals."""

import json

import pytest

from model.publishing.catalogue import CatalogueStore
from model.publishing.store import ModelStore
from pipelines import topics, train

SEA, LAND = ("ship", "harbour", "sail", "wave"), ("horse", "road", "field", "cart")
SEEDS = "land: [horse, Road]\nsea: ship harbour\n"


@pytest.fixture
def command(tmp_path):
    documents = [
        {
            "id": str(d),
            "timestamp": d * 3600,
            "text": " ".join((SEA if d % 2 else LAND)[(d + i) % 4] for i in range(9)),
        }
        for d in range(40)
    ]
    (tmp_path / "documents.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (tmp_path / "seeds.yaml").write_text(SEEDS)
    return [
        f"--model_store={tmp_path / 'models'}",
        f"--input={tmp_path / 'documents.jsonl'}",
        f"--dead_letters={tmp_path / 'dead'}",
        "--topics=4",
        "--window=1d",
    ]


def test_names_of_seeds_become_names_of_the_catalogue(command, tmp_path):
    store = str(tmp_path / "models")
    assert train.main([*command, f"--seeds={tmp_path / 'seeds.yaml'}"]) == 0
    catalogue = CatalogueStore(store).latest("")[1]
    assert catalogue.names() == {0: "land", 1: "sea"}
    assert not catalogue.of(0).automatic
    snapshot = ModelStore(store).get_snapshot(ModelStore(store).latest(""))
    first = snapshot.top_words(4)
    assert {"horse", "road"} <= set(first[0]) and {"ship", "harbour"} <= set(first[1])
    # A name that people give stays, also where a run makes the same version again.
    assert topics.main([f"--model_store={store}", "--topic_ids=0", "--topic_name=Country"]) == 0
    assert train.main([*command, f"--seeds={tmp_path / 'seeds.yaml'}"]) == 0
    assert CatalogueStore(store).latest("")[1].names() == {0: "Country", 1: "sea"}
    assert len(CatalogueStore(store).history("")) == 2


def test_a_store_with_other_seeds_is_refused(command, tmp_path, capsys):
    assert train.main(command) == 0
    assert CatalogueStore(str(tmp_path / "models")).latest("")[0] is None
    assert train.main([*command, f"--seeds={tmp_path / 'seeds.yaml'}"]) == 2
    assert "--seeds" in capsys.readouterr().err


@pytest.mark.parametrize("learner", ["infvoc", "fixvoc-vb", "fixvoc-hybrid"])
def test_other_learners_refuse_seeds(command, tmp_path, capsys, learner):
    given = [*command, f"--learner={learner}", f"--seeds={tmp_path / 'seeds.yaml'}"]
    assert train.main(given) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--seeds" in said and "particle-filter" in said
