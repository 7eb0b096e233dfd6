"""What the sources say to users names options that there are."""

import ast
import re
from pathlib import Path

from beam_topics.pipelines import erase
from beam_topics.pipelines.cli.arguments import all_groups
from beam_topics.pipelines.cli.command import parser_for
from beam_topics.pipelines.graphs.beam_options import add_beam_options

ROOT = Path(__file__).parents[2]
# Flink's job server has these; no parser here knows them.
ELSEWHERE = {"--checkpointing_interval", "--finish_bundle_before_checkpointing", "--version"}


def known():
    """The options of all our groups, those of ``erase``, and Beam's."""
    parsers = parser_for("x", "", all_groups(), {}), parser_for("erase", "", erase.GROUPS, {})
    add_beam_options(parsers[0])
    actions = [action for parser in parsers for action in parser._actions]
    return {flag for action in actions for flag in action.option_strings}


def texts(source):
    """(line, text) of every string that is not a docstring; of an f-string, its fixed parts."""
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in documentation
    ]
    return [(node.lineno, node.value) for node in constants if isinstance(node.value, str)]


def named(source):
    """(line, option) of every option that such a string names."""
    return [
        (line, option)
        for line, text in texts(source)
        for option in re.findall(r"--[a-z][a-z0-9_]*", text)
    ]


def test_options_are_found_in_messages_and_not_in_docstrings():
    source = (
        '"""--a"""\ndef f(x):\n    """--b"""\n    raise OptionError("--c", x, f"{x} or more", f"Say'
        ' --d_1={x} " "or --e.")\n'
    )
    assert named(source) == [(4, "--c"), (4, "--d_1"), (4, "--e")]


def test_every_option_that_is_named_exists():
    allowed, unknown, count = known() | ELSEWHERE, [], 0
    for package in ("model", "transforms", "pipelines"):
        for path in sorted((ROOT / package).rglob("*.py")):
            found = named(path.read_text(encoding="utf-8"))
            count += len(found)
            unknown += [
                f"{path.relative_to(ROOT)}:{line} {option}"
                for line, option in found
                if option not in allowed
            ]
    assert unknown == []
    assert count > 200
