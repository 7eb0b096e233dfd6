"""Compare several inference methods on the same documents.

    documents: bytes (TokenisedDocument) -> lines: str (JSON), one for each method

One worker holds all documents and runs the methods one after the other in one thread, so that
their times per document can be compared. A time covers the way from the tokenised document to the
mixture. It leaves out what a method does once for a model.

The figures are means over documents of cosine, KL divergence and F1 against the reference method
(:mod:`model.evaluation.agreement`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import apache_beam as beam

from model import wire
from model.compositions import chosen, compose, placements
from model.errors import MisplacedOptionError, one_of
from model.evaluation.agreement import agreement
from model.inference import METHOD, InferenceSettings, inference_for, inference_names
from model.inference.base import CLASSIFIER, TRAINING
from model.inference.classifier_store import ClassifierStore
from model.inference.corpus import canonical_order
from model.publishing.store import ModelStore
from model.records import TokenisedDocument, TopicMixture
from transforms.fit import LOGGER
from transforms.infer import check_training, gather_with_roles, published_model, split_roles

_WARM = 3


def run_method(
    store: ModelStore,
    key: str,
    version: str,
    settings: InferenceSettings,
    *,
    documents: Sequence[TokenisedDocument],
    training: Sequence[TokenisedDocument],
) -> tuple[list[TopicMixture], float]:
    """Infer mixtures with one method and measure it.

    Args:
        store: The model store.
        key: The model key.
        version: The model version.
        settings: The settings of the method.
        documents: The documents to label.
        training: The documents that the model was learned from, for a method that needs them.

    Returns:
        The mixtures in the order of the documents, and the seconds per document.
    """
    method = inference_for(settings)
    learned = tuple(training) if TRAINING in method.needs else ()
    prepared = method.prepare(
        settings, published_model(store, key, version, settings, training=learned)
    )
    # The first call compiles, or loads what was compiled.
    method.infer(
        method.prepare(
            settings, published_model(store, key, version, settings, training=learned[:_WARM])
        ),
        documents[:_WARM],
    )
    start = time.perf_counter()
    mixtures = method.infer(prepared, documents)
    return mixtures, (time.perf_counter() - start) / max(len(documents), 1)


def compare(
    store: ModelStore,
    key: str,
    version: str,
    methods: Sequence[InferenceSettings],
    *,
    documents: Sequence[TokenisedDocument],
    training: Sequence[TokenisedDocument] = (),
    mass: float = 0.8,
) -> Iterator[dict[str, object]]:
    """Yield the figures of each method against the first one, which is the reference.

    Args:
        store: The model store.
        key: The model key.
        version: The model version.
        methods: The settings of the methods, the reference first.
        documents: The documents to label.
        training: The documents that the model was learned from, for a method that needs them.
        mass: The probability that the topic sets of F1 cover.
    """
    reference: list[TopicMixture] = []
    for settings in methods:
        logging.getLogger(LOGGER).info("%s on %d documents", settings.kind, len(documents))
        mixtures, seconds = run_method(
            store, key, version, settings, documents=documents, training=training
        )
        reference = reference or mixtures
        yield {
            "method": settings.kind,
            "reference": methods[0].kind,
            **agreement(reference, mixtures, mass),
            "mass": mass,
            "seconds_per_document": seconds,
        }


def methods_of(
    reference: str, methods: Sequence[str], options: Mapping[str, object]
) -> list[InferenceSettings]:
    """Return settings for the reference and the other methods, each with the options that it has.

    Args:
        reference: The name of the reference method.
        methods: The names of the methods to compare with it.
        options: Values of inference options by name.

    Raises:
        OptionError: A method is unknown, or none of the methods has one of the options.
    """
    one_of("--reference", reference, inference_names())
    for name in methods:
        one_of("--methods", name, inference_names())
    names = list(dict.fromkeys([reference, *methods]))
    for option, value in options.items():
        if not any(option in chosen(METHOD, {METHOD.name: name}).options for name in names):
            owners = dict.fromkeys(
                place.path[0][1] for place in placements(METHOD) if place.option.name == option
            )
            text = (
                f"--{option}={value} belongs to {', '.join(owners)}; none of them is compared."
                " Leave it out, or add one to --methods."
            )
            raise MisplacedOptionError(f"--{option}", text)
    return [compose(METHOD, {METHOD.name: name}, options) for name in names]


class _Compare(beam.DoFn):
    def __init__(
        self, store: str, key: str, version: str, methods: Sequence[InferenceSettings], mass: float
    ) -> None:
        self._store, self._key, self._version, self._methods, self._mass = (
            store,
            key,
            version,
            list(methods),
            mass,
        )

    def process(self, element: tuple[bytes, Iterable[bytes]]) -> Iterator[str]:
        new, learned = split_roles(element[1])
        documents = [new[place] for place in canonical_order(new)]
        for line in compare(
            ModelStore(self._store),
            self._key,
            self._version,
            self._methods,
            documents=documents,
            training=learned,
            mass=self._mass,
        ):
            yield wire.canonical_json(line)


class Compare(beam.PTransform):
    """Compare inference methods on tokenised documents; gives one line of JSON for each method.

    Args:
        store: The root of the model store.
        key: The model key.
        version: The model version.
        methods: The settings of the methods, the reference first. See :func:`methods_of`.
        training: TokenisedDocument bytes of the documents that the model was learned from. Only
            ``gibbs1`` needs them.
        mass: The probability that the topic sets of F1 cover.

    Raises:
        OptionError: A method is unknown, or something that it needs is missing.
    """

    def __init__(
        self,
        store: str,
        key: str,
        version: str,
        methods: Sequence[InferenceSettings],
        *,
        training: beam.PCollection | None = None,
        mass: float = 0.8,
    ) -> None:
        super().__init__()
        check_training(methods, training)
        version = ModelStore(store).manifest(key, version).version
        for settings in methods:
            if CLASSIFIER in inference_for(settings).needs:
                ClassifierStore(store).find(key, version, settings.kind, "--methods")
        agreement([], [], mass)
        self._fn, self._training = _Compare(store, key, version, methods, mass), training

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        together = gather_with_roles(documents, self._training)
        return together | "Compare" >> beam.ParDo(self._fn).with_output_types(str)
