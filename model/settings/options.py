"""Options: the fields of settings, each with its name, bounds, default and help in one place.

Settings are frozen dataclasses that derive from :class:`Record`. :func:`option` declares a field
with a plain value, and :func:`part` one with settings of its own, of which there are several kinds:

>>> from dataclasses import dataclass
>>> class Colour(Record):
...     '''How a shape is filled.'''
>>> @dataclass(frozen=True)
... class Plain(Colour):
...     kind = "plain"
...     grey: float = option(0.5, "share of black", least=0, most=1)
>>> @dataclass(frozen=True)
... class Striped(Colour):
...     kind = "striped"
>>> @dataclass(frozen=True)
... class Square(Record):
...     side: int = option(1, "length of a side", unit="pixels", least=1)
...     colour: Colour = part(Plain(), "what fills it", Kinds(Plain, Striped))
>>> Square(colour=Striped()).canonical()
'{"colour":{"kind":"striped"},"side":1}'
>>> Square.from_json({"side": 3, "colour": {"kind": "plain", "grey": 0.25}})
Square(side=3, colour=Plain(grey=0.25))
>>> Square(side=0)
Traceback (most recent call last):
model.errors.OptionError: --side: 0 was given; allowed is 1 or more. Correct the value.

:class:`Kinds` is a registry of the kinds of a part. :class:`Implementations` finds the object that
works with a record, and imports its module when it is first asked for. So a program that only lists
options imports no kernels. :mod:`beam_topics.model.settings.compositions` makes settings of options
that are given by name, as on a command line.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from beam_topics.model.errors import DamagedDataError, OptionError, one_of
from beam_topics.model.times import duration_text

MEGABYTE = 2**20
_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*(?:,|\Z)')


def names_in(text: str) -> list[str]:
    """Return names that have commas between them; one with a comma is in quotes, as in CSV.

    >>> names_in('title, "Comment, free text"')
    ['title', 'Comment, free text']
    """
    found = (quoted.replace('""', '"') or bare for quoted, bare in _NAME.findall(text))
    return list(filter(None, found))


def names_text(names: Iterable[str]) -> str:
    """Return names as :func:`names_in` reads them."""
    quoted = ((name, '"{}"'.format(name.replace('"', '""'))) for name in names)
    return ",".join(name if names_in(name) == [name] else other for name, other in quoted)


R = TypeVar("R", bound="Record")
V = TypeVar("V")
T = TypeVar("T")

# What stands for "no value", where None is one.
MISSING: Any = object()
_NAMES = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    tuple: "words",
}


@dataclass(frozen=True)
class Option:
    """The declaration of an option.

    Attributes:
        help: one line.
        name: the name on the command line, without dashes; by default the name of the field.
        unit: the unit of a number, for example ``documents``; what a tuple holds, for example
            ``paths``. An empty tuple of ``durations`` stands for ``auto``.
        least: the lowest allowed number.
        most: the highest allowed number.
        above: numbers must be above this one.
        below: numbers must be below this one.
        usual: usual values, for messages.
        remedy: what to do about a value that is not allowed.
        word: a word that is allowed as well as numbers.
        first: whether the short help shows the option.
        shared: whether records of several groups have the option.
        kinds: the kinds of a part.
        file: for words, ``lines`` where the command line takes a file with one word a line,
            ``text`` where the tokeniser finds the words of the file, ``seeds`` for a YAML file.
        absent: the value that stored settings without this field have. An option that is added
            after a release declares it.
        field: the name of the field; :func:`options_of` fills in this attribute and the next three.
        value_type: the type of the field.
        values: the allowed values of a ``Literal``.
        default: the default of the field.
    """

    help: str
    name: str = ""
    unit: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    usual: str = ""
    remedy: str = ""
    word: str = ""
    first: bool = False
    shared: bool = False
    kinds: Mapping[str, type[Record]] | None = None
    file: Literal["", "lines", "text", "seeds"] = ""
    absent: Any = MISSING
    field: str = ""
    value_type: type = NoneType
    values: tuple[Any, ...] = ()
    default: Any = None

    @property
    def nested(self) -> bool:
        """Whether the field is a record of one kind, with options of its own."""
        return self.kinds is None and issubclass(self.value_type, Record)

    @property
    def flag(self) -> str:
        """The option as users write it."""
        return f"--{self.name}"

    def shown(self, value: Any) -> Any:
        """Return a value as users write it: a length of time with its units, a list with commas."""
        if self.unit == "microseconds" and value:
            return duration_text(value)
        if self.unit == "bytes" and value:
            return f"{value / MEGABYTE:g}"
        if self.unit == "durations":
            return ",".join(duration_text(one) or "none" for one in value) or "auto"
        if self.value_type is tuple and value and not self.file:
            return ",".join(f"{one:g}" if isinstance(one, float) else str(one) for one in value)
        return value

    def allowed(self) -> str:
        """Return what is allowed, as a phrase."""
        if self.values:
            return "one of " + ", ".join(map(str, self.values))
        if self.above is not None and self.below is not None:
            return f"a number between {self.above:g} and {self.below:g}"
        if self.above is not None and self.most is not None:
            return f"a number above {self.above:g} and at most {self.most:g}"
        if self.above is not None:
            several = self.value_type is tuple
            return f"{'one or more numbers' if several else 'a finite number'} above {self.above:g}"
        if self.most is not None:
            return f"a number from {self.least:g} to {self.most:g}"
        if self.below is not None:
            return f"a number from {self.least:g} to below {self.below:g}"
        if self.least is not None:
            return f"{self.least:g} or more"
        if self.unit == "durations":
            return "one or more lengths of time, none, or auto"
        return _NAMES.get(self.value_type, f"a {self.value_type.__name__}")

    def check(self, value: Any) -> None:
        """Refuse a value that is not allowed. Raises OptionError."""
        if not (self._fits(value) or (self.word and value == self.word)):
            usual = f"Usual values lie between {self.usual}." if self.usual else ""
            correct = "Correct the spelling." if self.values else "Correct the value."
            allowed = f"{self.allowed()}, or {self.word}" if self.word else self.allowed()
            raise OptionError(self.flag, value, allowed, self.remedy or usual or correct)

    def _fits(self, value: Any) -> bool:
        if self.values:
            return value in self.values
        if self.value_type is not bool and isinstance(value, bool):
            return False
        if not isinstance(value, (int, float) if self.value_type is float else self.value_type):
            return False
        if self.unit == "durations" and isinstance(value, tuple):
            return all(type(one) is int and one >= 0 for one in value)
        if isinstance(value, tuple) and self.above is not None:
            return bool(value) and all(self._within(one) for one in value)
        return not isinstance(value, int | float) or self._within(value)

    def _within(self, value: float) -> bool:
        """Return whether a number is finite and within the bounds."""
        lower = self.least is None or value >= self.least
        upper = self.most is None or value <= self.most
        strictly = (self.above is None or value > self.above) and (
            self.below is None or value < self.below
        )
        return lower and upper and strictly and abs(value) < float("inf")


def option(default: Any, help: str, **facts: Any) -> Any:
    """Declare a field of a :class:`Record` with a plain value; ``facts`` are those of Option."""
    return dataclasses.field(
        default=default, metadata={"option": Option(help, **facts)}, repr=not facts.get("file")
    )


def part(default: Record, help: str, kinds: Mapping[str, type[Record]], **facts: Any) -> Any:
    """Declare a field of a :class:`Record` with settings of one of several kinds."""
    return dataclasses.field(
        default=default, metadata={"option": Option(help, kinds=kinds, **facts)}
    )


def time_zone(**facts: Any) -> Any:
    """Declare ``--time_zone``, which the settings of reading and of windows have both."""
    about = "the zone of times that name none, and of the midnights at which windows of days end"
    return option("UTC", about, shared=True, **facts)


def nested(default: Record) -> Any:
    """Declare a field of a :class:`Record` with settings of one kind, which are options, too."""
    return dataclasses.field(default=default, metadata={"option": Option("")})


_OPTIONS: dict[type, tuple[Option, ...]] = {}


def options_of(record: type[Record]) -> tuple[Option, ...]:
    """Return the options of a record, in the order of its fields."""
    if record not in _OPTIONS:
        hints = get_type_hints(record)
        found = dataclasses.fields(record)  # type: ignore[arg-type]
        _OPTIONS[record] = tuple(_completed(item, hints[item.name]) for item in found)
    return _OPTIONS[record]


def plain_options(record: type[Record]) -> Iterator[Option]:
    """Iterate over the options of a record and of the records that are nested in it."""
    for item in options_of(record):
        if item.nested:
            yield from plain_options(item.value_type)
        else:
            yield item


def _completed(item: dataclasses.Field[Any], hint: Any) -> Option:
    found: Option = item.metadata["option"]
    named = dataclasses.replace(
        found, name=found.name or item.name, field=item.name, default=item.default
    )
    if found.kinds is not None:
        return named
    plain = (
        next((kind for kind in get_args(hint) if kind is not NoneType), hint)
        if NoneType in get_args(hint) or found.word
        else hint
    )
    values = get_args(plain) if get_origin(plain) is Literal else found.values
    kind = type(values[0]) if values else get_origin(plain) or plain
    return dataclasses.replace(named, value_type=kind, values=values)


class Record:
    """The base of all settings.

    Subclasses are frozen dataclasses. All of their fields are options, parts or nested records.

    Attributes:
        kind: the name that tells a record from the others of its kinds; "" where there are no
            others.
    """

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for item in options_of(type(self)):
            value = getattr(self, item.field)
            if item.kinds is not None:
                if not isinstance(value, Record) or item.kinds.get(value.kind) is not type(value):
                    one_of(item.flag, getattr(value, "kind", repr(value)), tuple(item.kinds))
            elif value is not None or item.default is not None:
                item.check(value)
                if item.value_type is float and value != item.word:
                    # 1 and 1.0 are one value, and have to have one spelling.
                    object.__setattr__(self, item.field, float(value))
        self.check()

    def check(self) -> None:
        """Refuse fields that contradict each other. Raises OptionError."""

    @classmethod
    def implied(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the defaults that options have because others are given, by name."""
        return {}

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        """Return the conditions on which options have an effect.

        Returns:
            For names of options of this record or of its parts: whether the condition holds, and
            the condition in words. An option without a condition always has an effect.
        """
        return {}

    def to_json(self, brief: bool = False) -> dict[str, Any]:
        """Return a dictionary for JSON, without fields that have their ``absent`` value.

        Args:
            brief: write lists of words as their size and digest.
        """
        # Imported here and below, because options are listed without NumPy.
        from beam_topics.model.stored import wire

        values: dict[str, Any] = {"kind": self.kind} if self.kind else {}
        for item in options_of(type(self)):
            value = getattr(self, item.field)
            if value == item.absent:
                continue
            if isinstance(value, Record):
                value = value.to_json(brief)
            elif isinstance(value, tuple):
                value = wire.brief(value) if brief else list(value)
            values[item.field] = value
        return values

    def flags(self, path: str) -> dict[str, Option]:
        """Return the option of each field of :meth:`to_json`, by the path of the field."""
        found: dict[str, Option] = {}
        for item in options_of(type(self)):
            at, has_kinds = f"{path}.{item.field}", item.kinds is not None
            if not item.nested:
                found[f"{at}.kind" if has_kinds else at] = item
            if item.nested or has_kinds:
                found |= getattr(self, item.field).flags(at)
        return found

    def canonical(self) -> str:
        """Return JSON with one spelling for equal settings."""
        return self._canonical

    @cached_property
    def _canonical(self) -> str:
        from beam_topics.model.stored import wire

        return wire.canonical_json(self.to_json())

    @classmethod
    def from_json(cls, values: Any, where: str = "") -> Self:
        """Return settings from the result of :meth:`to_json`.

        Args:
            values: parsed JSON.
            where: the path to it, for messages.

        Raises:
            DamagedDataError: a field is missing, is unknown, or has a value that is not allowed.
        """
        where = where or cls.__name__
        found = {item.field: item for item in options_of(cls)}
        if not isinstance(values, dict):
            raise DamagedDataError(f"{where}: settings are a JSON object, not {values!r:.80}")
        if values.get("kind", "") != cls.kind:
            raise DamagedDataError(
                f"{where}: these are settings of kind {values.get('kind')!r:.80}, not {cls.kind!r}"
            )
        for name in sorted(set(values) - set(found) - {"kind"}):
            raise DamagedDataError(
                f"{where}.{name} is not known here. Another release wrote it: use that release."
            )
        try:
            return cls(
                **{name: _value(item, values, f"{where}.{name}") for name, item in found.items()}
            )
        except OptionError as error:
            raise DamagedDataError(f"{where}: {error}") from error


