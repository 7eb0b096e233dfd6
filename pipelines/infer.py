"""Label documents with the topic mixtures of a published model.

``python -m pipelines.infer --input='new/*.jsonl' --model_store=models --output=mixtures
--dead_letters=dead``

With ``--key_field`` each document is labelled by the model of its key, and a document of an unknown
key becomes a dead letter. ``--method`` chooses the inference method (:mod:`model.inference`);
``gibbs1`` and ``gibbs2`` infer all documents of a model together. Every run reports the share of
each window's words that the model knows (:mod:`transforms.coverage`).
"""

from __future__ import annotations

import sys

import apache_beam as beam
from apache_beam.ml.inference.base import RunInference
from apache_beam.options.pipeline_options import PipelineOptions

from model.errors import OptionError
from model.inference import InferenceSettings, inference_for
from model.publishing.manifest import Manifest
from model.publishing.store import ModelStore
from model.settings import TokeniserSettings
from pipelines.cli.command import command
from pipelines.cli.inference_options import (
    CoverageOptions,
    RetrainOptions,
    TrainingDocumentsOptions,
)
from pipelines.cli.input_options import InputOptions, KafkaOptions, RecordOptions
from pipelines.cli.options import (
    InferenceOptions,
    MethodOptions,
    ModelVersionOptions,
    OutputOptions,
    StoreOptions,
)
from pipelines.cli.settings_from_options import inference_settings_of
from pipelines.graphs.execute import run
from pipelines.graphs.learning import report_coverage, write_dead_letters
from pipelines.graphs.runners import streams
from pipelines.graphs.sinks import SinkOptions, write_mixtures
from pipelines.graphs.sources import (
    SourceOptions,
    read_files,
    read_source,
    source_settings_of,
)
from transforms.coverage import Coverage, with_version
from transforms.infer import InferTogether, TopicModelHandler, check_training
from transforms.read import Documents
from transforms.route import Route

GROUPS = (
    InputOptions,
    SourceOptions,
    KafkaOptions,
    StoreOptions,
    ModelVersionOptions,
    SinkOptions,
    OutputOptions,
    MethodOptions,
    InferenceOptions,
    TrainingDocumentsOptions,
    CoverageOptions,
    RetrainOptions,
    RecordOptions,
)
REQUIRED = {"model_store": "models", "dead_letters": "dead"}


def chosen_models(options: PipelineOptions) -> dict[str, Manifest]:
    """Return the version for each key that documents may have.

    Each model is read once, so that a damaged one ends the run before it begins.

    Raises:
        OptionError: there is no such version, or the models have different tokenisers.
        DamagedDataError: a snapshot does not have its digest.
    """
    which, store = (
        options.view_as(ModelVersionOptions),
        ModelStore(options.view_as(StoreOptions).model_store),
    )
    if options.view_as(RecordOptions).key_field is None:
        # Documents without keys have the key "", whichever model they are for.
        chosen = {"": store.manifest(which.model_key, which.model_version)}
    else:
        # A key without a version has no model yet, like an unknown key.
        keys = (
            [which.model_key] if which.model_key else list(filter(store.has_versions, store.keys()))
        )
        if not keys:
            raise OptionError(
                "--model_store",
                store.root,
                "a store in which some key has a model",
                "Train one first.",
            )
        chosen = {key: store.manifest(key, which.model_version) for key in keys}
    for manifest in chosen.values():
        store.get_snapshot(manifest)
    if len({manifest.tokeniser for manifest in chosen.values()}) != 1:
        raise OptionError(
            "--key_field",
            list(chosen),
            "keys whose models have one tokeniser",
            "Label one at a time, with --model_key.",
        )
    return chosen


def training_documents(
    pipeline: beam.Pipeline,
    options: PipelineOptions,
    settings: InferenceSettings,
    tokeniser: TokeniserSettings,
) -> Documents | None:
    """Read the documents of ``--training``, or return None where the method needs none.

    Raises:
        OptionError: the method needs them and they are not given, or the other way round.
    """
    patterns = options.view_as(TrainingDocumentsOptions).training
    check_training([settings], patterns)
    if patterns is None:
        return None
    return pipeline | "Read training" >> read_files(options, tokeniser, patterns, "--training")


def build(pipeline: beam.Pipeline, options: PipelineOptions) -> None:
    """Wire the graph: read, route by key, infer and write, with the coverage beside."""
    store, source = options.view_as(StoreOptions).model_store, source_settings_of(options)
    settings = inference_settings_of(options)
    # The other sources have no end. Refuse them before a broker is asked for anything.
    if inference_for(settings).needs_all_documents and source.is_log:
        raise OptionError(
            "--method",
            settings.kind,
            f"a method for one document at a time with --source={source.kind}",
            "Use gibbs3.",
        )
    models, wanted = chosen_models(options), options.view_as(CoverageOptions)
    tokeniser = next(iter(models.values())).tokeniser
    documents, unreadable = read_source(pipeline, options, tokeniser)
    routed = documents | "Route" >> Route(list(models))
    dead = [unreadable, routed.dead_letters]
    if (training := training_documents(pipeline, options, settings, tokeniser)) is not None:
        learned = training.documents | "Route training" >> Route(list(models))
        dead += [training.dead_letters, learned.dead_letters]
    mixtures, versioned = [], []
    for key, manifest in models.items():
        of_key = routed.by_key[key]
        if inference_for(settings).needs_all_documents:
            again = learned.by_key[key] if training is not None else None
            infer: beam.PTransform = InferTogether(
                store, manifest.key, manifest.version, settings, again
            )
        else:
            infer = RunInference(
                TopicModelHandler(store, manifest.key, manifest.version, settings)
            ).with_output_types(bytes)
        mixtures.append(of_key | f"Infer {key!r}" >> infer)
        versioned.append(
            of_key
            | f"Version {key!r}"
            >> beam.Map(with_version, manifest.version).with_output_types(tuple[bytes, str])
        )
    write_mixtures(mixtures | "All mixtures" >> beam.Flatten(), options, streams(options))
    only = models[""].key if list(models) == [""] else None
    below = options.view_as(RetrainOptions).retrain_below
    known = Coverage(store, wanted.coverage_window, below, only, streams=streams(options))
    report_coverage(versioned | "All versions" >> beam.Flatten() | "Coverage" >> known, options)
    write_dead_letters(dead, options)


main = command(
    "pipelines.infer",
    __doc__.partition("\n")[0],
    GROUPS,
    REQUIRED,
    lambda options: run(build, options),
)

if __name__ == "__main__":
    sys.exit(main())
