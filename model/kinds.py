"""The kinds of a part by name, and what implements them.

:class:`Kinds` is a registry of records of settings; :mod:`model.options` has the records.
:class:`Implementations` finds the object that works with a record. Its module is imported when it
is first asked for. So a program that only lists options imports no kernels.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from model.errors import DamagedDataError

R = TypeVar("R")
T = TypeVar("T")


class Kinds(Mapping[str, type[Any]]):
    """The kinds of a part by name; :meth:`register` adds one."""

    def __init__(self, *kinds: type[Any]) -> None:
        self._kinds: dict[str, type[Any]] = {}
        for kind in kinds:
            self.register(kind)

    def register(self, kind: type[R]) -> type[R]:
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

    def declare(self, module: str) -> Callable[[type[R]], type[R]]:
        """Return a class decorator that registers settings whose implementation is elsewhere.

        Args:
            module: the module whose import calls :meth:`add` for these settings.
        """

        def register(settings: type[R]) -> type[R]:
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
