"""Groups of options, settings records as options, and a command line, which is parsed once.

Every option is declared once, in its record (:mod:`beam_topics.model.settings.options`). argparse
has the names and the types, and no defaults: an option that is not given is None, and records get
only what is given (:func:`settings_of`). Nothing here imports Beam, which takes seconds: a command
line is checked, and its help printed, before that.

>>> from beam_topics.model.publishing.settings import VersionSettings
>>> parsed(["--model_key=news"], [OptionGroup("Which model", VersionSettings)]).model_key
'news'

An option that belongs to one kind of a choice alone is a field of its record, and
:mod:`beam_topics.model.settings.compositions` refuses it with another kind. An option that
several kinds read, or that other pipelines have, for example ``--input``, is in a group of its own.
The records name it in ``shared``, and :func:`settings_of_choice` refuses it with a kind that does
not.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from beam_topics.model.errors import BeamTopicsError, OptionError
from beam_topics.model.publishing.settings import Keep, Publication
from beam_topics.model.settings.compositions import Choice, compose, placements
from beam_topics.model.settings.options import Option, Record, options_of, plain_options
from beam_topics.pipelines.cli import values

_CHOICE = re.compile(r"(\S+): invalid choice: (.*) \(choose from (.*)\)")
_NO_NUMBER = re.compile(r"(\S+): invalid (\S+) value: (.*)")
_NO_VALUE = re.compile(r"(\S+): expected one argument")
_PARSERS: dict[type, Callable[[str], Any]] = {
    int: values.whole,
    float: values.number,
    str: str,
    Publication: values.publication,
    Keep: values.keep,
}
# Units that the command line writes in a form of their own.
_PARSERS_OF_UNITS: dict[str, Callable[[str], Any]] = {
    "microseconds": values.duration,
    "x": values.speed,
    "bytes": values.megabytes,
}
# What a tuple holds; without it, the option names a file.
_PARSERS_OF_LISTS: dict[str, Callable[[str], Any]] = {
    "numbers": values.numbers,
    "paths": values.patterns,
    "durations": values.durations,
    "names": values.names,
    "words": values.words,
    "topics": values.topics,
}
R = TypeVar("R", bound=Record)


class UsageError(BeamTopicsError):
    """A command line that cannot be used as it is."""


class Options(argparse.Namespace):
    """The options of a program by name; an option that is not given has its default, or None.

    Attributes:
        argv: the command line, of options only.
        line: the command line as the user gave it.
        beam: Beam's ``PipelineOptions`` of the same command line; None where no graph runs.
        ended: keeps the options of a run that succeeded, and says what can follow.
    """

    argv: Sequence[str] = ()
    line: Sequence[str] = ()
    beam: Any = None
    ended: Callable[[], None]

    def get(self, name: str) -> Any:
        """Return the value of an option; None where it is not given, or is not the program's."""
        return vars(self).get(name)

    def given(self, names: Iterable[str]) -> dict[str, Any]:
        """Return those of some options that are given, by name."""
        return {name: value for name in names if (value := self.get(name)) is not None}


class OptionGroup:
    """A group of options: those of records, and those of a choice.

    Args:
        title: the title in the help.
        records: the records.
        choice: a choice, with the options of its kinds.
        only: a choice without the options of its kinds.
        within: a choice whose kinds' options the group has, and the choice itself another one.
    """

    def __init__(
        self,
        title: str,
        *records: type[Record],
        choice: Choice[Any] | None = None,
        only: Choice[Any] | None = None,
        within: Choice[Any] | None = None,
    ) -> None:
        self.title, self.records, self.choice = title, records, choice or within
        self._named = choice or only

    def options(self) -> dict[str, Option]:
        """Return the options by name, each as it is first declared.

        Raises:
            TypeError: the command line would parse the values of two options with one name in
                different ways.
        """
        found = [item for record in self.records for item in plain_options(record)]
        if self._named is not None:
            found.append(self._named.option())
        # Only here, because a kind may be registered after the group is made.
        if self.choice is not None:
            found += [place.option for place in placements(self.choice)]
        declared: dict[str, Option] = {}
        for option in found:
            first = declared.setdefault(option.name, option)
            if first is not option and _form(option) != _form(first):
                raise TypeError(
                    f"{option.flag} is declared with {_form(first)} and with {_form(option)}."
                    " Options of one name have one type and one unit. Rename one of them."
                )
        return declared

    def add(self, parser: argparse._ActionsContainer) -> None:
        """Declare the options in their order, but for a shared one that the parser has."""
        for option in self.options().values():
            if option.shared and option.flag in parser._option_string_actions:
                continue
            parser.add_argument(option.flag, **_parsing(option))


Groups = Sequence[OptionGroup]


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
    """Return the options of some groups on a command line; others are passed over."""
    parser = Parser(add_help=False, allow_abbrev=False)
    for group in groups:
        group.add(parser)
    return parser.parse_known_args(list(flags), Options())[0]


