"""Join the pages of the repository that lie outside docs/ to the site, and mend links to files.

README.md becomes the first page. A link to a file that is no page of the site becomes its name,
because the site knows no address of the repository.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

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


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the pages that lie outside docs/."""
    root = posixpath.dirname(config.config_file_path)
    for page, place in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=posixpath.join(root, place)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Return the text of a page with links that the site can follow."""
    # Every second part is a block of code.
    parts = _FENCE.split(markdown)
    parts[::2] = [mended(part, page.file.src_uri) for part in parts[::2]]
    return "".join(parts)


def mended(text: str, page: str) -> str:
    """Return a text with the links of the repository replaced by those of the site.

    Args:
        text: a part of a page.
        page: the path of the page on the site.
    """

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
