"""The publisher of a key of a run."""

from __future__ import annotations

from collections.abc import Callable

from model.learner_log.options import LearnOptions
from model.publishing.manifest import Manifest
from model.publishing.publication import Publisher
from model.publishing.store import ModelStore


def publisher_of(
    options: LearnOptions,
    key: str,
    store: ModelStore,
    on_superseded: Callable[[Manifest, list[str]], None] | None = None,
) -> Publisher:
    """Return the publisher of a key.

    Args:
        options: The options of the run.
        key: The model key.
        store: The model store.
        on_superseded: See :meth:`model.publishing.store.ModelStore.publish`.
    """
    return Publisher(
        store,
        key,
        options.settings.islands,
        options.manifest_settings(),
        options.publishing,
        every=dict([options.run.publish_every]),
        names=options.settings.topic_names,
        binding=options.binding,
        on_superseded=on_superseded,
    )
