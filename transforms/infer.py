"""Infer topic mixtures of documents with published models.

Documents are the bytes of blocks, and mixtures those of ``TopicMixture``. The mixture of a
document depends on the document and the version alone, and not on its batch, its worker or its
neighbours. There are several ways.

For one given version, use Beam's RunInference with :class:`TopicModelHandler`, in any pipeline:

    mixtures = documents | RunInference(TopicModelHandler("models", key="", version="latest"))

``latest`` is resolved once, when the graph is built, so all workers use the same version. The same
holds for the classifier, where a method needs one. RunInference's ``model_metadata_pcoll`` names
other versions while the pipeline runs; its ``model_id`` is the name of a version.

For the models of many keys, three transforms give blocks of mixtures:

    documents: bytes (Block)
        -> blocks: bytes (MixtureBlock), tallies: (key, bytes), dead_letters: bytes (JSON)

* :class:`InferByKey` takes one version for each key, chosen when the graph is built.
* :class:`InferLabelled` takes documents that have a version of their own
  (:mod:`beam_topics.transforms.label`).
* :class:`InferTogether` takes methods in which the documents of a model learn from one another,
  such as Gibbs1 and Gibbs2. It is a batch job, with one element for each key.

One step serves all keys. It gathers the documents of a bundle as the bytes in which they came, and
infers those of each model together, once :data:`MODEL_DOCUMENTS` of the model wait, or
:data:`FLUSH_DOCUMENTS` of all. Their tallies are sent with them. So what the step holds has a bound
that does not depend on the bundle. The models that it has read are kept in memory, up to a number
of bytes, and the counter ``models_loaded`` says how often one was read. The results do not depend
on the bundles, on the order of the documents, or on which models are in memory. All three tally the
documents for :class:`beam_topics.transforms.coverage.Coverage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.metrics import Metrics
from apache_beam.ml.inference.base import ModelHandler
from apache_beam.transforms.window import GlobalWindows, TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from beam_topics.model.arrays import LongArray
from beam_topics.model.documents.block import Block, key_and_count, keyed
from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import (
    CLASSIFIER,
    TRAINING,
    Gibbs3,
    Inference,
    InferenceSettings,
    PublishedModel,
    inference_for,
    inference_named,
    inference_names,
)
from beam_topics.model.inference.classifier import ClassifierStore
from beam_topics.model.inference.features import Tally, numbered
from beam_topics.model.inference.mixtures import MixtureBlock, inferred
from beam_topics.model.inference.serving import ServedModel, Serving, Window, published_of
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reading.refused import UNKNOWN_KEY
from beam_topics.transforms.coverage import TALLIES, tagged_tallies
from beam_topics.transforms.read import Documents, documents_of
from beam_topics.transforms.shared import DEAD_LETTERS, GLOBAL, NAMESPACE, Refusals

_BATCH = 64


@dataclass(frozen=True)
class LoadedModel:
    """A model version on a worker. Beam holds it by a weak reference.

    Attributes:
        prepared: What the method prepared.
        published: The model.
    """

    prepared: object
    published: PublishedModel


class TopicModelHandler(ModelHandler):
    """Load a published model and label documents with it in RunInference.

    Args:
        store: The root of the model store.
        key: The model key.
        version: The model version. ``latest`` means the newest one when the graph is built.
        settings: The settings of the inference.
        trust: The file of public keys (:mod:`beam_topics.model.publishing.signatures`).

    Raises:
        OptionError: The store has no such model or no classifier for it, or the method takes all
            documents together.
    """

    def __init__(
        self,
        store: str,
        key: str = "",
        version: str = "latest",
        settings: InferenceSettings | None = None,
        trust: str = "",
    ) -> None:
        super().__init__()
        self._store, self._key, self._settings = store, key, settings or Gibbs3()
        self._trust = trust
        # A wrong method is refused when the graph is built, not on a worker.
        method = inference_for(self._settings)
        if method.needs_all_documents:
            allowed = "a method for one document at a time"
            remedy = "Use transforms.infer.InferTogether."
            raise OptionError("--method", self._settings.kind, allowed, remedy)
        self._choose(version)

    def _choose(self, version: str) -> None:
        models = ModelStore(self._store, self._trust)
        self.version = models.manifest(self._key, version).version
        self._classifier: str | None = None
        if CLASSIFIER in inference_for(self._settings).needs:
            store = ClassifierStore(self._store, models.signatures)
            self._classifier = store.find(self._key, self.version, self._settings.kind)

    def update_model_path(self, model_path: str | None = None) -> None:
        """Label with another version from now on.

        Args:
            model_path: The name of a version of the store; None or nothing changes nothing.

        Raises:
            OptionError: The store has no such version, or no classifier for it.
        """
        if model_path:
            self._choose(model_path)

    def load_model(self) -> LoadedModel:
        """Read the snapshot by its digest and prepare it for the method."""
        served = ServedModel(self._key, self.version, self._classifier)
        published = published_of(ModelStore(self._store, self._trust), served, self._settings)
        prepared = inference_for(self._settings).prepare(self._settings, published)
        return LoadedModel(prepared, published)

    def run_inference(
        self,
        batch: Sequence[bytes],
        model: LoadedModel,
        inference_args: Mapping[str, Any] | None = None,
    ) -> Iterator[bytes]:
        """Yield one mixture for each document of some blocks, in their order."""
        published = model.published
        for _, blocks in groupby(map(Block.from_bytes, batch), key=lambda block: block.key):
            documents = numbered(published.snapshot, Block.joined(list(blocks)))
            mixtures = inferred(self._settings, model.prepared, documents, published.version)
            for mixture in replace(mixtures, topic_ids=published.ids).mixtures():
                yield mixture.to_bytes()

    def get_num_bytes(self, batch: Sequence[bytes]) -> int:
        """Return the size of the batch, without the pickle that Beam would make to measure it."""
        return sum(map(len, batch))

    def get_metrics_namespace(self) -> str:
        return NAMESPACE

    def batch_elements_kwargs(self) -> dict[str, Any]:
        """Ask for batches of a fixed size: the size of adaptive batches depends on time."""
        return {"min_batch_size": _BATCH, "max_batch_size": _BATCH}


def check_training(settings: InferenceSettings, training: object) -> None:
    """Check that training documents are given if a method needs them, and only then.

    Args:
        settings: The settings of the method.
        training: The documents, or the patterns of their files. None if none are given.

    Raises:
        OptionError: Training documents are missing, or the method does not need them.
    """
    needed, method = TRAINING in inference_for(settings).needs, settings.kind
    if needed and training is None:
        allowed = f"with {method}, the files that the model was learned from"
        raise OptionError("--training", None, allowed, "Name them.")
    if training is not None and not needed:
        given = training if isinstance(training, list) else "files"
        remedy = "Leave it out, or use gibbs1."
        raise OptionError("--training", given, f"with {method}, nothing", remedy)


def check_alone(settings: InferenceSettings, purpose: str, remedy: str) -> None:
    """Check that a method infers one document at a time, and needs nothing but a model.

    Args:
        settings: The settings of the method.
        purpose: What needs such a method, for the message.
        remedy: What to do instead.

    Raises:
        OptionError: It does not.
    """

    def is_alone(method: Inference[Any]) -> bool:
        return not method.needs_all_documents and not method.needs

    if not is_alone(inference_for(settings)):
        names = [name for name in inference_names() if is_alone(inference_named(name))]
        raise OptionError(
            "--method", settings.kind, f"{purpose}, one of {', '.join(names)}", remedy
        )


def without_model(data: bytes, keys: Sequence[str]) -> list[DeadLetter]:
    """Return the dead letters of the documents of a block whose key has no model."""
    block = Block.from_bytes(data)
    known = ", ".join(map(repr, keys[:5])) + (", ..." if len(keys) > 5 else "")
    detail = f"this run has no model for the key {block.key!r}, but for {known}"
    rows = range(len(block))
    return [block.dead_letter(row, "routing", UNKNOWN_KEY, detail) for row in rows]


class _Route(beam.DoFn):
    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = dict.fromkeys(keys)
        self._refusals = Refusals((UNKNOWN_KEY,))

    def process(self, element: bytes) -> Iterator[Any]:
        if key_and_count(element)[0] in self._keys:
            yield element
        else:
            yield from map(self._refusals.refuse, without_model(element, list(self._keys)))


class Route(beam.PTransform):
    """Keep the documents of some keys; gives :class:`beam_topics.transforms.read.Documents`.

    Args:
        keys: The keys that have a model.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        super().__init__()
        self._keys = tuple(keys)

    def expand(self, documents: beam.PCollection) -> Documents:
        return documents_of(documents, "Route", _Route(self._keys))


