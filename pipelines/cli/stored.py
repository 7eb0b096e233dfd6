"""The model store and the version that options name."""

from __future__ import annotations

from pathlib import Path

from beam_topics.model.files import is_local
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.settings import StoreSettings, VersionSettings
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines.cli.groups import Options, names_of, settings_of


def store_of(options: Options) -> ModelStore:
    """Return the model store that the options name, with the keys that they trust and sign with."""
    where = settings_of(options, StoreSettings)
    return ModelStore(where.root, where.trust, options.get("sign") or "")


def opened(options: Options) -> tuple[ModelStore, Manifest]:
    """Return the model store and the version of it that the options name.

    Raises:
        OptionError: there is no such version.
    """
    store = store_of(options)
    which = settings_of(options, VersionSettings)
    return store, store.manifest(which.key, which.version)


def is_ordered(root: str) -> bool:
    """Return whether the run of a model store has the order of the records in place of times."""
    # Imported here: most programs that show versions read no options of a run.
    from beam_topics.pipelines.cli.arguments import all_groups, stored_options

    folder = str(Path(root).parent)
    known = names_of(all_groups())
    return is_local(root) and stored_options(folder, known).get("time_from") == "order"
