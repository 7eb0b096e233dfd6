"""Fit a classifier to a model version and write it into the model store.

    documents: bytes (Block of one) -> digests: str, one

Gibbs3, or another method that takes one document at a time, makes the training pairs on any number
of workers. One worker fits the classifier to them. The source must be bounded. Progress goes to the
logger ``beam_topics.fitting``. :mod:`beam_topics.model.inference.fitting` has the logic.

    documents | FitClassifier("models", key="", version="latest")
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindows

from beam_topics.model.documents.block import Block
from beam_topics.model.inference.base import FitSettings, Gibbs3, InferenceSettings, inference_for
from beam_topics.model.inference.classifier import ClassifierStore
from beam_topics.model.inference.fitting import FitProgress, Pair, fit_classifier, make_pair
from beam_topics.model.inference.serving import ServedModel, published_of
from beam_topics.model.publishing.store import ModelStore
from beam_topics.transforms.infer import check_alone
from beam_topics.transforms.shared import NAMESPACE

LOGGER = "beam_topics.fitting"
# The root, and the files of keys.
_Store = tuple[str, str, str]


class _MakePairs(beam.DoFn):
    def __init__(self, store: _Store, key: str, version: str, settings: InferenceSettings) -> None:
        self._store, self._key, self._version, self._settings = store, key, version, settings
        self._pairs = Metrics.counter(NAMESPACE, "pairs")
        self._unknown = Metrics.counter(NAMESPACE, "documents_without_known_words")

    def setup(self) -> None:
        served = ServedModel(self._key, self._version)
        self._published = published_of(ModelStore(*self._store), served, self._settings)
        self._prepared = inference_for(self._settings).prepare(self._settings, self._published)

    def process(self, element: bytes) -> Iterator[bytes]:
        for document in Block.from_bytes(element).documents():
            pair = make_pair(self._settings, self._prepared, self._published, document)
            if pair is None:
                self._unknown.inc()
            else:
                self._pairs.inc()
                yield pair.to_bytes()


def _fit(
    element: tuple[bytes, Iterable[bytes]],
    store: _Store,
    key: str,
    version: str,
    settings: FitSettings,
    inference: InferenceSettings,
) -> str:
    """Fit a classifier to all pairs, store it, and return its digest."""
    models = ModelStore(*store)
    manifest = models.manifest(key, version)
    topics = models.get_snapshot(manifest).topic_count
    pairs = map(Pair.from_bytes, element[1])
    return ClassifierStore(models.root, models.signatures).put(
        fit_classifier(manifest, topics, pairs, settings, inference=inference, on_step=log_step)
    )


def log_step(step: FitProgress) -> None:
    """Log one line of progress."""
    logging.getLogger(LOGGER).info(
        "fitting, %s: iteration %d, objective %.5f", step.stage, step.iteration, step.objective
    )


class FitClassifier(beam.PTransform):
    """Fit a classifier to documents and store it; gives its digest.

    Args:
        store: The root of the model store.
        key: The model key.
        version: The model version. ``latest`` means the newest one when the graph is built.
        settings: The settings of the fit.
        inference: The settings of the method that makes the pairs.
        trust: The file of public keys (:mod:`beam_topics.model.publishing.signatures`).
        sign: The file of the private key that signs the classifier.

    Raises:
        OptionError: The model does not exist, the method needs more than a document and a model, or
            the model is signed and the classifier would not be.
    """

    def __init__(
        self,
        store: str,
        key: str = "",
        version: str = "latest",
        *,
        settings: FitSettings | None = None,
        inference: InferenceSettings | None = None,
        trust: str = "",
        sign: str = "",
    ) -> None:
        super().__init__()
        self._settings, self._inference = settings or FitSettings(), inference or Gibbs3()
        check_alone(self._inference, "to make training pairs", "Use gibbs3.")
        place = store, trust, sign
        models = ModelStore(*place)
        self._model = place, key, models.manifest(key, version).version
        models.signatures.check_signs(key)

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        documents = documents | "Global" >> beam.WindowInto(GlobalWindows())
        return (
            documents
            | "In parallel" >> beam.Reshuffle().with_output_types(bytes)
            | "Make pairs"
            >> beam.ParDo(_MakePairs(*self._model, self._inference)).with_output_types(bytes)
            | "To one worker" >> beam.WithKeys(b"").with_output_types(tuple[bytes, bytes])
            | "Gather" >> beam.GroupByKey()
            | "Fit"
            >> beam.Map(_fit, *self._model, self._settings, self._inference).with_output_types(str)
        )
