"""The documents of ``beam-topics report``: their mixtures and their texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.reporting.course import DAY, calendar_unit, period_start
from beam_topics.model.reporting.encoding import Mixture
from beam_topics.model.reporting.mixtures import (
    Again,
    Labelled,
    Limits,
    Text,
    shown,
    with_documents,
)
from beam_topics.model.reporting.shown import Shown
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.pipelines.graphs.labelled_files import documents_of, labelled_of

# The documents among which the version that is shown finds its typical ones, and the sample that it
# labels, as multiples of what a page holds.
_CANDIDATES, _SAMPLES = 3, 5


def documents_on_page(
    options: Options,
    history: Sequence[Manifest],
    view: Shown,
    snapshot: Snapshot,
    named: Collection[str],
) -> tuple[Labelled, Mapping[bytes, Text] | None]:
    """Return what the mixtures say, and the texts of documents if they are given.

    Args:
        options: With ``mixtures`` and ``documents``.
        history: The versions up to the one that is shown.
        view: The version that is shown.
        snapshot: Its model.
        named: The ids of documents that are kept.
    """
    limits = Limits.of(len(view.topics))
    with_texts = options.documents is not None
    of_day = lru_cache(partial(period_start, unit=calendar_unit(history)))

    def period(micros: int) -> int:
        # No period is shorter than a day.
        return of_day(micros // DAY * DAY)

    labelled = labelled_of(
        options.mixtures,
        history,
        view,
        period,
        typical=limits.typical * (_CANDIDATES if with_texts else 1),
        sample=limits.sample * (_SAMPLES if with_texts else 1),
        named=named,
    )
    if not with_texts:
        return labelled, None
    read = documents_of(options.documents, read_settings_of(options), view.manifest)
    found, again = with_documents(shown(labelled), read), dict[bytes, Mixture]()
    try:
        labeller = Again(view, snapshot)
        found, again = labeller.passing(found), labeller.found
    except OptionError:
        # A function or a package cuts the words of the model, and is not at hand.
        pass
    texts = {mixture.digest: Text.of(document, limits) for mixture, document in found}
    labelled.take(again, view.manifest.version, limits, period)
    return labelled, texts
