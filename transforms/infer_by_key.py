"""Infer topic mixtures of documents with the models of their keys, in blocks.

    documents: bytes (TokenisedDocument, or DocumentBlock)
        -> blocks: bytes (MixtureBlock), tallies: (key, bytes), dead_letters: bytes (JSON)

One step serves all keys. It gathers the documents of a bundle, up to :data:`FLUSH_DOCUMENTS`, and
infers those of each model together. The models that it has read are kept in memory, up to a number
of bytes, and the counter ``models_loaded`` says how often one was read. What comes out does not
depend on the bundles, on the order of the documents, or on which models were at hand.

* :class:`InferByKey` takes one version for each key, chosen when the graph is built. Its documents
  may come in blocks (:mod:`model.document_blocks`).
* :class:`InferLabelled` takes documents that have a version of their own (:mod:`transforms.label`).
* :class:`InferTogether` takes methods in which the documents of a model learn from one another. It
  is a batch job, with one element for each key.

All of them tally the documents for :mod:`transforms.coverage`, with the models that are at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindow, TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from model.document_blocks import documents_in
from model.inference.coverage import Tally
from model.inference.mixture_blocks import MixtureBlock
from model.inference.serving import ServedModel, Serving, Waiting, Window
from model.reading.refused import UNKNOWN_KEY
from model.records import TokenisedDocument
from transforms.constants import DEAD_LETTERS, LAST_TIME, NAMESPACE
from transforms.coverage import TALLIES, sharded
from transforms.infer import check_stream_method, check_training, gather_with_roles, split_roles
from transforms.refusals import Refusals
from transforms.route import Route, without_model

BLOCKS = "blocks"
# The documents and the bytes that wait at most before they are inferred. More documents mean that a
# model is looked up less often where keys are many.
FLUSH_DOCUMENTS = 16_384
FLUSH_BYTES = 32 * 2**20
# Beam computes the end of time anew for each window that is made.
_WINDOWS = [GlobalWindow()]


class Inferred(NamedTuple):
    """The outputs of all three transforms."""

    blocks: beam.PCollection
    tallies: beam.PCollection
    dead_letters: beam.PCollection


class _InferBatches(beam.DoFn):
    """Gather documents by model and by key, and infer them together.

    Args:
        serving: The models.
    """

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._loaded = Metrics.counter(NAMESPACE, "models_loaded")

    def start_bundle(self) -> None:
        self._waiting: dict[tuple[ServedModel, str], list[Waiting]] = {}
        self._tallies: dict[Window, Tally] = {}
        self._count = self._size = 0

    def gather(self, served: ServedModel, size: int, item: Waiting) -> Iterator[WindowedValue]:
        """Keep a document of so many bytes, and yield the blocks of all if many wait."""
        self._waiting.setdefault((served, item.document.key), []).append(item)
        self._count += 1
        self._size += size
        if self._count >= FLUSH_DOCUMENTS or self._size >= FLUSH_BYTES:
            yield from self._flush()

    def finish_bundle(self) -> Iterator[Any]:
        yield from self._flush()
        yield from tagged_tallies(self._tallies, self._serving.window)
        self._tallies = {}

    def _flush(self) -> Iterator[WindowedValue]:
        before = self._serving.loads
        # The models of most documents are used last, so they are at hand for the next ones.
        for (served, _), waiting in sorted(self._waiting.items(), key=lambda item: len(item[1])):
            for block in self._serving.label(served, waiting, self._tallies):
                yield at_its_time(block)
        self._loaded.inc(self._serving.loads - before)
        self._waiting = {}
        self._count = self._size = 0


class _InferByKey(_InferBatches):
    def __init__(self, serving: Serving, models: Mapping[str, ServedModel]) -> None:
        super().__init__(serving)
        self._models = dict(models)
        self._refusals = Refusals((UNKNOWN_KEY,))

    def process(self, element: bytes) -> Iterator[Any]:
        documents = documents_in(element)
        for document in documents:
            served = self._models.get(document.key)
            if served is None:
                letter = without_model(document, list(self._models))
                self._refusals.add(letter)
                yield beam.pvalue.TaggedOutput(DEAD_LETTERS, letter.as_json().encode())
            else:
                item = Waiting(document, document.timestamp)
                yield from self.gather(served, len(element) // len(documents), item)


class _InferLabelled(_InferBatches):
    def process(
        self, element: tuple[bytes, str], time: Timestamp = beam.DoFn.TimestampParam
    ) -> Iterator[Any]:
        data, version = element
        document = TokenisedDocument.from_bytes(data)
        yield from self.gather(
            ServedModel(document.key, version), len(data), Waiting(document, time.micros)
        )


class _InferTogether(beam.DoFn):
    """Infer all new documents of a key in one call.

    An element holds the documents of a key, each behind a byte that says whether it is new.
    """

    def __init__(self, serving: Serving, models: Mapping[str, ServedModel]) -> None:
        self._serving, self._models = serving, dict(models)

    def process(self, element: tuple[bytes, Iterable[bytes]]) -> Iterator[Any]:
        new, learned = split_roles(element[1])
        tallies: dict[Window, Tally] = {}
        waiting = [Waiting(document, document.timestamp) for document in new]
        served = self._models[element[0].decode()]
        for block in self._serving.label_together(served, waiting, learned, tallies):
            yield at_its_time(block)
        yield from tagged_tallies(tallies, self._serving.window)


def at_its_time(block: MixtureBlock) -> WindowedValue:
    """Return a block at the earliest time of its mixtures, so that each can have its own later."""
    first = Timestamp(micros=int(block.times.min()))
    return WindowedValue(block.to_bytes(), first, _WINDOWS)


def tagged_tallies(tallies: Mapping[Window, Tally], length: int) -> Iterator[Any]:
    """Yield tallies as tagged outputs, each at the last moment of its window."""
    for (key, version, window), tally in tallies.items():
        last = Timestamp(micros=min((window + 1) * length - 1, LAST_TIME))
        value = WindowedValue(sharded(key, version, tally), last, _WINDOWS)
        yield beam.pvalue.TaggedOutput(TALLIES, value)


class InferByKey(beam.PTransform):
    """Infer documents with one version for each key; gives an :class:`Inferred`.

    Documents of other keys become dead letters.

    Args:
        serving: The models.
        models: The model for each key that documents may have.
    """

    def __init__(self, serving: Serving, models: Mapping[str, ServedModel]) -> None:
        super().__init__()
        self._fn = _InferByKey(serving, models)

    def expand(self, documents: beam.PCollection) -> Inferred:
        return _outputs(documents, self._fn)


class InferLabelled(beam.PTransform):
    """Infer (document, version); gives an :class:`Inferred` without dead letters.

    The version ``""`` gives the mixture of the prior, with words_known 0.

    Args:
        serving: The models.

    Raises:
        OptionError: The method cannot label one document at a time.
    """

    def __init__(self, serving: Serving) -> None:
        super().__init__()
        check_stream_method(serving.settings)
        self._fn = _InferLabelled(serving)

    def expand(self, labelled: beam.PCollection) -> Inferred:
        return _outputs(labelled, self._fn)


class InferTogether(beam.PTransform):
    """Infer all documents of each key in one call; gives an :class:`Inferred`.

    It takes any method and is a batch job. Documents of other keys become dead letters.

    Args:
        serving: The models.
        models: The model for each key that documents may have.
        training: TokenisedDocument bytes of the documents that the models were learned from. Only
            ``gibbs1`` needs them.

    Raises:
        OptionError: The method lacks its training documents.
    """

    def __init__(
        self,
        serving: Serving,
        models: Mapping[str, ServedModel],
        training: beam.PCollection | None = None,
    ) -> None:
        super().__init__()
        check_training([serving.settings], training)
        self._keys, self._training = tuple(models), training
        self._fn = _InferTogether(serving, models)

    def expand(self, documents: beam.PCollection) -> Inferred:
        routed = documents | "Route" >> Route(self._keys)
        dead, training = [routed.dead_letters], None
        if self._training is not None:
            learned = self._training | "Route training" >> Route(self._keys)
            dead.append(learned.dead_letters)
            training = learned.documents
        together = gather_with_roles(routed.documents, training)
        found = _outputs(together, self._fn)
        return found._replace(dead_letters=dead | "Dead letters" >> beam.Flatten())


def _outputs(collection: beam.PCollection, fn: beam.DoFn) -> Inferred:
    typed = beam.ParDo(fn).with_output_types(
        bytes, **{TALLIES: tuple[bytes, bytes], DEAD_LETTERS: bytes}
    )
    found = collection | "Infer" >> typed.with_outputs(TALLIES, DEAD_LETTERS, main=BLOCKS)
    return Inferred(found[BLOCKS], found[TALLIES], found[DEAD_LETTERS])


def mixtures_with_times(block: bytes) -> Iterator[TimestampedValue]:
    """Yield the mixtures of a block as bytes, each at its time."""
    found = MixtureBlock.from_bytes(block)
    for mixture, time in zip(found.mixtures(), found.times.tolist(), strict=True):
        yield TimestampedValue(mixture.to_bytes(), Timestamp(micros=time))


class EachMixture(beam.PTransform):
    """Take blocks apart into TopicMixture bytes, each at its time."""

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return blocks | "Each" >> beam.FlatMap(mixtures_with_times).with_output_types(bytes)
