"""The page of a model store, with the newest trends and stories and no texts."""

from __future__ import annotations

from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.figures import Sources, figures_of
from beam_topics.model.reporting.mixtures import Limits
from beam_topics.model.reporting.now import Newest
from beam_topics.model.reporting.shown import Shown
from beam_topics.pipelines.pages.page import render


def page_of_store(
    store: ModelStore, shown: Shown, served: bool = False, newest: Newest | None = None
) -> str:
    """Return the page of a version as HTML."""
    history, limits = store.with_models(shown.manifest), Limits.of(len(shown.topics))
    told = (newest or Newest()).told(shown, history, limits.name)
    sources = Sources(history, shown, store.get_snapshot, told=told)
    return render(figures_of(sources, limits), "Topics", served)
