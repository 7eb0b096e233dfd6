"""``beam_topics.pipelines.topics`` changes the catalogue; the report and show use it."""

import json
import re

import pytest
from reported import counts_of, listed, published

from beam_topics.model.publishing.catalogue import CatalogueStore
from beam_topics.pipelines import report, show, topics


@pytest.fixture
def store(tmp_path):
    return published(tmp_path / "models", versions=2, words=tuple(f"word{n}" for n in range(40)))


def run(store, *options):
    return topics.main([f"--model_store={store.root}", *options])


def test_a_part_of_a_name_suggests_the_whole(store, capsys):
    assert run(store, "--topic_ids=1", "--name=Health") == 2
    told = "--name=Health: there is no such option here. Did you mean --topic_name?\n"
    assert capsys.readouterr().err.endswith(told)


def test_each_change_is_a_catalogue_that_can_be_rolled_back(store, capsys):
    assert run(store) == 0 and "catalogue none yet" in capsys.readouterr().out
    for options in (
        ["--topic_ids=1", "--topic_name=Health"],
        ["--topic_ids=2,3", "--merge_into=1"],
        ["--topic_ids=0", "--hide"],
        ["--topic_ids=4", "--hide"],
        ["--topic_ids=4", "--hide=false"],
    ):
        assert run(store, *options) == 0
    told = capsys.readouterr().out.rpartition("catalogue ")[0]
    catalogues = CatalogueStore(store.root)
    digest, found = catalogues.latest("")
    assert found.of(1).name == "Health"
    assert found.roots(range(5)) == [0, 1, 1, 1, 4]
    assert found.of(0).hidden and not found.of(4).hidden
    assert "part of 1" in told and "hidden" in told
    first = catalogues.history("")[-1]
    assert run(store, f"--roll_back={first[:8]}") == 0
    assert catalogues.latest("")[1].entries == catalogues.get("", first).entries
    assert len(catalogues.history("")) == 6 and digest in catalogues.history("")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "--topic_ids=9 --hide",
            "--topic_ids: 9 was given; allowed is topics of version",
        ),
        (
            "--topic_ids=1 --merge_into=5",
            "--merge_into: 5 was given; allowed is topics of version",
        ),
        (
            "--topic_ids=1",
            "--topic_ids: '1' was given; allowed is topics together with one of --topic_",
        ),
        (
            "--hide",
            "--hide: True was given; allowed is nothing without --topic_ids. Add the numbers",
        ),
        (
            "--topic_ids=1 --hide --roll_back=abcdef",
            "--roll_back: 'abcdef' was given; allowed is not",
        ),
        ("--roll_back=abcdef", "allowed is the first 6 digits or more of one of no catalogue"),
        ("--topic_ids=x --hide", "--topic_ids: 'x' was given; allowed is a whole number"),
        (
            "--topic_ids=-1 --hide",
            "--topic_ids: -1 was given; allowed is topics of version",
        ),
    ],
)
def test_a_wrong_option_says_what_to_do(store, options, message, capsys):
    assert run(store, *options.split()) == 2
    assert message in capsys.readouterr().err
    assert CatalogueStore(store.root).history("") == []


def test_show_and_the_report_use_the_names(store, capsys, tmp_path):
    pytest.importorskip("jinja2")
    assert run(store, "--topic_ids=1", "--topic_name=Health <care>") == 0
    capsys.readouterr()
    assert show.main([f"--model_store={store.root}"]) == 0
    assert "Health <care>: word" in capsys.readouterr().out
    page = tmp_path / "r.html"
    assert report.main([f"--model_store={store.root}", f"--output={page}"]) == 0
    assert "<bdi>Health &lt;care&gt;</bdi>" in page.read_text(encoding="utf-8")


def test_a_catalogue_holds_for_later_versions(store, capsys):
    assert run(store, "--topic_ids=2", "--topic_name=Mine") == 0
    later = published(store.root, versions=4, words=tuple(f"word{n}" for n in range(40)))
    assert len(later.manifests("")) == 4
    capsys.readouterr()
    assert run(later) == 0
    assert re.search(r"2 │ Mine", capsys.readouterr().out)


