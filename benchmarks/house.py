"""How large the product is, and how much of it a command runs: ``python -m benchmarks.house``.

It prints one line of JSON. ``lines``, ``code`` (without docstrings, comments and blank lines),
``files``, ``import_lines``, ``crowded`` (files with more than 12 imports of other modules of the
project), ``circles`` and ``complex`` (functions above complexity 10) are of ``model``,
``transforms`` and ``pipelines``. ``options`` are those of all parsers, ``words`` those of the
guides, and of the pages of results. ``train``, ``label`` and ``show`` have the modules of the
project that a command imports, and the functions that run, with the default options. Lambdas,
comprehensions and compiled kernels do not count. The *walk* are the functions of ``train`` that run
once more, or oftener, for each further document of a stream, and the folders that they are in;
``--walk`` lists them in the order of their first calls.
"""

from __future__ import annotations

import ast
import importlib
import io
import json
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

import numpy as np

from beam_topics.pipelines.__main__ import COMMANDS
from beam_topics.pipelines.cli.command import parser_for

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("model", "transforms", "pipelines")
MOST_IMPORTS, MOST_COMPLEX, DOCUMENTS, SUBJECTS, EACH, LENGTH = 12, 10, 400, 5, 40, 30
# Streams whose difference is the walk: the choice of the number of topics, and samples, are over.
WALKED = 1500, 2500
BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
BLANK |= {tokenize.ENCODING, tokenize.ENDMARKER}
CHILD = """
import json, sys, threading
from collections import Counter

calls, folders = Counter(), tuple(sys.argv[1].split(":"))
def note(frame, event, _):
    if event == "call":
        calls[frame.f_code] += 1
threading.setprofile(note)
sys.setprofile(note)
from beam_topics.pipelines.__main__ import main
status = main(sys.argv[2:])
sys.setprofile(None)
assert status == 0, status
own = Counter()
for code, count in calls.items():
    if code.co_filename.startswith(folders) and not code.co_name.startswith("<"):
        own[code.co_filename, code.co_firstlineno, code.co_name] += count
modules = [name for name in sys.modules if name.startswith("beam_topics.")]
print(json.dumps([len(modules), [[*about, count] for about, count in own.items()]]))
"""


def name_of(path: Path) -> str:
    """Return the dotted name of a source file."""
    parts = [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
    return ".".join(["beam_topics", *parts])


def docstring_lines(tree: ast.AST) -> set[int]:
    """Return the lines of all docstrings of a source file."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = (node.body[0] for node in ast.walk(tree) if isinstance(node, kinds) and node.body)
    return {
        line
        for one in found
        if isinstance(one, ast.Expr)
        and isinstance(one.value, ast.Constant)
        and isinstance(one.value.value, str)
        for line in range(one.lineno, one.end_lineno + 1)
    }


def code_lines(text: str, tree: ast.AST) -> int:
    """Return the number of lines of code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = [range(t.start[0], t.end[0] + 1) for t in tokens if t.type not in BLANK]
    return len({line for some in lines for line in some} - docstring_lines(tree))


def imported(tree: ast.AST, names: set[str]) -> set[str]:
    """Return the modules of the project that a source file imports, wherever it does so."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= below & names or {str(node.module)}
    return found & names


def sizes() -> dict[str, int]:
    """Return what is counted in the source."""
    # As pytest does: `tests` is also the name of a package of a dependency.
    sys.path.insert(0, str(ROOT / "tests"))
    from test_layering import circles

    paths = [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    trees = [ast.parse(text) for text in texts]
    names = {name_of(path) for path in paths}
    own = {
        name_of(p): imported(tree, names) - {name_of(p)}
        for p, tree in zip(paths, trees, strict=True)
    }
    imports = [
        node.end_lineno - node.lineno + 1
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return {
        "lines": sum(len(text.splitlines()) for text in texts),
        "code": sum(map(code_lines, texts, trees)),
        "files": len(paths),
        "import_lines": sum(imports),
        "crowded": sum(len(some) > MOST_IMPORTS for some in own.values()),
        "circles": len(circles(own)),
        "complex": complex_functions(),
    }


def complex_functions() -> int:
    """Return the number of functions above complexity 10, by ruff."""
    most = f"lint.mccabe.max-complexity={MOST_COMPLEX}"
    given = ["--isolated", "--select=C901", "--config", most, "--output-format=json", *LAYERS]
    command = [sys.executable, "-m", "ruff", "check", *given]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return len(json.loads(found.stdout))


def option_names() -> set[str]:
    """Return the options of all commands, ``-h`` and ``--help`` as one; Beam's do not count."""
    names = set()
    for command in COMMANDS:
        groups = importlib.import_module(f"beam_topics.pipelines.{command}").GROUPS
        parser = parser_for(command, "", groups, {})
        names |= {action.option_strings[-1] for action in parser._actions}
    return names


def words() -> dict[str, int]:
    """Return the words of the guides and of the pages of results."""
    found = {True: 0, False: 0}
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        found["results" in path.parts] += len(path.read_text(encoding="utf-8").split())
    return {"guides": found[False], "results": found[True]}


def write_documents(path: Path, count: int) -> None:
    """Write documents of some subjects, each with words of its own."""
    generator = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            subject = "abcde"[n % SUBJECTS]
            text = " ".join(f"word{subject}{k}x" for k in generator.integers(EACH, size=LENGTH))
            file.write(json.dumps({"id": str(n), "text": text}) + "\n")


def run(folder: str, *command: str) -> tuple[int, dict[tuple[str, int, str], int]]:
    """Run a command; return the modules that it imports, and the calls of each function.

    A function is its file, its first line and its name.
    """
    folders = ":".join(f"{ROOT / place}/" for place in (*LAYERS, "beam_topics"))
    child = [sys.executable, "-c", CHILD, folders, *command]
    out = subprocess.run(child, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    modules, functions = json.loads(out.stdout.splitlines()[-1])
    return modules, {(path, line, name): calls for path, line, name, calls in functions}


def runs() -> dict[str, dict[str, int]]:
    """Return the modules imported and functions run by ``train``, ``label`` and ``show``."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        write_documents(Path(folder) / "made.jsonl", DOCUMENTS)
        for command, *given in (
            ["train", "made.jsonl"],
            ["label", "made.topics", "worda1x worda2x"],
            ["show", "made.topics"],
        ):
            modules, functions = run(folder, command, *given)
            found[command] = {"modules": modules, "functions": len(functions)}
    return found


def walk() -> list[tuple[str, str, str]]:
    """Return (folder, file, function) of what runs for each document."""
    few, many = WALKED
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for count in WALKED:
            write_documents(Path(folder) / f"{count}.jsonl", count)
            found.append(run(folder, "train", f"{count}.jsonl")[1])
    often = [one for one, calls in found[1].items() if calls - found[0].get(one, 0) >= many - few]
    rooms = [(Path(path).resolve(), name) for path, _, name in often]
    return [(str(path.parent.relative_to(ROOT)), path.stem, name) for path, name in rooms]


def main() -> None:
    """Print the figures, or the walk of a document."""
    steps = walk()
    if sys.argv[1:] == ["--walk"]:
        print("\n".join(" ".join(one) for one in steps))
        return
    of_document = {"functions": len(steps), "folders": len({one[0] for one in steps})}
    own = {"options": len(option_names()), "words": words(), "walk": of_document}
    print(json.dumps({**sizes(), **own, **runs()}))


if __name__ == "__main__":
    main()
