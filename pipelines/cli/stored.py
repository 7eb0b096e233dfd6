"""The model store and the version that options name."""

from __future__ import annotations

from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.settings import StoreSettings, VersionSettings
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines.cli.groups import Options, settings_of


def opened(options: Options) -> tuple[ModelStore, Manifest]:
    """Return the model store and the version of it that the options name.

    Raises:
        OptionError: there is no such version.
    """
    store = ModelStore(settings_of(options, StoreSettings).root)
    which = settings_of(options, VersionSettings)
    return store, store.manifest(which.key, which.version)
