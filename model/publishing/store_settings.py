"""Settings of :mod:`model.publishing.store`: where it is, and which model of it is used."""

from __future__ import annotations

from dataclasses import dataclass

from model.options import Record, option


@dataclass(frozen=True)
class StoreSettings(Record):
    """Where the model store is."""

    root: str = option(
        "",
        "folder, or gs://bucket/folder, for models and checkpoints",
        name="model_store",
        first=True,
    )


@dataclass(frozen=True)
class VersionSettings(Record):
    """Which model of a store is used."""

    version: str = option(
        "latest", "version of the model, or latest", name="model_version", first=True
    )
    key: str = option(
        "",
        "key of the model, where the store holds one for each --key_field",
        name="model_key",
    )
