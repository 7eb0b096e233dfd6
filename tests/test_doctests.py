"""The examples in docstrings give what they show."""

import doctest
import importlib
from pathlib import Path

import pytest

# Their examples define records, and the names of types are looked up in the module.
NOT_RUN = ("beam_topics.model.settings.compositions", "beam_topics.model.settings.options")
ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(["beam_topics", *path.relative_to(ROOT).with_suffix("").parts])
    for folder in ("model", "transforms", "pipelines")
    for path in (ROOT / folder).rglob("*.py")
    if "\n>>> " in path.read_text()
)


@pytest.mark.parametrize("name", sorted(set(MODULES) - set(NOT_RUN)))
def test_examples_in_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed
