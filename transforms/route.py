"""Send each document to the model of its key, and documents of unknown keys to the dead letters.

    documents: bytes (TokenisedDocument) -> by_key: {key: documents}, dead_letters: bytes (JSON)

The keys are known when the graph is built, so each key has a branch of its own, for example with
a RunInference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from model.dead_letters import DeadLetter
from model.reading.refused import UNKNOWN_KEY
from model.records import TokenisedDocument
from transforms.constants import DEAD_LETTERS
from transforms.refusals import Refusals


class Routed(NamedTuple):
    """The outputs of :class:`Route`."""

    by_key: dict[str, beam.PCollection]
    dead_letters: beam.PCollection


def without_model(document: TokenisedDocument, keys: Sequence[str]) -> DeadLetter:
    """Return the dead letter of a document whose key has no model."""
    known = ", ".join(map(repr, keys[:5])) + (", ..." if len(keys) > 5 else "")
    return DeadLetter.of(
        document,
        "routing",
        UNKNOWN_KEY,
        f"this run has no model for the key {document.key!r}, but for {known}",
    )


class _Route(beam.DoFn):
    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)
        self._tags = {key: _tag(number) for number, key in enumerate(keys)}
        self._refusals = Refusals((UNKNOWN_KEY,))

    def process(self, element: bytes) -> Iterator[Any]:
        document = TokenisedDocument.from_bytes(element)
        if document.key in self._tags:
            yield beam.pvalue.TaggedOutput(self._tags[document.key], element)
        else:
            letter = without_model(document, self._keys)
            self._refusals.add(letter)
            yield beam.pvalue.TaggedOutput(DEAD_LETTERS, letter.as_json().encode())


class Route(beam.PTransform):
    """Split documents by model key; gives a :class:`Routed`.

    Args:
        keys: The keys that have a model.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        super().__init__()
        self._keys = tuple(keys)

    def expand(self, documents: beam.PCollection) -> Routed:
        tags = [_tag(number) for number in range(len(self._keys))]
        typed = beam.ParDo(_Route(self._keys)).with_output_types(
            bytes, **dict.fromkeys([*tags, DEAD_LETTERS], bytes)
        )
        outputs = documents | "Route" >> typed.with_outputs(*tags, DEAD_LETTERS)
        return Routed(
            {key: outputs[tag] for key, tag in zip(self._keys, tags, strict=True)},
            outputs[DEAD_LETTERS],
        )


def _tag(number: int) -> str:
    """Return the output tag of a key: a key may hold characters that a tag may not."""
    return f"model_{number}"
