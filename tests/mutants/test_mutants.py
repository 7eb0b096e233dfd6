"""The list of mutants fits the code as it is, so ``make test-mutants`` can run at any time."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("mutants_run", Path(__file__).parent / "run.py")
mutants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mutants)

compiled = sys.modules["compiled"]

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


def test_the_copy_of_the_tree_is_imported_as_the_tree_is(tmp_path):
    mutants.copy_tree(tmp_path)
    assert (tmp_path / "beam_topics/model").readlink() == Path("../model")
    assert (tmp_path / "beam_topics/model/stored/wire.py").is_file()


def test_a_fault_in_a_kernel_is_compiled_into_all_that_uses_it():
    root = mutants.ROOT
    gammas = Path("model/learners/engine/kernels/gammas.py")
    found, package = compiled.users_of(root, gammas), root / "beam_topics"
    assert package / gammas in found
    assert package / "model/learners/engine/kernels/tables.py" in found
    assert package / "model/inference/kernels/mean_field.py" not in found
    everywhere = compiled.users_of(root, Path("model/kernels/jit.py"))
    assert len(everywhere) > 20 and everywhere > found


def test_machine_code_that_a_fault_does_not_touch_is_taken_over(tmp_path):
    tree, copy, source, target = (tmp_path / name for name in ("tree", "copy", "from", "to"))
    untouched = Path("model/inference/kernels/mean_field.py")
    changed = Path("model/learners/engine/kernels/gammas.py")
    for path in (untouched, changed):
        for root in (tree / "beam_topics", copy / "beam_topics"):
            (root / path).parent.mkdir(parents=True)
            shutil.copy2(mutants.ROOT / path, root / path)
        place = source / compiled.subfolder(tree / "beam_topics" / path)
        place.mkdir(parents=True)
        (place / f"{path.stem}.f-1.nbi").write_bytes(b"")
    compiled.copy_compiled(source, tree, target, copy, changed)
    assert [path.relative_to(target) for path in target.rglob("*.nbi")] == [
        Path(compiled.subfolder(copy / "beam_topics" / untouched), "mean_field.f-1.nbi")
    ]
