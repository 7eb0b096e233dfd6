"""Show the topics of a model store, what changed in them, and the versions.

``python -m pipelines.show --model_store=models``
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from apache_beam.options.pipeline_options import PipelineOptions

from model.errors import DamagedDataError
from model.publishing.store import ModelStore
from model.publishing.topic_changes import TOP_WORDS
from model.records import FloatArray
from pipelines.cli.command import command
from pipelines.cli.options import ModelVersionOptions, ShowOptions, StoreOptions
from pipelines.cli.terminal import (
    PREQUENTIAL,
    change_table,
    console,
    day,
    figure_table,
    sparkline,
    thin,
    topic_table,
)

GROUPS = (StoreOptions, ModelVersionOptions, ShowOptions)
_CURVE = 24
_VERSIONS = 12


def growth(totals: Sequence[FloatArray]) -> FloatArray:
    """Return each topic's share of the tokens that came since the version before.

    A topic that lost tokens to others, because learners draw topics of past tokens again, counts as
    0.

    Args:
        totals: float64[T] for each version, the tokens of each topic.

    Returns:
        float64[versions, T].
    """
    gained = np.maximum(np.diff(np.array(totals), axis=0, prepend=0), 0)
    result: FloatArray = gained / np.maximum(gained.sum(axis=1, keepdims=True), 1e-300)
    return result


def show(options: PipelineOptions) -> None:
    """Print topics, changes and versions, after checking the digests of version and snapshot."""
    store, which = (
        ModelStore(options.view_as(StoreOptions).model_store),
        options.view_as(ModelVersionOptions),
    )
    words = options.view_as(ShowOptions).top_words
    chosen = store.manifest(which.model_key, which.model_version)
    snapshot = store.get_snapshot(chosen.key, chosen.snapshot)
    history = store.up_to(chosen)
    totals = [store.get_snapshot(m.key, m.snapshot).totals for m in thin(history, _CURVE)]
    if len({len(of_version) for of_version in totals}) > 1:
        raise DamagedDataError(
            f"the versions up to {chosen.version} have different numbers of topics; restore the"
            " store from a copy"
        )
    curves = [sparkline(trace) for trace in growth(totals).T]
    out = console()
    out.print(
        topic_table(
            f"version {chosen.version}, up to {day(chosen.event_time)}",
            snapshot,
            curves,
            "new, by version",
            words,
        )
    )
    out.print()
    if chosen.changes:
        out.print(
            change_table(
                f"since version {chosen.parent}: first {TOP_WORDS} words, and ranks now",
                chosen.changes,
            )
        )
        out.print()
    columns = ("up to", "documents", "tokens", "words", "prequential", "ESS", "version")
    rows = [
        (
            day(m.event_time),
            m.documents,
            m.tokens,
            m.words,
            m.prequential_perplexity,
            m.ess,
            m.version,
        )
        for m in thin(history, _VERSIONS)
    ]
    out.print(figure_table(f"{len(history)} versions", columns, rows))
    out.print(f"\n{PREQUENTIAL}")


main = command(
    "pipelines.show", __doc__.partition("\n")[0], GROUPS, {"model_store": "models"}, show
)

if __name__ == "__main__":
    sys.exit(main())
