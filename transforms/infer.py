"""Infer topic mixtures of documents with published models.

Documents and mixtures are bytes (``TokenisedDocument``, ``TopicMixture``). The mixture of a
document depends on the document and the version alone, and not on its batch, its worker or its
neighbours. There are three ways:

- For one given version, use Beam's RunInference with :class:`TopicModelHandler`, in any pipeline:

      mixtures = documents | RunInference(TopicModelHandler("models", key="", version="latest"))

  ``latest`` is resolved once, when the graph is built, so all workers use the same version. The
  same holds for the classifier, where a method needs one.
- For a stream in which each document has a version of its own (:mod:`transforms.label`), use
  :class:`InferLabelled`.
- Gibbs1 and Gibbs2 take all documents together. They are a batch job on one worker:
  :class:`InferTogether`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.ml.inference.base import ModelHandler
from apache_beam.transforms.window import GlobalWindows

from model.errors import OptionError
from model.inference import (
    Gibbs3,
    InferenceSettings,
    PublishedModel,
    inference_for,
    inference_named,
    inference_names,
)
from model.inference.base import CLASSIFIER, TRAINING, make_mixtures
from model.inference.labelling import PRIOR
from model.learners.base import LearnerSettings
from model.publishing.classifier_store import ClassifierStore
from model.publishing.store import ModelStore
from model.records import TokenisedDocument
from transforms.constants import NAMESPACE
from transforms.logs import leave_out_harmless

# RunInference warns, on every worker without torch, that it cannot measure memory.
leave_out_harmless()
_BATCH = 64
_MODELS = 4
_NEW, _LEARNED = b"n", b"l"


class TopicModelHandler(ModelHandler):
    """Load a published model and label documents with it in RunInference.

    Args:
        store: The root of the model store.
        key: The model key.
        version: The model version. ``latest`` means the newest one when the graph is built.
        settings: The settings of the inference.

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
    ) -> None:
        super().__init__()
        self._store, self._key, self._settings = store, key, settings or Gibbs3()
        # A wrong method is refused when the graph is built, not on a worker.
        method = inference_for(self._settings)
        if method.needs_all_documents:
            raise OptionError(
                "--method",
                self._settings.kind,
                "a method for one document at a time",
                "Use transforms.infer.InferTogether.",
            )
        self.version = ModelStore(store).manifest(key, version).version
        self._classifier = (
            ClassifierStore(store).find(key, self.version, self._settings.kind)
            if CLASSIFIER in method.needs
            else None
        )

    def load_model(self) -> object:
        """Read the snapshot by its digest and prepare it for the method."""
        published = published_model(
            ModelStore(self._store),
            self._key,
            self.version,
            self._settings,
            classifier=self._classifier,
        )
        return inference_for(self._settings).prepare(self._settings, published)

    def run_inference(
        self, batch: Sequence[bytes], model: object, inference_args: Mapping[str, Any] | None = None
    ) -> Iterator[bytes]:
        """Yield one mixture for each document, in their order."""
        documents = [TokenisedDocument.from_bytes(data) for data in batch]
        for mixture in inference_for(self._settings).infer(model, documents):
            yield mixture.to_bytes()

    def get_num_bytes(self, batch: Sequence[bytes]) -> int:
        """Return the size of the batch, without the pickle that Beam would make to measure it."""
        return sum(map(len, batch))

    def get_metrics_namespace(self) -> str:
        return NAMESPACE

    def batch_elements_kwargs(self) -> dict[str, Any]:
        """Ask for batches of a fixed size: the size of adaptive batches depends on time."""
        return {"min_batch_size": _BATCH, "max_batch_size": _BATCH}


class InferLabelled(beam.DoFn):
    """Infer TopicMixture bytes from (document, version).

    The version ``""`` gives the mixture of the prior, with words_known 0.

    Args:
        store: The root of the model store.
        settings: The settings of the inference.
        learner: The settings of the learner, whose number of topics makes the prior.
    """

    def __init__(self, store: str, settings: InferenceSettings, learner: LearnerSettings) -> None:
        self._root, self._settings = store, settings
        self._topics = learner.topics
        check_stream_method(settings)

    def setup(self) -> None:
        self._store = ModelStore(self._root)
        self._inference = inference_for(self._settings)
        self._model = lru_cache(_MODELS)(self._prepared)

    def process(self, element: tuple[bytes, str]) -> Iterator[bytes]:
        """Yield one mixture."""
        data, version = element
        document = TokenisedDocument.from_bytes(data)
        if version == PRIOR:
            even = np.full((1, self._topics), 1 / self._topics)
            (mixture,) = make_mixtures([document], PRIOR, "prior", even, np.zeros(1, np.int64))
        else:
            (mixture,) = self._inference.infer(self._model(document.key, version), [document])
        yield mixture.to_bytes()

    def _prepared(self, key: str, version: str) -> object:
        return self._inference.prepare(
            self._settings, published_model(self._store, key, version, self._settings)
        )


