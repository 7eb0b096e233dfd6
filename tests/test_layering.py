"""The rules that keep the layers apart, read from the source; one test for each rule.

A rule is a function that yields what is wrong with a module. Each rule has a planted module that it
must refuse.
"""

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OUTER = "beam_topics"
LAYERS = (OUTER, "pipelines", "transforms", "model")
MAY_IMPORT = {
    "beam_topics": {"beam_topics", "pipelines", "transforms", "model"},
    "pipelines": {"pipelines", "transforms", "model"},
    "transforms": {"transforms", "model"},
    "model": {"model"},
}
MOST_LINES = 1000
MOST_IMPORTS = 12
# The files that import more modules of the project, with their numbers; the list only shrinks.
CROWDED = {
    "model/inference/serving.py": 13,
    "model/learner_log/log.py": 14,
    "model/learners/engine/holding.py": 13,
    "model/learners/engine/learner.py": 17,
    "model/learners/engine/stored.py": 13,
    "model/profile/profile.py": 13,
    "model/words/tokeniser.py": 14,
    "transforms/infer.py": 14,
    "pipelines/beam_yaml/__init__.py": 21,
    "pipelines/estimator/documents.py": 17,
    "pipelines/estimator/topic_model.py": 24,
    "pipelines/graphs/infer.py": 13,
    "pipelines/graphs/report.py": 16,
    "pipelines/service/models.py": 16,
}
PICKLES = {"pickle", "cloudpickle", "dill", "marshal", "shelve"}
CLOCKS = {"time", "random", "uuid", "secrets"}


@dataclass(frozen=True)
class Module:
    """A source file: its path within the repository, and its text."""

    path: Path
    text: str

    @property
    def layer(self):
        return self.path.parts[0]

    @cached_property
    def nodes(self):
        return list(ast.walk(ast.parse(self.text)))

    @cached_property
    def imported(self):
        """The dotted names of all modules that the file imports, wherever it does so."""
        names = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names.append(f"{'.' * node.level}{node.module or ''}")
        return names

    @property
    def name(self):
        """The dotted name of the module itself."""
        parts = [part for part in self.path.with_suffix("").parts if part != "__init__"]
        return ".".join(parts if parts[0] == OUTER else [OUTER, *parts])

    @property
    def modules(self):
        """The modules that it may import: of ``from a import b``, both ``a`` and ``a.b``."""
        names = set(self.imported)
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom):
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        return names - {self.name}

    def own(self, names):
        """The modules among ``names`` that it imports: of ``from a import b``, ``a.b`` or ``a``."""
        found = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                below = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= below & names or {node.module}
        return found & names - {self.name}

    @property
    def roots(self):
        return {name.split(".")[0] for name in self.imported}

    @property
    def layers(self):
        """The layers that it imports from; ``beam_topics`` alone is the outermost."""
        names = [(*name.split("."), OUTER)[:2] for name in self.imported]
        return {name if name in LAYERS else OUTER for root, name in names if root == OUTER}


def imports_that_point_up(module):
    yield from module.layers - MAY_IMPORT[module.layer]


def bare_names_of_layers(module):
    yield from module.roots & (set(LAYERS) - {OUTER})


def relative_imports(module):
    yield from (name for name in module.imported if name.startswith("."))


def kernels_that_know_what_is_above_them(module):
    if "kernels" in module.path.parts:
        ours = (name for name in module.imported if name.split(".")[0] == OUTER)
        yield from (name for name in ours if "kernels" not in name.split("."))


def papers_outside_their_room(module):
    registry = Path("model/learners/__init__.py")
    if module.path.parts[:2] != ("model", "papers") and module.path != registry:
        yield from (name for name in module.imported if name.startswith(f"{OUTER}.model.papers"))


def beam_in_the_model(module):
    if module.layer == "model":
        yield from module.roots & {"apache_beam"}


def pickles(module):
    yield from module.roots & PICKLES


def clocks_and_generators_in_the_model(module):
    if module.layer == "model":
        yield from module.roots & CLOCKS


def fastmath(module):
    for node in module.nodes:
        if isinstance(node, ast.keyword) and node.arg == "fastmath":
            off = isinstance(node.value, ast.Constant) and node.value.value is False
            yield from () if off else (f"line {node.value.lineno}",)


def files_that_are_too_long(module):
    lines = len(module.text.splitlines())
    if lines > MOST_LINES:
        yield f"{lines} lines; split it by its subjects"


