"""Show a model store: the topics of one version, how each one's share went over the versions, and the versions.

``python -m pipelines.show --model_store=models``
"""

from __future__ import annotations

import sys

from apache_beam.options.pipeline_options import PipelineOptions

from model.store import ModelStore
from pipelines.command import command
from pipelines.options import ModelVersionOptions, ShowOptions, StoreOptions
from pipelines.terminal import console, day, figure_table, shares, sparkline, thin, topic_table

GROUPS = (StoreOptions, ModelVersionOptions, ShowOptions)
_CURVE = 24
_VERSIONS = 12


def show(options: PipelineOptions) -> None:
    """Print it; the version and its snapshot are checked by their digests first."""
    store, which = ModelStore(options.view_as(StoreOptions).model_store), options.view_as(ModelVersionOptions)
    words = options.view_as(ShowOptions).words
    chosen = store.manifest(which.model_key, which.model_version)
    snapshot = store.get_snapshot(chosen.key, chosen.snapshot)
    history = [m for m in store.manifests(chosen.key) if m.sequence <= chosen.sequence]
    traces = [shares(store.get_snapshot(m.key, m.snapshot)) for m in thin(history, _CURVE)]
    curves = [sparkline(trace) for trace in zip(*traces, strict=True)]
    out = console()
    out.print(topic_table(f"version {chosen.version}, up to {day(chosen.event_time)}", snapshot, curves, "by version", words))
    out.print()
    columns = ("up to", "documents", "tokens", "words", "perplexity", "ESS", "version")
    rows = [
        (day(m.event_time), m.documents, m.tokens, m.words, m.prequential_perplexity, m.ess, m.version) for m in thin(history, _VERSIONS)
    ]
    out.print(figure_table(f"{len(history)} versions", columns, rows))


main = command("pipelines.show", "Show the topics of a model store.", GROUPS, {"model_store": "models"}, show)

if __name__ == "__main__":
    sys.exit(main())