def _value(item: Option, values: dict[str, Any], where: str) -> Any:
    if item.field not in values:
        if item.absent is MISSING:
            raise DamagedDataError(
                f"{where} is missing. Another release wrote these settings, or they are damaged."
            )
        return item.absent
    value = values[item.field]
    if item.kinds is not None:
        return record_from_json(item.kinds, value, where)
    if item.nested:
        return item.value_type.from_json(value, where)  # type: ignore[attr-defined]
    kind = int if item.unit == "durations" else str
    listed = item.value_type is tuple and isinstance(value, list)
    return tuple(value) if listed and all(isinstance(one, kind) for one in value) else value


class Kinds(Mapping[str, type[Any]]):
    """The kinds of a part by name; :meth:`register` adds one."""

    def __init__(self, *kinds: type[Any]) -> None:
        self._kinds: dict[str, type[Any]] = {}
        for kind in kinds:
            self.register(kind)

    def register(self, kind: type[V]) -> type[V]:
        """Add a kind under its ``kind``; a class decorator.

        Raises:
            TypeError: the class is not a frozen dataclass of options with a name of its own.
        """
        name = _checked_name(kind)
        other = self._kinds.setdefault(name, kind)
        if other is not kind:
            raise TypeError(
                f"{kind.__qualname__}: kind = {name!r} is the name of"
                f" {other.__module__}.{other.__qualname__}. Choose another name."
            )
        return kind

    def __getitem__(self, name: str) -> type[Any]:
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