def circles(imported):
    """The groups of modules that import one another, wherever they do so.

    Args:
        imported: the names of the modules that each module imports, by its name.
    """
    reached = {name: {name} for name in imported}
    for _ in imported:
        grown = {n: r.union(*(imported.get(m, ()) for m in r)) for n, r in reached.items()}
        if grown == reached:
            break
        reached = grown
    together = (frozenset(m for m in reached[n] if n in reached.get(m, ())) for n in imported)
    return {tuple(sorted(group)) for group in together if len(group) > 1}


def names_that_shadow_a_layer(module):
    for node in module.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in LAYERS:
            yield f"line {node.lineno}"
        # RunInference's own signature has a parameter of that name.
        if isinstance(node, ast.FunctionDef) and node.name != "run_inference":
            names = {arg.arg for arg in node.args.args + node.args.kwonlyargs}
            yield from (f"line {node.lineno}: {name}" for name in names & set(LAYERS))


# Each rule with a module that breaks it.
RULES = {
    imports_that_point_up: (
        "model/a.py",
        "def late():\n    from beam_topics.transforms import read\n",
    ),
    bare_names_of_layers: ("transforms/a.py", "from model.wire import pack\n"),
    relative_imports: ("model/a.py", "from . import b\n"),
    kernels_that_know_what_is_above_them: (
        "model/kernels/a.py",
        "from beam_topics.model.stored.wire import pack\n",
    ),
    papers_outside_their_room: (
        "model/learners/a.py",
        "from beam_topics.model.papers.state import PaperState\n",
    ),
    beam_in_the_model: ("model/a.py", "import apache_beam as beam\n"),
    pickles: ("pipelines/a.py", "def late():\n    import pickle as quiet\n"),
    clocks_and_generators_in_the_model: ("model/a.py", "import time\n"),
    fastmath: ("model/kernels/a.py", "kernel(fastmath={'nnan'})\n"),
    files_that_are_too_long: ("model/a.py", "\n" * (MOST_LINES + 1)),
    names_that_shadow_a_layer: ("transforms/a.py", "def step(model):\n    pass\n"),
}


@pytest.fixture(scope="module")
def modules():
    return [
        Module(path.relative_to(ROOT), path.read_text(encoding="utf-8"))
        for layer in LAYERS
        for path in sorted((ROOT / layer).rglob("*.py"))  # which does not follow links
    ]


def test_every_layer_has_sources(modules):
    assert {module.layer for module in modules} == set(LAYERS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_module_breaks_the_rule(rule, modules):
    wrong = {str(module.path): found for module in modules if (found := list(rule(module)))}
    assert not wrong


def test_no_module_imports_itself_by_way_of_others(modules):
    named = {module.name: module for module in modules}
    imported = {name: module.modules & named.keys() for name, module in named.items()}
    assert circles(imported) == set()


def crowded(imported):
    """The numbers of modules of the project that a module imports, where they are too many."""
    return {name: len(some) for name, some in imported.items() if len(some) > MOST_IMPORTS}


def test_a_file_imports_few_others(modules):
    named = {module.name: module for module in modules if module.layer != OUTER}
    found = crowded({m.path.as_posix(): m.own(named.keys()) for m in named.values()})
    assert found == CROWDED, "take what has become better out of the list, and add nothing"


def test_a_crowded_file_is_found():
    text = "from beam_topics.model import a0\nfrom beam_topics.model.a1 import x, y\n"
    text += "".join(f"import beam_topics.model.a{n}\n" for n in range(2, MOST_IMPORTS + 1))
    module = Module(Path("model/b.py"), text)
    names = {"beam_topics.model", *(f"beam_topics.model.a{n}" for n in range(MOST_IMPORTS + 1))}
    assert crowded({"b": module.own(names)}) == {"b": MOST_IMPORTS + 1}
    assert crowded({"b": module.own(names - {"beam_topics.model.a1"})}) == {}


def test_a_circle_is_found():
    late = Module(Path("model/a.py"), "def f():\n    from beam_topics.model import b\n")
    back = Module(Path("model/b.py"), "from beam_topics.model.a import f\n")
    other = Module(Path("model/c.py"), "import beam_topics.model.a\n")
    imported = {module.name: module.modules for module in (late, back, other)}
    assert circles(imported) == {("beam_topics.model.a", "beam_topics.model.b")}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rule_finds_a_planted_fault(rule):
    path, text = RULES[rule]
    assert list(rule(Module(Path(path), text)))
