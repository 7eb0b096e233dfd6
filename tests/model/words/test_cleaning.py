"""What is removed from texts before they are cut."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import OptionError
from beam_topics.model.words.cleaning import (
    WAYS,
    clean,
    find_markup,
    ordered,
    stripping,
    without_addresses,
)
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

MAIL = "From: a@b.c\nSubject: Ships\n  and sails\nX-Odd: y\n\nThe harbour\n\nNot: a header\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <b>har</b>bour<p>and<br>a sail</p>by", "a harbour and a sail by"),
        ("<html><head><title>x</title><style>y{}</style></head><body>z<script>w()</script>", "x z"),
        ("fish &amp; chips &eacute; &#8212; 1 < 2", "fish & chips é — 1 < 2"),
        ("<!-- no --><td>one</td><td>two</td>", "one two"),
        ("no markup  at\nall", "no markup at all"),
        ("<p>&#0;&#55357;</p>", "\ufffd\ufffd"),
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


@given(
    st.text(st.characters(codec="utf-8"), max_size=200)
    | st.text("<>&;/!-ab =\"'\n:@.", max_size=200)
)
def test_each_way_takes_any_text_and_leaves_plain_ones(text):
    for way in WAYS:
        clean(text, (way,))
    plain = "".join(sign if sign.isalnum() else " " for sign in text)
    without_addresses(text)
    assert all(function(plain) == plain for function in (*WAYS.values(), without_addresses))


@pytest.mark.parametrize(
    "text",
    [
        *("<" * 300_000, "<!--" * 100_000, "<div>" * 100_000, "<a b=" * 100_000),
        *("A: b\n" * 100_000, "<a '" * 100_000, "<script>" * 50_000, "@" + "a" * 300_000),
        *("a." * 150_000 + ".com", "a.com" * 60_000, "&amp;" * 60_000, "a.b@" * 80_000),
        *("On 1\n" * 100_000, "On 1 wrote " * 50_000, "wrote:\n" * 100_000, "--\n" * 100_000),
        *("From: x\nSent: y\nTo: z\n" * 30_000, "Thanks,\n" * 50_000, "\n" * 300_000),
    ],
)
def test_hostile_texts_take_no_longer_than_others_of_their_size(text):
    # A quadratic parser takes minutes.
    begin = time.process_time()
    clean(text, tuple(WAYS))
    find_markup([text])
    without_addresses(text)
    assert time.process_time() - begin < 20


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see https://x.org/a?b=c and www.y.org.", "see and"),
        (
            "write to a.b+c@mail.x.org today, -joe+@x.org. the.http://x.y z",
            "write to today, - . the. z",
        ),
        ("reddit.com, old.Reddit.com/r/x?y=z and http://t.co/a0: so", ", and so"),
        ("on youtu.be/aB1, bbc.co.uk. x-y.org:80/a", "on ."),
        (
            "caf&eacute; &#65; R&amp;D &lt;3 &amp;gt; &amp;amp;#x41; don&#39;t",
            "café A R&D <3 > A don't",
        ),
        ("[a sail](http://x.org/a)and (www.y.de)but", "[a sail]( )and ( )but"),
        ("&lt;a href=https://x.org&gt;sail", "<a href= >sail"),
    ],
)
def test_addresses_go_and_entities_are_characters(text, left):
    assert without_addresses(text).split() == left.split()


@pytest.mark.parametrize(
    "text",
    [
        "meet @bob at 3:00, or not",
        "asp.net, VB.NET, Accord.NET and .NET; node.js main.c/x v1.2/x e.g. U.S. end.So it is.In",
        "AT&T; a &harbour; b & c; &copy",
        "com.example.ship the.company.commits org/x",
    ],
)
def test_nothing_else_goes_with_addresses(text):
    assert without_addresses(text) == text


def test_what_is_no_tag_stays():
    text = "if 1 < 2 and <bob@x.org> wrote <http://x.org/a> to a<b, c>d"
    assert clean(text, ("html",)) == text


def test_tags_with_brackets_in_their_values_and_unclosed_scripts():
    assert clean("<a title='x > y' href=\"z\">link</a><SCRIPT>var a", ("html",)) == "link"


def test_an_unknown_way_is_told_and_the_order_is_one():
    with pytest.raises(
        OptionError, match="--strip: .*htm.* was given; allowed is none, or names .* of mail, html"
    ):
        ordered(("htm",))
    assert ordered(("quotes", "html", "mail")) == ("mail", "html", "quotes")
    assert tokeniser_settings(strip=("html", "mail")).strip == ("mail", "html")


PLAIN = ["The harbour was full of ships.", "A court ruled on the case."] * 10


@pytest.mark.parametrize(
    ("marked", "ways"),
    [
        ("<p>one</p>", ("html",)),
        ("fish &amp; chips&nbsp;here", ("html",)),
        ("a < b and c > d", ()),
        ("List<String> and Map<Key>", ()),
        (MAIL, ("mail",)),
        ("yes\n> no?", ("quotes",)),
        ("yes\n-- \nBob", ("signatures",)),
        ("see https://x.org", ()),
        ("<p>Yes</p><p>Best regards,<br>Bob</p>", ("html", "signatures")),
        ("<a href='https://x.org'>x</a>", ("html",)),
    ],
)
def test_what_a_fifth_of_the_texts_has_is_found(marked, ways):
    assert find_markup([*PLAIN, *[marked] * 5]) == ways
    assert find_markup([*PLAIN, *[marked] * 4]) == ()


@pytest.mark.parametrize(
    ("text", "asked", "chosen", "said"),
    [
        ("a ship", None, "", ""),
        ("<p>a <b>ship</b></p>", None, "html",
         "--strip=html removes 67 % of the words: tags of HTML. --strip=none keeps them."),
        ("Yes, a ship\n> no ship?", None, "",
         "--strip=quotes would remove 40 % of the words: quoted replies; without it they are"
         " words."),
        ("<p>a <b>ship</b></p>\n> no", None, "html",
         "--strip=html removes 57 % of the words: tags of HTML. --strip=none keeps them."
         " --strip=html,quotes would remove 71 % of the words: tags of HTML, quoted replies;"
         " without it they are words."),
        ("Yes, a ship\n> no ship?", "quotes", "quotes",
         "--strip=quotes removes 40 % of the words: quoted replies. --strip=none keeps them."),
        ("<p>a <b>ship</b></p>\n> no", "none", "", ""),
        ("<p>a <b>ship</b></p>\n> no", (), "", ""),
    ],
)  # fmt: skip
def test_only_markup_goes_by_itself_and_the_share_is_told(text, asked, chosen, said):
    assert stripping([text] * 5, find_markup([text] * 5), asked) == (chosen, said)


def test_none_is_no_way():
    assert ordered(("none",)) == ()


def test_no_text_needs_nothing():
    assert find_markup([]) == find_markup(PLAIN) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the environ-\nment of ships", ["environment", "ships"]),
        ("a gov-\r\n  ernment", ["government"]),
        ("a deep-sea ship, a deep-\nsea port", ["deep", "sea", "ship", "deep", "sea", "port"]),
        ("the Anglo-\nSaxon ships", ["anglo", "saxon", "ships"]),
        ("state-of-\nthe-art ships", ["state", "art", "ships"]),
        ("ships -\nports", ["ships", "ports"]),
        ("in 1990-\nships", ["ships"]),
    ],
)
def test_words_that_a_line_divides_are_whole(text, words):
    found = list(Tokeniser(tokeniser_settings()).words(text))
    assert found == words
