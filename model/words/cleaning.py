r"""Remove what is no text from a document: HTML, and the headers of a mail.

Each way has a name, and ``--strip`` lists the ways in the order in which they are applied:

* ``mail`` removes the header of a mail or a news article (RFC 5322) and keeps the subject. All
  lines before the first blank one have to be of a header, and one has to name a field that mails
  have. Another text stays as it is.
* ``html`` keeps the text of a page, without scripts and styles. Elements that are not part of a
  line are separated by spaces. What is not HTML stays as it is, but for entities.

>>> clean("From: a@b.c\nSubject: Ships\n\nA <b>har</b>bour<p>and a sail", ("mail", "html"))
'Ships A harbour and a sail'
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence

from model.errors import OptionError

# Elements within a line; a word may go across their borders (HTML standard, phrasing content).
_INLINE = frozenset(
    "a abbr b bdi bdo cite code data dfn em font i ins del kbd mark q s samp small span strike"  # noqa: SIM905
    " strong sub sup time tt u var wbr".split()
)
_SKIPPED = ("script", "style", "template", "noscript")
_HEADER = re.compile(r"([!-9;-~]{1,76}):(?=[ \t]|\Z)")
_BLANK = re.compile(r"\r?\n[ \t]*\r?\n")
# One of them is in each mail or article. Other texts may begin with "Summary: ...".
_FIELDS = {"from", "to", "subject", "date", "message-id", "newsgroups", "received", "return-path"}
# Longer headers are text.
_LONGEST_HEADER = 65_536
_SPACES = re.compile(r"\s+")
# What XML cannot hold; lxml refuses it.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def _without_header(text: str) -> str:
    blank = _BLANK.search(text, 0, _LONGEST_HEADER)
    if blank is None or not _is_header(text[: blank.start()]):
        return text
    # Imported here, because only --strip=mail needs it.
    from email.parser import HeaderParser

    subject = HeaderParser().parsestr(text[: blank.start()]).get("Subject", "")
    return f"{subject} {text[blank.end() :]}"


def _is_header(text: str) -> bool:
    names = set[str]()
    for number, line in enumerate(text.splitlines()):
        field = _HEADER.match(line)
        if field is not None:
            names.add(field[1].lower())
        elif not (names and line[:1] in (" ", "\t")) and not (
            number == 0 and line.startswith("From ")
        ):
            return False
    return not names.isdisjoint(_FIELDS)


def _without_markup(text: str) -> str:
    # Imported here, because only --strip=html needs it.
    from lxml import etree, html

    if "<" not in text and "&" not in text:
        return text
    body = f"<body>{_CONTROL.sub(' ', text)}</body>"
    root = html.document_fromstring(body, parser=html.HTMLParser(encoding=None, huge_tree=False))
    etree.strip_elements(root, etree.Comment, *_SKIPPED, with_tail=False)
    for element in root.iter(etree.Element):
        if element.tag not in _INLINE:
            element.text = f" {element.text or ''}"
            element.tail = f" {element.tail or ''}"
    return "".join(root.itertext())


WAYS: dict[str, Callable[[str], str]] = {"mail": _without_header, "html": _without_markup}
# The package that a way needs, beside the standard library.
NEEDED = {"html": "lxml"}


def check_ways(ways: Sequence[str]) -> None:
    """Refuse ways that do not exist, and those whose package is missing.

    Raises:
        OptionError: There is one.
    """
    for way in ways:
        if way not in WAYS:
            allowed = "names with commas, of " + ", ".join(sorted(WAYS))
            raise OptionError("--strip", way, allowed, "Correct the spelling.")
        if way in NEEDED and importlib.util.find_spec(NEEDED[way]) is None:
            allowed = f"{way} where {NEEDED[way]} is installed"
            raise OptionError("--strip", way, allowed, "Run: pip install 'beam-topics[languages]'")


def clean(text: str, ways: Sequence[str]) -> str:
    """Return a text without what some ways remove, with single spaces.

    Args:
        text: The text.
        ways: Names of :data:`WAYS`.
    """
    for way in ways:
        text = WAYS[way](text)
    return _SPACES.sub(" ", text).strip() if ways else text
