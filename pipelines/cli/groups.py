"""Groups of options, and the options of a command line, which is parsed once.

Nothing here imports Beam: a command line is checked, and its help printed, before that import,
which takes seconds.

>>> def add(parser):
...     _ = parser.add_argument("--colour", default="red")
>>> parsed(["--colour=blue"], [OptionGroup("Colours", add)]).colour
'blue'

:mod:`beam_topics.pipelines.graphs.beam_options` tells Beam of all groups.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from beam_topics.model.compositions import Choice
from beam_topics.model.errors import BeamTopicsError
from beam_topics.model.options import Record


class UsageError(BeamTopicsError):
    """A command line that cannot be used as it is."""


class Options(argparse.Namespace):
    """The options of a program by name; an option that is not given has its default, or None.

    Attributes:
        argv: the command line.
        beam: Beam's ``PipelineOptions`` of the same command line; None where no graph runs.
    """

    argv: Sequence[str] = ()
    beam: Any = None

    def get(self, name: str) -> Any:
        """Return the value of an option; None where it is not given, or is not the program's."""
        return vars(self).get(name)

    def given(self, names: Iterable[str]) -> dict[str, Any]:
        """Return those of some options that are given, by name."""
        return {name: value for name in names if (value := self.get(name)) is not None}


@dataclass(frozen=True, eq=False)
class OptionGroup:
    """A group of options.

    Attributes:
        title: its title in the help.
        add: declares its options.
        records: the records whose options it declares.
        choice: the choice whose options it declares, or None.
    """

    title: str
    add: Callable[[argparse._ActionsContainer], None]
    records: tuple[type[Record], ...] = ()
    choice: Choice[Any] | None = None


Groups = Sequence[OptionGroup]

_CHOICE = re.compile(r"(\S+): invalid choice: (.*) \(choose from (.*)\)")
_NO_NUMBER = re.compile(r"(\S+): invalid (\S+) value: (.*)")
_NO_VALUE = re.compile(r"(\S+): expected one argument")


class Parser(argparse.ArgumentParser):
    """A parser that raises an error where argparse prints and exits."""

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix("argument ")
        if found := _CHOICE.fullmatch(message):
            message = (
                f"{found[1]}: {found[2]} was given; allowed is one of {found[3]}. Correct the"
                " spelling."
            )
        elif found := _NO_VALUE.fullmatch(message):
            message = f"{found[1]}: no value was given. Write {found[1]}=VALUE."
        elif found := _NO_NUMBER.fullmatch(message):
            message = (
                f"{found[1]}: {found[3]} was given; allowed is a value of the type {found[2]}."
                " Correct the value."
            )
        raise UsageError(message)


def parsed(flags: Sequence[str], groups: Groups) -> Options:
    """Return the options of some groups on a command line; others are passed over.

    Raises:
        UsageError: a value has the wrong form.
    """
    return _parser(groups).parse_known_args(list(flags), Options())[0]


def names_of(groups: Groups) -> tuple[str, ...]:
    """Return the names of the options of some groups, in their order."""
    return tuple(dict.fromkeys(action.dest for action in _parser(groups)._actions))


def _parser(groups: Groups) -> argparse.ArgumentParser:
    parser = Parser(add_help=False, allow_abbrev=False, conflict_handler="resolve")
    for group in groups:
        group.add(parser)
    return parser
