"""Infer topic mixtures of documents with published models.

Documents and mixtures are bytes (``TokenisedDocument``, ``TopicMixture``). The mixture of a
document depends on the document and the version alone, and not on its batch, its worker or its
neighbours. There are several ways:

- For one given version, use Beam's RunInference with :class:`TopicModelHandler`, in any pipeline:

      mixtures = documents | RunInference(TopicModelHandler("models", key="", version="latest"))

  ``latest`` is resolved once, when the graph is built, so all workers use the same version. The
  same holds for the classifier, where a method needs one. RunInference's ``model_metadata_pcoll``
  names other versions while the pipeline runs: its ``model_id`` is the name of a version.
- For the models of many keys, or a version for each document, use :mod:`transforms.infer_by_key`.
- Gibbs1 and Gibbs2 take all documents together:
  :class:`transforms.infer_by_key.InferTogether`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import apache_beam as beam
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
from model.inference.base import CLASSIFIER, TRAINING
from model.inference.classifier_store import ClassifierStore
from model.publishing.store import ModelStore
from model.records import TokenisedDocument
from transforms.constants import NAMESPACE
from transforms.logs import leave_out_harmless

# RunInference warns, on every worker without torch, that it cannot measure memory.
leave_out_harmless()
_BATCH = 64
_NEW, _LEARNED = b"n", b"l"


@dataclass(frozen=True)
class LoadedModel:
    """A model version on a worker. Beam holds it by a weak reference.

    Attributes:
        prepared: What the method prepared.
        topic_ids: The ids of the topics by place; empty where each is the number of its place.
    """

    prepared: object
    topic_ids: tuple[int, ...]


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
                "Use transforms.infer_by_key.InferTogether.",
            )
        self._choose(version)

    def _choose(self, version: str) -> None:
        self.version = ModelStore(self._store).manifest(self._key, version).version
        self._classifier = (
            ClassifierStore(self._store).find(self._key, self.version, self._settings.kind)
            if CLASSIFIER in inference_for(self._settings).needs
            else None
        )

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
        published = published_model(
            ModelStore(self._store),
            self._key,
            self.version,
            self._settings,
            classifier=self._classifier,
        )
        prepared = inference_for(self._settings).prepare(self._settings, published)
        return LoadedModel(prepared, tuple(published.ids))

    def run_inference(
        self,
        batch: Sequence[bytes],
        model: LoadedModel,
        inference_args: Mapping[str, Any] | None = None,
    ) -> Iterator[bytes]:
        """Yield one mixture for each document, in their order."""
        documents = [TokenisedDocument.from_bytes(data) for data in batch]
        for mixture in inference_for(self._settings).infer(model.prepared, documents):
            yield replace(mixture, topic_ids=model.topic_ids).to_bytes()

    def get_num_bytes(self, batch: Sequence[bytes]) -> int:
        """Return the size of the batch, without the pickle that Beam would make to measure it."""
        return sum(map(len, batch))

    def get_metrics_namespace(self) -> str:
        return NAMESPACE

    def batch_elements_kwargs(self) -> dict[str, Any]:
        """Ask for batches of a fixed size: the size of adaptive batches depends on time."""
        return {"min_batch_size": _BATCH, "max_batch_size": _BATCH}


def gather_with_roles(
    documents: beam.PCollection, training: beam.PCollection | None
) -> beam.PCollection:
    """Gather the new and the learned documents of each key, each behind a byte that says which.

    Returns:
        (key, documents) for each model key.
    """
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
    return TokenisedDocument.from_bytes(document).key.encode(), kind + document


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
    snapshot, ids = store.get_snapshot(manifest), tuple(manifest.topic_ids)
    return PublishedModel(snapshot, manifest.version, found, training, ids)
