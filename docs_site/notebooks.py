"""Make a page of each notebook: its texts and its code, without outputs."""

from __future__ import annotations

import nbformat

_NOTE = '\n\n[This page is a notebook: {name}]({name}){{ download="{name}" }}.\n\n'


def page_of(notebook: nbformat.NotebookNode, name: str) -> str:
    """Return a notebook as Markdown, with a link to its file behind the title."""
    title, *others = notebook.cells
    head, _, rest = title.source.partition("\n")
    return head + _NOTE.format(name=name) + "\n\n".join([rest, *map(_text, others)]) + "\n"


def _text(cell: nbformat.NotebookNode) -> str:
    return f"```python\n{cell.source}\n```" if cell.cell_type == "code" else str(cell.source)
