"""beam-topics in Python: the estimator, and readers of what the programs write.

>>> from beam_topics import TopicModel  # doctest: +SKIP

The code is in ``beam_topics.model``, ``beam_topics.transforms`` and ``beam_topics.pipelines``. In a
clone these are links to the folders ``model``, ``transforms`` and ``pipelines``.
Names are imported when they are first used, so ``import beam_topics`` is fast.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beam_topics.model.publishing.catalogue import CatalogueStore
    from beam_topics.model.publishing.manifest import Manifest
    from beam_topics.model.publishing.snapshot import Snapshot
    from beam_topics.model.publishing.store import ModelStore
    from beam_topics.pipelines.estimator import read_mixtures
    from beam_topics.pipelines.estimator.topic_model import TopicModel

__all__ = ["CatalogueStore", "Manifest", "ModelStore", "Snapshot", "TopicModel", "read_mixtures"]

_MODULES = {
    "CatalogueStore": "beam_topics.model.publishing.catalogue",
    "Manifest": "beam_topics.model.publishing.manifest",
    "ModelStore": "beam_topics.model.publishing.store",
    "Snapshot": "beam_topics.model.publishing.snapshot",
    "TopicModel": "beam_topics.pipelines.estimator.topic_model",
    "read_mixtures": "beam_topics.pipelines.estimator",
}


def quiet_interrupts() -> None:
    """End this process in one line where Ctrl-C comes before a program handles it, or after."""

    def hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        os.write(2, b"beam-topics: interrupted.\n")
        os._exit(130)

    sys.excepthook = hook


# Python puts this in place of the name while it looks for what ``python -m`` runs.
if sys.argv[:1] == ["-m"]:
    quiet_interrupts()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("beam_topics.model").__version__
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
