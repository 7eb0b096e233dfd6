"""Label documents of many models in batches, and tally what the models know of them.

:class:`Serving` takes documents, each with the model that labels it, and gives blocks of mixtures
and tallies. The documents of a model are inferred together, in batches of at most :data:`BATCH`. A
method that treats each document alone gives it the same mixture in any batch.

A process has one cache of models for all of its workers' threads (:class:`ModelCache`), up to a
number of bytes. The least recently used models are dropped first and are loaded again when a
document needs them, so the size of the cache affects how long a run takes, but no result.

With ``none_share``, mixtures have the probability that no topic explains a document
(:class:`NoneShares`). Three explanations of the n known tokens of a document compete. Before the
document is seen, each is as probable as the others:

* the model: M = prod_i P(w_i | w_1 .. w_i-1), the first-moment estimate under the document's own
  mixture (:func:`beam_topics.model.evaluation.kernels.held_out.first_moment`). Each token is
  predicted from those before it, so a mixture that merely fits the tokens afterwards gains nothing;
* words without a topic, as frequent as in the whole model: Q = prod_i P(w_i);
* words without a topic, all W of them equally frequent: W^-n.

The share is (Q + W^-n) / (M + Q + W^-n). A document without a known token has no topic, and the
share 1.
"""

from __future__ import annotations

import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.evaluation.kernels.held_out import first_moment
from beam_topics.model.inference.base import (
    CLASSIFIER,
    InferenceSettings,
    PublishedModel,
    inference_for,
)
from beam_topics.model.inference.classifier import ClassifierStore
from beam_topics.model.inference.features import NumberedDocuments, Tally, numbered, tally_documents
from beam_topics.model.inference.labelling import PRIOR
from beam_topics.model.inference.mixtures import Groups, MixtureBlock, inferred, words_of
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.publishing.snapshots import ModelFile
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.settings.options import MEGABYTE, Record

# Beyond this power of two a ratio is 0 or infinite for the share.
_MOST_EXPONENT = 1000


