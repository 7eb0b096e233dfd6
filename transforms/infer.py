"""``Infer``: topic mixtures of documents, by published models.

Two ways. For one explicit version, Beam's RunInference with :class:`TopicModelHandler`, which fits into anybody's pipeline:

    mixtures = documents | RunInference(TopicModelHandler("models", key="", version="latest"))

``latest`` is looked up once, where the graph is built, so all workers use the same version. For a stream in which each document has
a version of its own (:mod:`transforms.label`), :class:`InferLabelled`. Documents and mixtures are bytes (``TokenisedDocument``,
``TopicMixture``). A document's mixture depends on the document and the version alone: not on its batch, its worker or its neighbours.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.ml.inference.base import ModelHandler

from model.inference import InferenceSettings, inference_for
from model.inference.base import mixture_of
from model.labelling import PRIOR
from model.records import TokenisedDocument
from model.settings import LearnerSettings
from model.store import ModelStore
from transforms.sequence import NAMESPACE

_BATCH = 64
_MODELS = 4


class TopicModelHandler(ModelHandler):
    """RunInference's side of a published model.

    Args:
        store: root of the model store.
        key, version: which model; ``latest`` means the newest at this moment.
        settings: of the inference.

    Raises:
        OptionError: the store has no such model, or there is no such method.
    """

    def __init__(self, store: str, key: str = "", version: str = "latest", settings: InferenceSettings | None = None) -> None:
        super().__init__()
        self._store, self._key, self._settings = store, key, settings or InferenceSettings()
        inference_for(self._settings)  # an unknown method is refused here, not on a worker
        self.version = ModelStore(store).manifest(key, version).version

    def load_model(self) -> object:
        """The snapshot, read by its digest and made ready."""
        return load(ModelStore(self._store), self._key, self.version, self._settings)

    def run_inference(self, batch: Sequence[bytes], model: object, inference_args: Mapping[str, Any] | None = None) -> Iterator[bytes]:
        """One mixture for each document, in their order."""
        inference = inference_for(self._settings)
        for data in batch:
            yield inference.infer(model, TokenisedDocument.from_bytes(data)).to_bytes()

    def get_num_bytes(self, batch: Sequence[bytes]) -> int:
        """The batch's size, without the pickle that Beam would make to measure it."""
        return sum(map(len, batch))

    def get_metrics_namespace(self) -> str:
        return NAMESPACE

    def batch_elements_kwargs(self) -> dict[str, Any]:
        """Fixed batches: adaptive ones would measure time."""
        return {"min_batch_size": _BATCH, "max_batch_size": _BATCH}


class InferLabelled(beam.DoFn):
    """(document, version) to TopicMixture bytes; the version ``""`` gives the prior's mixture, words_known 0.

    Args:
        store: root of the model store.
        settings: of the inference.
        learner: its topics and alpha make the prior.
    """

    def __init__(self, store: str, settings: InferenceSettings, learner: LearnerSettings) -> None:
        self._root, self._settings = store, settings
        self._topics = learner.topics
        inference_for(settings)

    def setup(self) -> None:
        self._store = ModelStore(self._root)
        self._inference = inference_for(self._settings)
        self._models: OrderedDict[tuple[str, str], object] = OrderedDict()

    def process(self, element: tuple[bytes, str]) -> Iterator[bytes]:
        """One mixture."""
        data, version = element
        document = TokenisedDocument.from_bytes(data)
        if version == PRIOR:
            yield mixture_of(document, PRIOR, "prior", np.full(self._topics, 1 / self._topics), 0).to_bytes()
        else:
            yield self._inference.infer(self._prepared(document.key, version), document).to_bytes()

    def _prepared(self, key: str, version: str) -> object:
        if (key, version) not in self._models:
            self._models[key, version] = load(self._store, key, version, self._settings)
            if len(self._models) > _MODELS:
                self._models.popitem(last=False)
        self._models.move_to_end((key, version))
        return self._models[key, version]


def load(store: ModelStore, key: str, version: str, settings: InferenceSettings) -> object:
    """A version made ready for inference. Raises OptionError: no such version; DamagedDataError: its file is not what was written."""
    manifest = store.manifest(key, version)
    return inference_for(settings).prepare(settings, store.get_snapshot(key, manifest.snapshot), manifest.version)
