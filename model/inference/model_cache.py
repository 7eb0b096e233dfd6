"""Models that are kept in memory, up to a number of bytes.

A process has one cache for all of its workers' threads. The least recently used models leave it
first. A model that left is loaded again where a document needs it, so the size of the cache changes
how long a run takes, and no result.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from model.options import Record

T = TypeVar("T")


class ModelCache:
    """Values by name, with the sum of their sizes."""

    def __init__(self) -> None:
        self._held: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()
        self.size = 0

    def get(self, name: Hashable, load: Callable[[], T], most: int) -> T:
        """Return a value, which is loaded where it is not at hand.

        Two threads that miss the same value at once both load it; they are equal.

        Args:
            name: What tells the value from all others.
            load: Makes the value.
            most: The number of bytes beyond which the least recently used values leave. The value
                itself is kept in any case until the next one comes.
        """
        with self._lock:
            if name in self._held:
                self._held.move_to_end(name)
                found: T = self._held[name][0]
                return found
        value = load()
        size = held_bytes(value)
        with self._lock:
            self._drop(name)
            while self._held and self.size + size > most:
                self._drop(next(iter(self._held)))
            self._held[name], self.size = (value, size), self.size + size
        return value

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._held.clear()
            self.size = 0

    def _drop(self, name: Hashable) -> None:
        if name in self._held:
            self.size -= self._held.pop(name)[1]


def held_bytes(value: object) -> int:
    """Return the memory of a value and of all that it refers to, in bytes.

    Arrays, strings, containers, dataclasses and sparse matrices are counted, each object once.
    """
    seen: set[int] = set()
    total, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        total += one.nbytes if isinstance(one, np.ndarray) else sys.getsizeof(one)
        if isinstance(one, tuple) and one and isinstance(one[0], str):
            # The words of a model.
            total += sum(map(sys.getsizeof, one))
        else:
            waiting += _parts(one)
    return total


def _parts(value: object) -> list[Any]:
    if isinstance(value, (str, bytes, int, float, type, np.ndarray, Record)):
        # The settings of a model are small beside its arrays.
        return []
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, (tuple, list, set, frozenset)):
        return list(value)
    if is_dataclass(value) and not hasattr(value, "__dict__"):
        return [getattr(value, item.name) for item in fields(value)]
    return list(vars(value).values()) if hasattr(value, "__dict__") else []


# The cache of this process.
MODELS = ModelCache()
