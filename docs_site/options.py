"""Make the page of all options of all commands from the records that declare them."""

from __future__ import annotations

import argparse
import importlib

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
    from beam_topics.pipelines.cli.command import parser_for
    from beam_topics.pipelines.cli.help import every_section

    program = importlib.import_module(f"beam_topics.pipelines.{name}")
    required = getattr(program, "REQUIRED", {})
    parser = parser_for(name, "", program.GROUPS, required)
    sections = every_section(parser, program.GROUPS)
    tables = [table(title, actions) for title, actions in sections if actions]
    return "\n".join([f"## `{name}`", "", summary(name), "", *tables])


def table(title: str, actions: list[argparse.Action]) -> str:
    """Return a table of options, or nothing where none has a help text."""
    rows = [
        f"| {_flag(action)} | {_cell(action.help or '')} |"
        for action in actions
        if action.help != argparse.SUPPRESS
    ]
    if not rows:
        return ""
    # Titles name options.
    head = " ".join(f"`{word}`" if word.startswith("--") else word for word in title.split())
    return "\n".join([f"**{head}**", "", "| option | meaning |", "|---|---|", *rows, ""])


def _flag(action: argparse.Action) -> str:
    flag = f"`{action.option_strings[0]}`"
    values = [f"`{value}`" for value in action.choices or ()]
    return f"{flag} = {', '.join(values)}" if values else flag


def _cell(text: str) -> str:
    """Return a help text for a cell. It is plain text, so nothing in it is Markdown."""
    text = text.replace("%%", "%").replace("&", "&amp;").replace("<", "&lt;")
    for character in "\\`*_|$[]":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())
