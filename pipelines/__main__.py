"""The command ``beam-topics``: one program for each subcommand.

``beam-topics train data.csv`` is ``python -m beam_topics.pipelines.train data.csv``.
:data:`COMMANDS` is the one table of programs. A program is imported when it runs, and none for the
list of them.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from beam_topics.model import __version__
from beam_topics.model.errors import InterruptedRunError
from beam_topics.pipelines.cli.invocation import as_subcommand, quiet_pipes
from beam_topics.pipelines.graphs.memory import end_uncollected

COMMAND = "beam-topics"
COMMANDS = (
    "look",
    "train",
    "watch",
    "show",
    "report",
    "topics",
    "trends",
    "label",
    "serve",
    "monitor",
    "infer",
    "stream",
    "export",
    "versions",
    "erase",
    "evaluate",
    "fit_classifier",
    "archive",
    "demo",
)
_FIRST = f"""To begin: {COMMAND} look data.csv and {COMMAND} train data.csv, then
{COMMAND} show data.topics and {COMMAND} report data.topics. Each command has --help."""


def summary(name: str) -> str:
    """Return the summary of a program's docstring.

    The file is read and not imported, because importing Beam takes seconds.
    """
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def listing() -> str:
    """Return the list of commands, one line for each."""
    width = max(map(len, COMMANDS))
    lines = [f"  {COMMAND} {name:{width}}  {summary(name)}" for name in COMMANDS]
    title = "Live topic models over document streams. The commands:"
    return "\n".join([title, "", *lines, "", _FIRST])


@quiet_pipes()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the program that the first argument names, or print the list of programs.

    Returns:
        The exit status: that of the program; 2 where there is none of this name.
    """
    if argv is None:
        end_uncollected()
    given = list(sys.argv[1:] if argv is None else argv)
    if not given or given[0] in ("-h", "--help"):
        print(listing())
        return 0
    if given[0] == "--version":
        print(f"{COMMAND} {__version__}")
        return 0
    if given[0] in COMMANDS:
        try:
            program = importlib.import_module(f"beam_topics.pipelines.{given[0]}")
        except KeyboardInterrupt:
            print(f"{COMMAND}: interrupted.", file=sys.stderr)
            return InterruptedRunError.exit_status
        with as_subcommand(COMMAND):
            return int(program.main(given[1:]))
    near = difflib.get_close_matches(given[0], COMMANDS, 1)
    remedy = f"Did you mean {near[0]}?" if near else f"{COMMAND} --help lists the commands."
    print(f"{COMMAND}: {given[0]!r} is no command. {remedy}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
