"""Compositions: settings made of options that are given by name, as on a command line.

A composition begins with a :class:`Choice`, for example ``--learner``. The chosen record has
options, and parts whose kinds are chosen by options of their own, for example ``--schedule``. An
option that is given and is not part of what is chosen would have no effect, so it is refused, and
the message says where it belongs:

>>> from beam_topics.model.learners import LEARNER
>>> compose(LEARNER, {"learner": "o-lda", "topics": 7}).topics
7
>>> compose(LEARNER, {"sweeps": 9})
Traceback (most recent call last): model.errors.MisplacedOptionError: --sweeps=9 belongs to
--schedule=archive; --schedule=stream is chosen. Leave it out, or give --schedule=archive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from beam_topics.model.errors import MisplacedOptionError, one_of
from beam_topics.model.settings.options import Option, Record, options_of

R = TypeVar("R", bound=Record)

Path = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Choice(Generic[R]):
    """The option that a composition begins with.

    Attributes:
        name: the name of the option.
        help: one line.
        kinds: the records, by the value of the option.
        default: the name of a kind.
    """

    name: str
    help: str
    kinds: Mapping[str, type[R]]
    default: str

    def option(self) -> Option:
        """Return the choice as an option."""
        return Option(self.help, name=self.name, kinds=self.kinds, first=True)


@dataclass(frozen=True)
class Placement:
    """An option, and the choices that lead to it.

    Attributes:
        option: the option.
        path: (option, kind) pairs, the outermost first.
        owner: the record that has the option as a field.
    """

    option: Option
    path: Path
    owner: type[Record]


@dataclass
class Chosen:
    """What is chosen.

    Attributes:
        kinds: the chosen kind, by the name of the option that chooses it.
        options: all options that belong to what is chosen, by name.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    options: dict[str, Option] = field(default_factory=dict)


def placements(choice: Choice[Any]) -> Iterator[Placement]:
    """Iterate over every option of every composition.

    An option that several records have comes several times.
    """
    for kind, record in choice.kinds.items():
        yield from _placements(record, ((choice.name, kind),))


def _placements(record: type[Record], path: Path) -> Iterator[Placement]:
    for item in options_of(record):
        yield Placement(item, path, record)
        for kind, inner in (item.kinds or {}).items():
            yield from _placements(inner, (*path, (item.name, kind)))


def chosen(choice: Choice[Any], given: Mapping[str, Any]) -> Chosen:
    """Return what options choose.

    Raises:
        OptionError: there is no such kind.
    """
    found = Chosen()
    _choose(choice, choice.option(), default=choice.default, start=None, given=given, found=found)
    return found


def _choose(
    choice: Choice[Any],
    item: Option,
    *,
    default: str,
    start: Record | None,
    given: Mapping[str, Any],
    found: Chosen,
) -> None:
    kinds = item.kinds or {}
    kind = given.get(item.name, default)
    if kind not in kinds:
        ways = [
            place.path
            for place in placements(choice)
            if place.option.name == item.name and kind in (place.option.kinds or ())
        ]
        if ways:
            raise _misplaced(choice, item.name, kind, ways, found)
        one_of(item.flag, kind, tuple(kinds))
    found.kinds[item.name], found.options[item.name] = kind, item
    for inner in options_of(kinds[kind]):
        found.options[inner.name] = inner
        if inner.kinds is not None:
            begin = _start(start, kinds[kind], inner)
            _choose(choice, inner, default=begin.kind, start=begin, given=given, found=found)


def _start(start: Record | None, record: type[Record], item: Option) -> Any:
    """Return where a field begins.

    This is the value of a default record of the same kind, or the default of the field.
    """
    return getattr(start, item.field) if type(start) is record else item.default


def check_placed(choice: Choice[Any], given: Mapping[str, Any]) -> None:
    """Refuse an option that is not part of what is chosen.

    Raises:
        MisplacedOptionError: there is such an option.
    """
    found = chosen(choice, given)
    for name, value in given.items():
        if name not in found.options:
            raise misplaced(choice, name, value, found)


