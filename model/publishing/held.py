"""The models of the newest versions, kept in memory between two publications.

A version is compared with its parent. A :class:`Held` keeps the parents of many keys, up to a
number of bytes in all; the ones that were used least recently leave first. A model that left is
read from the store again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from model.snapshot import Snapshot

_MOST_BYTES = 256 << 20
# About what a short string takes beside its characters, and its place in a tuple.
_WORD_BYTES = 64

Name = tuple[str, str, str]


class Held:
    """Models by the root of their store, their key and their version.

    Args:
        most: The bytes that the models may take in all, about.
    """

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most, self._size = most, 0
        self._models: OrderedDict[Name, Snapshot] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Name, read: Callable[[], Snapshot]) -> Snapshot:
        """Return a model, read by ``read`` if it is not held."""
        with self._lock:
            if (model := self._models.get(name)) is not None:
                self._models.move_to_end(name)
                return model
        model = read()
        self.put(name, model)
        return model

    def put(self, name: Name, model: Snapshot) -> None:
        """Hold a model."""
        with self._lock:
            if name not in self._models:
                self._models[name] = model
                self._size += size_of(model)
            while self._size > self._most:
                self._size -= size_of(self._models.popitem(last=False)[1])

    def drop(self, name: Name) -> None:
        """Forget a model that is not needed any more."""
        with self._lock:
            if (model := self._models.pop(name, None)) is not None:
                self._size -= size_of(model)


HELD = Held()


def size_of(model: Snapshot) -> int:
    """Return the bytes that a model takes in memory, about.

    Its entries are counted twice, because a comparison sorts them by topic.
    """
    entries = model.topics.nbytes + model.counts.nbytes
    return 2 * entries + model.offsets.nbytes + _WORD_BYTES * len(model.words)
