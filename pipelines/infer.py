"""Label documents with the topic mixtures of a published model.

``python -m pipelines.infer --input='new/*.jsonl' --model_store=models --output=mixtures --dead_letters=dead``

With ``--key_field`` each document is labelled by the model of its key, and one of an unknown key is a dead letter.
"""

from __future__ import annotations

import sys

import apache_beam as beam
from apache_beam.ml.inference.base import RunInference
from apache_beam.options.pipeline_options import PipelineOptions

from model.errors import OptionError
from model.manifest import Manifest
from model.settings import TokeniserSettings
from model.store import ModelStore
from pipelines.checked import inference_settings_of
from pipelines.command import command
from pipelines.graphs import write_dead_letters
from pipelines.options import (
    InferenceOptions,
    InputOptions,
    KafkaOptions,
    ModelVersionOptions,
    OutputOptions,
    RecordOptions,
    SourceOptions,
    StoreOptions,
)
from pipelines.running import run
from pipelines.sinks import write_mixtures
from pipelines.sources import read_source
from transforms.infer import TopicModelHandler
from transforms.route import Route

GROUPS = (InputOptions, SourceOptions, KafkaOptions, StoreOptions, ModelVersionOptions, OutputOptions, InferenceOptions, RecordOptions)
REQUIRED = {"model_store": "models", "dead_letters": "dead"}


def chosen_models(options: PipelineOptions) -> dict[str, Manifest]:
    """The version for each key that documents may have; each model is read here once, so damage ends the run before it begins.

    Raises:
        OptionError: there is no such version, or the models cut words differently.
        DamagedDataError: a snapshot does not have its digest.
    """
    which, store = options.view_as(ModelVersionOptions), ModelStore(options.view_as(StoreOptions).model_store)
    if options.view_as(RecordOptions).key_field is None:
        # Documents without keys have the key "", whichever model they are for.
        chosen = {"": store.manifest(which.model_key, which.model_version)}
    else:
        keys = [which.model_key] if which.model_key else store.keys()
        chosen = {key: store.manifest(key, which.model_version) for key in keys}
    for manifest in chosen.values():
        store.get_snapshot(manifest.key, manifest.snapshot)
    if len({str(manifest.settings["tokeniser"]) for manifest in chosen.values()}) != 1:
        raise OptionError("--key_field", list(chosen), "keys whose models have one tokeniser", "Label one at a time, with --model_key.")
    return chosen


def build(pipeline: beam.Pipeline, options: PipelineOptions) -> None:
    """read -> route by key -> RunInference -> write."""
    store, settings = options.view_as(StoreOptions).model_store, inference_settings_of(options)
    models = chosen_models(options)
    tokeniser = TokeniserSettings.from_dict(next(iter(models.values())).settings["tokeniser"])
    documents, unreadable = read_source(pipeline, options, tokeniser)
    routed = documents | "Route" >> Route(list(models))
    mixtures = [
        routed.by_key[key]
        | f"Infer {key!r}" >> RunInference(TopicModelHandler(store, manifest.key, manifest.version, settings)).with_output_types(bytes)
        for key, manifest in models.items()
    ]
    together = mixtures | "All mixtures" >> beam.Flatten()
    write_mixtures(together, options)
    write_dead_letters([unreadable, routed.dead_letters], options)


main = command("pipelines.infer", __doc__.partition("\n")[0], GROUPS, REQUIRED, lambda options: run(build, options))

if __name__ == "__main__":
    sys.exit(main())