class _InferGroup(beam.DoFn):
    """Infer the mixtures of all new documents of a model in one call.

    An element holds all documents, each behind a byte that says whether it is new or was learned.
    """

    def __init__(
        self,
        store: str,
        key: str,
        version: str,
        settings: InferenceSettings,
        classifier: str | None,
    ) -> None:
        self._store, self._key, self._version, self._settings, self._classifier = (
            store,
            key,
            version,
            settings,
            classifier,
        )

    def process(self, element: tuple[bytes, Iterable[bytes]]) -> Iterator[bytes]:
        new, learned = split_roles(element[1])
        store, inference = ModelStore(self._store), inference_for(self._settings)
        published = published_model(
            store,
            self._key,
            self._version,
            self._settings,
            classifier=self._classifier,
            training=tuple(learned),
        )
        for mixture in inference.infer(inference.prepare(self._settings, published), new):
            yield mixture.to_bytes()


class InferTogether(beam.PTransform):
    """Infer TopicMixture bytes from TokenisedDocument bytes, with all documents in one call.

    It takes any method and is a batch job on one worker.

    Args:
        store: The root of the model store.
        key: The model key.
        version: The model version. ``latest`` means the newest one when the graph is built.
        settings: The settings of the inference.
        training: TokenisedDocument bytes of the documents that the model was learned from. Only
            ``gibbs1`` needs them.

    Raises:
        OptionError: The store has no such model, or the method lacks its training documents.
    """

    def __init__(
        self,
        store: str,
        key: str,
        version: str,
        settings: InferenceSettings,
        training: beam.PCollection | None = None,
    ) -> None:
        super().__init__()
        check_training([settings], training)
        version = ModelStore(store).manifest(key, version).version
        classifier = (
            ClassifierStore(store).find(key, version, settings.kind)
            if CLASSIFIER in inference_for(settings).needs
            else None
        )
        self._fn, self._training = _InferGroup(store, key, version, settings, classifier), training

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        together = gather_with_roles(documents, self._training)
        return together | "Infer" >> beam.ParDo(self._fn).with_output_types(bytes)


def gather_with_roles(
    documents: beam.PCollection, training: beam.PCollection | None
) -> beam.PCollection:
    """Gather new and learned documents in one element, each behind a byte that says which it is."""
    parts = [documents | "New" >> beam.Map(_with_role, _NEW).with_output_types(tuple[bytes, bytes])]
    if training is not None:
        parts.append(
            training
            | "Learned" >> beam.Map(_with_role, _LEARNED).with_output_types(tuple[bytes, bytes])
        )
    windowed = parts | "Together" >> beam.Flatten() | "Global" >> beam.WindowInto(GlobalWindows())
    return windowed | "Gather" >> beam.GroupByKey()


def split_roles(
    elements: Iterable[bytes],
) -> tuple[list[TokenisedDocument], list[TokenisedDocument]]:
    """Return the new and the learned documents."""
    groups: dict[bytes, list[TokenisedDocument]] = {_NEW: [], _LEARNED: []}
    for data in elements:
        groups[data[:1]].append(TokenisedDocument.from_bytes(data[1:]))
    return groups[_NEW], groups[_LEARNED]


def _with_role(document: bytes, kind: bytes) -> tuple[bytes, bytes]:
    return b"", kind + document


def check_training(methods: Sequence[InferenceSettings], training: object) -> None:
    """Check that training documents are given if a method needs them, and only then.

    Args:
        methods: The settings of the methods.
        training: The documents, or the patterns of their files. None if none are given.

    Raises:
        OptionError: Training documents are missing, or no method needs them.
    """
    wanting = [settings.kind for settings in methods if TRAINING in inference_for(settings).needs]
    if wanting and training is None:
        raise OptionError(
            "--training",
            None,
            f"with {wanting[0]}, the files that the model was learned from",
            "Name them.",
        )
    if training is not None and not wanting:
        given, names = (
            training if isinstance(training, list) else "files",
            ", ".join(settings.kind for settings in methods),
        )
        raise OptionError(
            "--training", given, f"with {names}, nothing", "Leave it out, or use gibbs1."
        )


def check_stream_method(settings: InferenceSettings) -> None:
    """Check that the method can label one document at a time with changing models.

    Raises:
        OptionError: It cannot.
    """
    method = inference_for(settings)
    if method.needs_all_documents or method.needs:
        alone = [
            name
            for name in inference_names()
            if not (other := inference_named(name)).needs_all_documents and not other.needs
        ]
        raise OptionError(
            "--method",
            settings.kind,
            f"in a stream that learns, one of {', '.join(alone)}",
            f"Label with {settings.kind} afterwards, by pipelines.infer.",
        )


def published_model(
    store: ModelStore,
    key: str,
    version: str,
    settings: InferenceSettings,
    *,
    classifier: str | None = None,
    training: tuple[TokenisedDocument, ...] = (),
) -> PublishedModel:
    """Return a version with what the method needs of it.

    Args:
        store: The model store.
        key: The model key.
        version: The model version.
        settings: The settings of the method.
        classifier: The digest of a classifier. None takes the newest one, if the method needs one.
        training: The documents that the model was learned from, if the method needs them.

    Raises:
        OptionError: There is no such version, or no classifier for it.
        DamagedDataError: A file does not have the content that was written.
    """
    manifest = store.manifest(key, version)
    found = None
    if CLASSIFIER in inference_for(settings).needs:
        classifiers = ClassifierStore(store.root)
        found = classifiers.get(
            key, classifier or classifiers.find(key, manifest.version, settings.kind)
        )
    return PublishedModel(store.get_snapshot(manifest), manifest.version, found, training)
