"""Groups of options, parsed without Beam.

A command line must be checked, and its help printed, before Beam is imported, because the import
takes seconds. So a group of options does not derive from Beam's ``PipelineOptions``. It has the
attributes that Beam's ``view_as`` needs, so that both kinds of options give a view of it:

>>> class Colours(OptionGroup):
...     '''Colours.'''
...
...     @classmethod
...     def _add_argparse_args(cls, parser):
...         parser.add_argument("--colour", default="red")
>>> OptionGroup(["--colour=blue"]).view_as(Colours).colour
'blue'

:mod:`pipelines.graphs.beam_options` tells Beam of all groups.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from model.compositions import Choice
from model.options import Record

G = TypeVar("G", bound="OptionGroup")


class Options(Protocol):
    """The options of a command line: an :class:`OptionGroup`, or Beam's ``PipelineOptions``."""

    def view_as(self, group: type[Any]) -> Any:
        """Return these options as a group."""


class OptionGroup:
    """A group of options; its docstring is its title in the help.

    Without a group of its own it is the options of a program that runs no graph.

    Args:
        flags: the command line.

    Attributes:
        RECORDS: the records whose options the group declares.
        CHOICE: the choice whose options the group declares, or None.
    """

    RECORDS: ClassVar[tuple[type[Record], ...]] = ()
    CHOICE: ClassVar[Choice[Any] | None] = None

    def __init__(self, flags: Sequence[str] = ()) -> None:
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        self._add_argparse_args(parser)
        known, _ = parser.parse_known_args(list(flags))
        self._flags, self._visible_options = flags, known
        # All views of one command line share this dictionary.
        self._all_options: dict[str, Any] = vars(known).copy()

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        """Declare the options of the group."""

    def _visible_option_list(self) -> list[str]:
        return sorted(vars(self._visible_options))

    def view_as(self, group: type[G]) -> G:
        """Return these options as another group; all views share their values."""
        view = group(self._flags)
        for name, value in view._all_options.items():
            self._all_options.setdefault(name, value)
        view._all_options = self._all_options
        return view

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(self._visible_options, name):
            return self._all_options[name]
        raise AttributeError(f"{type(self).__name__} has no option {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        elif hasattr(self._visible_options, name):
            self._all_options[name] = value
        else:
            raise AttributeError(f"{type(self).__name__} has no option {name!r}")
