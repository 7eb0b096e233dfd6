"""Texts of the documents that a report shows, found again in the files that they came from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from model import wire
from model.dead_letters import DeadLetter
from model.records import Document
from model.reporting.limits import Limits, shortened

_TITLE = 120
_DIGEST = 16


@dataclass(frozen=True)
class Text:
    """The text of a document.

    Attributes:
        title: Its first line, or how it begins.
        text: The beginning of its text.
        label: Its label; "" without one.
    """

    title: str
    text: str
    label: str


def document_digest(key: str, id: str, timestamp: int) -> bytes:
    """Return the digest that names a document, of 16 bytes."""
    return wire.digest(key.encode(), id.encode(), str(timestamp).encode())[:_DIGEST]


def texts_of(
    items: Iterable[Document | DeadLetter], wanted: Collection[bytes], limits: Limits
) -> dict[bytes, Text]:
    """Return the texts of the wanted documents, by digest.

    Args:
        items: What the files hold; dead letters are passed over.
        wanted: Digests of documents.
        limits: How much of a text is kept.
    """
    found: dict[bytes, Text] = {}
    for item in items:
        if isinstance(item, Document):
            digest = document_digest(item.key, item.id, item.timestamp)
            if digest in wanted and digest not in found:
                found[digest] = Text(
                    title_of(item.text),
                    shortened(item.text.strip(), limits.text),
                    shortened(item.label or "", limits.name),
                )
    return found


def title_of(text: str) -> str:
    r"""Return the first line of a text; where it is long, the words that it begins with.

    >>> title_of("A title  here\nand more")
    'A title here'
    >>> title_of("word " * 50)[-6:]
    'word …'
    """
    line = " ".join((text.strip().splitlines() or [""])[0].split())
    if len(line) <= _TITLE:
        return line
    return f"{line[:_TITLE].rpartition(' ')[0] or line[:_TITLE]} …"
