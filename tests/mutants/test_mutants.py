"""What a fault is, and which tests look for it."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SPEC = importlib.util.spec_from_file_location("mutants_run", HERE / "run.py")
mutants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mutants)

drawing = sys.modules["drawing"]

TEXT = """
LIMIT = 3


def f(x: int = 4, y=True) -> int:
    assert x > 2
    if not x or (
        y  # and
        and x <= 7
    ):
        raise ValueError(1 + 2)
    return -x + 1, f"{x - 1}", x is not y, False
"""


def test_each_site_within_a_function_has_one_fault():
    found = [(one.line, one.old, one.new) for one in drawing.mutants_of("a.py", TEXT)]
    assert found == [
        (7, "or", "and"),
        (7, "not", ""),
        (9, "<=", "<"),
        (9, "7", "8"),
        (12, "+", "-"),
        (12, "1", "2"),
        (12, "is not", "is"),
        (12, "False", "True"),
    ]


def test_a_planted_fault_is_python_and_changes_one_line():
    for one in drawing.mutants_of("a.py", TEXT):
        changed = one.planted(TEXT)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(TEXT))
        lines = zip(TEXT.splitlines(), changed.splitlines(), strict=True)
        assert [n for n, (a, b) in enumerate(lines, 1) if a != b] == [one.line]


def test_a_seed_draws_faults_of_the_project_that_can_be_planted():
    drawn = drawing.draw(1, 200)
    assert drawn == drawing.draw(1, 200) != drawing.draw(2, 200)
    assert len({one.name for one in drawn}) == 200
    for one in drawn:
        text = (drawing.ROOT / one.file).read_text(encoding="utf-8")
        ast.parse(one.planted(text))
        assert "kernels" not in one.file


@pytest.mark.parametrize(
    "file, first",
    [
        ("model/documents/block.py", ["tests/model/documents/test_block.py"]),
        ("model/learners/base.py", ["tests/model/learners"]),
    ],
)
def test_the_tests_of_the_module_come_first_and_all_tests_last(file, first):
    stages = mutants.stages(file)
    assert stages[0] == first and stages[-1] == []


def test_the_copy_of_the_tree_is_imported_as_the_tree_is(tmp_path):
    (tmp_path / "gone.py").write_text("")
    mutants.copy_tree(tmp_path)
    assert (tmp_path / "beam_topics/model").readlink() == Path("../model")
    assert (tmp_path / "model/stored/wire.py").is_file() and not (tmp_path / "gone.py").exists()


def test_the_page_names_what_no_test_found():
    entry = {"file": "a.py", "line": "x < 3", "old": "<", "new": "<=", "date": "2026-11-28"}
    found, left = {**entry, "by": "tests"}, {**entry, "by": None}
    assert "2 faults, 1 found: 50%" in mutants.page([found, left])
    assert mutants.page([found]).endswith("None.\n") and "`<` became" in mutants.page([left])
