"""Texts without ids as documents for inference.

The id of a text is a digest of it. Draws of inference depend on the id, so the same text has the
same mixture, whatever texts are beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from model import wire
from model.records import Document, TokenisedDocument
from model.words.tokeniser import Tokeniser

_ID_DIGITS = 32


def content_id(parts: Sequence[str]) -> str:
    """Return the id of a text, or of a list of tokens."""
    return wire.digest(*(part.encode("utf-8", "backslashreplace") for part in parts)).hex()[
        :_ID_DIGITS
    ]


def tokenised(text: str, key: str, tokeniser: Tokeniser) -> TokenisedDocument:
    """Return a text as a document of a model key."""
    return tokeniser.tokenise(Document(content_id([text]), 0, text, key=key))
