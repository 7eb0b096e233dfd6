r"""``--config=FILE``: options from a YAML file.

The file maps names of options to values, as the command line writes them. Text is not interpreted
as YAML would do (``no`` is not false, ``1:30`` is not a number). A list stands for values with
commas. An option of the command line wins. A key that no program has is refused. One that only
other programs have is left out, so that all programs of a project may share a file.

>>> options_of_text("window: 1d\ntopics: 7\ndigits: true\ninput: [a.csv, b.csv]", "x.yaml")
{'window': '1d', 'topics': '7', 'digits': 'true', 'input': 'a.csv,b.csv'}
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import Any

from model.errors import OptionError
from model.files.regular import read_text
from pipelines.cli.shared_options import UsageError
from pipelines.cli.yaml_file import mapping_of

FLAG = "--config"
CONFIG_HELP = "YAML file of options, name: value; options of the command line win"


def expanded(argv: Sequence[str], own: Collection[str], known: Collection[str]) -> list[str]:
    """Return a command line with the options of its ``--config`` before the others.

    Args:
        argv: the command line.
        own: the names of the options of the program.
        known: the names of the options of all programs.

    Raises:
        OptionError: the file cannot be read, or has no options.
        UsageError: it has a key that no program has.
    """
    rest, path = _taken(argv)
    if path is None:
        return list(argv)
    found = read_config(path, known)
    return [
        *(f"--{name}={value}" for name, value in found.items() if name in own),
        *(_of_beam(name, value) for name, value in found.items() if name not in known),
        *rest,
    ]


def _of_beam(name: str, value: str) -> str:
    """Return an option of Beam's. Its switches take no value."""
    return f"--{name}" if value == "true" else f"--{name}={value}"


def _taken(argv: Sequence[str]) -> tuple[list[str], str | None]:
    rest, path = [], None
    for at, one in enumerate(argv):
        name, equals, value = one.partition("=")
        if name == FLAG:
            if not equals and at + 1 < len(argv):
                value = argv[at + 1]
            path = value
        elif not (at and argv[at - 1] == FLAG):
            rest.append(one)
    return rest, path


def read_config(path: str, known: Collection[str]) -> dict[str, str]:
    """Return the options of a file.

    Raises:
        OptionError: the file cannot be read, or is not a mapping of names to values.
        UsageError: it has a key that is not known.
    """
    text = read_text(FLAG, path, "a YAML file of options, UTF-8")
    found = options_of_text(text, path)
    for name in found:
        if name not in known and not _is_of_beam(name):
            near = difflib.get_close_matches(name, known, 1, 0.6)
            hint = f"Did you mean {near[0]}?" if near else "Leave it out."
            raise UsageError(f"{path}: {name!r} is no option of any program. {hint}")
    return found


def options_of_text(text: str, path: str) -> dict[str, str]:
    """Return the options of the text of a file.

    Raises:
        OptionError: it is not a mapping of names to values.
    """
    allowed = "a YAML file that maps names of options to values, as in: topics: 50"
    found = mapping_of(text, FLAG, path, allowed)
    return {name: _written(name, value, path) for name, value in found.items()}


def _written(name: str, value: Any, path: str) -> str:
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ",".join(value)
    if isinstance(value, str) and value:
        return value
    what = "nothing" if value in ("", []) else f"a {type(value).__name__}"
    raise OptionError(
        FLAG, path, "a value or a list of values for each name", f"{name!r} has {what}."
    )


def _is_of_beam(name: str) -> bool:
    # Imported here, because the import takes seconds, and only a name of Beam's needs it.
    from apache_beam.options.pipeline_options import PipelineOptions

    return name in PipelineOptions().get_all_options()
