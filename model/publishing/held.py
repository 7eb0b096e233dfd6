"""The models of the newest versions, kept in memory between two publications.

A version is compared with its parent. A :class:`Held` keeps the parents of many keys, up to a
number of bytes in all; the ones that were used least recently leave first. A model that left is
read from the store again. What a model derived from its fields when it was compared takes as much
as the fields, is made anew in milliseconds, and is not held. Another :class:`Held` keeps the
candidates that were written in this process.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from model.snapshot import Snapshot
from model.words.character_model import CharacterModel

_MOST_BYTES, _MOST_CANDIDATES = 256 << 20, 32 << 20
# A topic and a count.
_ENTRY_BYTES = 4 + 8
# A base, an offset, and about what the text of a word takes.
_WORD_BYTES = 8 + 8 + 10

Name = tuple[str, str, str]


class Held:
    """Models by the root of their store, their key, and their version or digest.

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
            if (snapshot := self._models.get(name)) is not None:
                self._models.move_to_end(name)
                return snapshot
        snapshot = read()
        self.put(name, snapshot)
        return snapshot

    def put(self, name: Name, snapshot: Snapshot) -> None:
        """Hold a model, without what it has derived from its fields."""
        with self._lock:
            if name not in self._models:
                self._models[name] = snapshot.underived()
                self._size += size_of(snapshot)
            while self._size > self._most:
                self._size -= size_of(self._models.popitem(last=False)[1])

    def drop(self, name: Name) -> None:
        """Forget a model that is not needed any more."""
        with self._lock:
            if (snapshot := self._models.pop(name, None)) is not None:
                self._size -= size_of(snapshot)


HELD = Held()
# Where the publisher runs in other processes, nothing takes candidates from here.
CANDIDATES = Held(_MOST_CANDIDATES)


def size_of(snapshot: Snapshot) -> int:
    """Return the bytes that a model takes in memory, about."""
    return _ENTRY_BYTES * len(snapshot.counts) + _WORD_BYTES * len(snapshot.words)


def copy_of(snapshot: Snapshot) -> Snapshot:
    """Return a model whose arrays are its own; a learner may go on writing those of the model."""
    prior, letters = snapshot.prior, snapshot.prior.letters
    if isinstance(letters, CharacterModel):
        # Without the trie, which takes more memory than all the rest of a small model.
        letters = replace(letters, spelling=replace(letters.spelling))
    return replace(
        snapshot,
        alpha=snapshot.alpha.copy(),
        prior=replace(
            prior, strength=prior.strength.copy(), base=prior.base.copy(), letters=letters
        ),
        offsets=snapshot.offsets.copy(),
        topics=snapshot.topics.copy(),
        counts=snapshot.counts.copy(),
    )
