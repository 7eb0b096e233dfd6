"""A learner around another learner, which changes the minibatches that the other one learns.

What is changed depends on the minibatches alone, as everything that is learned, and what the change
is made by is part of the saved state. Some of these learners leave documents out
(:mod:`model.learners.leaving_out`), others change their words (:mod:`model.learners.rewriting`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from model.learners.base import (
    Arrivals,
    HoldsDocuments,
    Learner,
    LearnerSettings,
    StepInfo,
    Summary,
)
from model.records import Minibatch
from model.snapshot import Snapshot


@dataclass
class Surrounded:
    """The state of a learner, and what its minibatches are changed by.

    Attributes:
        state: the state of the learner within.
        settings: the settings of the learner.
        memory: what the change is made by.
    """

    state: Any
    settings: LearnerSettings
    memory: Any


class Around(ABC):
    """A learner around another one; see the module's docstring.

    Args:
        inner: the learner that learns what is made of the minibatches.
    """

    def __init__(self, inner: Learner[Any]) -> None:
        self._inner = inner

    @abstractmethod
    def init(self, settings: Any, key: str, island: int, threads: int = 1) -> Any: ...

    @abstractmethod
    def step(self, state: Any, minibatch: Minibatch) -> StepInfo: ...

    @abstractmethod
    def save(self, state: Any) -> bytes: ...

    @abstractmethod
    def load(
        self, settings: LearnerSettings, key: str, island: int, data: bytes, threads: int = 1
    ) -> Any: ...

    @abstractmethod
    def nbytes(self, state: Any) -> int: ...

    def held(self, state: Surrounded) -> list[list[str]]:
        return self._inner.held(state.state) if isinstance(self._inner, HoldsDocuments) else []

    def snapshot(self, state: Surrounded, chain: int | None = None) -> Snapshot:
        return self._inner.snapshot(state.state, chain)

    def summary(self, state: Surrounded, chain: int | None = None) -> Summary:
        return self._inner.summary(state.state, chain)

    def arrivals(self, state: Surrounded, after: int, unlearned: bool = False) -> Arrivals:
        return self._inner.arrivals(state.state, after, unlearned)

    def witness(self, state: Surrounded) -> bytes:
        return self._inner.witness(state.state)
