"""The guides name files and options that exist."""

import importlib
import re
from pathlib import Path

import pytest
from learner_options import REAL_LEARNERS
from test_contributing import EXAMPLES

from beam_topics.pipelines.__main__ import COMMANDS
from beam_topics.pipelines.cli.command import parser_for
from beam_topics.pipelines.graphs.beam_options import add_beam_options

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "benchmarks" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
)
FOLDERS = ("model", "transforms", "pipelines", "tests", "benchmarks", "docs", "docker")
PATH = re.compile(rf"\b(?:{'|'.join(FOLDERS)})/[\w./-]*\w/?")
MODULE = re.compile(r"\b(?:beam_topics|benchmarks)(?:\.(?!md\b)[a-z_]\w*)+")
# A name that lacks its first part.
BARE = re.compile(r"(?<![\w./])(?:model|transforms|pipelines)\.(?!md\b|json\b|html\b)[a-z_]\w*")
OPTION = re.compile(r"(?<![\w-])--([A-Za-z]\w*)")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]*)?\)")
# Files that a reader of CONTRIBUTING.md is asked to write.
TO_WRITE = set(EXAMPLES)
MODULES_TO_WRITE = {
    "beam_topics." + path.removesuffix(".py").replace("/", ".") for path in EXAMPLES
}
# Pages of results name options of the benchmarks.
GUIDES = [page for page in PAGES if page.parent.name not in ("results", "benchmarks")]
# Options of docker, gcloud, Beam YAML and Beam's pool of workers.
OTHERS = {
    "build",
    "container_executable",
    "image",
    "parameters",
    "service_port",
    "target",
    "yaml_pipeline_file",
}
# Options of the examples of CONTRIBUTING.md.
EXAMPLE_OPTIONS = {"tail_file"}
# Options that only a runner's job server knows.
RUNNERS = {
    "checkpointing_interval",
    "externalized_checkpoints_enabled",
    "finish_bundle_before_checkpointing",
    "max_bundle_time_mills",
    "retain_externalized_checkpoints_on_cancellation",
    "savepoint_path",
    "shutdown_sources_after_idle_ms",
}


def missing_paths(text):
    """The paths of a page that are neither a file nor a folder."""
    return sorted(
        path
        for path in set(PATH.findall(text)) - TO_WRITE
        if not (ROOT / path).exists() and not (ROOT / "docs" / path).exists()
    )


def missing_modules(text):
    """The dotted names of a page that lead to no module, and to nothing in a module."""
    named = set(MODULE.findall(text)) - MODULES_TO_WRITE
    return sorted([*(name for name in named if not names_something(name)), *BARE.findall(text)])


def names_something(name):
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:length])
        if path.with_suffix(".py").exists() or path.is_dir():
            rest = parts[length:]
            return not rest or hasattr(importlib.import_module(".".join(parts[:length])), rest[0])
    return False


def known_options():
    """The options of all pipelines, with Beam's."""
    names = set(OTHERS | RUNNERS | EXAMPLE_OPTIONS)
    for command in COMMANDS:
        program = importlib.import_module(f"beam_topics.pipelines.{command}")
        parser = parser_for(command, "", program.GROUPS, {})
        add_beam_options(parser)
        names |= {flag[2:] for action in parser._actions for flag in action.option_strings}
    return names


def missing_options(text, known):
    """The options of a page that no pipeline has."""
    text = re.sub(r"--[a-z]+(?:-[a-z]+)+\b", "", text)
    return sorted(set(OPTION.findall(text)) - known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_files_and_modules_that_exist(page):
    text = page.read_text(encoding="utf-8")
    assert missing_paths(text) == []
    assert missing_modules(text) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page):
    links = LINK.findall(page.read_text(encoding="utf-8"))
    # The build of the site makes the pages of the gallery.
    there = [link for link in links if page.name != "gallery.md" or "gallery/" not in link]
    assert [link for link in there if not (page.parent / link).exists()] == []


def test_the_guides_name_options_that_exist():
    known = known_options()
    wrong = {
        page.name: found
        for page in GUIDES
        if (found := missing_options(page.read_text(encoding="utf-8"), known))
    }
    assert wrong == {}


def test_a_wrong_name_is_found():
    assert missing_paths("see `model/no_such.py` and `model/errors.py`") == ["model/no_such.py"]
    named = "`beam_topics.model.errors.OptionError`, `beam_topics.model.errors.no`, `model.wire`"
    assert missing_modules(named) == ["beam_topics.model.errors.no", "model.wire"]
    assert missing_options("`--topics=3 --topisc=3`", {"topics"}) == ["topisc"]


FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
FORM = re.compile(r"b\"(BT[a-zA-Z])\d\"")


def magics(paths):
    """The letters of the forms that sources declare, without their versions."""
    return [one for path in paths for one in FORM.findall(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("name", REAL_LEARNERS)
def test_the_state_of_every_learner_is_described(name):
    section = FORMATS.partition("## States of learners")[2].partition("\n## ")[0]
    headings = [line for line in section.splitlines() if line.startswith("### ")]
    assert any(f"`{name}`" in heading for heading in headings), (
        f"docs/formats.md has no section for the saved state of {name}"
    )


def test_every_magic_is_of_one_form_and_is_listed():
    sources = [path for folder in ("model", "transforms") for path in (ROOT / folder).rglob("*.py")]
    found = magics(sources)
    assert len(found) > 20 and sorted(set(found)) == sorted(found)
    assert [one for one in found if one not in FORMATS] == []
    examples = magics(EXAMPLES.values())
    assert examples and not set(examples) & set(found)
