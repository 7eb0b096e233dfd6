"""A part has one share everywhere: ``show``, ``label``, ``serve``, mixtures with names, exports."""

import csv
import gzip
import io
import json
import re

import numpy as np
import pytest
from exported import SEA, learned
from reported import shares_of

from model.publishing.catalogue import CatalogueStore
from model.publishing.store import ModelStore
from model.reporting.relevance import topic_shares
from model.reporting.shown import shown_of
from pipelines import export, infer, label, show, topics

TEXT = " ".join(SEA) + " court judge"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store in which ship and sail are split off the topic of the sea."""
    root = tmp_path_factory.mktemp("models")
    learned(root)
    change = [f"--model_store={root}", f"--topic_ids={sea_of(root)}"]
    assert topics.main([*change, "--split_words=ship,sail", "--topic_name=Ships"]) == 0
    return ModelStore(str(root))


def sea_of(root):
    snapshot = ModelStore(str(root)).get_snapshot(ModelStore(str(root)).manifest(""))
    return int(np.argmax(snapshot.rows(np.array([snapshot.numbers["ship"]]))[0]))


@pytest.fixture(scope="module")
def shown(store):
    manifest = store.manifest("")
    catalogue = CatalogueStore(store.root).latest("")[1]
    return shown_of(catalogue, manifest, store.get_snapshot(manifest))


def exported(store, folder, form, *options):
    output = folder / f"model.{form}"
    command = [f"--model_store={store.root}", f"--format={form}", f"--output={output}"]
    assert export.main([*command, *options]) == 0
    return output.read_bytes()


def test_show_has_the_part_with_the_share_of_its_counts(store, shown, capsys):
    assert show.main([f"--model_store={store.root}"]) == 0
    told = capsys.readouterr().out
    cells = [[c.strip() for c in line.split("│")] for line in told.splitlines()]
    found = {row[0]: row for row in cells if len(row) == 4}
    share = topic_shares(shown.snapshot)[2]
    assert found["-1"][1] == f"{share:.1%}" and found["-1"][3].startswith("Ships: ")
    assert "ship" not in found[str(sea_of(store.root))][3].split()


def test_a_hidden_part_is_left_out_of_lists_and_counted(store, capsys):
    catalogues = CatalogueStore(store.root)
    _, before = catalogues.latest("")
    catalogues.put("", before.with_entries([-1], hidden=True))
    assert show.main([f"--model_store={store.root}"]) == 0
    told = capsys.readouterr().out
    assert "hidden: -1" in told and "Ships" not in told
    assert show.main([f"--model_store={store.root}", "--topic_ids=-1"]) == 0
    assert "Ships" in capsys.readouterr().out
    assert label.main([f"--model_store={store.root}", f"--text={TEXT}"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert len(rows) == 2 and sum(float(row.split("%")[0]) for row in rows) < 95
    catalogues.put("", before)


def test_label_and_serve_have_f_of_the_share_of_the_topic(store, shown, capsys):
    pytest.importorskip("starlette")
    from model.inference import Gibbs3
    from pipelines.service.models import Models

    loaded = Models(store.root, Gibbs3(), 9).get("")
    (mixture,) = loaded.mixtures([TEXT])
    wanted = shown.grouping.sums(mixture.proportions)
    rows = {row["topic"]: row for row in loaded.described(mixture)["topics"]}
    shares = [rows[topic]["share"] for topic in (0, 1, -1)]
    assert shares == pytest.approx(wanted, abs=1e-6) and rows[-1]["name"] == "Ships"
    described = loaded.topics(10)
    assert [row["hidden"] for row in described] == [False] * 3
    assert sum(row["share"] for row in described) == pytest.approx(1.0, abs=1e-12)
    assert label.main([f"--model_store={store.root}", f"--text={TEXT}"]) == 0
    told = capsys.readouterr().out
    assert f"  {wanted[2]:6.1%}    -1  Ships" in told


def test_mixtures_with_names_list_the_part_and_without_them_the_topics(store, shown, tmp_path):
    (tmp_path / "d.jsonl").write_text(json.dumps({"id": "a", "timestamp": 0, "text": TEXT}))
    rows = {}
    for name, options in (("plain", ()), ("named", ("--topic_names",))):
        output = tmp_path / name
        command = [f"--model_store={store.root}", f"--input={tmp_path / 'd.jsonl'}"]
        command += [f"--output={output}", f"--dead_letters={tmp_path / 'dead'}", *options]
        assert infer.main(command) == 0
        (file,) = output.glob("mixtures-*.jsonl")
        rows[name] = json.loads(file.read_text())
    plain, named = rows["plain"], rows["named"]
    ids = [one["topic"] for one in plain["topics"]]
    assert plain["topic"] == ids[0] and sorted(ids) == [0, 1]
    shares = shown.grouping.sums(shares_of(plain, range(2)))
    order = np.argsort(-shares, kind="stable").tolist()
    assert named["topic"] == shown.ids[order[0]]
    assert [one["topic"] for one in named["topics"]] == [shown.ids[group] for group in order]
    assert [one["name"] for one in named["topics"]] == [shown.names[group] for group in order]
    found = [one["share"] for one in named["topics"]]
    assert found == pytest.approx(shares[order], abs=2e-6)


def test_tables_and_json_have_the_words_of_the_part(store, shown, tmp_path):
    rows = list(csv.DictReader(io.StringIO(exported(store, tmp_path, "csv").decode())))
    part = [row for row in rows if row["topic"] == "-1"]
    assert {row["word"] for row in part} == {"ship", "sail"}
    assert {row["name"] for row in part} == {"Ships"}
    assert not [r for r in rows if r["topic"] == str(sea_of(store.root)) and r["word"] == "ship"]
    found = json.loads(exported(store, tmp_path, "json"))["topics"]
    shares = topic_shares(shown.snapshot).tolist()
    assert [(one["topic"], one["share"]) for one in found] == list(
        zip(shown.ids, shares, strict=True)
    )
    assert {one["word"] for one in found[2]["words"]} == {"ship", "sail"}
    courses = np.array([one["course"] for one in found], float)
    assert courses.sum(axis=0) == pytest.approx(np.ones(courses.shape[1]), abs=1e-12)


def test_other_tools_have_a_topic_more(store, shown, tmp_path):
    given = json.loads(exported(store, tmp_path, "pyldavis"))
    assert given["doc_lengths"] == shown.snapshot.totals.tolist() and len(shown.ids) == 3
    phi = np.array(given["topic_term_dists"])
    at = [given["vocab"].index(word) for word in ("ship", "sail")]
    # The two words have nearly all of the part; the rest is smoothing.
    assert phi[2, at].sum() > 0.9 and phi.sum(axis=1) == pytest.approx(np.ones(3))
    state = gzip.decompress(exported(store, tmp_path, "mallet")).decode().splitlines()
    assert len(state[1].removeprefix("#alpha : ").split()) == 3
    counts = [line.split()[4] for line in state[3:] if line.endswith(" 2")]
    assert set(counts) == {"ship", "sail"}
    dot = exported(store, tmp_path, "dot").decode()
    assert re.search(r'v\d_t2 \[label="-1 Ships"', dot)
    seeds = exported(store, tmp_path, "seeds", "--freeze=-1").decode()
    assert seeds.startswith('"Ships": "') and {"ship", "sail"} == {
        word.split("^")[0] for word in seeds.split(": ")[1].strip('"\n').split()[:2]
    }


def test_gensim_has_a_topic_more(shown):
    pytest.importorskip("gensim")
    from model.exports import Exported
    from model.exports.gensim_model import to_gensim

    model = to_gensim(Exported(shown))
    words = {model.id2word[row] for row, _ in model.get_topic_terms(2, 2)}
    assert words == {"ship", "sail"} and model.num_topics == 3
    assert model.alpha.sum() == pytest.approx(shown.snapshot.alpha.sum())
