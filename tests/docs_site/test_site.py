"""The site is built as CI builds it: strictly, complete, and without anything from a network."""

import importlib
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

import beam_topics
from beam_topics.pipelines.__main__ import COMMANDS
from beam_topics.pipelines.cli.command import parser_for

pytest.importorskip("zensical")

from docs_site import gallery
from docs_site.build import SITE

pytestmark = pytest.mark.docs
ROOT = Path(__file__).parents[2]
# What a browser would load: scripts, styles, pictures.
LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=\"?([^\"\s>]+)")
OUTSIDE = re.compile(r"^(?:https?:)?//")
STYLED = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)")


def build(root):
    """The exit status of the build of a checkout, and what it says, without colours."""
    command = [sys.executable, "-m", "docs_site.build"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


@pytest.fixture(scope="module")
def site():
    """The folder of the built site."""
    status, text = build(ROOT)
    assert status == 0, text
    return ROOT / SITE


@pytest.fixture(scope="module")
def pages(site):
    return {str(path.relative_to(site)): path.read_text("utf-8") for path in site.rglob("*.html")}


def test_no_page_loads_anything_from_elsewhere(site, pages):
    loaded = {(page, one) for page, text in pages.items() for one in LOADED.findall(text)}
    assert len(loaded) > 100
    assert [one for one in loaded if OUTSIDE.match(one[1])] == []
    styles = [path.read_text("utf-8") for path in site.rglob("*.css")]
    assert styles and [found for text in styles for found in STYLED.findall(text)] == []


def test_formulas_are_mathml(pages):
    science = [text for page, text in pages.items() if page.startswith("science/")]
    assert len(science) == 5 and all("<math" in text for text in science)
    assert [page for page, text in pages.items() if 'class="arithmatex"' in text] == []


def test_each_option_of_each_command_is_in_the_reference(pages):
    sections = re.split(r"<h2 id=", pages["reference/options.html"])[1:]
    named = {re.match(r"\"?([\w-]+)", section)[1]: section for section in sections}
    assert set(named) == set(COMMANDS)
    for command in COMMANDS:
        program = importlib.import_module(f"beam_topics.pipelines.{command}")
        parser = parser_for(command, "", program.GROUPS, {})
        options = {flag for action in parser._actions for flag in action.option_strings}
        wanted = {flag for flag in options if flag.startswith("--")} - {"--help"}
        assert [flag for flag in wanted if f"<code>{flag}</code>" not in named[command]] == []


def test_the_reference_has_what_users_import(pages):
    text = pages["reference/beam_topics.html"]
    assert [name for name in beam_topics.__all__ if f"<code>{name}</code>" not in text] == []
    for name in (
        "beam_topics.model.words",
        "beam_topics.model.learners.engine",
        "beam_topics.transforms.sources",
    ):
        assert "Arguments" in pages[f"reference/{name}.html"]
    # Every reference in a docstring became a link or a name.
    left = {
        page: found
        for page, text in pages.items()
        if page.startswith("reference/")
        and (found := re.findall(r":(?:class|func|meth|mod|data|attr):", unescape(text)))
    }
    assert left == {}


def test_the_gallery_has_whole_pages_with_topics(pages):
    words = {"union": "congress", "tickets": "parcel", "news": "velmora", "chats": "python"}
    assert set(words) == set(gallery.REPORTS)
    for name, word in words.items():
        page = pages[f"gallery/{name}.html"]
        assert page.endswith("</html>") and word in page
        assert f"gallery/{name}.html" in pages["gallery.html"]


def test_each_page_of_the_repository_is_on_the_site(pages):
    for place in (*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")):
        assert str(place.relative_to(ROOT / "docs").with_suffix(".html")) in pages
    assert {"index.html", "contributing.html", "changelog.html", "benchmarks.html"} <= set(pages)


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ("[a page](no-such-page.md)", "no-such-page.md"),
        ("[a part](running.md#no-such-part)", "#no-such-part"),
    ],
)
def test_a_broken_link_stops_the_build(tmp_path, planted, said):
    for name in (
        "docs",
        "docs_site",
        "zensical.toml",
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    (tmp_path / gallery.KEPT).mkdir(parents=True)
    for name in gallery.REPORTS:
        (tmp_path / gallery.KEPT / f"{name}.html").write_text("a page")
    (tmp_path / "benchmarks").mkdir()
    shutil.copy(ROOT / "benchmarks" / "README.md", tmp_path / "benchmarks")
    page = tmp_path / "docs" / "command.md"
    page.write_text(f"{page.read_text('utf-8')}\n{planted}\n", "utf-8")
    # The reference is not needed to see a broken link, and takes most of the time.
    script = tmp_path / "docs_site" / "build.py"
    text = script.read_text("utf-8").replace("    yield from reference.pages_of(str(root))\n", "")
    script.write_text(text.replace("    yield options.PAGE, options.options_page()\n", ""), "utf-8")
    status, found = build(tmp_path)
    assert status != 0 and said in found
