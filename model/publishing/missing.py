"""Say what is missing if a version is not found: the store, the model key, or the version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Protocol

from model.errors import OptionError
from model.publishing.manifest import Manifest

_SHOWN = 5


class Versions(Protocol):
    """What the message needs of :class:`model.publishing.store.ModelStore`."""

    root: str

    def keys(self) -> Iterable[str]:
        """Return the model keys."""

    def has_versions(self, key: str) -> bool:
        """Return whether a key has a version."""

    def manifests(self, key: str) -> Sequence[Manifest]:
        """Return the versions of a key, the oldest first."""


def missing_version(store: Versions, key: str, version: str) -> OptionError:
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
