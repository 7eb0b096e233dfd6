"""The models with which a run labels documents."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from beam_topics.model.errors import OptionError
from beam_topics.model.inference import inference_for
from beam_topics.model.inference.base import CLASSIFIER, CacheSettings, CoverageSettings
from beam_topics.model.inference.classifier import ClassifierStore
from beam_topics.model.inference.serving import ServedModel, Serving
from beam_topics.model.publishing.settings import StoreSettings, VersionSettings
from beam_topics.model.publishing.snapshots import ChosenModel
from beam_topics.model.publishing.store import ModelStore, settings_of_keys
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import MixtureSettings
from beam_topics.pipelines.cli.settings_from_options import inference_settings_of

# The number of models that are read before the run begins. Where there are more, a worker that
# reads a damaged one ends the run, with the same message.
MOST_CHECKED = 100


def chosen_models(options: Options) -> dict[str, ChosenModel]:
    """Return the version for each key that documents may have.

    Up to :data:`MOST_CHECKED` models are read, so that a damaged one ends the run before it begins.

    Raises:
        OptionError: there is no such version, or the models have different tokenisers.
        DamagedDataError: a snapshot does not have its digest.
    """
    which = settings_of(options, VersionSettings)
    where = settings_of(options, StoreSettings)
    store = ModelStore(where.root, where.trust)
    field = settings_of(options, ReadSettings).parse.fields.key
    in_texts = settings_of_keys(store) is not None
    if which.key and store.has_versions(which.key):
        in_texts = store.manifest(which.key).tokeniser.has_keys
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


def _models_of_keys(store: ModelStore, only: str, version: str) -> dict[str, ChosenModel]:
    """Return the version of one key, or of each key that has one.

    A key without a version has no model yet, like an unknown key.
    """
    keys = [only] if only else filter(store.has_versions, store.keys())
    return {key: ChosenModel.of(store.manifest(key, version)) for key in keys}


def served_models(serving: Serving, chosen: Mapping[str, ChosenModel]) -> dict[str, ServedModel]:
    """Return what workers need to know of each model, so that all use the same files.

    Raises:
        OptionError: the method needs a classifier, and there is none for one of the models.
    """
    store, settings = serving.models, serving.settings
    needed = CLASSIFIER in inference_for(settings).needs
    classifiers = ClassifierStore(store.root, store.signatures) if needed else None
    return {
        key: ServedModel(
            one.key,
            one.version,
            classifiers and classifiers.find(one.key, one.version, settings.kind),
            one.file,
        )
        for key, one in chosen.items()
    }


def serving_of(options: Options, topics: int) -> Serving:
    """Return what a step that labels needs of the store.

    ``topics`` is that of a model that is being learned; 0 for published ones.
    """
    mixtures, where = settings_of(options, MixtureSettings), settings_of(options, StoreSettings)
    return Serving(
        where.root,
        inference_settings_of(options),
        topics=topics,
        window=settings_of(options, CoverageSettings).window,
        cache_mb=settings_of(options, CacheSettings).megabytes,
        none_share=mixtures.none_share,
        topic_names=mixtures.topic_names,
        trust=where.trust,
    )
