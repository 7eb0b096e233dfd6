"""The text of ``--help``: the options that matter, those of one choice, or all.

``--learner=infvoc --help`` shows the options of that learner, and no others. ``--births=on``
beside ``--help`` leaves out the options of other kinds. ``--help=all`` shows every option.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from beam_topics.model.settings.compositions import (
    Choice,
    Placement,
    check_placed,
    chosen,
    placements,
)
from beam_topics.model.settings.options import Option
from beam_topics.pipelines.cli.groups import Groups, described, options_of_choice
from beam_topics.pipelines.cli.values import choices

ALL = "all"
# A pipeline with so few options shows them all.
FEW = 20

Section = tuple[str, list[argparse.Action]]


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
        few = sum(len(group._group_actions) for group in parser._action_groups) <= FEW
        shown = every_section(parser, groups, every=given.help == ALL or few, required=required)
    for choice, found in asked if given.help != ALL else ():
        shown += [*_sections(choice, found), _shared(parser, choice, found)]
    return _formatted(parser, shown, given.help == ALL)


def every_section(
    parser: argparse.ArgumentParser,
    groups: Groups,
    every: bool = True,
    required: Collection[str] = (),
) -> list[Section]:
    """Return all options in sections, as ``--help=all`` shows them, or those that matter."""
    of_groups = (_of_group(group, groups, every, required) for group in parser._action_groups)
    return [section for sections in of_groups for section in sections]


def _of_group(
    group: argparse._ArgumentGroup, groups: Groups, every: bool, required: Collection[str]
) -> list[Section]:
    title = group.title or ""
    choice = next((one.choice for one in groups if one.title == title), None)
    if choice is None:
        marked = [
            _marked(one, [each.choice for each in groups])
            for one in group._group_actions
            if every or one.dest in required or getattr(one, "first", False)
        ]
        return [(title, marked)]
    own = {action.dest for action in group._group_actions}
    found = _sections(choice, {}) if every else _first(choice, title)
    return [(name, [one for one in actions if one.dest in own]) for name, actions in found]


def _given(choice: Choice[Any], given: argparse.Namespace) -> dict[str, str]:
    """Return the kinds that the command line chooses, without those that it does not name."""
    names = {item.name for item in options_of_choice(choice) if item.kinds is not None}
    found = {name: value for name in names if (value := getattr(given, name, None)) is not None}
    check_placed(choice, found)
    kinds = chosen(choice, found).kinds
    return {name: kinds[name] for name in (choice.name, *found)} if found else {}


def _first(choice: Choice[Any], title: str) -> list[Section]:
    kinds = chosen(choice, {}).kinds
    places = [
        place
        for place in placements(choice)
        if place.option.first and all(kinds[flag] == kind for flag, kind in place.path)
    ]
    return [
        (
            title,
            [
                _action(choice.option(), choice.default),
                *(_own_action([place]) for place in places),
            ],
        )
    ]


def _sections(choice: Choice[Any], given: Mapping[str, str]) -> list[Section]:
    """Return a section for all options that belong to the same choices."""
    alike: dict[tuple[str, str], list[Placement]] = {}
    for place in placements(choice):
        if all(given.get(flag, kind) == kind for flag, kind in place.path):
            alike.setdefault((place.option.name, described(place.option, brief=False)), []).append(
                place
            )
    found: dict[str, list[argparse.Action]] = {}
    for places in alike.values():
        found.setdefault(_title(choice, [place.path[-1] for place in places]), []).append(
            _own_action(places, brief=False)
        )
    return [("Choice", [_action(choice.option(), choice.default, brief=False)]), *found.items()]


def _shared(
    parser: argparse.ArgumentParser, choice: Choice[Any], given: Mapping[str, str]
) -> Section:
    """Return the options of other groups that the chosen kind reads, in the parser's order.

    A kind names them in ``shared`` (:mod:`beam_topics.pipelines.cli.groups`).
    """
    kind = given[choice.name]
    names = getattr(choice.kinds[kind], "shared", ())
    needed = getattr(choice.kinds[kind], "needed", ())
    actions = [
        _noted(action, "required") if action.dest in needed else action
        for action in parser._actions
        if action.dest in names
    ]
    return f"Also read with --{choice.name}={kind}", actions


def _title(choice: Choice[Any], pairs: Iterable[tuple[str, str]]) -> str:
    kinds: dict[str, dict[str, None]] = {}
    for flag, kind in pairs:
        kinds.setdefault(flag, {})[kind] = None
    if len(kinds.get(choice.name, ())) == len(choice.kinds):
        return f"Every {choice.name}"
    return "With " + ", or ".join(
        f"--{flag}={choices(tuple(names))}" for flag, names in kinds.items()
    )


def _own_action(places: list[Placement], brief: bool = True) -> argparse.Action:
    """Return the action of an option of some kinds; those that need it say so."""
    action = _action(places[0].option, brief=brief)
    needed = any(action.dest in getattr(place.owner, "needed", ()) for place in places)
    return _noted(action, "required") if needed else action


def _marked(action: argparse.Action, found: Iterable[Choice[Any] | None]) -> argparse.Action:
    """Return the action of a group's option with the kinds that need it."""
    kinds = {
        choice.name: [
            kind
            for kind, made in choice.kinds.items()
            if action.dest in getattr(made, "needed", ())
        ]
        for choice in filter(None, found)
    }
    needing = [f"--{name}={choices(some)}" for name, some in kinds.items() if some]
    return _noted(action, f"required with {' or '.join(needing)}") if needing else action


def noted(text: str, note: str) -> str:
    """Return a line of help with one more fact in the brackets at its end."""
    return f"{text[:-1]}; {note})" if text.endswith(")") else f"{text} ({note})"


def _noted(action: argparse.Action, note: str) -> argparse.Action:
    found = copy.copy(action)
    found.help = noted(action.help or "", note)
    return found


def _action(option: Option, default: str = "", brief: bool = True) -> argparse.Action:
    text = described(option, brief)
    text = noted(text, f"default: {default}") if default else text
    metavar, nargs = ("true", "?") if option.value_type is bool else ("X", None)
    return argparse.Action(
        [option.flag], option.name, nargs=nargs, help=text.replace("%", "%%"), metavar=metavar
    )


def _formatted(parser: argparse.ArgumentParser, sections: Iterable[Section], every: bool) -> str:
    formatter = parser._get_formatter()
    formatter.add_usage(parser.usage, [], [])
    formatter.add_text(parser.description)
    for title, actions in sections:
        if actions:
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
    formatter.add_text(parser.epilog)
    if not every:
        formatter.add_text("--help=all shows every option.")
    return formatter.format_help()
