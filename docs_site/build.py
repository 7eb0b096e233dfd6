"""Build the site: ``python -m docs_site.build`` writes it into ``build/site``.

The pages of ``docs`` and those that are made are gathered in ``build/pages``. Zensical makes the
site of them (``zensical.toml``), and fails where a link leads nowhere. Last, formulas become
MathML.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat

from docs_site import formulas, gallery, notebooks, options, reference, repository

ROOT = Path(__file__).resolve().parent.parent
PAGES, SITE = Path("build", "pages"), Path("build", "site")


def made(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and the Markdown of each page that is made."""
    for page, place in repository.PAGES.items():
        yield page, repository.mended((root / place).read_text("utf-8"), page)
    for path in sorted((root / "docs").rglob("*.ipynb")):
        yield (
            str(path.relative_to(root / "docs").with_suffix(".md")),
            notebooks.page_of(nbformat.read(path, as_version=4), path.name),
        )
    yield options.PAGE, options.options_page()
    yield from reference.pages_of(str(root))


def gather(root: Path) -> None:
    """Write all pages, and the files that they show, into :data:`PAGES`."""
    shutil.rmtree(root / PAGES, ignore_errors=True)
    shutil.copytree(root / "docs", root / PAGES)
    for path in (root / PAGES).rglob("*.md"):
        page = str(path.relative_to(root / PAGES))
        path.write_text(repository.mended(path.read_text("utf-8"), page), "utf-8")
    for page, text in made(root):
        path = root / PAGES / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for path in gallery.kept(root):
        (root / PAGES / "gallery").mkdir(exist_ok=True)
        shutil.copy(path, root / PAGES / "gallery")


def build(root: Path) -> int:
    """Build the site of a checkout; return the exit status of the tool."""
    gather(root)
    shutil.rmtree(root / SITE, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    status = subprocess.run(command, cwd=root, check=False).returncode
    for path in (root / SITE).rglob("*.html"):
        if "gallery" not in path.parts:
            path.write_text(formulas.with_mathml(path.read_text("utf-8")), "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(build(ROOT))