BLOCKS = "blocks"
# What an element of InferTogether holds.
_NEW, _LEARNED = "New", "Learned"
# The documents of a model that wait at most before they are inferred. Fewer would make more
# tallies, one for each window of the documents that are inferred together.
MODEL_DOCUMENTS = 1024
# The documents and the bytes of all models that wait at most. More documents mean that a model is
# looked up less often where keys are many.
FLUSH_DOCUMENTS = 16_384
FLUSH_BYTES = 32 * 2**20


class Inferred(NamedTuple):
    """The outputs of all three transforms."""

    blocks: beam.PCollection
    tallies: beam.PCollection
    dead_letters: beam.PCollection


@dataclass(slots=True)
class _Parts:
    """Documents of one model and key that wait.

    Attributes:
        documents: Their number.
        parts: Bytes of blocks, each with the time of its mixtures; None is that of each document.
    """

    documents: int = 0
    parts: list[tuple[bytes, int | None]] = field(default_factory=list)

    def joined(self) -> tuple[Block, LongArray]:
        """Return the documents, and int64[D], the times of their mixtures."""
        blocks = [Block.from_bytes(data) for data, _ in self.parts]
        times = [
            block.timestamps if time is None else np.full(len(block), time)
            for block, (_, time) in zip(blocks, self.parts, strict=True)
        ]
        return Block.joined(blocks), np.concatenate(times)


