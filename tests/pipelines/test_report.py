"""``beam_topics.pipelines.report`` from its command line to the page."""

import json
import re

import pytest
from reported import documents_of, mixture_rows, published, shares_of, stories_of, written

from beam_topics.model.documents.document import DeadLetter
from beam_topics.pipelines import infer, report

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a store with mixtures, documents and dead letters."""
    folder = tmp_path_factory.mktemp("run")
    rows = mixture_rows(published(folder / "models"))
    written(folder / "mixtures", rows)
    documents_of(folder / "documents.jsonl", rows)
    (folder / "dead").mkdir()
    letter = DeadLetter("a.jsonl:1", "not_json", "<b>bad</b>", "x").as_json()
    (folder / "dead" / "dead-letters-1.jsonl").write_text(f"{letter}\n{letter}\n")
    return folder


def figures_in(path):
    found = re.search(r'id="figures">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def made(run, output, *options):
    assert report.main([f"--model_store={run / 'models'}", f"--output={output}", *options]) == 0
    return figures_in(output)


def whole(run):
    return (
        f"--mixtures={run / 'mixtures'}",
        f"--documents={run / 'documents.jsonl'}",
        f"--dead_letters={run / 'dead'}",
        "--title=A <title>",
    )


def test_the_page_has_everything_that_was_given(run, tmp_path, capsys):
    figures = made(run, tmp_path / "r.html", *whole(run))
    told = capsys.readouterr().out
    assert re.fullmatch(r"version 000000000006-\w{16} -> .*r\.html \(0\.\d MB\)\n", told)
    assert figures["documents"]["all"] == 60 and figures["labelled"]["repeated"] == 30
    assert figures["refused"] == [
        {"reason": "not_json", "count": 1, "source": "a.jsonl:1", "detail": "<b>bad</b>"}
    ]
    assert all(text.endswith("more of it") or "characters" in text
               for text in figures["documents"]["text"])  # fmt: skip
    assert "<title>A &lt;title&gt;</title>" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_store_alone_is_enough(run, tmp_path):
    figures = made(run, tmp_path / "r.html")
    assert figures["documents"] is None and figures["refused"] is None


def test_equal_runs_write_equal_pages(run, tmp_path):
    for name in ("a.html", "b.html"):
        made(run, tmp_path / name, *whole(run))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    made(run, tmp_path / "a.html")
    assert (tmp_path / "a.html").read_bytes() != (tmp_path / "b.html").read_bytes()


def test_documents_with_texts_are_labelled_by_the_version_that_is_shown(tmp_path):
    """To the mixtures of ``infer``; without texts, or a known word in them, they stay."""
    words, output = [f"w{chr(97 + n)}" for n in range(12)], tmp_path / "anew"
    rows = mixture_rows(published(tmp_path / "models", words=words))
    rows = [{**row, "id": "d" + row["timestamp"]} for row in rows]
    written(tmp_path / "mixtures", rows)
    texts = [" ".join(words[n % 12 :] * 3) if n else "strange" for n in range(len(rows))]
    texts = {row["id"]: text for row, text in zip(rows, texts, strict=True)}
    lines = [{"id": row["id"], "timestamp": row["timestamp"], "text": texts[row["id"]]}
             for row in rows]  # fmt: skip
    source = tmp_path / "documents.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    given = f"--input={source}", f"--output={output}", f"--dead_letters={tmp_path / 'dead'}"
    assert infer.main([f"--model_store={tmp_path / 'models'}", *given]) == 0
    lines = "".join(path.read_text(encoding="utf-8") for path in output.glob("*")).split("\n")
    found = [json.loads(line) for line in lines if line]
    wanted = {one["id"]: shares_of(one) for one in found}
    came = {row["id"]: row["model_version"] for row in rows}
    mixtures = f"--mixtures={tmp_path / 'mixtures'}"
    page = made(tmp_path, tmp_path / "r.html", mixtures, f"--documents={source}")
    shown, newest = page["documents"], found[0]["model_version"]
    for id, version, mixture in zip(shown["id"], shown["version"], shown["mixture"], strict=True):
        if texts[id] != "strange" and came[id] != newest:
            assert version == newest
            assert all(share == pytest.approx(wanted[id][z], abs=6e-4) for z, share in mixture)
    (strange,) = (id for id, text in texts.items() if text == "strange")
    assert set(shown["version"]) == {newest, came[strange]} and came[strange] != newest
    again = page["labelled"]["again"]
    assert sum(again["documents"]) >= 59 and len(again["shares"]) == len(page["labelled"]["shares"])
    page = made(tmp_path, tmp_path / "r.html", mixtures)
    assert page["labelled"]["again"] is None and len(set(page["documents"]["version"])) == 6


def test_an_earlier_version_has_its_own_page(run, tmp_path):
    version = figures_in_versions(made(run, tmp_path / "r.html"))[2]
    figures = made(run, tmp_path / "r.html", f"--model_version={version}")
    assert figures["model"]["version"] == version and figures["model"]["versions"] == 3


def figures_in_versions(figures):
    return figures["versions"]["name"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--output=page.pdf", "--output: 'page.pdf' was given; allowed is a file whose name ends"),
        ("--output=r.html --file_period=1h", "--file_period: 3600000000 was given; allowed is no"),
        ("--output=r.html --documents=x.jsonl", "allowed is nothing without --mixtures. Give the"),
        ("--output=r.html --mixtures=none", "--mixtures: 'none' was given; allowed is a folder"),
        ("--output=r.html --follow", "--follow: there is no such option here. "),
        ("", "--output is missing. Give it, for example --output=report.html"),
    ],
)
def test_a_wrong_option_says_what_to_do(run, options, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert report.main([f"--model_store={run / 'models'}", *options.split()]) == 2
    assert message in capsys.readouterr().err


def test_stories_of_the_last_window_are_on_the_page_once(run, tmp_path, capsys):
    stories_of(tmp_path / "trends")
    rows, output = f"--rows={tmp_path / 'trends'}", tmp_path / "r.html"
    told = made(run, output, rows)["stories"]
    assert [(one["documents"], one["came"], one["topics"]) for one in told] == [
        (30, 9, [1]),
        (30, 2, [1]),
    ]
    assert made(run, output)["stories"] is None
    (tmp_path / "trends" / "stories-2.jsonl").write_text('{"key": 3}')
    assert report.main([f"--model_store={run / 'models'}", f"--output={output}", rows]) == 2
    assert "cannot be read as stories: KeyError 'window_end'" in capsys.readouterr().err


def test_mixtures_of_another_store_are_refused(run, tmp_path, capsys):
    rows = [{**row, "model_version": "x"} for row in mixture_rows(published(tmp_path / "m"))]
    folder = written(tmp_path / "mixtures", rows)
    given = [f"--model_store={run / 'models'}", "--output=r.html", f"--mixtures={folder}"]
    assert report.main(given) == 2
    assert "allowed is mixtures of a version of this model store" in capsys.readouterr().err


def test_a_page_where_a_folder_is_is_refused(run, tmp_path, capsys):
    (tmp_path / "r.html").mkdir()
    given = [f"--model_store={run / 'models'}", f"--output={tmp_path / 'r.html'}"]
    assert report.main(given) == 2
    assert "allowed is a file that is there, or can be made" in capsys.readouterr().err


def test_what_the_input_was_is_shown(run, tmp_path, capsys):
    profile, page = run / "profile.json", tmp_path / "r.html"
    profile.write_text(json.dumps({"summary": [["input", "a<b.csv"], ["language", "de 100%"]]}))
    made(run, page)
    assert figures_in(page)["profile"] == [["input", "a<b.csv"], ["language", "de 100%"]]
    for text in ("{", "[]", '{"summary": 7}'):
        profile.write_text(text)
        assert report.main([f"--model_store={run / 'models'}", f"--output={page}"]) == 2
        assert "allowed is a store next to a profile that train wrote" in capsys.readouterr().err
    profile.unlink()
