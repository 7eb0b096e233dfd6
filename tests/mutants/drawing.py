"""Draw one-token faults of the pure Python of the project, by a seed.

A *site* is a place within a function where a fault can be planted: a comparison, ``and``, ``or``,
``not``, a sum or difference, a whole number or a truth value. Each has one fault, such as ``<=``
for ``<``, or n + 1 for n. Left out are kernels, whose faults the statistical tests seek; assertions
and messages of errors; and what stands outside functions, which are sizes and defaults that were
measured. The sites of all modules are in one list, and a seed draws some of them evenly.
"""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("model", "transforms", "pipelines")
COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
JOINED = {ast.And: "or", ast.Or: "and"}
ADDED = {ast.Add: "-", ast.Sub: "+"}


@dataclass(frozen=True)
class Mutant:
    """A fault: in ``file``, ``old`` at the place [begin, end) in characters becomes ``new``."""

    file: str
    line: int
    begin: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        place = f"{self.file}\0{self.begin}\0{self.old}\0{self.new}"
        return hashlib.sha256(place.encode()).hexdigest()[:16]

    def planted(self, text: str) -> str:
        """Return the text of the file with the fault."""
        assert text[self.begin : self.end] == self.old
        return text[: self.begin] + self.new + text[self.end :]


def modules(root: Path = ROOT) -> list[Path]:
    """Return the modules that are searched, relative to the root, in their order."""
    found = (path for package in PACKAGES for path in (root / package).rglob("*.py"))
    paths = sorted(path.relative_to(root) for path in found)
    return [path for path in paths if "kernels" not in path.parts]


def draw(seed: int, count: int, root: Path = ROOT) -> list[Mutant]:
    """Return distinct faults, drawn evenly from all sites."""
    sites = [
        mutant
        for path in modules(root)
        for mutant in mutants_of(path.as_posix(), (root / path).read_text(encoding="utf-8"))
    ]
    return Random(seed).sample(sites, count)


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Yield the fault of each site of a module, in the order of the text."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    # Columns of the tree are bytes; lines with other characters are left out.
    ascii_lines = {n for n, line in enumerate(text.splitlines(), 1) if line.isascii()}

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    for node, first, last, new in _faults(ast.parse(text)):
        if not {first[0], last[0]} <= ascii_lines:
            continue
        begin, end = place(*first), place(*last)
        old = text[begin:end]
        if isinstance(node, ast.BoolOp | ast.Compare | ast.BinOp):
            # Between two operands there may be brackets, the end of a line, and a comment.
            old = old.strip("() \n")
            begin += text[begin:end].index(old)
        if "\n" not in old:
            yield Mutant(file, text.count("\n", 0, begin) + 1, begin, begin + len(old), old, new)


def _faults(tree: ast.Module):
    """Yield (node, where the replaced text begins, where it ends, the new text)."""
    for node in _within_functions(tree):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for at, sign in enumerate(node.ops):
                yield node, _end(operands[at]), _begin(operands[at + 1]), COMPARED[type(sign)]
        elif isinstance(node, ast.BoolOp):
            for before, after in zip(node.values[:-1], node.values[1:], strict=True):
                yield node, _end(before), _begin(after), JOINED[type(node.op)]
        elif isinstance(node, ast.BinOp) and type(node.op) in ADDED:
            yield node, _end(node.left), _begin(node.right), ADDED[type(node.op)]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            line, column = _begin(node)
            yield node, (line, column), (line, column + len("not")), ""
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            value = not node.value if isinstance(node.value, bool) else node.value + 1
            yield node, _begin(node), _end(node), str(value)


def _within_functions(tree: ast.AST, inside: bool = False):
    """Yield the nodes of function bodies, without annotations, assertions, messages and texts."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "defaults", "kw_defaults"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(
                node, ast.Assert | ast.Raise | ast.JoinedStr
            ):
                continue
            if inside:
                yield node
            is_function = isinstance(node, ast.FunctionDef | ast.Lambda)
            yield from _within_functions(node, inside or is_function)


def _begin(node: ast.expr):
    return node.lineno, node.col_offset


def _end(node: ast.expr):
    return node.end_lineno, node.end_col_offset
