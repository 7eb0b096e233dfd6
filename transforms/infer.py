"""``Infer``: topic mixtures of documents, by published models.

Two ways. For one explicit version, Beam's RunInference with :class:`TopicModelHandler`, which fits
into anybody's pipeline:

    mixtures = documents | RunInference(TopicModelHandler("models", key="", version="latest"))

``latest`` is looked up once, where the graph is built, so all workers use the same version (and,
where the method needs one, the same classifier). For a stream in which each document has a version
of its own (:mod:`transforms.label`), :class:`InferLabelled`. Documents and mixtures are bytes
(``TokenisedDocument``, ``TopicMixture``). A document's mixture depends on the document and the
version alone: not on its batch, its worker or its neighbours.

The methods that take all documents together (Gibbs1, Gibbs2) are a batch job on one worker:
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
from transforms.logs import leave_out_harmless
from transforms.sequence import NAMESPACE

# RunInference warns, on every worker without torch, that it cannot measure memory.
leave_out_harmless()
_BATCH = 64
_MODELS = 4
_NEW, _LEARNED = b"n", b"l"


class TopicModelHandler(ModelHandler):
    """RunInference's side of a published model.

    Args:
        store: root of the model store.
        key, version: which model; ``latest`` means the newest at this moment.
        settings: of the inference.

    Raises:
        OptionError: the store has no such model (or classifier), there is no such method, or it
            wants all documents together.
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
        # A wrong method is refused here, not on a worker.
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
        """The snapshot, read by its digest and made ready."""
        published = published_model(
            ModelStore(self._store), self._key, self.version, self._settings, self._classifier
        )
        return inference_for(self._settings).prepare(self._settings, published)

    def run_inference(
        self, batch: Sequence[bytes], model: object, inference_args: Mapping[str, Any] | None = None
    ) -> Iterator[bytes]:
        """One mixture for each document, in their order."""
        documents = [TokenisedDocument.from_bytes(data) for data in batch]
        for mixture in inference_for(self._settings).infer(model, documents):
            yield mixture.to_bytes()

    def get_num_bytes(self, batch: Sequence[bytes]) -> int:
        """The batch's size, without the pickle that Beam would make to measure it."""
        return sum(map(len, batch))

    def get_metrics_namespace(self) -> str:
        return NAMESPACE

    def batch_elements_kwargs(self) -> dict[str, Any]:
        """Fixed batches: adaptive ones would measure time."""
        return {"min_batch_size": _BATCH, "max_batch_size": _BATCH}


class InferLabelled(beam.DoFn):
    """(document, version) to TopicMixture bytes; the version ``""`` gives the prior's mixture,
    words_known 0.

    Args:
        store: root of the model store.
        settings: of the inference.
        learner: its topics and alpha make the prior.
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
        """One mixture."""
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
    """All documents of a model, each behind a byte that says whether it is new or was learned,
    to mixtures of the new ones.
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
        new, learned = unmarked(element[1])
        store, inference = ModelStore(self._store), inference_for(self._settings)
        published = published_model(
            store, self._key, self._version, self._settings, self._classifier, tuple(learned)
        )
        for mixture in inference.infer(inference.prepare(self._settings, published), new):
            yield mixture.to_bytes()


class InferTogether(beam.PTransform):
    """TokenisedDocument bytes to TopicMixture bytes, by any method, with all documents in one call
    on one worker: a batch job.

    Args:
        store, key, version, settings: as for :class:`TopicModelHandler`. training:
        TokenisedDocument bytes of the documents that the model was learned from, for ``gibbs1``;
        None for others.

    Raises:
        OptionError: the store has no such model, there is no such method, or it wants training
            documents and has none.
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
        needs_all_documents = marked(documents, self._training)
        windowed = needs_all_documents | "Global" >> beam.WindowInto(GlobalWindows())
        return (
            windowed
            | "Gather" >> beam.GroupByKey()
            | "Infer" >> beam.ParDo(self._fn).with_output_types(bytes)
        )


def marked(documents: beam.PCollection, training: beam.PCollection | None) -> beam.PCollection:
    """New and learned documents together, under one key, each behind a byte that says which it
    is.
    """
    parts = [documents | "New" >> beam.Map(_mark, _NEW).with_output_types(tuple[bytes, bytes])]
    if training is not None:
        parts.append(
            training | "Learned" >> beam.Map(_mark, _LEARNED).with_output_types(tuple[bytes, bytes])
        )
    return parts | "Together" >> beam.Flatten()


def unmarked(elements: Iterable[bytes]) -> tuple[list[TokenisedDocument], list[TokenisedDocument]]:
    """(new, learned) documents."""
    groups: dict[bytes, list[TokenisedDocument]] = {_NEW: [], _LEARNED: []}
    for data in elements:
        groups[data[:1]].append(TokenisedDocument.from_bytes(data[1:]))
    return groups[_NEW], groups[_LEARNED]


def _mark(document: bytes, kind: bytes) -> tuple[bytes, bytes]:
    return b"", kind + document


def check_training(methods: Sequence[InferenceSettings], training: object) -> None:
    """Raises OptionError: a method wants the training documents and there are none, or none does
    and there are; None is none.
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
    """Raises OptionError: the method cannot label a stream whose models come and go, one
    document at a time.
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
    classifier: str | None = None,
    training: tuple[TokenisedDocument, ...] = (),
) -> PublishedModel:
    """A version with what the method needs of it; ``classifier`` is a digest, None for the newest
    one.

    Raises:
        OptionError: no such version, or no classifier for it. DamagedDataError: a file is not what
            was written.
    """
    manifest = store.manifest(key, version)
    found = None
    if CLASSIFIER in inference_for(settings).needs:
        classifiers = ClassifierStore(store.root)
        found = classifiers.get(
            key, classifier or classifiers.find(key, manifest.version, settings.kind)
        )
    return PublishedModel(
        store.get_snapshot(key, manifest.snapshot), manifest.version, found, training
    )
