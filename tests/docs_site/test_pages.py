"""How pages are made of docstrings, options, notebooks and formulas."""

import pytest

pytest.importorskip("latex2mathml")
pytest.importorskip("griffe")

from beam_topics.model.settings.options import Option
from docs_site import formulas, notebooks, options, repository
from docs_site.reference import Reference

MODULE = '''
"""Things.

Kinds of things:
* one
* two

>>> 1 + 1
2

See :func:`thing`, :class:`~beam_topics.model.other.Thing` and :mod:`nowhere`; a < b costs $5.
"""

def thing(one: int, *, most: int = 3) -> int:
    """Return a thing.

    Args:
        one: what it is made of, ``x < y``.
        most: a bound.

    Raises:
        ValueError: there is none.
    """

def _hidden() -> None:
    """Nothing to see."""
'''


@pytest.fixture
def page(tmp_path):
    """The page of a package ``model`` with a few things."""
    root = tmp_path / "beam_topics"
    for name in (".", "model", "pipelines"):
        (root / name).mkdir()
        (root / name / "__init__.py").write_text(f'"""The package {name}."""\n')
    (root / "model" / "things.py").write_text(MODULE)
    other = 'class Thing:\n    """One.\n\n    Args:\n        size: its size.\n    """\n'
    (root / "model" / "other.py").write_text(
        f"{other}\n    size: int = option(7, 'its size', least=1)\n"
    )
    return Reference(str(tmp_path)).page("beam_topics.model")


def test_a_docstring_becomes_markdown(page):
    assert "Kinds of things:\n\n* one\n* two" in page
    assert "```pycon\n>>> 1 + 1\n2\n```" in page
    assert "[`thing`](beam_topics.model.md#beam_topics.model.things.thing)" in page
    assert (
        "[`beam_topics.model.other.Thing`](beam_topics.model.md#beam_topics.model.other.Thing)"
        in page
    )
    assert "`nowhere`; a &lt; b costs \\$5." in page
    assert "- `one`: what it is made of, `x < y`." in page
    assert "**Raises**\n\n- `ValueError`: there is none." in page


def test_a_signature_has_what_is_needed(page):
    assert "thing(one: int, *, most: int = 3) -> int" in page
    assert "_hidden" not in page


def test_formulas_become_mathml():
    found = formulas.with_mathml(r'<p><span class="arithmatex">\(a &lt; b\)</span></p>')
    assert found.startswith("<p><math") and 'display="inline"' in found and "&#x0003C;" in found
    block = formulas.with_mathml('<div class="arithmatex">\\[\nx^2\n\\]</div>')
    assert 'display="block"' in block and "<msup>" in block


@pytest.mark.parametrize(
    ("page", "target", "found"),
    [
        ("index.md", "docs/running.md#files", "running.md#files"),
        ("index.md", "docs/images/report.png", "images/report.png"),
        ("index.md", "CONTRIBUTING.md", "contributing.md"),
        ("results/soak.md", "../running.md", "../running.md"),
        ("results/benchmarks.md", "../../benchmarks/README.md", "../benchmarks.md"),
        ("benchmarks.md", "../docs/results/lessons.md", "results/lessons.md"),
        ("running.md", "#files", "#files"),
        ("running.md", "../setup.py", None),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(page, target, found):
    assert repository.target_of(target, page) == found


def test_a_link_that_leaves_the_site_becomes_its_name():
    text = "see [setup](setup.py) and [![a](docs/a.png)](docs/b.md)"
    assert repository.mended(text, "index.md") == "see setup and [![a](a.png)](b.md)"


def test_a_table_shows_help_texts_as_they_are():
    line = (Option("", name="size"), "P(w | z) < 5 % of *all*")
    found = options.table("With --kind=x", [line])
    assert "**With `--kind=x`**" in found
    assert "| `--size` | P(w \\| z) &lt; 5 % of \\*all\\* |" in found


def test_a_notebook_becomes_a_page():
    nbformat = pytest.importorskip("nbformat")
    made = nbformat.v4
    cells = [made.new_markdown_cell("# Title\n\nText."), made.new_code_cell("x = 1")]
    found = notebooks.page_of(made.new_notebook(cells=cells), "a.ipynb")
    assert found.startswith("# Title\n\n[This page is a notebook: a.ipynb](a.ipynb)")
    assert found.endswith("Text.\n\n```python\nx = 1\n```\n")