def misplaced(choice: Choice[Any], name: str, value: Any, found: Chosen) -> MisplacedOptionError:
    """Return the error for an option that belongs to another choice."""
    places = [place for place in placements(choice) if place.option.name == name]
    if not places:
        flag = next(iter(found.kinds))
        text = f"--{name} is no option of any --{flag}. Correct the spelling, or leave it out."
        return MisplacedOptionError(f"--{name}", text)
    able = [place for place in places if place.option.kinds is None or value in place.option.kinds]
    value = places[0].option.shown(value)
    return _misplaced(choice, name, value, [place.path for place in able or places], found)


def _misplaced(
    choice: Choice[Any], name: str, value: Any, ways: list[Path], found: Chosen
) -> MisplacedOptionError:
    # On each way the first choice that was made otherwise; of several ways the one that goes
    # farthest.
    unmet = [
        next(at for at, (flag, kind) in enumerate(way) if found.kinds.get(flag) != kind)
        for way in ways
    ]
    farthest = max(unmet)
    nearest = [way for way, at in zip(ways, unmet, strict=True) if at == farthest]
    flag = nearest[0][farthest][0]
    kinds = dict.fromkeys(way[farthest][1] for way in nearest if way[farthest][0] == flag)
    needed = " ".join(_needed(choice, nearest[0][farthest:]))
    return MisplacedOptionError(
        f"--{name}",
        f"{_shown(name, value)} belongs to --{flag}={_or(list(kinds))};"
        f" --{flag}={found.kinds[flag]} is chosen. Leave it out, or give {needed}.",
    )


def _needed(choice: Choice[Any], way: Path) -> list[str]:
    """Return the choices of a path that are not made by default."""
    options = [place.option for place in placements(choice)]
    defaults = {item.name: item.default.kind for item in options if item.kinds is not None}
    return [
        f"--{flag}={kind}"
        for at, (flag, kind) in enumerate(way)
        if at == 0 or defaults.get(flag) != kind
    ]


def _shown(name: str, value: Any) -> str:
    if isinstance(value, tuple):
        value = f"({len(value)} words)"
    return f"--{name}" if value is True else f"--{name}={value}"


def _or(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def compose(
    choice: Choice[R], given: Mapping[str, Any], common: Mapping[str, Any] = MappingProxyType({})
) -> R:
    """Make settings of options by name; options that are not given have their defaults.

    Args:
        choice: what the composition begins with.
        given: options that must belong to what is chosen.
        common: options for several compositions at once; they are used where they belong, and left
            out elsewhere.

    Raises:
        OptionError: an option is not part of what is chosen, would have no effect, or has a value
            that is not allowed.
    """
    values = _with_common(choice, given, common)
    check_placed(choice, values)
    return cast(R, _compose(choice.option(), choice.default, None, values, given))


def _with_common(
    choice: Choice[Any], given: Mapping[str, Any], common: Mapping[str, Any]
) -> dict[str, Any]:
    """Add the common options that belong to what is chosen.

    Choices come first, the outer ones before the inner ones, because each decides which options
    exist.
    """
    given = dict(given)
    while True:
        options = chosen(choice, given).options
        rest = {name: value for name, value in common.items() if name not in given}
        choices = (name for name in options if name in rest and options[name].kinds is not None)
        able = (name for name in choices if rest[name] in (options[name].kinds or {}))
        if (name := next(able, None)) is None:
            break
        given[name] = rest[name]
    plain = {name: rest[name] for name in rest if name in options and options[name].kinds is None}
    return {**plain, **given}


def _compose(
    item: Option,
    default: str,
    start: Record | None,
    given: Mapping[str, Any],
    has_effect: Collection[str],
) -> Record:
    """Make the record of an option; the options in ``has_effect`` must have an effect."""
    record, values = (item.kinds or {})[given.get(item.name, default)], {}
    implied = record.implied(given)
    for inner in options_of(record):
        begin = _start(start, record, inner)
        if inner.kinds is not None:
            values[inner.field] = _compose(inner, begin.kind, begin, given, has_effect)
        else:
            values[inner.field] = given.get(inner.name, implied.get(inner.name, begin))
    made = record(**values)
    for name, (holds, condition) in made.conditions().items():
        if name in has_effect and not holds:
            effect = f"{_shown(name, given[name])} has an effect only where {condition}."
            raise MisplacedOptionError(f"--{name}", f"{effect} Leave it out.")
    return made
