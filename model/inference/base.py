"""The contract of all inference methods (a new document's topic proportions, given a model), and their registry.

A method is a small class without state. ``prepare`` does once for a model what need not be done for each document, and ``infer``
takes one document at a time, so documents can be inferred anywhere and in any order:

>>> from model.inference import InferenceSettings, inference_for
>>> settings = InferenceSettings(sweeps=2)
>>> inference_for(settings).name
'gibbs3'

Laws, tested over every registered method: ``infer`` is a function of the model, the settings and the document alone; its
randomness comes from (seed, key, document id) and nothing else; proportions are positive and sum to 1; words that the model
does not know are dropped, and a document without a known word gets the prior's mixture, alpha / sum(alpha), and ``words_known`` 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from model.errors import OptionError
from model.records import FloatArray, IntArray, LongArray, TokenisedDocument, TopicMixture
from model.snapshot import Snapshot

Prepared = TypeVar("Prepared")


@dataclass(frozen=True)
class InferenceSettings:
    """How a document's topics are inferred.

    Attributes:
        method: a registered name, ``gibbs3``.
        sweeps: passes over the document after the first; 0 keeps the first pass alone.
        average: take the mean proportions over the later half of the sweeps, instead of those after the last sweep.
        seed: of all draws.
    """

    method: str = "gibbs3"
    sweeps: int = 20
    average: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        for option, value in (("--inference_sweeps", self.sweeps), ("--inference_seed", self.seed)):
            if value < 0:
                raise OptionError(option, value, "a whole number of 0 or more", "Correct the value.")


class Inference(Protocol[Prepared]):
    """See the module's docstring."""

    name: str

    def prepare(self, settings: InferenceSettings, snapshot: Snapshot, model_version: str) -> Prepared:
        """What ``infer`` needs of a model; never changed afterwards, so threads may share it."""

    def infer(self, prepared: Prepared, document: TokenisedDocument) -> TopicMixture:
        """The document's mixture; ``words_known`` counts its tokens whose word the model knows."""


_METHODS: dict[str, Inference[object]] = {}

M = TypeVar("M")


def register(name: str) -> Callable[[type[M]], type[M]]:
    """Class decorator: make the method known by ``name``."""

    def add(cls: type[M]) -> type[M]:
        cls.name = name  # type: ignore[attr-defined]
        _METHODS[name] = cls()  # type: ignore[assignment]
        return cls

    return add


def inference_names() -> tuple[str, ...]:
    """The registered names, sorted."""
    return tuple(sorted(_METHODS))


def inference_for(settings: InferenceSettings) -> Inference[object]:
    """The method that the settings name.

    Raises:
        OptionError: no method has that name.
    """
    if settings.method not in _METHODS:
        raise OptionError("--inference", settings.method, "one of " + ", ".join(inference_names()), "Correct the spelling.")
    return _METHODS[settings.method]


def known_tokens(snapshot: Snapshot, document: TokenisedDocument) -> tuple[LongArray, IntArray]:
    """The document without the words that the model does not know.

    Returns:
        int64[V]: rows of the snapshot, the document's known words in order of first use; int32[n]: its tokens as indices into them.
    """
    rows = np.array([snapshot.numbers.get(word, -1) for word in document.words], np.int64)
    known = rows >= 0
    local = np.cumsum(known, dtype=np.int32) - 1
    tokens = document.tokens
    return rows[known], local[tokens[known[tokens]]]


def mixture_of(document: TokenisedDocument, model_version: str, method: str, proportions: FloatArray, words_known: int) -> TopicMixture:
    """The record of a result."""
    return TopicMixture(
        key=document.key,
        id=document.id,
        timestamp=document.timestamp,
        model_version=model_version,
        method=method,
        proportions=proportions,
        words_known=words_known,
        tokens=len(document.tokens),
    )
