"""The list of mutants fits the code as it is, so ``make test-mutants`` can run at any time."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("mutants_run", Path(__file__).parent / "run.py")
mutants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mutants)

LISTED = mutants.listed()


@pytest.mark.parametrize(
    "mutant", LISTED, ids=lambda mutant: f"{Path(mutant.file).stem}: {mutant.breaks}"
)
def test_each_mutant_can_be_planted_and_its_tests_are_there(mutant):
    assert mutants.occurrences(mutants.ROOT / mutant.path(), mutant.old) == 1
    assert mutant.new != mutant.old and mutant.breaks
    compile(
        (mutants.ROOT / mutant.path()).read_text().replace(mutant.old, mutant.new),
        mutant.file,
        "exec",
    )
    assert mutant.tests and all(
        (mutants.ROOT / path.partition("::")[0]).is_file() for path in mutant.test_paths()
    )


def test_there_are_a_hundred_in_every_part_of_the_stream():
    assert len(LISTED) >= 100 and len({mutant.name for mutant in LISTED}) == len(LISTED)
