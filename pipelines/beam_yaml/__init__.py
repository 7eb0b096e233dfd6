"""Transforms for Beam YAML: learn topics of rows, and label rows.

``provider.yaml`` beside this file names them for a YAML pipeline (docs/yaml.md has one). Documents
are rows with the fields of records: ``id``, ``timestamp`` and ``text``, and ``label`` and a key
where there are any. ``options`` are those of ``beam-topics train``, ``infer`` and ``stream``, by
name:

* :class:`TrainTopics` learns, and publishes versions into a model store.
* :class:`LabelTopics` labels rows by a version of a store.
* :class:`StreamTopics` learns rows and labels each by the newest version before it.

Each has several outputs by name. Rows that are no documents come out as ``dead_letters``, with the
reason; no row is lost.
"""

from __future__ import annotations

from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import StandardOptions

from model.errors import RefusedInputError
from model.inference.serving import Serving
from model.inference.settings import CacheSettings, CoverageSettings, LabelSettings
from model.publishing.store_settings import StoreSettings
from pipelines.beam_yaml.options import LABELLING, LEARNING, STREAMING, parsed
from pipelines.beam_yaml.rows import (
    dead_letter_rows,
    event_rows,
    line_of_row,
    mixture_rows,
    version_rows,
)
from pipelines.cli.settings_from_options import (
    inference_settings_of,
    learn_options_of,
    read_settings_of,
)
from pipelines.cli.settings_options import settings_of
from pipelines.graphs.infer import chosen_models, served_models
from pipelines.graphs.learning import check_store, learn
from pipelines.graphs.runners import is_local
from transforms.infer_by_key import InferByKey, InferLabelled
from transforms.label import Label
from transforms.read import Documents, ParseMessages

Outputs = dict[str, beam.PCollection]
# The name of the input in dead letters.
_SOURCE = "rows"


class TrainTopics(beam.PTransform):
    """Learn topics of rows, and publish versions into a model store.

    Outputs: ``versions``, ``events`` and ``dead_letters``.

    Args:
        model_store: The folder of the model store.
        options: Options of ``beam-topics train`` by name, such as ``window: 1d``.
    """

    def __init__(self, model_store: str, options: Any = None) -> None:
        super().__init__()
        self._options = parsed("TrainTopics", LEARNING, model_store, options)
        self._learning = learn_options_of(self._options)

    def expand(self, rows: beam.PCollection) -> Outputs:
        found = documents_of(rows, self._options, self._learning.tokeniser)
        check_store(self._options, self._learning)
        learned = learn(found.documents, self._learning, streams=live(rows))
        if not live(rows):
            check_words(found.documents, learned.references)
        dead = (found.dead_letters, learned.dead_letters) | "Dead letters" >> beam.Flatten()
        return {
            "versions": version_rows(learned.references),
            "events": event_rows(learned.events),
            "dead_letters": dead_letter_rows(dead),
        }


class LabelTopics(beam.PTransform):
    """Label rows by a version of a model store.

    Outputs: ``mixtures`` and ``dead_letters``.

    Args:
        model_store: The folder of the model store.
        options: Options of ``beam-topics infer`` by name, such as ``method: variational``.
    """

    def __init__(self, model_store: str, options: Any = None) -> None:
        super().__init__()
        self._options = parsed("LabelTopics", LABELLING, model_store, options)
        self._settings = inference_settings_of(self._options)

    def expand(self, rows: beam.PCollection) -> Outputs:
        chosen = chosen_models(self._options)
        serving = serving_of(self._options, 0)
        found = documents_of(rows, self._options, next(iter(chosen.values())).tokeniser)
        models = served_models(serving.store, chosen, self._settings)
        inferred = found.documents | "Infer" >> InferByKey(serving, models)
        dead = (found.dead_letters, inferred.dead_letters) | "Dead letters" >> beam.Flatten()
        return {"mixtures": mixture_rows(inferred.blocks), "dead_letters": dead_letter_rows(dead)}


class StreamTopics(beam.PTransform):
    """Learn rows, and label each by the newest version before it.

    Outputs: ``mixtures``, ``versions``, ``events`` and ``dead_letters``.

    Args:
        model_store: The folder of the model store.
        options: Options of ``beam-topics stream`` by name.
    """

    def __init__(self, model_store: str, options: Any = None) -> None:
        super().__init__()
        self._options = parsed("StreamTopics", STREAMING, model_store, options)
        self._learning = learn_options_of(self._options)
        self._labelling = settings_of(self._options, LabelSettings)

    def expand(self, rows: beam.PCollection) -> Outputs:
        found = documents_of(rows, self._options, self._learning.tokeniser)
        check_store(self._options, self._learning)
        given, streams = self._labelling, live(rows)
        learned = learn(found.documents, self._learning, streams=streams)
        if not streams:
            check_words(found.documents, learned.references)
        label = Label(given.before_first_model, given.label_with, given.shards, streams=streams)
        labelled = (learned.minibatches, learned.references) | "Label" >> label
        serving = serving_of(self._options, self._learning.settings.topic_count)
        inferred = labelled.documents | "Infer" >> InferLabelled(serving)
        dead = (found.dead_letters, learned.dead_letters, labelled.dead_letters)
        return {
            "mixtures": mixture_rows(inferred.blocks),
            "versions": version_rows(learned.references),
            "events": event_rows(learned.events),
            "dead_letters": dead_letter_rows(dead | "Dead letters" >> beam.Flatten()),
        }


def documents_of(rows: beam.PCollection, options: Any, tokeniser: Any) -> Documents:
    """Return the documents of rows, and what is none."""
    lines = rows | "To JSON" >> beam.Map(line_of_row).with_output_types(bytes)
    parse = read_settings_of(options).parse
    return lines | "Documents" >> ParseMessages(_SOURCE, parse, tokeniser)


def check_words(documents: beam.PCollection, versions: beam.PCollection) -> None:
    """Fail a job that ends and has learned no word of its documents."""
    counts = [
        found | f"Count {name}" >> beam.combiners.Count.Globally()
        for name, found in (("documents", documents), ("versions", versions))
    ]
    _ = counts[0] | "Check words" >> beam.Map(_check_words, beam.pvalue.AsSingleton(counts[1]))


def _check_words(documents: int, versions: int) -> None:
    if documents and not versions:
        raise RefusedInputError(
            f"no word was learned, because none of {documents:,} documents has one, and no version"
            " was made. beam-topics train says of the same documents which words were left out, and"
            " the option that keeps them."
        )


def serving_of(options: Any, topics: int) -> Serving:
    """Return what a step that labels needs of the store."""
    return Serving(
        settings_of(options, StoreSettings).root,
        inference_settings_of(options),
        topics=topics,
        window=settings_of(options, CoverageSettings).window,
        cache_mb=settings_of(options, CacheSettings).megabytes,
    )


def live(rows: beam.PCollection) -> bool:
    """Return whether event time advances while the job reads, see ``runners.streams``."""
    given = rows.pipeline.options.view_as(StandardOptions)
    return bool(given.streaming) and not is_local(given.runner)
