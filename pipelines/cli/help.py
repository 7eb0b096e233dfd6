"""The text of ``--help``: the options that matter, those of one choice, or all.

``--learner=infvoc --help`` shows the options of that learner, and no others. ``--births=on``
with ``--help`` leaves out the options of other kinds. ``--help=all`` shows every option.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from beam_topics.model.settings.compositions import (
    Choice,
    Placement,
    check_placed,
    chosen,
    placements,
)
from beam_topics.model.settings.options import Option
from beam_topics.pipelines.cli.groups import Groups, OptionGroup, described, options_of_choice
from beam_topics.pipelines.cli.values import choices

ALL = "all"
# A pipeline with so few options shows them all.
FEW = 18

# An option, and what is said of it.
Line = tuple[Option, str]
Section = tuple[str, list[Line]]


def help_text(
    parser: argparse.ArgumentParser,
    groups: Groups,
    given: argparse.Namespace,
    required: Collection[str],
) -> str:
    """Return the help that the command line asks for."""
    asked = [
        (choice, found)
        for group in groups
        if (choice := group.choice) is not None and (found := _given(choice, given))
    ]
    shown: list[Section] = []
    if given.help == ALL or not asked:
        few = sum(len(options) for _, options in _own(groups)) <= FEW
        shown = every_section(groups, required, every=given.help == ALL or few)
    for choice, found in asked if given.help != ALL else ():
        shown += [*_sections(choice, found), _shared(groups, choice, found, required)]
    return _formatted(parser, shown, given.help == ALL)


def every_section(groups: Groups, required: Collection[str], every: bool = True) -> list[Section]:
    """Return all options in sections, as ``--help=all`` shows them, or those that matter."""
    found: list[Section] = []
    for group, options in _own(groups):
        if group.choice is not None:
            sections = _sections(group.choice, {}) if every else _first(group.choice, group.title)
            found += [
                (name, [o for o in lines if o[0].name in options]) for name, lines in sections
            ]
            continue
        wanted = [o for o in options.values() if every or o.name in required or o.first]
        found.append((group.title, [(one, _marked(one, groups, required)) for one in wanted]))
    return found


def _own(groups: Groups) -> Iterator[tuple[OptionGroup, dict[str, Option]]]:
    """Yield the groups with their options, each option once."""
    seen: set[str] = set()
    for group in groups:
        found = {name: item for name, item in group.options().items() if name not in seen}
        seen |= found.keys()
        yield group, found


def _given(choice: Choice[Any], given: argparse.Namespace) -> dict[str, str]:
    """Return the kinds that the command line chooses, without those that it does not name."""
    names = {item.name for item in options_of_choice(choice) if item.kinds is not None}
    found = {name: value for name in names if (value := getattr(given, name, None)) is not None}
    check_placed(choice, found)
    kinds = chosen(choice, found).kinds
    return {name: kinds[name] for name in (choice.name, *found)} if found else {}


def _first(choice: Choice[Any], title: str) -> list[Section]:
    kinds = chosen(choice, {}).kinds
    own = [
        (place.option, _said([place]))
        for place in placements(choice)
        if place.option.first and all(kinds[flag] == kind for flag, kind in place.path)
    ]
    return [(title, [_of_choice(choice), *own])]


def _sections(choice: Choice[Any], given: Mapping[str, str]) -> list[Section]:
    """Return a section for all options that belong to the same choices."""
    alike: dict[tuple[str, str], list[Placement]] = {}
    for place in placements(choice):
        if all(given.get(flag, kind) == kind for flag, kind in place.path):
            alike.setdefault((place.option.name, described(place.option, brief=False)), []).append(
                place
            )
    found: dict[str, list[Line]] = {}
    for places in alike.values():
        title = _title(choice, [place.path[-1] for place in places])
        found.setdefault(title, []).append((places[0].option, _said(places, brief=False)))
    return [("Choice", [_of_choice(choice, brief=False)]), *found.items()]


def _shared(
    groups: Groups, choice: Choice[Any], given: Mapping[str, str], required: Collection[str]
) -> Section:
    """Return the options of other groups that the chosen kind reads, in their order.

    A kind names them in ``shared`` (:mod:`beam_topics.pipelines.cli.groups`).
    """
    kind = given[choice.name]
    names = getattr(choice.kinds[kind], "shared", ())
    required = {*required, *getattr(choice.kinds[kind], "needed", ())}
    options = (one for _, own in _own(groups) for one in own.values() if one.name in names)
    return f"Also read with --{choice.name}={kind}", [
        (one, noted(described(one), "required" * (one.name in required))) for one in options
    ]


def _title(choice: Choice[Any], pairs: Iterable[tuple[str, str]]) -> str:
    kinds: dict[str, dict[str, None]] = {}
    for flag, kind in pairs:
        kinds.setdefault(flag, {})[kind] = None
    if len(kinds.get(choice.name, ())) == len(choice.kinds):
        return f"Every {choice.name}"
    return "With " + ", or ".join(
        f"--{flag}={choices(tuple(names))}" for flag, names in kinds.items()
    )


def _said(places: list[Placement], brief: bool = True) -> str:
    """Return what is said of an option of some kinds; those that need it say so."""
    option = places[0].option
    needed = any(option.name in getattr(place.owner, "needed", ()) for place in places)
    return noted(described(option, brief), "required" * needed)


def _of_choice(choice: Choice[Any], brief: bool = True) -> Line:
    option = choice.option()
    return option, noted(described(option, brief), f"default: {choice.default}")


def _marked(option: Option, groups: Groups, required: Collection[str]) -> str:
    """Return what is said of a group's option, with the kinds that need it."""
    needing = []
    for choice in filter(None, (group.choice for group in groups)):
        able = [n for n, kind in choice.kinds.items() if option.name in getattr(kind, "needed", ())]
        if able:
            needing.append(f"--{choice.name}={choices(able)}")
    said = noted(described(option), "required" * (option.name in required))
    return noted(said, f"required with {' or '.join(needing)}" if needing else "")


def noted(text: str, note: str) -> str:
    """Return a line of help with one more fact, if there is one, in the brackets at its end."""
    if not note:
        return text
    return f"{text[:-1]}; {note})" if text.endswith(")") else f"{text} ({note})"


def _formatted(parser: argparse.ArgumentParser, sections: Iterable[Section], every: bool) -> str:
    formatter = parser._get_formatter()
    formatter.add_usage(parser.usage, [], [])
    formatter.add_text(parser.description)
    for title, lines in sections:
        if lines:
            formatter.start_section(title)
            formatter.add_arguments([_action(*line) for line in lines])
            formatter.end_section()
    formatter.add_text(parser.epilog)
    if not every:
        formatter.add_text("--help=all shows every option.")
    return formatter.format_help()


def _action(option: Option, text: str) -> argparse.Action:
    metavar, nargs = ("true", "?") if option.value_type is bool else ("X", None)
    return argparse.Action(
        [option.flag], option.name, nargs=nargs, help=text.replace("%", "%%"), metavar=metavar
    )
