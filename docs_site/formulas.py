"""Turn the formulas of a page into MathML, so that browsers show them without a script."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

# What pymdownx.arithmatex makes of $...$ and $$...$$.
_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def with_mathml(content: str) -> str:
    """Return the HTML of a page with its formulas as MathML."""
    return _FORMULA.sub(_mathml, content)


def _mathml(found: re.Match[str]) -> str:
    display = "block" if found["tag"] == "div" else "inline"
    return str(convert(html.unescape(found["latex"]).strip(), display=display))
