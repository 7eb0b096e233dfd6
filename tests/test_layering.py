"""The rules that keep the layers apart, read from the source."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("beam_topics", "pipelines", "transforms", "model")
MAY_IMPORT = {
    "beam_topics": {"beam_topics", "pipelines", "transforms", "model"},
    "pipelines": {"pipelines", "transforms", "model"},
    "transforms": {"transforms", "model"},
    "model": {"model"},
}
MOST_LINES = 400
FORBIDDEN = {"pickle", "cloudpickle", "dill", "marshal", "shelve"}


def sources(layer):
    return sorted((ROOT / layer).rglob("*.py"))


ALL = [
    pytest.param(path, id=str(path.relative_to(ROOT)))
    for layer in LAYERS
    for path in sources(layer)
]


def imported(path):
    """The dotted names of all modules that a file imports, wherever in the file it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides the layer; write it out"
            yield node.module


def roots(path):
    return {name.split(".")[0] for name in imported(path)}


def layer_of(path):
    return path.relative_to(ROOT).parts[0]


def test_every_layer_has_sources():
    assert all(sources(layer) for layer in LAYERS)


@pytest.mark.parametrize("path", ALL)
def test_imports_point_one_way(path):
    wrong = (roots(path) & set(LAYERS)) - MAY_IMPORT[layer_of(path)]
    assert not wrong, f"{path} is in {layer_of(path)}/ and imports {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("path", ALL)
def test_the_kernels_know_nothing_above_them(path):
    if "kernels" not in path.parts:
        pytest.skip("no kernel")
    ours = {name for name in imported(path) if name.split(".")[0] in LAYERS}
    above = {name for name in ours if "kernels" not in name.split(".")}
    assert not above, f"{path} imports {', '.join(sorted(above))}"


@pytest.mark.parametrize("path", ALL)
def test_model_never_imports_beam(path):
    if layer_of(path) == "model":
        assert "apache_beam" not in roots(path)


@pytest.mark.parametrize("path", ALL)
def test_nothing_is_pickled(path):
    assert not roots(path) & FORBIDDEN


@pytest.mark.parametrize("path", ALL)
def test_no_clock_and_no_generator_state_in_results(path):
    if layer_of(path) == "model":
        assert not roots(path) & {"time", "random", "uuid", "secrets"}


@pytest.mark.parametrize("path", ALL)
def test_no_fastmath(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "fastmath":
            assert isinstance(node.value, ast.Constant), (
                f"{path}:{node.value.lineno}: say False, in so many letters"
            )
            assert node.value.value is False, f"{path}:{node.value.lineno}"


@pytest.mark.parametrize("path", ALL)
def test_files_stay_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{path} has {lines} lines; split it by what its parts are for"


@pytest.mark.parametrize("path", ALL)
def test_no_variable_shadows_a_package(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assert node.id not in LAYERS, f"{path}:{node.lineno}"
        # RunInference's own signature has a parameter of that name.
        if isinstance(node, ast.FunctionDef) and node.name != "run_inference":
            assert not {arg.arg for arg in node.args.args + node.args.kwonlyargs} & set(LAYERS), (
                f"{path}:{node.lineno}"
            )


def test_a_forbidden_import_is_found(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text("def late():\n    from transforms import read\n    import pickle as quiet\n")
    assert roots(planted) == {"transforms", "pickle"}
