"""The commands of the documentation are run as printed, or docs/checked.md says why not."""

import contextlib
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from beam_topics.pipelines.__main__ import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
STEP = re.compile(r"^```(sh|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NOT_RUN = re.compile(r"^\| (`.+?) \|", re.MULTILINE)
# Programs of others, and the one that makes documents, which pages run as they are written.
PROGRAMS = ("python -m benchmarks.task_data ", "grep ", "sed ")
# Pages that make their documents and end in an alarm, with a word that it has.
ALARMS = {"tickets.md": "charged", "trend-desk.md": "velmora", "conversations.md": "forgot"}
# Pages that begin with a model of data/*.jsonl, or with more than that.
WITH_MODEL = {"report.md", "inference.md", "name-topics.md", "from-gensim.md"}
# Pages whose Python is a part of a program, as docs/checked.md says.
FRAGMENTS = {"yaml.md"}
# What a program names that needs an account; tests/test_readme.py runs such programs over others.
CLOUD = ("ReadFromPubSub", "WriteToBigQuery")
LANGUAGES = ("Ships in the harbour. " * 3, "Das Schiff kam in der Nacht in den Hafen. ")
NAMES = [f"{chr(97 + n % 26)}{chr(97 + n // 26)}ton" for n in range(120)]
SUBJECTS = ("ship harbour sail storm captain", "court judge law trial jury")


def words_of(text):
    """The shell commands of a page, as words; dots stand for what the page does not repeat."""
    return [words for block in BLOCK.findall(text) for words in words_in(block)]


def words_in(block):
    """The commands of a block of shell code."""
    blocks = block.replace("\\\n", " ")
    found = [shlex.split(line, comments=True) for line in blocks.splitlines()]
    return [
        [words[0].removeprefix(".venv/bin/"), *(word for word in words[1:] if word != "...")]
        for words in found
        if words
    ]


def not_run():
    """The beginnings of commands that docs/checked.md lists."""
    rows = NOT_RUN.findall((DOCS / "checked.md").read_text("utf-8"))
    return tuple(one for row in rows for one in re.findall(r"`([^`]+)`", row))


def is_run(words):
    line = " ".join(words)
    return line.startswith(PROGRAMS) or not line.startswith(not_run())


def run_command(words):
    """Run a command of a page in this process, or a program of others."""
    if (arguments := arguments_of(words)) is not None:
        assert main(arguments) == 0, words
    else:
        program = [sys.executable, *words[1:]] if words[0] == "python" else words
        subprocess.run(program, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


def arguments_of(words):
    """The arguments of the one command; None where the program is another one."""
    if words[0] == "beam-topics":
        return words[1:]
    if words[:2] == ["python", "-m"] and words[2].startswith("beam_topics.pipelines."):
        return [words[2].removeprefix("beam_topics.pipelines."), *words[3:]]
    return None


RUN = {
    str(page.relative_to(ROOT)): found
    for page in PAGES
    if (found := [words for words in words_of(page.read_text("utf-8")) if is_run(words)])
}


def write_documents(folder):
    """Make the files that the pages name: 120 documents of two subjects in two months."""
    rows = [
        {
            "id": str(number),
            "timestamp": f"2026-{1 + number // 60:02}-{1 + number % 60 // 3:02}",
            "text": f"the {SUBJECTS[number % 2]} {SUBJECTS[number % 2]}",
            "label": "sea" if number % 2 == 0 else "law",
            "customer": "Acme & Co" if number % 3 else "Other",
        }
        for number in range(120)
    ]
    texts = ["".join(json.dumps(row) + "\n" for row in half) for half in (rows[:60], rows[60:])]
    for name in ("data", "new", "held", "raw", "tickets"):
        (folder / name).mkdir()
        for month, text in enumerate(texts, 1):
            path = folder / name / f"2026-{month:02}.jsonl"
            path.write_text(text, "utf-8")
            path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "posts").mkdir()
    spoken = [{**row, "text": LANGUAGES[number % 2]} for number, row in enumerate(rows)]
    lines = "".join(json.dumps(row) + "\n" for row in spoken)
    (folder / "posts" / "2026.jsonl").write_text(lines, "utf-8")
    (folder / "seeds.yaml").write_text("sea: [ship, sail]\nlaw: [court, trial]\n", "utf-8")
    # A field of few values would be a class and no text.
    csv = "".join(
        f"{row['text']} {name},{row['timestamp']}\n" for row, name in zip(rows, NAMES, strict=True)
    )
    for name in ("data.csv", "posts.csv", "january.csv"):
        (folder / name).write_text(f"headline,date\n{csv}", "utf-8")
    later = csv.replace(",2026", ",2027")
    (folder / "february.csv").write_text(f"headline,date\n{later}", "utf-8")
    for name in ("tickets.jsonl", "day.jsonl", "next-day.jsonl"):
        (folder / name).write_text("".join(texts), "utf-8")
    (folder / "comments.jsonl").write_text(lines, "utf-8")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with documents, and one that also has a model, mixtures and trends."""
    plain = tmp_path_factory.mktemp("commands") / "plain"
    plain.mkdir()
    write_documents(plain)
    modelled = plain.parent / "modelled"
    shutil.copytree(plain, modelled)
    common = ["--input=data/*.jsonl", "--model_store=models", "--dead_letters=dead"]
    with contextlib.chdir(modelled):
        # One version: its topics have the ids 0, 1, ..., which the pages name.
        assert main(["train", *common, "--window=1d", "--publish_every=3650d", "--topics=20"]) == 0
        assert main(["infer", *common, "--output=mixtures", "--trends=trends"]) == 0
    return {False: plain, True: modelled}


@pytest.mark.docs
@pytest.mark.parametrize("page", [page for page in RUN if Path(page).name not in ALARMS])
def test_the_commands_of_a_page_work(page, prepared, tmp_path, monkeypatch):
    here = tmp_path / "here"
    shutil.copytree(prepared[Path(page).name in WITH_MODEL], here)
    monkeypatch.chdir(here)
    for words in RUN[page]:
        run_command(words)


@pytest.mark.docs
@pytest.mark.parametrize("page", ALARMS)
def test_a_page_that_makes_its_documents_ends_in_an_alarm(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, block in STEP.findall((DOCS / "tasks" / page).read_text("utf-8")):
        for words in words_in(block) if kind == "sh" else ():
            run_command(words)
    if page == "tickets.md":
        assert '"label":["3",' in Path("tickets.topics/report.html").read_text("utf-8")
    lines = [one for path in tmp_path.glob("*/events/*") for one in path.read_text().splitlines()]
    bursts = [one for one in map(json.loads, lines) if one["kind"] == "burst"]
    assert any(ALARMS[page] in one["names"][0] for one in bursts)


def test_a_command_that_is_not_ours_is_in_the_table():
    others = [words for found in RUN.values() for words in found if arguments_of(words) is None]
    assert [words for words in others if not " ".join(words).startswith(PROGRAMS)] == []


def test_each_row_of_the_table_has_a_command():
    used = [" ".join(words) for page in PAGES for words in words_of(page.read_text("utf-8"))]
    idle = [start for start in not_run() if not any(one.startswith(start) for one in used)]
    assert idle == []


def test_most_pages_are_run():
    assert {"README.md", "docs/start.md", "docs/steps.md", "docs/command.md"} <= set(RUN)
    assert sum(map(len, RUN.values())) > 40


@pytest.mark.docs
@pytest.mark.parametrize(
    "page",
    [
        page
        for page in sorted(DOCS.rglob("*.md"))
        if PYTHON.search(page.read_text("utf-8")) and page.name not in FRAGMENTS | {*ALARMS}
    ],
    ids=lambda page: page.name,
)
def test_the_programs_of_a_page_work(page, prepared, tmp_path, monkeypatch, capsys):
    pytest.importorskip("sklearn")
    here = tmp_path / "here"
    shutil.copytree(prepared[True], here)
    monkeypatch.chdir(here)
    blocks = PYTHON.findall(page.read_text("utf-8"))
    for block in blocks:
        if not any(name in block for name in CLOUD):
            exec(compile(block, page.name, "exec"), {})
    # A page whose programs are modules, such as words.md, prints nothing.
    assert bool(capsys.readouterr().out) == any("print(" in block for block in blocks)
