"""The page as text: what its policy allows, and how foreign text is written into it."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from reported import HOSTILE

from beam_topics.model.errors import BeamTopicsError
from beam_topics.pipelines.pages import page

FOLDER = Path(page.__file__).parent


def figures_of(name="a, b", first=("w",)):
    return {
        "model": {"topics": 1, "documents": 1234, "release": "1", "version": "v"},
        "topics": {
            "name": [name],
            "id": [0],
            "given": [""],
            "share": [1.0],
            "kind": ["steady"],
            "first": [list(first)],
        },
    }


class Elements(HTMLParser):
    """The elements of a page with their content, and the attributes of all tags."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found, self.attributes, self.inside = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        self.inside = tag
        if tag in ("script", "style"):
            self.found.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside in ("script", "style"):
            tag, attrs, text = self.found[-1]
            self.found[-1] = (tag, attrs, text + data)


@pytest.mark.parametrize("served", [False, True])
def test_the_policy_names_exactly_the_scripts_and_styles_of_the_page(served):
    pytest.importorskip("jinja2")
    text = page.render(figures_of(), "T", served)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#39;", "'")
    parsed = Elements(text)
    for tag, name in (("script", "script-src"), ("style", "style-src")):
        own = [
            content
            for kind, attrs, content in parsed.found
            if kind == tag and attrs.get("type") != "application/json"
        ]
        hashes = [base64.b64encode(hashlib.sha256(c.encode()).digest()).decode() for c in own]
        allowed = re.search(rf"{name} ([^;]*)", policy)[1].split()
        assert len(own) == 2 and allowed == [f"'sha256-{one}'" for one in hashes]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    # A page that is a file connects to nothing.
    assert re.findall("connect-src ([^;]*)", policy) == ["'self'"] * served
    assert ("EventSource" in text) == ("fetch(" in text) == served
    assert [name for name, _ in parsed.attributes if name == "style" or name.startswith("on")] == []


def test_the_page_loads_nothing():
    pytest.importorskip("jinja2")
    parsed = Elements(page.render(figures_of(), "T"))
    links = [value for name, value in parsed.attributes if name in ("src", "href")]
    assert all(value.startswith(("#", "data:")) for value in links)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[:20])
def test_hostile_text_is_escaped_in_the_page_and_in_the_data(text):
    pytest.importorskip("jinja2")
    figures = figures_of(text, [text])
    made = page.render(figures, text)
    parsed = Elements(made)
    assert [tag for tag, _, _ in parsed.found] == ["style", "style", "script", "script", "script"]
    (data,) = (c for _, attrs, c in parsed.found if attrs.get("type") == "application/json")
    assert json.loads(data) == figures
    assert not re.search("[<>&\u2028]", data) and "<img" not in made


def test_what_utf_8_cannot_hold_is_replaced():
    assert page.json_for_script("a\ud800b") == '"a?b"'


def test_numbers_that_json_does_not_have_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        page.json_for_script(float("nan"))


def test_every_script_is_part_of_the_page_and_short():
    assert {path.stem for path in (FOLDER / "static").glob("*.js")} == {*page.SCRIPTS, *page.SERVED}
    for path in (FOLDER / "static").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 200
        # Each of these would make markup of text, or run it.
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_the_library_has_its_licence_and_its_version():
    assert "v1.6.32" in (FOLDER / "vendor" / "uPlot.iife.min.js").read_text(encoding="utf-8")[:200]
    assert "MIT" in (FOLDER / "vendor" / "LICENSE.uPlot.txt").read_text(encoding="utf-8")


def test_without_jinja_the_remedy_is_told(monkeypatch):
    monkeypatch.setattr(page.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BeamTopicsError, match="a report needs Jinja2. Run: pip install"):
        page.check_installed()