class _InferBatches(beam.DoFn):
    """Gather documents by model and by key, and infer them together.

    Args:
        serving: The models.
    """

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._loaded = Metrics.counter(NAMESPACE, "models_loaded")

    def start_bundle(self) -> None:
        self._waiting: dict[tuple[ServedModel, str], _Parts] = {}
        self._count = self._size = 0

    def gather(
        self, served: ServedModel, key: str, count: int, data: bytes, time: int | None = None
    ) -> Iterator[Any]:
        """Keep documents of a key, and yield the outputs of those of which many wait.

        Args:
            served: Their model.
            key: Their key.
            count: Their number.
            data: The bytes of a block.
            time: The time of their mixtures; None is that of each document.
        """
        found = self._waiting.setdefault((served, key), _Parts())
        found.parts.append((data, time))
        found.documents += count
        self._count += count
        self._size += len(data)
        if self._count >= FLUSH_DOCUMENTS or self._size >= FLUSH_BYTES:
            yield from self.finish_bundle()
        elif found.documents >= MODEL_DOCUMENTS:
            yield from self._infer(served, key)

    def finish_bundle(self) -> Iterator[Any]:
        # The models of most documents are used last, so they are at hand for the next ones.
        for served, key in sorted(self._waiting, key=lambda at: self._waiting[at].documents):
            yield from self._infer(served, key)

    def _infer(self, served: ServedModel, key: str) -> Iterator[Any]:
        found, before = self._waiting.pop((served, key)), self._serving.loads
        self._count -= found.documents
        self._size -= sum(len(data) for data, _ in found.parts)
        tallies: dict[Window, Tally] = {}
        for block in self._serving.label(served, *found.joined(), tallies):
            yield at_its_time(block)
        yield from tagged_tallies(tallies, self._serving.window)
        self._loaded.inc(self._serving.loads - before)