def labelled(store, folder):
    """Mixtures of the last version, and their documents; returns the options that name them."""
    rows = [
        {
            "key": "", "id": str(n), "timestamp": f"2026-01-{n % 28 + 1:02}T00:00:00Z",
            "model_version": store.latest("").version, "method": "gibbs3",
            **listed([0.8 if z == n % 5 else 0.05 for z in range(5)]),
            "tokens": 30, "words_known": 30,
        }
        for n in range(50)
    ]  # fmt: skip
    texts = [
        {"id": row["id"], "timestamp": row["timestamp"], "text": f"word{3 * int(row['id']) % 40} x"}
        for row in rows
    ]
    for name, some in (("mixtures-1.jsonl", rows), ("documents.jsonl", texts)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in some))
    return [f"--mixtures={folder}", f"--documents={folder / 'documents.jsonl'}"]


def test_topics_are_named_by_documents_and_people_have_the_last_word(store, tmp_path, capsys):
    given = labelled(store, tmp_path)
    assert run(store, "--topic_ids=1", "--topic_name=Mine") == 0
    assert run(store, "--topic_ids=2", "--merge_into=3") == 0
    assert run(store, "--name_topics", *given) == 0
    found = CatalogueStore(store.root).latest("")[1]
    assert found.of(1).name == "Mine" and not found.of(1).automatic
    # A topic that is a part of another one needs no name.
    assert set(found.names()) == {0, 1, 3, 4}
    assert all(re.fullmatch(r"word\d+(, word\d+)*", found.of(z).name) for z in (0, 3, 4))
    assert run(store, "--name_topics") == 0
    by_model = CatalogueStore(store.root).latest("")[1]
    assert by_model.of(1).name == "Mine" and by_model.of(0).name != found.of(0).name
    assert run(store, "--topic_ids=0", "--topic_name=Ours") == 0
    assert run(store, "--name_topics", *given) == 0
    assert CatalogueStore(store.root).latest("")[1].of(0).name == "Ours"


def test_a_function_names_topics(store, tmp_path, monkeypatch):
    (tmp_path / "my_names.py").write_text(
        "def name(topic):\n    return f\"{topic['topic']}: {len(topic['documents'])} texts\"\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    given = labelled(store, tmp_path)
    assert run(store, "--name_topics", "--namer=my_names:name", *given) == 0
    names = CatalogueStore(store.root).latest("")[1].names()
    assert names == {topic: f"{topic}: 5 texts" for topic in range(5)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--namer=a:b", "--namer: 'a:b' was given; allowed is nothing without --name_topics"),
        ("--name_topics --topic_ids=1 --hide", "--name_topics: True was given; allowed is nothing"),
        ("--name_topics --mixtures=x", "--mixtures: 'x' was given; allowed is nothing without --d"),
        ("--name_topics --documents=x", "allowed is nothing without --mixtures"),
        (
            "--name_topics --namer=no_such:f",
            "--namer: 'no_such:f' was given; allowed is a function",
        ),
        ("--mixtures=x", "--mixtures: 'x' was given; allowed is nothing without --name_topics"),
    ],
)
def test_wrong_options_of_names_change_nothing(store, capsys, options, message):
    assert run(store, *options.split()) == 2
    assert message in capsys.readouterr().err
    assert CatalogueStore(store.root).history("") == []


def test_topics_that_are_alike_are_marked(tmp_path, monkeypatch, capsys):
    counts = counts_of(1)
    counts[:, 4] = counts[:, 2]
    monkeypatch.setattr("reported.counts_of", lambda *_: counts)
    store = published(tmp_path / "models", 1, words=tuple(f"word{n}" for n in range(40)))
    marks = ["like 4", "like 2"]
    for program in (show, topics):
        assert program.main([f"--model_store={store.root}"]) == 0
        told = capsys.readouterr().out
        assert [told.count(mark) for mark in marks] == [1, 1]
    # One of them is a part of the other.
    assert run(store, "--topic_ids=4", "--merge_into=2") == 0
    assert "like" not in capsys.readouterr().out