class NoneShares:
    """Compute the shares of documents under one model.

    Args:
        snapshot: the model.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot, self._base = snapshot, base_probabilities(snapshot)

    def of(self, documents: NumberedDocuments) -> FloatArray:
        """Return float64[D], the share of each document."""
        rows, offsets = documents.known_tokens()
        bounds = pairwise(offsets.tolist())
        return np.array([self._share(rows[first:last]) for first, last in bounds], np.float64)

    def _share(self, rows: LongArray) -> float:
        """Return the share of a document, given the rows of its known tokens."""
        distinct, places = np.unique(rows, return_inverse=True)
        if not len(distinct):
            return 1.0
        snapshot = self._snapshot
        phi = (snapshot.rows(distinct) + snapshot.prior.shares(distinct)) / snapshot.normalisers
        alpha = snapshot.alpha
        predicted = first_moment(places.astype(np.int32), phi, alpha, float(alpha.sum()))
        frequent = _ratio(self._base[distinct][places] / predicted)
        even = _ratio(1.0 / len(snapshot.words) / predicted)
        odds = frequent + even
        return odds / (1.0 + odds)


def base_probabilities(snapshot: Snapshot) -> FloatArray:
    """Return float64[W], P(w) of the words of a model: its topics, weighted by their tokens."""
    totals = snapshot.totals
    whole = float(totals.sum())
    shares = totals / whole if whole else np.full(len(totals), 1.0 / len(totals))
    weights = shares / snapshot.normalisers
    rows = snapshot.count_rows
    counted = np.bincount(
        rows, weights=snapshot.counts * weights[snapshot.topics], minlength=len(snapshot.words)
    )
    found: FloatArray = counted + snapshot.prior.base * float(weights @ snapshot.prior.strength)
    return found


def _ratio(factors: FloatArray) -> float:
    """Return the product of positive factors without a logarithm, cut to the range of a float."""
    mantissa, exponent = 1.0, 0
    for factor in factors.tolist():
        mantissa, shift = math.frexp(mantissa * factor)
        exponent += shift
    return math.ldexp(mantissa, max(-_MOST_EXPONENT, min(exponent, _MOST_EXPONENT)))


T = TypeVar("T")


class ModelCache:
    """Values by name, with the sum of their sizes."""

    def __init__(self) -> None:
        self._held: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()
        self.size = 0

    def get(self, name: Hashable, load: Callable[[], T], most: int) -> T:
        """Return a value, which is loaded where it is not at hand.

        Two threads that miss the same value at once both load it; they are equal.

        Args:
            name: What tells the value from all others.
            load: Makes the value.
            most: The number of bytes beyond which the least recently used values leave. The value
                itself is kept in any case until the next one comes.
        """
        with self._lock:
            if name in self._held:
                self._held.move_to_end(name)
                found: T = self._held[name][0]
                return found
        value = load()
        size = held_bytes(value)
        with self._lock:
            self._drop(name)
            while self._held and self.size + size > most:
                self._drop(next(iter(self._held)))
            self._held[name], self.size = (value, size), self.size + size
        return value

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._held.clear()
            self.size = 0

    def _drop(self, name: Hashable) -> None:
        if name in self._held:
            self.size -= self._held.pop(name)[1]


def held_bytes(value: object) -> int:
    """Return the memory of a value and of all that it refers to, in bytes.

    Arrays, strings, containers, dataclasses and sparse matrices are counted, each object once.
    """
    seen: set[int] = set()
    total, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        total += one.nbytes if isinstance(one, np.ndarray) else sys.getsizeof(one)
        if isinstance(one, tuple) and one and isinstance(one[0], str):
            # The words of a model.
            total += sum(map(sys.getsizeof, one))
        else:
            waiting += _parts(one)
    return total


def _parts(value: object) -> list[Any]:
    if isinstance(value, (str, bytes, int, float, type, np.ndarray, Record)):
        # The settings of a model are small compared with its arrays.
        return []
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, (tuple, list, set, frozenset)):
        return list(value)
    if is_dataclass(value) and not hasattr(value, "__dict__"):
        return [getattr(value, item.name) for item in fields(value)]
    return list(vars(value).values()) if hasattr(value, "__dict__") else []


# The cache of this process.
MODELS = ModelCache()


# Documents in one call of a method. Its arrays are of documents x topics.
BATCH = 256


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model version and what belongs to it.

    Attributes:
        key: The model key.
        version: The version; ``""`` is the prior.
        classifier: The digest of the classifier; None takes the newest one, if one is needed.
        file: What the manifest says of the model, where it was read already; otherwise None.
    """

    key: str
    version: str
    classifier: str | None = None
    file: ModelFile | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[type[ServedModel], tuple[Any, ...]]:
        # A graph holds thousands of them, and the form of a dataclass takes four times as long.
        return ServedModel, (self.key, self.version, self.classifier, self.file)


class Loaded(NamedTuple):
    """A model prepared for a method, and what mixtures have in addition to the method's results.

    Attributes:
        prepared: What the method prepared.
        snapshot: The model.
        ids: The ids of its topics by place.
        none: Computes the none shares; None where they are not wanted.
        names: The names of the topics that are shown; empty where they are not wanted.
        groups: The groups and parts of the topics that are shown; None without names, and where the
            catalogue shows the topics as they are.
    """

    prepared: Any
    snapshot: Snapshot
    ids: tuple[int, ...]
    none: NoneShares | None
    names: tuple[str, ...] = ()
    groups: Groups | None = None


# (key, version, number of the window) of a tally.
Window = tuple[str, str, int]


