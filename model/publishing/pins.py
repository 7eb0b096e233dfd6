"""Pins: versions that no expiry removes, ``<root>/<key>/pins/<version>.json``."""

from __future__ import annotations

from model.errors import OptionError
from model.publishing.blobs import Blobs, path_in
from model.publishing.manifest import VERSION_FORM, Manifest
from model.publishing.sealing import seal

_ENDING = ".json"


def pinned(blobs: Blobs, key: str) -> set[str]:
    """Return the versions of a key that are pinned."""
    names = (name.removesuffix(_ENDING) for name in blobs.list(path_in(key, "pins")))
    return {name for name in names if VERSION_FORM.fullmatch(name)}


def pin(blobs: Blobs, manifest: Manifest) -> None:
    """Pin a version.

    Raises:
        OptionError: The model of the version has expired.
    """
    path = _path(manifest.key, manifest.version)
    blobs.create(path, seal({"version": manifest.version}))
    # An expiry may have read the pins before this one was there. It leaves what was used since.
    needed = (f"snapshots/{manifest.snapshot}", f"manifests/{manifest.version}.json")
    used = [blobs.touch(path_in(manifest.key, one)) for one in needed]
    if not all(used):
        unpin(blobs, manifest.key, manifest.version)
        raise OptionError(
            "--model_version",
            manifest.version,
            "a version whose model is there; this one has expired",
            "python -m pipelines.versions list shows the versions.",
        )


def unpin(blobs: Blobs, key: str, version: str) -> None:
    """Unpin a version; a version that is not pinned stays as it is."""
    path, name = _path(key, version), f"{version}{_ENDING}"
    while (stamp := blobs.stamps(path_in(key, "pins")).get(name)) is not None:
        if blobs.remove(path, stamp):
            return


def _path(key: str, version: str) -> str:
    return path_in(key, f"pins/{version}{_ENDING}")
