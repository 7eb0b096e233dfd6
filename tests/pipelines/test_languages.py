"""One model for each language, from training to labels."""

import json
from importlib import metadata

import pytest
from languages import SENTENCES

pytest.importorskip("py3langid")

from beam_topics import TopicModel
from beam_topics.model.inference import Gibbs3
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import evaluate, infer, label, report, stream, train
from beam_topics.pipelines.cli.groups import UsageError

GIVEN = {"de": "Schiffe im Hafen ", "en": "Ships in the harbour ", "fr": "Bateaux dans le port "}
COUNT, KEYS = 30, sorted(GIVEN)
TRAINING = [
    "--key_from=language",
    "--stop_words=language",
    *("--topics=2", "--births=off"),
    *("--window=7d", "--publish_every=14d", "--minibatch_size=5"),
]


def places(folder):
    return [
        f"--input={folder / 'corpus.jsonl'}",
        f"--model_store={folder / 'models'}",
        f"--dead_letters={folder / 'dead'}",
    ]


def write(path, count, *more):
    """Documents of three languages in turn, and others."""
    texts = [
        (code, " ".join((GIVEN[code], *SENTENCES[code])))
        for code in [["de", "en", "fr"][n % 3] for n in range(count)]
    ]
    rows = [
        {"id": f"d{n}", "timestamp": f"2001-01-{1 + n % 28:02d}", "text": text, "said": code}
        for n, (code, text) in enumerate([*texts, *more])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def lines(folder):
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write(folder / "corpus.jsonl", COUNT)
    assert train.main([*places(folder), *TRAINING]) == 0
    return folder


@pytest.fixture(scope="module")
def root(run):
    return str(run / "models")


def test_each_language_has_a_model_of_its_words(root):
    store = ModelStore(root)
    assert store.keys() == KEYS
    words = {key: set(store.get_snapshot(store.manifest(key)).words) for key in KEYS}
    assert {"schiffe", "hafen"} <= words["de"] and {"ships", "harbour"} <= words["en"]
    assert not any({"der", "the", "le"} & found for found in words.values())
    settings = store.manifest("de").tokeniser
    assert settings.key_from == f"language=={metadata.version('py3langid')}"


def test_infer_routes_by_the_same_detector_without_an_option(run, root, tmp_path):
    write(run / "corpus.jsonl", COUNT, ("ru", SENTENCES["ru"][0]), ("und", "ok"))
    flags = [*places(run), f"--output={tmp_path / 'mixtures'}"]
    flags[2] = f"--dead_letters={tmp_path / 'dead'}"
    assert infer.main(flags) == 0
    store = ModelStore(root)
    found = lines(tmp_path / "mixtures")
    assert len(found) == COUNT
    assert {row["key"]: row["model_version"] for row in found} == {
        key: store.manifest(key).version for key in KEYS
    }
    told = {row["detail"] for row in lines(tmp_path / "dead")}
    assert told == {
        f"this run has no model for the key {key!r}, but for 'de', 'en', 'fr'"
        for key in ("ru", "und")
    }


def test_infer_refuses_a_field_with_keys(run, capsys):
    flags = [*places(run), f"--output={run / 'none'}", "--key_field=said"]
    assert infer.main(flags) == 2
    told = "--key_field: 'said' was given; allowed is nothing with models that were learned with"
    assert told in capsys.readouterr().err


def test_one_language_is_evaluated_on_its_own_documents(run, tmp_path, capsys):
    write(run / "corpus.jsonl", COUNT)
    flags = [f"--held_out={run / 'corpus.jsonl'}", f"--model_store={run / 'models'}"]
    flags += [f"--dead_letters={tmp_path / 'dead'}", "--model_key=de"]
    assert evaluate.main(flags) == 0
    assert {row["reason"] for row in lines(tmp_path / "dead")} == {"unknown_key"}
    assert len(lines(tmp_path / "dead")) == COUNT * 2 // 3


def test_both_ways_to_keys_are_refused(run, capsys):
    for program in (train, stream):
        flags = [*places(run), *TRAINING, "--key_field=said"]
        flags += [f"--output={run / 'none'}"] if program is stream else []
        assert program.main(flags) == 2
        assert (
            "--key_field: 'said' was given; allowed is nothing with --key_from, which takes the"
            " keys from the texts. Leave one of the two out."
        ) in capsys.readouterr().err


def test_stream_labels_by_the_model_of_the_language(run, root, tmp_path):
    write(run / "corpus.jsonl", COUNT)
    flags = [f"--input={run / 'corpus.jsonl'}", f"--model_store={tmp_path / 'models'}"]
    flags += [f"--dead_letters={tmp_path / 'dead'}", f"--output={tmp_path / 'mixtures'}"]
    assert stream.main([*flags, *TRAINING]) == 0
    other = ModelStore(str(tmp_path / "models"))
    assert {row["key"] for row in lines(tmp_path / "mixtures")} == {"de", "en", "fr"}
    # The programs learn the same models.
    assert [other.manifest(key).snapshot for key in KEYS] == [
        ModelStore(root).manifest(key).snapshot for key in KEYS
    ]


def test_label_takes_the_model_of_the_language(root, capsys):
    texts = [SENTENCES["de"][0], SENTENCES["en"][0], SENTENCES["ru"][0]]
    assert label.main([f"--model_store={root}", *(f"--text={text}" for text in texts)]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert len(heads) == 3
    assert "(6 of 6 words known" in heads[0] and "(5 of 5 words known" in heads[1]
    assert heads[2].endswith("(its key is ru, which has no model)")
    assert label.main([f"--model_store={root}", "--model_key=de", f"--text={texts[2]}"]) == 0
    assert "(0 of " in capsys.readouterr().out


def test_a_report_shows_texts_of_its_language(run, tmp_path):
    write(run / "corpus.jsonl", COUNT)
    flags = [*places(run)[:2], f"--dead_letters={tmp_path / 'dead'}"]
    assert infer.main([*flags, f"--output={tmp_path / 'mixtures'}"]) == 0
    flags = [flags[1], "--model_key=de", f"--mixtures={tmp_path / 'mixtures'}"]
    flags += [f"--documents={run / 'corpus.jsonl'}", f"--output={tmp_path / 'report.html'}"]
    assert report.main(flags) == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Der Hafen war voller Schiffe" in page and "harbour was full" not in page


def test_another_release_is_refused(root, capsys, monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda package: "9.9")
    assert label.main([f"--model_store={root}", "--text=Schiffe"]) == 2
    assert "Run: pip install py3langid==" in capsys.readouterr().err


def test_serve_takes_the_model_of_the_language(root):
    pytest.importorskip("starlette")
    client = pytest.importorskip("starlette.testclient")
    from beam_topics.pipelines.service.app import Service
    from beam_topics.pipelines.service.limits import RequestLimits
    from beam_topics.pipelines.service.models import Models

    models = Models(root, Gibbs3(), 2)
    with client.TestClient(Service(models, RequestLimits(), 60.0, "").app()) as served:
        texts = [SENTENCES[code][0] for code in ("en", "de", "ru")]
        found = served.post("/label", json={"texts": texts}).json()["documents"]
        one = served.post("/label?key=de", json={"texts": texts[1:2]}).json()
    assert [document["key"] for document in found] == ["en", "de", "ru"]
    assert found[2] == {"key": "ru", "version": None, "topics": []}
    assert found[1]["version"] == ModelStore(root).manifest("de").version
    assert found[1]["topics"] == one["documents"][0]["topics"]


def test_an_estimator_has_one_model():
    with pytest.raises(UsageError) as error:
        TopicModel(topics=2, key_from="language")
    assert str(error.value) == (
        "key_from: TopicModel learns one model for all documents. Use beam-topics train"
        " --key_from=language."
    )
