"""Whether the keys of a store are found in the texts themselves, by ``--key_from``."""

from __future__ import annotations

from model.publishing.store import ModelStore
from model.settings import TokeniserSettings


def settings_of_keys(store: ModelStore) -> TokeniserSettings | None:
    """Return the tokeniser that finds the key of a text; None where texts have no keys."""
    if store.has_versions(""):
        return None
    key = next(filter(store.has_versions, store.keys()), "")
    found = store.manifest(key).tokeniser if key else None
    return found if found is not None and found.has_keys else None
