r"""Make text harmless where it reaches a terminal or a spreadsheet.

>>> harmless("a\x1b[2Jb"), cell("=1+1"), cell(-1)
('a�[2Jb', "'=1+1", -1)
"""

from __future__ import annotations

import unicodedata
from typing import TypeVar

_BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
# They have a direction and no shape.
_MARKS = "\u061c\u200e\u200f"
# What begins a formula, also as a wide character.
_FORMULA = tuple("=+-@＝＋－＠")

T = TypeVar("T")


def harmless(text: str) -> str:
    """Return a text with U+FFFD for each sign that acts on what shows it.

    These move the cursor, change colours, begin a line, or change the writing direction.
    """
    return "".join("\ufffd" if _acts(sign) else sign for sign in text)


def _acts(sign: str) -> bool:
    return (
        unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(sign) in _BIDI
        or sign in _MARKS
    )


def cell(value: T) -> T | str:
    """Return a value for a table that a spreadsheet may open: a text is never a formula."""
    if not isinstance(value, str):
        return value
    text = harmless(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
