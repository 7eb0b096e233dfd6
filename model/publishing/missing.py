"""Say what is missing if a version is not found: the store, the model key, or the version."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from model.errors import OptionError

if TYPE_CHECKING:
    from model.publishing.store import ModelStore

_SHOWN = 5


def missing_version(store: ModelStore, key: str, version: str) -> OptionError:
    """Return the error that names the option to correct.

    A store that was moved is reported as ``--model_store``, and not as ``--model_version``.
    """
    keys = list(islice(filter(store.has_versions, store.keys()), _SHOWN))
    if not keys:
        return OptionError(
            "--model_store",
            store.root,
            "a folder with a published model",
            "Correct the path, or train a model first.",
        )
    if not store.has_versions(key):
        allowed = f"a key with a model in {store.root}, such as {', '.join(map(repr, keys))}"
        return OptionError("--model_key", key, allowed, "Give one of those with --model_key.")
    newest = ", ".join(manifest.version for manifest in store.manifests(key)[-_SHOWN:])
    allowed = f"latest, or a version of key {key!r} in {store.root} (the newest: {newest})"
    return OptionError("--model_version", version, allowed, "Correct the version.")
