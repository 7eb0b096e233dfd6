"""The page of a model store alone: without documents, mixtures and dead letters."""

from __future__ import annotations

from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.figures import Sources, figures_of
from beam_topics.model.reporting.mixtures import Limits
from beam_topics.model.reporting.shown import Shown
from beam_topics.pipelines.pages.page import render


def page_of_store(store: ModelStore, shown: Shown, served: bool = False) -> str:
    """Return the page of a version as HTML."""
    sources = Sources(store.with_models(shown.manifest), shown, store.get_snapshot)
    return render(figures_of(sources, Limits.of(len(shown.topics))), "Topics", served)
