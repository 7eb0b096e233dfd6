"""List the commands: ``python -m pipelines``."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

COMMANDS = (
    "train",
    "show",
    "versions",
    "report",
    "topics",
    "trends",
    "infer",
    "stream",
    "evaluate",
    "fit_classifier",
    "compare",
    "archive",
    "demo",
)


def summary(name: str) -> str:
    """Return the summary of a command's docstring.

    The file is read and not imported, because importing Beam takes seconds.
    """
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def listing() -> str:
    """Return the list of commands, one line for each."""
    width = max(map(len, COMMANDS))
    lines = [f"  python -m pipelines.{name:{width}}  {summary(name)}" for name in COMMANDS]
    return "\n".join(
        [
            "Live topic models over document streams. The commands:",
            "",
            *lines,
            "",
            "Each has --help.",
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the list of commands.

    Returns:
        The exit status: 2 where anything but ``--help`` is given, else 0.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    if not given or given[0] in ("-h", "--help"):
        print(listing())
        return 0
    near = difflib.get_close_matches(given[0], COMMANDS, 1)
    remedy = (
        f"Run: python -m pipelines.{near[0]}."
        if near
        else "python -m pipelines lists the commands."
    )
    print(
        f"python -m pipelines: {given[0]!r} was given; a command is a module of this package."
        f" {remedy}",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())
