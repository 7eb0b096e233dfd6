"""Send documents whose key has no model to the dead letters.

    documents: bytes (TokenisedDocument) -> documents: the others, dead_letters: bytes (JSON)

The keys are known when the graph is built.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from model.reading.refused import UNKNOWN_KEY
from model.records import DeadLetter, TokenisedDocument
from transforms.constants import DEAD_LETTERS
from transforms.refusals import Refusals

_DOCUMENTS = "documents"


class Routed(NamedTuple):
    """The outputs of :class:`Route`."""

    documents: beam.PCollection
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
        self._keys = dict.fromkeys(keys)
        self._refusals = Refusals((UNKNOWN_KEY,))

    def process(self, element: bytes) -> Iterator[Any]:
        document = TokenisedDocument.from_bytes(element)
        if document.key in self._keys:
            yield element
        else:
            letter = without_model(document, list(self._keys))
            self._refusals.add(letter)
            yield beam.pvalue.TaggedOutput(DEAD_LETTERS, letter.as_json().encode())


class Route(beam.PTransform):
    """Keep the documents of some keys; gives a :class:`Routed`.

    Args:
        keys: The keys that have a model.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        super().__init__()
        self._keys = tuple(keys)

    def expand(self, documents: beam.PCollection) -> Routed:
        typed = beam.ParDo(_Route(self._keys)).with_output_types(bytes, **{DEAD_LETTERS: bytes})
        outputs = documents | "Route" >> typed.with_outputs(DEAD_LETTERS, main=_DOCUMENTS)
        return Routed(outputs[_DOCUMENTS], outputs[DEAD_LETTERS])
