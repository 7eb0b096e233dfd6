"""The models of the newest versions, kept in memory between two publications.

A version is compared with its parent. A :class:`Held` keeps the parents of many keys, up to a
number of bytes in all; the ones that were used least recently leave first. A model that left is
read from the store again. Another :class:`Held` keeps the candidates that were written in this
process.

What is held is a copy, because a learner may go on writing the arrays of its model. Its counts,
most of which are small whole numbers, have the narrowest type that holds them all, as in its file
(:mod:`beam_topics.model.stored.wire`). What a model derived from its fields when it was compared is
made anew in milliseconds, and is not held.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.stored.wire import Column
from beam_topics.model.words.character_model import CharacterModel

_MOST_BYTES, _MOST_CANDIDATES = 256 << 20, 32 << 20
# A base, and about what the text of a word takes.
_WORD_BYTES = 8 + 10

Name = tuple[str, str, str]


class Held:
    """Models by the root of their store, their key, and their version or digest."""

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most, self._size = most, 0
        self._models: OrderedDict[Name, _Narrow] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Name, read: Callable[[], Snapshot]) -> Snapshot:
        """Return a model, read by ``read`` if it is not held."""
        with self._lock:
            if (held := self._models.get(name)) is not None:
                self._models.move_to_end(name)
        if held is not None:
            return held.whole()
        snapshot = read()
        self.put(name, snapshot)
        return snapshot

    def put(self, name: Name, snapshot: Snapshot) -> None:
        """Hold a copy of a model, without what it has derived from its fields."""
        with self._lock:
            if name in self._models:
                return
        held = _Narrow(snapshot)
        with self._lock:
            self._take(name)
            self._models[name] = held
            self._size += held.size
            while self._size > self._most:
                self._take(next(iter(self._models)))

    def drop(self, name: Name) -> None:
        """Forget a model that is not needed any more."""
        with self._lock:
            self._take(name)

    def _take(self, name: Name) -> None:
        if (held := self._models.pop(name, None)) is not None:
            self._size -= held.size


class _Narrow:
    """A copy of a model with narrow entries."""

    def __init__(self, snapshot: Snapshot) -> None:
        entries = np.diff(snapshot.offsets), snapshot.topics, snapshot.counts
        self._columns = [Column.of(values).content for values in entries]
        prior, letters = snapshot.prior, snapshot.prior.letters
        if isinstance(letters, CharacterModel):
            # Without the trie, which takes more memory than all the rest of a small model.
            letters = replace(letters, spelling=replace(letters.spelling))
        strength, base = prior.strength.copy(), prior.base.copy()
        self._rest = replace(
            snapshot.underived(),
            alpha=snapshot.alpha.copy(),
            prior=replace(prior, strength=strength, base=base, letters=letters),
            # A part of an array would keep all of it.
            offsets=np.zeros(0, np.int64),
            topics=np.zeros(0, np.int32),
            counts=np.zeros(0),
        )
        entry_bytes = sum(len(column.body) for column in self._columns)
        self.size = entry_bytes + _WORD_BYTES * len(snapshot.words)

    def whole(self) -> Snapshot:
        """Return the model."""
        lengths, topics, counts = (column.values for column in self._columns)
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return replace(
            self._rest,
            offsets=offsets,
            topics=topics.astype(np.int32),
            counts=counts.astype(np.float64),
        )


HELD = Held()
# Where the publisher runs in other processes, nothing takes candidates from here.
CANDIDATES = Held(_MOST_CANDIDATES)
