"""beam-topics in Python: the estimator, and readers of what the programs write.

>>> from beam_topics import TopicModel  # doctest: +SKIP

The code is in the packages ``model``, ``transforms`` and ``pipelines``, which come with this one.
Names are imported when they are first used, so ``import beam_topics`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from beam_topics.siblings import check_siblings

check_siblings()

if TYPE_CHECKING:
    from model.publishing.catalogue import CatalogueStore
    from model.publishing.manifest import Manifest
    from model.publishing.store import ModelStore
    from model.snapshot import Snapshot
    from pipelines.estimator.mixtures import read_mixtures
    from pipelines.estimator.topic_model import TopicModel

__all__ = ["CatalogueStore", "Manifest", "ModelStore", "Snapshot", "TopicModel", "read_mixtures"]

_MODULES = {
    "CatalogueStore": "model.publishing.catalogue",
    "Manifest": "model.publishing.manifest",
    "ModelStore": "model.publishing.store",
    "Snapshot": "model.snapshot",
    "TopicModel": "pipelines.estimator.topic_model",
    "read_mixtures": "pipelines.estimator.mixtures",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("model").__version__
    if name not in _MODULES:
        raise AttributeError(f"module 'beam_topics' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_MODULES[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        raise ImportError(
            f"{name} needs scikit-learn. Run: pip install 'beam-topics[sklearn]'."
        ) from None