class _InferByKey(_InferBatches):
    def __init__(self, serving: Serving, models: Mapping[str, ServedModel]) -> None:
        super().__init__(serving)
        self._models = dict(models)
        self._refusals = Refusals((UNKNOWN_KEY,))

    def process(self, element: bytes) -> Iterator[Any]:
        key, count = key_and_count(element)
        if (served := self._models.get(key)) is not None:
            yield from self.gather(served, key, count, element)
        else:
            yield from map(self._refusals.refuse, without_model(element, list(self._models)))


class _InferLabelled(_InferBatches):
    def process(
        self, element: tuple[bytes, str], time: Timestamp = beam.DoFn.TimestampParam
    ) -> Iterator[Any]:
        data, version = element
        key, count = key_and_count(data)
        yield from self.gather(ServedModel(key, version), key, count, data, time.micros)


class _InferTogether(beam.DoFn):
    """Infer all new documents of a key in one call; an element holds new and learned documents."""

    def __init__(self, serving: Serving, models: Mapping[str, ServedModel]) -> None:
        self._serving, self._models = serving, dict(models)

    def process(self, element: tuple[bytes, Mapping[str, Iterable[bytes]]]) -> Iterator[Any]:
        new, learned = (
            list(map(Block.from_bytes, element[1].get(role, ()))) for role in (_NEW, _LEARNED)
        )
        if not new:
            return
        training, tallies = Block.joined(learned) if learned else None, dict[Window, Tally]()
        served = self._models[element[0].decode()]
        for block in self._serving.label_together(served, Block.joined(new), training, tallies):
            yield at_its_time(block)
        yield from tagged_tallies(tallies, self._serving.window)


def at_its_time(block: MixtureBlock) -> WindowedValue:
    """Return a block at the earliest time of its mixtures, so that each can have its own later."""
    first = Timestamp(micros=int(block.times.min()))
    return WindowedValue(block.to_bytes(), first, GLOBAL)


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
        check_alone(
            serving.settings,
            "in a stream that learns",
            f"Label with {serving.settings.kind} afterwards, by pipelines.infer.",
        )
        self._fn = _InferLabelled(serving)

    def expand(self, labelled: beam.PCollection) -> Inferred:
        return _outputs(labelled, self._fn)


class InferTogether(beam.PTransform):
    """Infer all documents of each key in one call; gives an :class:`Inferred`.

    It takes any method and is a batch job. Documents of other keys become dead letters.

    Args:
        serving: The models.
        models: The model for each key that documents may have.
        training: Bytes of blocks of the documents that the models were learned from. Only
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
        check_training(serving.settings, training)
        self._keys, self._training = tuple(models), training
        self._fn = _InferTogether(serving, models)

    def expand(self, documents: beam.PCollection) -> Inferred:
        given = {_NEW: documents | "Route" >> Route(self._keys)}
        if self._training is not None:
            given[_LEARNED] = self._training | "Route training" >> Route(self._keys)
        keyed = {role: part.documents | role >> _ByKey() for role, part in given.items()}
        found = _outputs(keyed | "Gather" >> beam.CoGroupByKey(), self._fn)
        dead = [part.dead_letters for part in given.values()] | "Dead letters" >> beam.Flatten()
        return found._replace(dead_letters=dead)


class _ByKey(beam.PTransform):
    """Key documents by the UTF-8 bytes of their model key, in the global window."""

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        by_key = documents | "Key" >> beam.Map(keyed).with_output_types(tuple[bytes, bytes])
        return by_key | "Global" >> beam.WindowInto(GlobalWindows())


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
