"""``Compare``: several inference methods on the same documents, side by side.

    documents: bytes (TokenisedDocument) -> lines: str (JSON), one for each method

All documents are gathered on one worker, and the methods run there one after the other, one thread
each, so that their times per document can be compared; they include everything from the tokenised
document to the mixture, and not what is done once for a model. What is compared are means over
documents: cosine, KL and F1 against the reference (:mod:`model.evaluation.agreement`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows

from model import wire
from model.compositions import chosen, compose, placements
from model.errors import MisplacedOptionError, one_of
from model.evaluation.agreement import agreement
from model.inference import METHOD, InferenceSettings, inference_for, inference_names
from model.inference.base import CLASSIFIER, TRAINING
from model.inference.corpus import canonical_order
from model.publishing.classifier_store import ClassifierStore
from model.publishing.store import ModelStore
from model.records import TokenisedDocument, TopicMixture
from transforms.fit import LOGGER
from transforms.infer import check_training, marked, published_model, unmarked

_WARM = 3


def run_method(
    store: ModelStore,
    key: str,
    version: str,
    settings: InferenceSettings,
    documents: Sequence[TokenisedDocument],
    training: Sequence[TokenisedDocument],
) -> tuple[list[TopicMixture], float]:
    """The mixtures, and seconds per document."""
    method = inference_for(settings)
    learned = tuple(training) if TRAINING in method.needs else ()
    prepared = method.prepare(
        settings, published_model(store, key, version, settings, None, learned)
    )
    # The first call compiles, or loads what was compiled.
    method.infer(
        method.prepare(
            settings, published_model(store, key, version, settings, None, learned[:_WARM])
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
    documents: Sequence[TokenisedDocument],
    training: Sequence[TokenisedDocument] = (),
    mass: float = 0.8,
) -> Iterator[dict[str, object]]:
    """The figures of each method against the first, which is the reference."""
    reference: list[TopicMixture] = []
    for settings in methods:
        logging.getLogger(LOGGER).info("%s on %d documents", settings.kind, len(documents))
        mixtures, seconds = run_method(store, key, version, settings, documents, training)
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
    """Settings for the reference and the others; each takes those of the options that it has.

    Raises:
        OptionError: there is no such method, or none of them has one of the options.
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
        new, learned = unmarked(element[1])
        documents = [new[place] for place in canonical_order(new)]
        for line in compare(
            ModelStore(self._store),
            self._key,
            self._version,
            self._methods,
            documents,
            learned,
            self._mass,
        ):
            yield wire.canonical_json(line)


class Compare(beam.PTransform):
    """See the module's docstring.

    Args:
        store: root of the model store. key, version: the model.
        methods: the reference first, see :func:`methods_of`. mass: of F1's sets of topics.
        training: TokenisedDocument bytes of what the model was learned from, for ``gibbs1``.

    Raises:
        OptionError: a method that there is not, or that wants what is not there.
    """

    def __init__(
        self,
        store: str,
        key: str,
        version: str,
        methods: Sequence[InferenceSettings],
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
        needs_all_documents = marked(documents, self._training)
        windowed = needs_all_documents | "Global" >> beam.WindowInto(GlobalWindows())
        return (
            windowed
            | "Gather" >> beam.GroupByKey()
            | "Compare" >> beam.ParDo(self._fn).with_output_types(str)
        )
