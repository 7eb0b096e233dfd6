"""The page of a report of the version at hand, as ``beam-topics report`` makes it of a store alone.

A page is kept until another version, or another catalogue, is at hand.
"""

from __future__ import annotations

from starlette.exceptions import HTTPException

from model.errors import BeamTopicsError
from model.publishing.store import ModelStore
from model.reporting.figures import Sources, figures_of
from model.reporting.limits import Limits
from pipelines.pages.page import check_installed, render
from pipelines.service.models import Loaded

# Pages that are kept: a megabyte or more each.
MOST_PAGES = 4
_TITLE = "Topics"


class Reports:
    """The pages that were asked for last. One thread at a time calls the methods.

    Args:
        store: The model store.
    """

    def __init__(self, store: ModelStore) -> None:
        self._store = store
        self._pages: dict[tuple[str, str, str | None], str] = {}

    def page(self, loaded: Loaded) -> str:
        """Return the page of a version.

        Raises:
            HTTPException: What makes pages is not installed.
        """
        try:
            check_installed()
        except BeamTopicsError as error:
            raise HTTPException(501, str(error)) from None
        name = (loaded.manifest.key, loaded.manifest.version, loaded.catalogue_digest)
        if name not in self._pages:
            while len(self._pages) >= MOST_PAGES:
                del self._pages[next(iter(self._pages))]
            self._pages[name] = self._made(loaded)
        return self._pages[name]

    def _made(self, loaded: Loaded) -> str:
        store, manifest = self._store, loaded.manifest
        history = [one for one in store.up_to(manifest) if one == manifest or store.has_model(one)]
        sources = Sources(
            history, loaded.snapshot, store.get_snapshot, catalogue=loaded.shown.catalogue
        )
        return render(figures_of(sources, Limits.of(loaded.snapshot.topic_count)), _TITLE)