def _checked_name(kind: type[Any]) -> str:
    """Return the name of a kind; refuse one whose options would be lost without a message."""
    name = kind.__qualname__
    if not kind.kind:
        raise TypeError(f'{name} has no name. Declare one in the class, as kind = "my-name".')
    dataclass_of_its_own = vars(kind).get("__dataclass_params__")
    if dataclass_of_its_own is None or not dataclass_of_its_own.frozen:
        raise TypeError(
            f"{name} is not a frozen dataclass. Write @dataclass(frozen=True) directly above the"
            " class, below the decorator that registers it."
        )
    for item in dataclasses.fields(kind):
        if "option" not in item.metadata:
            raise TypeError(
                f"{name}.{item.name} is not an option. Declare it with option(...) or part(...)."
            )
        if item.metadata["option"].kinds is None and dataclasses.is_dataclass(item.default):
            raise TypeError(
                f"{name}.{item.name} is a record of its own. Declare it with part(...)."
            )
    return str(kind.kind)


def record_from_json(kinds: Mapping[str, type[Any]], values: Any, where: str) -> Any:
    """Return settings of one of several kinds, told apart by ``kind``.

    Raises:
        DamagedDataError: the kind or a field is missing, is unknown, or is not allowed.
    """
    kind = values.get("kind") if isinstance(values, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise DamagedDataError(
            f"{where}: {kind!r:.80} is not one of {', '.join(kinds)}. Another release wrote it: use"
            " that release."
        )
    return kinds[kind].from_json(values, where)


class Implementations(Generic[T]):
    """The objects that implement kinds, by the class of their settings.

    Args:
        kinds: the registry of the settings.
    """

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._modules: dict[type[Any], str] = {}
        self._found: dict[type[Any], T] = {}

    def declare(self, module: str) -> Callable[[type[V]], type[V]]:
        """Return a class decorator that registers settings whose implementation is elsewhere.

        Args:
            module: the module whose import calls :meth:`add` for these settings.
        """

        def register(settings: type[V]) -> type[V]:
            self._modules[settings] = module
            return self._kinds.register(settings)

        return register

    def add(self, settings: type[Any], implementation: T) -> None:
        """Set what implements some settings, and register them if they are not yet."""
        self._kinds.register(settings)
        self._found[settings] = implementation

    def of(self, settings: type[Any]) -> T:
        """Return what implements some settings; its module is imported first where need be."""
        if settings not in self._found:
            importlib.import_module(self._modules[settings])
        return self._found[settings]
