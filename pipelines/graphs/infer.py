"""The graph of ``beam-topics infer``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

import apache_beam as beam

from beam_topics.model.documents.gathering import Blocks
from beam_topics.model.errors import OptionError
from beam_topics.model.inference import InferenceSettings, inference_for
from beam_topics.model.inference.base import CLASSIFIER
from beam_topics.model.inference.classifier import ClassifierStore
from beam_topics.model.inference.serving import ServedModel
from beam_topics.model.inference.settings import RetrainSettings
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.settings import StoreSettings, VersionSettings
from beam_topics.model.publishing.snapshots import ModelFile
from beam_topics.model.publishing.store import ModelStore, settings_of_keys
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import TrainingInputSettings
from beam_topics.pipelines.cli.settings_from_options import inference_settings_of
from beam_topics.pipelines.graphs.execute import run
from beam_topics.pipelines.graphs.learning import report_coverage, serving_of, write_dead_letters
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import write_mixtures
from beam_topics.pipelines.graphs.sources import (
    read_files,
    read_source,
    source_settings_of,
)
from beam_topics.transforms.coverage import Coverage
from beam_topics.transforms.infer import InferByKey, InferTogether, check_training
from beam_topics.transforms.read import Documents

# The number of models that are read before the run begins. Where there are more, a worker that
# reads a damaged one ends the run, with the same message.
MOST_CHECKED = 100


class ChosenModel(NamedTuple):
    """What is kept of a manifest. A whole one is larger, and there may be thousands.

    Attributes:
        key: the model key.
        version: the name of the version.
        file: what names its model in the store.
        tokeniser: the settings of its tokeniser.
    """

    key: str
    version: str
    file: ModelFile
    tokeniser: TokeniserSettings

    @classmethod
    def of(cls, manifest: Manifest) -> ChosenModel:
        """Return what is kept of a manifest."""
        return cls(manifest.key, manifest.version, ModelFile.of(manifest), manifest.tokeniser)


def chosen_models(options: Options) -> dict[str, ChosenModel]:
    """Return the version for each key that documents may have.

    Up to :data:`MOST_CHECKED` models are read, so that a damaged one ends the run before it begins.

    Raises:
        OptionError: there is no such version, or the models have different tokenisers.
        DamagedDataError: a snapshot does not have its digest.
    """
    which = settings_of(options, VersionSettings)
    store = ModelStore(settings_of(options, StoreSettings).root)
    field = settings_of(options, ReadSettings).parse.fields.key
    in_texts = _keys_in_texts(store, which.key)
    if field is not None and in_texts:
        allowed = "nothing with models that were learned with --key_from"
        raise OptionError("--key_field", field, allowed, "Leave it out; texts have their keys.")
    if field is None and not in_texts:
        # Documents without keys have the key "", whichever model they are for.
        chosen = {"": ChosenModel.of(store.manifest(which.key, which.version))}
    else:
        chosen = _models_of_keys(store, which.key, which.version)
        if not chosen:
            raise OptionError(
                "--model_store",
                store.root,
                "a store in which some key has a model",
                "Train one first.",
            )
    for one in islice(chosen.values(), MOST_CHECKED):
        store.get_model(one.key, one.version, one.file)
    if len({one.tokeniser for one in chosen.values()}) != 1:
        raise OptionError(
            "--key_field",
            list(chosen),
            "keys whose models have one tokeniser",
            "Label one at a time, with --model_key.",
        )
    return chosen


def _keys_in_texts(store: ModelStore, only: str) -> bool:
    if only and store.has_versions(only):
        return store.manifest(only).tokeniser.has_keys
    return settings_of_keys(store) is not None


def _models_of_keys(store: ModelStore, only: str, version: str) -> dict[str, ChosenModel]:
    """Return the version of one key, or of each key that has one.

    A key without a version has no model yet, like an unknown key.
    """
    if only or version != "latest":
        keys = [only] if only else filter(store.has_versions, store.keys())
        return {key: ChosenModel.of(store.manifest(key, version)) for key in keys}
    keys = store.keys()
    newest = ((key, store.latest(key)) for key in keys)
    return {key: ChosenModel.of(found) for key, found in newest if found is not None}


def served_models(
    store: str, chosen: Mapping[str, ChosenModel], settings: InferenceSettings
) -> dict[str, ServedModel]:
    """Return what workers need to know of each model, so that all use the same files.

    Raises:
        OptionError: the method needs a classifier, and there is none for one of the models.
    """
    classifiers = ClassifierStore(store) if CLASSIFIER in inference_for(settings).needs else None
    return {
        key: ServedModel(
            one.key,
            one.version,
            classifiers and classifiers.find(one.key, one.version, settings.kind),
            one.file,
        )
        for key, one in chosen.items()
    }


def training_documents(
    pipeline: beam.Pipeline,
    options: Options,
    settings: InferenceSettings,
    tokeniser: TokeniserSettings,
) -> Documents | None:
    """Read the documents of ``--training``, or return None where the method needs none.

    Raises:
        OptionError: the method needs them and they are not given, or the other way round.
    """
    patterns = settings_of(options, TrainingInputSettings).training
    check_training(settings, patterns)
    if patterns is None:
        return None
    return pipeline | "Read training" >> read_files(options, tokeniser, patterns, "--training")


def build(pipeline: beam.Pipeline, options: Options) -> None:
    """Wire the graph: read, infer and write, with the coverage beside."""
    store, source = settings_of(options, StoreSettings).root, source_settings_of(options)
    settings = inference_settings_of(options)
    # The other sources have no end. Refuse them before a broker is asked for anything.
    if inference_for(settings).needs_all_documents and source.is_log:
        raise OptionError(
            "--method",
            settings.kind,
            f"a method for one document at a time with --source={source.kind}",
            "Use gibbs3.",
        )
    chosen = chosen_models(options)
    models = served_models(store, chosen, settings)
    tokeniser = next(iter(chosen.values())).tokeniser
    together = inference_for(settings).needs_all_documents
    documents, unreadable = read_source(
        pipeline, options, tokeniser, blocks=None if together else Blocks()
    )
    training = training_documents(pipeline, options, settings, tokeniser)
    serving = serving_of(options, 0)
    if together:
        learned = None if training is None else training.documents
        infer: beam.PTransform = InferTogether(serving, models, learned)
    else:
        infer = InferByKey(serving, models)
    inferred = documents | "Infer" >> infer
    write_mixtures(inferred.blocks, options, streams(options))
    below = settings_of(options, RetrainSettings).below
    known = Coverage(serving.window, below, streams=streams(options))
    report_coverage(inferred.tallies | "Coverage" >> known, options)
    dead = [unreadable, inferred.dead_letters]
    dead += [] if training is None else [training.dead_letters]
    write_dead_letters(dead, options)


def run_graph(options: Options) -> None:
    """Run the graph."""
    run(build, options)
