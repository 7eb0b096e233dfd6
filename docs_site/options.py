"""Make the page of all options of all commands from the records that declare them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beam_topics.pipelines.cli.help import Line

PAGE = "reference/options.md"
_TITLE = """# Options of the commands

This page is made from the settings that the commands read, as `--help=all` is. A command accepts
the options of its tables only. A table whose title begins with *With* has the options that belong
to a choice. [The command](../command.md) describes arguments without a name and files of options.
"""


def options_page() -> str:
    """Return the page, with a section for each command."""
    from beam_topics.pipelines.__main__ import COMMANDS

    return "\n".join([_TITLE, *(section(name) for name in COMMANDS)])


def section(name: str) -> str:
    """Return the section of one command: its summary and its tables of options."""
    from beam_topics.pipelines.__main__ import summary
    from beam_topics.pipelines.cli.help import every_section
    from beam_topics.pipelines.cli.option_files import ConfigOptions

    program = importlib.import_module(f"beam_topics.pipelines.{name}")
    required = getattr(program, "REQUIRED", {})
    sections = every_section((*program.GROUPS, ConfigOptions), required)
    tables = [table(title, lines) for title, lines in sections if lines]
    return "\n".join([f"## `{name}`", "", summary(name), "", *tables])


def table(title: str, lines: list[Line]) -> str:
    """Return a table of options."""
    rows = [f"| `{option.flag}` | {_cell(text)} |" for option, text in lines]
    # Titles name options.
    head = " ".join(f"`{word}`" if word.startswith("--") else word for word in title.split())
    return "\n".join([f"**{head}**", "", "| option | meaning |", "|---|---|", *rows, ""])


def _cell(text: str) -> str:
    """Return a help text for a cell. It is plain text, so nothing in it is Markdown."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    for character in "\\`*_|$[]":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())
