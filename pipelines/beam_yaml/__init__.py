"""Transforms for Beam YAML: learn topics of rows, and label rows.

``provider.yaml`` next to this file names them for a YAML pipeline (docs/yaml.md has one). Documents
are rows with the fields of records: ``id``, ``timestamp`` and ``text``, and ``label`` and a key
where there are any. ``options`` are those of ``beam-topics train``, ``infer`` and ``stream``, by
name:

* :class:`TrainTopics` learns, and publishes versions into a model store.
* :class:`LabelTopics` labels rows by a version of a store.
* :class:`StreamTopics` learns rows and labels each by the newest version before it.

Each has several outputs by name. Rows that are not documents come out as ``dead_letters``, with the
reason; no row is lost. A value of ``options`` is written as on the command line and parsed by the
same parsers, so both have the same values and messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.options.pipeline_options import StandardOptions
from apache_beam.utils.timestamp import Timestamp

from beam_topics.model.errors import OptionError, RefusedInputError, did_you_mean
from beam_topics.model.inference.base import LabelSettings
from beam_topics.model.inference.mixtures import MixtureBlock
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.reporting.encoding import mixture_fields
from beam_topics.model.settings.options import plain_options
from beam_topics.model.times import to_iso
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import parse
from beam_topics.pipelines.cli.groups import names_of, settings_of
from beam_topics.pipelines.cli.settings_from_options import (
    inference_settings_of,
    learn_options_of,
    read_settings_of,
)
from beam_topics.pipelines.cli.values import written
from beam_topics.pipelines.graphs.additions import check_store
from beam_topics.pipelines.graphs.infer import chosen_models, served_models
from beam_topics.pipelines.graphs.learning import learn
from beam_topics.pipelines.graphs.models import serving_of
from beam_topics.pipelines.graphs.runners import is_local
from beam_topics.transforms.infer import InferByKey, InferLabelled
from beam_topics.transforms.label import Label
from beam_topics.transforms.read import Documents, ParseMessages

_METHOD = (
    group.MethodOptions,
    group.InferenceOptions,
    group.ModelCacheOptions,
    group.CoverageOptions,
)
LEARNING = (
    group.TokeniserOptions,
    group.SequenceOptions,
    group.LearnerOptions,
    group.TrainingOptions,
    group.KeepOptions,
)
LABELLING = (group.ModelVersionOptions, group.FunctionOptions, *_METHOD)
STREAMING = (*LEARNING, group.StreamOptions, *_METHOD)
# The pipeline writes what comes out of the transforms.
_NOT_HERE = ("events", "coverage")


def parsed(name: str, groups: Any, model_store: str, options: Any) -> Any:
    """Return the checked options of a transform."""
    given = {} if options is None else options
    if not isinstance(given, Mapping):
        allowed = "a mapping such as {window: 1d, topics: 50}"
        raise OptionError(f"options of {name}", given, allowed, "Write one option a line.")
    known = names(groups)
    for option in given:
        if option not in known:
            remedy = did_you_mean(str(option), known, "docs/yaml.md says which there are.")
            raise OptionError(f"options of {name}", option, "the name of an option", remedy)
    argv = [f"--model_store={model_store}"]
    argv += [f"--{key}={written(value)}" for key, value in given.items() if value is not None]
    return parse(
        argv, name, "", (group.StoreOptions, group.RecordOptions, *groups), {}, graph=False
    )


def names(groups: Any) -> tuple[str, ...]:
    """Return the names of the options of groups and of records."""
    records = {option.name for option in plain_options(ParseSettings)}
    return tuple(sorted({*names_of(groups), *records} - {*_NOT_HERE}))


class VersionRow(NamedTuple):
    """A version that was published."""

    key: str
    version: str
    event_time: str
    documents: int
    tokens: int
    words: int


class EventRow(NamedTuple):
    """Something that a stream did; ``record`` is the whole event as JSON (docs/formats.md)."""

    key: str
    version: str
    kind: str
    time: str
    record: str


class TopicShare(NamedTuple):
    """A topic of a document, by its id."""

    topic: int
    share: float


class MixtureRow(NamedTuple):
    """The topics of a document, the largest first; ``topic`` is the first one, or None."""

    key: str
    id: str
    timestamp: str
    model_version: str
    method: str
    topic: int | None
    topics: Sequence[TopicShare]
    none: float | None
    words_known: int
    tokens: int


class DeadLetterRow(NamedTuple):
    """A row that is not a document; ``record`` is the dead letter as JSON (docs/formats.md)."""

    source: str
    reason: str
    record: str


def line_of_row(row: Any) -> bytes:
    """Return a row as JSON. A value that JSON does not have becomes a text.

    So a document with such a value becomes a dead letter, and no bundle fails.
    """
    values = row if isinstance(row, Mapping) else row._asdict()
    return json.dumps(values, default=_text, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _text(value: Any) -> str:
    """Return a time as ISO 8601, and anything else as Python writes it."""
    return to_iso(value.micros) if isinstance(value, Timestamp) else str(value)


def _version(reference: tuple[bytes, bytes]) -> VersionRow:
    found = Manifest.from_json(reference[1], "a reference to a version")
    counts = found.documents, found.tokens, found.words
    return VersionRow(found.key, found.version, to_iso(found.event_time), *counts)


def _event(record: bytes) -> EventRow:
    found = json.loads(record)
    named = (found[name] for name in ("key", "version", "kind", "time"))
    return EventRow(*named, record.decode())


def _mixtures(block: bytes) -> Iterable[MixtureRow]:
    for mixture in MixtureBlock.from_bytes(block).mixtures():
        fields = mixture_fields(mixture) | {"timestamp": to_iso(mixture.timestamp)}
        yield MixtureRow(**fields | {"topics": [TopicShare(**one) for one in fields["topics"]]})


def _letter(record: bytes) -> DeadLetterRow:
    found = json.loads(record)
    return DeadLetterRow(found["source"], found["reason"], record.decode())


# What makes rows of each kind, as a transform.
_VERSIONS = "Versions" >> beam.Map(_version).with_output_types(VersionRow)
_EVENTS = "Events" >> beam.Map(_event).with_output_types(EventRow)
_MIXTURES = "Mixtures" >> beam.FlatMap(_mixtures).with_output_types(MixtureRow)
_REFUSED = "Refused" >> beam.Map(_letter).with_output_types(DeadLetterRow)
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
            "versions": learned.references | _VERSIONS,
            "events": learned.events | _EVENTS,
            "dead_letters": dead | _REFUSED,
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
        models = served_models(serving, chosen)
        inferred = found.documents | "Infer" >> InferByKey(serving, models)
        dead = (found.dead_letters, inferred.dead_letters) | "Dead letters" >> beam.Flatten()
        return {"mixtures": inferred.blocks | _MIXTURES, "dead_letters": dead | _REFUSED}


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
        label = Label(given.before_first_model, given.label_with, streams=streams)
        labelled = (learned.minibatches, learned.references) | "Label" >> label
        serving = serving_of(self._options, self._learning.settings.topic_count)
        inferred = labelled.documents | "Infer" >> InferLabelled(serving)
        dead = (found.dead_letters, learned.dead_letters, labelled.dead_letters)
        return {
            "mixtures": inferred.blocks | _MIXTURES,
            "versions": learned.references | _VERSIONS,
            "events": learned.events | _EVENTS,
            "dead_letters": dead | "Dead letters" >> beam.Flatten() | _REFUSED,
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


def live(rows: beam.PCollection) -> bool:
    """Return whether event time advances while the job reads, see ``runners.streams``."""
    given = rows.pipeline.options.view_as(StandardOptions)
    return bool(given.streaming) and not is_local(given.runner)
