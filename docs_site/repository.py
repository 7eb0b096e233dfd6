"""Mend the links of pages, for pages of the site also come from outside docs/.

README.md becomes the first page. A link to a file that is no page of the site becomes its name,
because the site knows no address of the repository.
"""

from __future__ import annotations

import posixpath
import re

# Pages of the site that are made from files of the repository.
PAGES = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "benchmarks.md": "benchmarks/README.md",
}
_PLACES = {place: page for page, place in PAGES.items()}
_LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s:]+)\)")
# The target behind a picture that is a link.
_OUTER = re.compile(r"(?<=\))\]\((?P<target>[^()\s:]+)\)")
_FENCE = re.compile(r"(^```.*?^```[^\n]*$)", re.DOTALL | re.MULTILINE)


def mended(text: str, page: str) -> str:
    """Return the text of a page with links that the site can follow; blocks of code stay.

    Args:
        text: the page, of the repository.
        page: its path on the site.
    """
    # Every second part is a block of code.
    parts = _FENCE.split(text)
    parts[::2] = [_mended(part, page) for part in parts[::2]]
    return "".join(parts)


def _mended(text: str, page: str) -> str:

    def link(found: re.Match[str]) -> str:
        target = target_of(found["target"], page)
        return f"[{found['text']}]({target})" if target else found["text"]

    def outer(found: re.Match[str]) -> str:
        target = target_of(found["target"], page)
        return f"]({target or found['target']})"

    return _OUTER.sub(outer, _LINK.sub(link, text))


def target_of(target: str, page: str) -> str | None:
    """Return where a link of a page leads on the site, or None where it leaves the site."""
    path, mark, anchor = target.partition("#")
    if not path:
        return target
    folder = posixpath.dirname(PAGES.get(page, f"docs/{page}"))
    place = posixpath.normpath(posixpath.join(folder, path))
    found = _PLACES.get(place, place.removeprefix("docs/"))
    if place not in _PLACES and not place.startswith("docs/"):
        return None
    return posixpath.relpath(found, posixpath.dirname(page) or ".") + mark + anchor
