"""Names of topics for the catalogue: by the model, by documents at hand, or by a function."""

from __future__ import annotations

from collections.abc import Sequence

from beam_topics.model.publishing.catalogue import Catalogue
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.mixtures import Limits, Text, largest_topics, with_documents
from beam_topics.model.reporting.names import (
    MOST_DOCUMENTS,
    mean_length,
    model_names,
    names_by,
    names_by_documents,
)
from beam_topics.model.reporting.relevance import word_statistics
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.words.functions import load
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.pipelines.graphs.labelled_files import check_documents, documents_of, labelled_of

# Typical documents of each topic that a namer sees.
_TYPICAL = 5


def automatic_names(
    store: ModelStore, manifest: Manifest, catalogue: Catalogue, options: Options
) -> dict[int, str]:
    """Return a name for each topic that is not merged into another."""
    namer = None if options.namer is None else load("--namer", options.namer, "my_names:name_topic")
    check_documents(options.documents, options.mixtures, both=True)
    shown = Shown(catalogue, manifest, store.get_snapshot(manifest))
    whole, texts = shown.snapshot, []
    if options.documents is None:
        names = model_names(whole, word_statistics(whole), mean_length(manifest))
    else:
        names, texts = _by_documents(store.with_models(manifest), shown, options)
    found = names if namer is None else names_by(namer, whole, names, texts)
    return {topic: name for topic, name in zip(shown.ids, found, strict=True) if name}


def _by_documents(
    history: Sequence[Manifest], shown: Shown, options: Options
) -> tuple[list[str], list[list[str]]]:
    """Return the names, and the texts of typical documents of each group."""
    settings = read_settings_of(options)
    # Nothing is asked about periods.
    labelled = labelled_of(
        options.mixtures, history, shown, lambda _: 0, typical=_TYPICAL, sample=MOST_DOCUMENTS
    )
    words = largest_topics(
        labelled.sample, documents_of(options.documents, settings, history[-1]), shown
    )
    names = names_by_documents(shown.snapshot, words)
    typical = [mixture for topic in labelled.typical for mixture in topic]
    items = documents_of(options.documents, settings, history[-1])
    texts = {m.digest: Text.of(one, Limits()).text for m, one in with_documents(typical, items)}
    return names, [
        [texts[m.digest] for m in topic if m.digest in texts] for topic in labelled.typical
    ]
