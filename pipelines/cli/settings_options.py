"""Settings records as options of a command line: every option is declared once, in its record
(:mod:`model.options`).

argparse knows the names and the types. It knows no defaults, so what is not given is None, and
records see only what was given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions

from model.compositions import Choice, placements
from model.options import Option, Record, options_of
from pipelines.cli import values

_PARSERS: dict[type, Callable[[str], Any]] = {
    int: values.whole,
    float: values.number,
    str: str,
    tuple: str,
}
# Units that the command line writes in a form of their own.
_PARSERS_OF_UNITS: dict[str, Callable[[str], Any]] = {
    "microseconds": values.duration,
    "x": values.speed,
}


def add_choice(parser: argparse._ActionsContainer, choice: Choice[Any]) -> None:
    """Declare every option of every composition, each name once."""
    add_options(parser, [choice.option(), *(placement.option for placement in placements(choice))])


def add_options(parser: argparse._ActionsContainer, options: Iterable[Option]) -> None:
    """Declare options; of several of one name the first."""
    for option in {option.name: option for option in reversed(list(options))}.values():
        if option.value_type is bool:
            action = parser.add_argument(
                option.flag, action="store_true", default=None, help=described(option)
            )
        else:
            action = parser.add_argument(option.flag, type=_parser(option), help=described(option))
        # For the short help.
        action.first = option.first  # type: ignore[attr-defined]


def _parser(option: Option) -> Callable[[str], Any]:
    if option.kinds is not None:
        return str
    return _PARSERS_OF_UNITS.get(option.unit) or _PARSERS[option.value_type]


def described(option: Option, brief: bool = True) -> str:
    """The line of help: what it is, its unit, what is allowed, and the default; where it is not
    ``brief``, what each kind of a part is.
    """
    facts = []
    if option.unit and option.unit not in _PARSERS_OF_UNITS:
        facts.append(f"in {option.unit}")
    if option.kinds is not None:
        facts.append(
            values.choices(tuple(option.kinds)) if brief else "; ".join(_kinds(option.kinds))
        )
    elif option.values:
        facts.append(values.choices(tuple(map(str, option.values))))
    default = option.default.kind if isinstance(option.default, Record) else option.default
    if default is not False and default not in (None, "", ()):
        facts.append(
            "default:"
            f" {values.duration_text(default) if option.unit == 'microseconds' else default}"
        )
    return f"{option.help} ({'; '.join(facts)})" if facts else option.help


def _kinds(kinds: Mapping[str, type[Record]]) -> Iterator[str]:
    """The name of each kind, with the first line of its docstring."""
    for name, record in kinds.items():
        summary = (record.__doc__ or "").partition("\n")[0].rstrip(".")
        yield f"{name}: {summary[:1].lower()}{summary[1:]}"


def given_of(
    options: PipelineOptions, group: type[PipelineOptions], found: Iterable[Option]
) -> dict[str, Any]:
    """The options of a group that were given, by name."""
    view = options.view_as(group)
    names = dict.fromkeys(option.name for option in found)
    return {name: value for name in names if (value := getattr(view, name)) is not None}


def fields_given(
    options: PipelineOptions, group: type[PipelineOptions], record: type[Record]
) -> dict[str, Any]:
    """The options of a record that were given, by field."""
    given = given_of(options, group, options_of(record))
    return {
        option.field: given[option.name] for option in options_of(record) if option.name in given
    }
