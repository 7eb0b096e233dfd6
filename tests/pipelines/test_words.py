"""The options of the tokeniser, from learning to labelling."""

from importlib import metadata

import pytest

pytest.importorskip("jieba")
pytest.importorskip("sklearn")

from beam_topics import TopicModel
from beam_topics.model.inference import Gibbs3
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import label
from beam_topics.pipelines.service.models import Models

TEXTS = [
    "<p>银行提高了贷款利率</p>",
    "政府<b>增加</b>银行投资",
    "足球比赛吸引观众",
    "球队赢得足球冠军",
] * 20


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("models"))
    words = {"segmenter": "chinese", "stop_words": "zh", "strip": "html"}
    TopicModel(topics=2, births="off", model_store=folder, **words).fit(TEXTS)
    return folder


def test_a_version_names_what_made_its_words(root):
    store = ModelStore(root)
    manifest = store.manifest("")
    assert manifest.tokeniser.segmenter == f"chinese=={metadata.version('jieba')}"
    assert manifest.tokeniser.strip == ("html",)
    found = set(store.get_snapshot(manifest).words)
    assert {"银行", "足球", "增加"} <= found and "<p>" not in found and max(map(len, found)) < 5


def test_label_cuts_texts_as_the_model_does(root, capsys):
    text = "<p>足球银行</p>"
    assert label.main([f"--model_store={root}", f"--text={text}"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"{text} (2 of 2 words known, no topic explains ")


def test_serve_cuts_texts_as_the_model_does(root):
    served = Models(root, Gibbs3(), most_keys=1).get("")
    first, second = served.mixtures(["银行<br>利率", "足球冠军"])
    assert first.proportions.argmax() != second.proportions.argmax()


def test_a_loaded_estimator_cuts_texts_as_the_model_does(root):
    loaded = TopicModel.load(root)
    first, second = loaded.transform(["银行贷款投资<br>利率", "足球冠军观众"]).argmax(axis=1)
    assert first != second


def test_another_release_is_refused(root, capsys, monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda package: "9.9")
    assert label.main([f"--model_store={root}", "--text=足球"]) == 2
    assert "Run: pip install jieba==" in capsys.readouterr().err
