"""Make a page of each notebook: its texts and its code, without outputs."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_NOTE = '\n\n[This page is a notebook: {name}]({name}){{ download="{name}" }}.\n\n'


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add a page for each notebook; the notebook itself stays, to be downloaded."""
    for file in [one for one in files if one.src_uri.endswith(".ipynb")]:
        path = PurePosixPath(file.src_uri)
        content = page_of(nbformat.read(file.abs_src_path, as_version=4), path.name)
        files.append(File.generated(config, str(path.with_suffix(".md")), content=content))
    return files


def page_of(notebook: nbformat.NotebookNode, name: str) -> str:
    """Return a notebook as Markdown, with a link to its file behind the title."""
    title, *others = notebook.cells
    head, _, rest = title.source.partition("\n")
    return head + _NOTE.format(name=name) + "\n\n".join([rest, *map(_text, others)]) + "\n"


def _text(cell: nbformat.NotebookNode) -> str:
    return f"```python\n{cell.source}\n```" if cell.cell_type == "code" else str(cell.source)
