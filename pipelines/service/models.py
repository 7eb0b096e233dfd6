"""The model of each key, as the service and ``beam-topics label`` hold it.

A request names a model key and never a path. A key that the store does not list is refused before
any path is made of it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from beam_topics.model.arrays import FloatArray
from beam_topics.model.errors import BeamTopicsError, OptionError
from beam_topics.model.inference import InferenceSettings, PublishedModel, inference_for
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.labelling import tokenised
from beam_topics.model.inference.mixtures import TopicMixture, inferred
from beam_topics.model.inference.serving import NoneShares
from beam_topics.model.publishing.catalogue import CatalogueStore
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.publishing.store import ModelStore, settings_of_keys
from beam_topics.model.reporting.encoding import mixture_fields
from beam_topics.model.reporting.relevance import topic_shares
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.words.functions import check_allowed
from beam_topics.model.words.tokeniser import Tokeniser

_FIELDS = ("topic", "topics", "none", "words_known", "tokens")


@dataclass(frozen=True)
class Loaded:
    """A version that labels texts."""

    manifest: Manifest
    snapshot: Snapshot
    prepared: Any
    settings: InferenceSettings
    shown: Shown
    none: NoneShares
    catalogue_digest: str | None

    @cached_property
    def tokeniser(self) -> Tokeniser:
        """The tokeniser that the model was learned with."""
        return Tokeniser(self.manifest.tokeniser)

    def mixtures(self, texts: list[str]) -> list[TopicMixture]:
        """Return the mixture of each text, with its none share."""
        if not texts:
            return []
        plain = tokenised(texts, self.manifest.key, self.tokeniser)
        documents = numbered(self.snapshot, plain)
        block = inferred(self.settings, self.prepared, documents, self.manifest.version)
        return list(replace(block, none=self.none.of(documents)).mixtures())

    def topic(self, topic: str, count: int) -> dict[str, Any]:
        """Return what :meth:`topics` says of one topic or part."""
        places = {str(known): place for place, known in enumerate(self.shown.ids)}
        if topic not in places:
            allowed = f"a topic that version {self.manifest.version} shows"
            raise OptionError("topic", topic, allowed, "GET /topics lists them.")
        return self._described(places[topic], count)

    def topics(self, count: int) -> list[dict[str, Any]]:
        """Return id, name, share, first words and mark of each topic that is shown."""
        return [self._described(place, count) for place in range(len(self.shown.ids))]

    def _described(self, place: int, count: int) -> dict[str, Any]:
        shown = self.shown
        rows = shown.snapshot.first_rows(place, count)
        return {
            "topic": shown.ids[place],
            "name": shown.names[place],
            "share": float(self.topic_shares[place]),
            "words": [shown.snapshot.words[row] for row in rows],
            "hidden": shown.hidden[place],
            "mark": shown.marks[place],
        }

    @cached_property
    def topic_shares(self) -> FloatArray:
        """The share of each topic that is shown, float64[n]."""
        return topic_shares(self.shown.snapshot)

    def described(self, mixture: TopicMixture) -> dict[str, Any]:
        """Return what ``infer --topic_names`` writes of a mixture, without what names the row."""
        names, groups = tuple(self.shown.names), self.shown.groups
        fields = mixture_fields(replace(mixture, names=names, groups=groups))
        return {name: fields[name] for name in _FIELDS}


class NoVersionError(BeamTopicsError):
    """No key of the store has a version yet."""


class Models:
    """The newest versions of the keys of a store. One thread at a time calls the methods.

    Attributes:
        store: The model store.
        catalogues: Its catalogues.
        key_of_text: The function that finds the key of a text; None where texts have no keys.
    """

    def __init__(
        self,
        store: str,
        settings: InferenceSettings,
        most_keys: int,
        version: str = "latest",
        trust: str = "",
        sign: str = "",
    ) -> None:
        method = inference_for(settings)
        if method.needs or method.needs_all_documents:
            allowed = "a method that labels one text by the model alone"
            raise OptionError("--method", settings.kind, allowed, "Use gibbs3.")
        self.store, self._settings = ModelStore(store, trust, sign), settings
        self.catalogues = CatalogueStore(store, self.store.signatures)
        self._version = version
        self._most_keys = most_keys
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()
        self._find_key_function()

    def _find_key_function(self) -> None:
        found = settings_of_keys(self.store)
        self.key_of_text = None if found is None else Tokeniser(found).key

    def check_any(self) -> None:
        """Check that there is something to serve.

        Raises:
            OptionError: No key of the store has a version, or the model names a function that the
                user has not named.
        """
        key = next(filter(self.store.has_versions, self.store.keys()), None)
        if key is not None:
            check_allowed(self.store.manifest(key).tokeniser.function)
        else:
            allowed = "a store in which some key has a version"
            raise OptionError("--model_store", self.store.root, allowed, "Train a model first.")

    def begin(self) -> None:
        """Read the newest versions of the first keys, and label a word, which compiles kernels."""
        self._find_key_function()
        for key in islice(filter(self.store.has_versions, self.store.keys()), self._most_keys):
            loaded = self.get(key)
            loaded.mixtures(list(loaded.snapshot.words[:1]))

    def get(self, key: str) -> Loaded:
        """Return the version of a key that is at hand, or read it."""
        if key in self._loaded:
            self._loaded.move_to_end(key)
            return self._loaded[key]
        known = self.store.keys()
        if not self._loaded and not any(map(self.store.has_versions, known)):
            raise NoVersionError("there is no version yet; the page shows the first one by itself")
        if key not in known:
            raise OptionError("key", key, "a key of the model store", "Correct the spelling.")
        return self.load(self.store.manifest(key, self._version))

    def refresh(self) -> list[str]:
        """Read the newest version and catalogue of each key at hand where they changed.

        Returns:
            The keys whose version or catalogue changed.
        """
        changed = []
        for key, held in list(self._loaded.items()):
            newest = self.store.latest(key) or held.manifest
            catalogue = self.catalogues.latest(key)[0]
            if (newest.version, catalogue) != (held.manifest.version, held.catalogue_digest):
                self.load(newest)
                changed.append(key)
        return changed

    def versions(self) -> dict[str, str]:
        """Return the version at hand of each key."""
        return {key: held.manifest.version for key, held in list(self._loaded.items())}

    def load(self, manifest: Manifest) -> Loaded:
        """Read a version, and hold it for its key."""
        snapshot = self.store.get_snapshot(manifest)
        digest, catalogue = self.catalogues.latest(manifest.key)
        shown = Shown(catalogue, manifest, snapshot)
        published = PublishedModel(snapshot, manifest.version)
        prepared = inference_for(self._settings).prepare(self._settings, published)
        none = NoneShares(snapshot)
        found = Loaded(manifest, snapshot, prepared, self._settings, shown, none, digest)
        self._loaded[manifest.key] = found
        while len(self._loaded) > self._most_keys:
            self._loaded.popitem(last=False)
        return found
