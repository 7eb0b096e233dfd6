"""What is removed from texts before they are cut."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import OptionError
from model.words import cleaning
from model.words.cleaning import WAYS, check_ways, clean

pytest.importorskip("lxml")

MAIL = "From: a@b.c\nSubject: Ships\n  and sails\nX-Odd: y\n\nThe harbour\n\nNot: a header\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <b>har</b>bour<p>and<br>a sail</p>by", "a harbour and a sail by"),
        ("<html><head><title>x</title><style>y{}</style></head><body>z<script>w()</script>", "x z"),
        ("fish &amp; chips &eacute; &#8212; 1 < 2", "fish & chips é — 1 < 2"),
        ("<!-- no --><td>one</td><td>two</td>", "one two"),
        ("no markup  at\nall", "no markup at all"),
        ("\x00<p>nul\x0b</p>", "nul"),
        ("", ""),
    ],
)
def test_html_leaves_its_text(text, left):
    assert clean(text, ("html",)) == left


def test_a_mail_leaves_its_subject_and_body():
    assert clean(MAIL, ("mail",)) == "Ships and sails The harbour Not: a header"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (MAIL.replace("\n", "\r\n"), "Ships and sails The harbour Not: a header"),
        ("From a@b Mon\nSubject: x\n\nbody", "x body"),
        ("Subject:\nFrom: a@b\n \t\nbody", "body"),
    ],
)
def test_other_forms_of_a_header(text, left):
    assert clean(text, ("mail",)) == left


@pytest.mark.parametrize(
    "text",
    [
        "Summary: the only line\n\nMore",
        "Subject: x\nand a line of text\n\nMore",
        "Subject: x\x0b\x0by\n\nMore",
        " From: x\n\nMore",
        "From me to you\n\nMore",
        "The harbour is: a poem\n\nMore",
        "Note: a text without a blank line",
        "a\n\nb: c",
    ],
)
def test_what_has_no_header_stays(text):
    assert clean(text, ("mail",)) == " ".join(text.split())


def test_without_a_way_nothing_changes():
    assert clean(f" <b> {MAIL}", ()) == f" <b> {MAIL}"


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_is_cleaned(text):
    clean(text, ("mail", "html"))


@given(st.text("<>&;/!-ab =\"'\n:", max_size=200))
def test_any_markup_is_cleaned(text):
    clean(text, ("mail", "html"))


@pytest.mark.parametrize(
    "text",
    ["<" * 300_000, "<!--" * 100_000, "<div>" * 100_000, "<a b=" * 100_000, "A: b\n" * 100_000],
)
def test_hostile_texts_take_no_longer_than_others_of_their_size(text):
    # A quadratic parser takes minutes.
    begin = time.process_time()
    clean(text, ("mail", "html"))
    assert time.process_time() - begin < 20


def test_an_unknown_way_and_a_missing_package_are_told(monkeypatch):
    with pytest.raises(
        OptionError, match="--strip: .*htm.* was given; allowed is names with commas"
    ):
        check_ways(("htm",))
    monkeypatch.setitem(cleaning.NEEDED, "html", "a_package_that_is_not_here")
    with pytest.raises(OptionError, match="Run: pip install 'beam-topics.languages.'"):
        check_ways(("html",))
    assert set(WAYS) == {"html", "mail"}