@dataclass
class Serving:
    """The models of a store, as a step needs them.

    Attributes:
        store: The root of the model store.
        settings: The settings of the inference.
        topics: The number of topics of the prior, where there is no model yet.
        window: The length of the windows of coverage in microseconds.
        cache_mb: The memory of the models that are kept.
        none_share: Whether mixtures have the share of :mod:`beam_topics.model.inference.serving`.
        topic_names: Whether mixtures have the names of the topics, by the catalogue and the model.
        cache: Where they are kept; None is the cache of the process.
        loads: The number of models that were loaded.
        trust: The file of public keys (:mod:`beam_topics.model.publishing.signatures`).
        stories: Whether mixtures have the words of their documents, for stories.
    """

    store: str
    settings: InferenceSettings
    topics: int
    window: int
    cache_mb: int
    cache: ModelCache | None = None
    loads: int = 0
    none_share: bool = False
    topic_names: bool = False
    trust: str = ""
    stories: bool = False

    def label(
        self, served: ServedModel, documents: Block, times: LongArray, tallies: dict[Window, Tally]
    ) -> Iterator[MixtureBlock]:
        """Yield the mixtures of documents in their order, and add the documents to tallies.

        Args:
            served: The model of all the documents.
            documents: D documents, which are taken batch by batch.
            times: int64[D], the event times of their mixtures in microseconds.
            tallies: The tallies of each version and window. The prior is not tallied.
        """
        for begin in range(0, len(documents), BATCH):
            rows = np.arange(begin, min(begin + BATCH, len(documents)))
            part, moments = documents.take(rows), times[rows]
            if served.version == PRIOR:
                nothing = np.zeros((len(part), self.topics)), np.zeros(len(part), np.int64)
                yield MixtureBlock.of(
                    part, *nothing, model_version=PRIOR, method="prior", times=moments
                )
                continue
            loaded = self._model(served)
            yield self._labelled(served, loaded, numbered(loaded.snapshot, part), moments, tallies)

    def label_together(
        self,
        served: ServedModel,
        documents: Block,
        training: Block | None,
        tallies: dict[Window, Tally],
    ) -> Iterator[MixtureBlock]:
        """Yield the mixtures of all new documents of a model, which learn from one another.

        Args:
            served: The model.
            documents: The new documents.
            training: The documents that the model was learned from, if the method needs them.
            tallies: The tallies of each version and window.
        """
        loaded = self._load(served, training)
        found = numbered(loaded.snapshot, documents)
        mixtures = self._labelled(served, loaded, found, documents.timestamps, tallies)
        yield from mixtures.parts(BATCH)

    def _labelled(
        self,
        served: ServedModel,
        loaded: Loaded,
        documents: NumberedDocuments,
        times: LongArray,
        tallies: dict[Window, Tally],
    ) -> MixtureBlock:
        """Return the mixtures of documents, and tally the documents."""
        mixtures = inferred(self.settings, loaded.prepared, documents, served.version, times=times)
        for window, tally in tally_documents(documents, times // self.window).items():
            name = served.key, served.version, window
            if (before := tallies.setdefault(name, tally)) is not tally:
                before.merge(tally)
        words = words_of(documents.block) if self.stories else ()
        none = mixtures.none if loaded.none is None else loaded.none.of(documents)
        return replace(
            mixtures,
            topic_ids=loaded.ids,
            words=words,
            none=none,
            names=loaded.names,
            groups=loaded.groups,
        )

    def _model(self, served: ServedModel) -> Loaded:
        shows = (self.none_share, self.topic_names)
        name = (self.store, self.trust, served, self.settings, shows)
        cache = MODELS if self.cache is None else self.cache
        return cache.get(name, partial(self._load, served), self.cache_mb * MEGABYTE)

    def _load(self, served: ServedModel, training: Block | None = None) -> Loaded:
        published = published_of(self.models, served, self.settings, training)
        prepared = inference_for(self.settings).prepare(self.settings, published)
        # The index of the words is part of what the model holds in memory.
        published.snapshot.rows_of(())
        self.loads += 1
        snapshot = published.snapshot
        none = NoneShares(snapshot) if self.none_share else None
        found = Loaded(prepared, snapshot, published.ids, none)
        if not self.topic_names:
            return found
        manifest = self.models.manifest(snapshot.key, published.version)
        shown = Shown.stored(self.models, manifest, snapshot)
        groups = shown.groups
        as_they_are = groups.trivial and not groups.hidden
        return found._replace(names=tuple(shown.names), groups=None if as_they_are else groups)

    @cached_property
    def models(self) -> ModelStore:
        """The store, with the keys that are trusted."""
        return ModelStore(self.store, self.trust)


def published_of(
    store: ModelStore,
    served: ServedModel,
    settings: InferenceSettings,
    training: Block | None = None,
) -> PublishedModel:
    """Return a model with what a method needs of it.

    Args:
        store: The model store.
        served: The model. Without a classifier it has the newest one, if the method needs one.
        settings: The settings of the method.
        training: The documents that the model was learned from, if the method needs them.

    Raises:
        OptionError: There is no such version, or no classifier for it.
        DamagedDataError: A file does not have the content that was written.
    """
    found = None
    if CLASSIFIER in inference_for(settings).needs:
        classifiers = ClassifierStore(store.root, store.signatures)
        digest = served.classifier or classifiers.find(served.key, served.version, settings.kind)
        found = classifiers.get(served.key, digest)
    file = served.file or ModelFile.of(store.manifest(served.key, served.version))
    snapshot = store.get_model(served.key, served.version, file)
    return PublishedModel(snapshot, served.version, found, training, file.topic_ids)