def values_in(flags: Sequence[str]) -> dict[str, str]:
    """Return the texts of the options of a command line, by name; "" for one without a value."""
    pairs = (one.removeprefix("--").partition("=") for one in flags)
    return {name: value for name, _, value in pairs}


def names_of(groups: Groups) -> tuple[str, ...]:
    """Return the names of the options of some groups, in their order."""
    return tuple(dict.fromkeys(name for group in groups for name in group.options()))


def settings_of(options: Options, record: type[R]) -> R:
    """Make a record of the options that are given."""
    parts = {item.field: item.value_type for item in options_of(record) if item.nested}
    nested = {name: settings_of(options, part) for name, part in parts.items()}  # type: ignore[type-var]
    return record(**nested, **fields_given(options, record))


def check_settings(options: Options, groups: Groups) -> None:
    """Check the records that the groups declare, but for those with a file of words."""
    for group in groups:
        for record in group.records:
            if not any(item.file for item in plain_options(record)):
                settings_of(options, record)


def _form(option: Option) -> str:
    """Return how the values of an option are written."""
    if option.kinds is not None:
        return "names of kinds"
    form = f"values of type {option.value_type.__name__}"
    form += f" or {option.word}" if option.word else ""
    written = _PARSERS_OF_LISTS if option.value_type is tuple else _PARSERS_OF_UNITS
    return f"{form} in {option.unit}" if option.unit in written else form


def _parsing(option: Option) -> dict[str, Any]:
    """Return how argparse parses the values of an option."""
    if option.value_type is bool:
        return {"type": values.switch, "nargs": "?", "const": True}
    if option.kinds is not None:
        return {"type": str}
    if option.value_type is tuple:
        how = {"action": "append"} if option.unit == "texts" else {}
        return {"type": _PARSERS_OF_LISTS.get(option.unit, str), **how}
    parser = _PARSERS_OF_UNITS.get(option.unit) or _PARSERS[option.value_type]
    return {"type": values.or_word(parser, option.word) if option.word else parser}


def described(option: Option, brief: bool = True) -> str:
    """Return the line of help: the description, the unit, the allowed values and the default."""
    facts = []
    if option.unit and option.unit not in _PARSERS_OF_UNITS and option.value_type is not tuple:
        facts.append(f"in {option.unit}")
    if option.kinds is not None:
        facts.append(
            values.choices(tuple(option.kinds)) if brief else "; ".join(_kinds(option.kinds))
        )
    elif option.values:
        facts.append(values.choices(tuple(map(str, option.values))))
    default = option.default.kind if isinstance(option.default, Record) else option.default
    if default is not False and default not in (None, "", ()):
        facts.append(f"default: {option.shown(default)}")
    return f"{option.help} ({'; '.join(facts)})" if facts else option.help


def _kinds(kinds: Mapping[str, type[Record]]) -> Iterator[str]:
    """Iterate over the kinds: the name of each, with the summary of its docstring."""
    for name, record in kinds.items():
        summary = (record.__doc__ or "").partition("\n")[0].rstrip(".")
        yield f"{name}: {summary[:1].lower()}{summary[1:]}"


def fields_given(options: Options, record: type[Record]) -> dict[str, Any]:
    """Return the options of a record that are given, by field."""
    given = {item.field: options.get(item.name) for item in options_of(record) if not item.nested}
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    return {name: value for name, value in (given | lists).items() if value is not None}


def options_of_choice(choice: Choice[Any]) -> list[Option]:
    """Return the option of a choice, and those of its kinds."""
    return [choice.option(), *(placement.option for placement in placements(choice))]


def settings_of_choice(
    options: Options,
    choice: Choice[R],
    elsewhere: Collection[str] = (),
) -> R:
    """Make the settings of a choice, whose kinds have ``shared`` and ``needed``, from options.

    ``elsewhere`` has shared options that another choice of the same command line reads.

    Raises:
        UsageError: an option that the chosen kind needs is missing.
        OptionError: an option has no effect with the chosen kind, or has a wrong value.
    """
    made = compose(choice, options.given(item.name for item in options_of_choice(choice)))
    _check_shared(options, choice, made, elsewhere)
    return made


def _check_shared(
    options: Options, choice: Choice[Any], made: Any, elsewhere: Collection[str]
) -> None:
    kinds: Mapping[str, Any] = choice.kinds
    shared = dict.fromkeys(name for kind in kinds.values() for name in kind.shared)
    given = options.given([*made.needed, *shared])
    for name, example in made.needed.items():
        if given.get(name) in (None, "", []):
            raise UsageError(
                f"--{name} is missing. --{choice.name}={made.kind} needs it, for example"
                f" --{name}={example}."
            )
    for name in shared:
        if name in given and name not in made.shared and name not in elsewhere:
            able = [kind for kind, record in kinds.items() if name in record.shared]
            others = " or ".join(f"--{choice.name}={kind}" for kind in able)
            raise OptionError(
                f"--{name}",
                given[name],
                f"nothing with --{choice.name}={made.kind}",
                f"Leave it out, or choose {others}.",
            )
