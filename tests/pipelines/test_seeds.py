"""``--seeds`` from the command line to the store: settings, names in the catalogue, refusals."""

import json

import numpy as np
import pytest

from beam_topics.model.publishing.catalogue import CatalogueStore
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import export, infer, topics, train

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


def test_topics_of_a_model_are_frozen_in_another(command, tmp_path):
    assert train.main([*command, f"--seeds={tmp_path / 'seeds.yaml'}"]) == 0
    store, frozen = tmp_path / "models", tmp_path / "frozen.yaml"
    given = [f"--model_store={store}", "--format=seeds", f"--output={frozen}"]
    assert export.main([*given, "--topic_ids=1"]) == 0
    others = [option for option in command if not option.startswith("--model_store")]
    others += [f"--model_store={tmp_path / 'next'}", f"--seeds={frozen}"]
    assert train.main(others) == 0
    before, after = (shares_of(path) for path in (store, tmp_path / "next"))
    assert CatalogueStore(str(tmp_path / "next")).latest("")[1].names() == {0: "sea"}
    assert sum(abs(before[w][1] - after[w][0]) for w in before) / 2 < 2e-3
    assert sum(abs(before[w][1] - after[w][1]) for w in before) / 2 > 0.1


def shares_of(path):
    store = ModelStore(str(path))
    snapshot = store.get_snapshot(store.latest(""))
    rows = np.arange(len(snapshot.words))
    found = (snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers
    return dict(zip(snapshot.words, found, strict=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--format=seeds", "--topic_ids=99"),
            "--topic_ids: 99 was given; allowed is ids of topics",
        ),
        (
            ("--format=csv", "--topic_ids=1"),
            "allowed is topics of --format=seeds. Add --",
        ),
    ],
)
def test_what_cannot_be_frozen(command, tmp_path, capsys, options, message):
    assert train.main(command) == 0
    given = [f"--model_store={tmp_path / 'models'}", f"--output={tmp_path / 'frozen.yaml'}"]
    assert export.main([*given, *options]) != 0
    assert message in " ".join(capsys.readouterr().err.split())


def test_mixtures_have_names_and_the_none_share_where_they_are_wanted(command, tmp_path):
    seeds = [f"--seeds={tmp_path / 'seeds.yaml'}", "--seed_strength=5"]
    assert train.main([*command, *seeds]) == 0
    nonsense = {"id": "x", "timestamp": 0, "text": " ".join((*SEA, *LAND, *SEA, *LAND))}
    strange = {"id": "y", "timestamp": 0, "text": "zzz yyy xxx"}
    (tmp_path / "others.jsonl").write_text("\n".join(map(json.dumps, (nonsense, strange))))
    rows = {}
    for name, options in (("plain", ()), ("more", ("--none_share", "--topic_names"))):
        given = f"--input={tmp_path}/documents.jsonl,{tmp_path}/others.jsonl"
        places = [f"--output={tmp_path / name}", f"--dead_letters={tmp_path / f'dead-{name}'}"]
        store = f"--model_store={tmp_path / 'models'}"
        assert infer.main([store, given, *places, *options]) == 0
        files = sorted((tmp_path / name).glob("mixtures-*.jsonl"))
        lines = [line for file in files for line in file.read_text().splitlines()]
        rows[name] = {row["id"]: row for row in map(json.loads, lines)}
    for id, row in rows["more"].items():
        topics = [{k: v for k, v in one.items() if k != "name"} for one in row["topics"]]
        none = rows["plain"][id]["none"]
        assert row | {"topics": topics, "none": none} == rows["plain"][id]
        assert none == (None if row["words_known"] else 1.0)
    own = [row for id, row in rows["more"].items() if id.isdecimal()]
    listed = [one for row in rows["more"].values() for one in row["topics"]]
    names = {one["topic"]: one["name"] for one in listed}
    assert names.pop(0) == "land" and names.pop(1) == "sea"
    assert names and not {"land", "sea"} & set(names.values())
    assert sum(row["none"] > 0.5 for row in own) < 0.05 * len(own)
    assert rows["more"]["x"]["none"] > 0.5 and rows["more"]["y"]["topic"] is None


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
    assert "--seeds" in said and "give --learner=gibbs." in said
