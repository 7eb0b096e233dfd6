"""Print the topics of a text by the newest version of a model.

``python -m pipelines.label --model_store=models --text='a ship came into the harbour'``

``--text`` may be repeated. Without it, each line of standard input is a text. A text is labelled
alone, and its id is a digest of it, so the same text gives the same topics. ``none`` is the
probability that no topic explains the text (:mod:`model.inference.none_share`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from model.errors import OptionError
from model.publishing.catalogue import CatalogueStore
from model.publishing.store import ModelStore
from model.publishing.store_settings import StoreSettings
from model.reporting.names import shown_names
from pipelines.cli.command import command
from pipelines.cli.groups import OptionGroup
from pipelines.cli.options import (
    InferenceOptions,
    MethodOptions,
    ModelVersionOptions,
    StoreOptions,
    TextOptions,
)
from pipelines.cli.settings_from_options import chosen_version, inference_settings_of
from pipelines.cli.settings_options import settings_of
from pipelines.cli.terminal import console, plain

# Texts of standard input that are labelled together.
_TOGETHER = 1000
_SHOWN = 60


GROUPS = (StoreOptions, ModelVersionOptions, TextOptions, MethodOptions, InferenceOptions)
REQUIRED = {"model_store": "models"}


def label(options: OptionGroup) -> None:
    """Print each text with the shares and names of its largest topics.

    Raises:
        OptionError: there is no such version, or the method needs more than the model.
    """
    # Imported here, because --help needs no kernels.
    from model.inference import PublishedModel, inference_for
    from model.inference.features import NumberedDocuments
    from model.inference.labelling_texts import tokenised
    from model.inference.none_share import NoneShares
    from model.words.tokeniser import Tokeniser

    manifest, settings = chosen_version(options), inference_settings_of(options)
    method, wanted = inference_for(settings), options.view_as(TextOptions)
    if method.needs or method.needs_all_documents:
        allowed = "a method that labels one text by the model alone"
        raise OptionError("--method", settings.kind, allowed, "Use gibbs3.")
    store = ModelStore(settings_of(options, StoreSettings).root)
    snapshot = store.get_snapshot(manifest)
    given = CatalogueStore(store.root).latest(manifest.key)[1].names()
    names, ids = shown_names(snapshot, manifest, given), manifest.ids(snapshot.topic_count)
    prepared = method.prepare(settings, PublishedModel(snapshot, manifest.version))
    tokeniser, out, none = Tokeniser(manifest.tokeniser), console(), NoneShares(snapshot)
    for texts in _together(wanted.text if wanted.text is not None else _lines()):
        documents = NumberedDocuments(
            snapshot, [tokenised(text, manifest.key, tokeniser) for text in texts]
        )
        mixtures = none.added_to(method.infer(prepared, documents), documents)
        for text, mixture in zip(texts, mixtures, strict=True):
            for line in lines_of(text, mixture, names, wanted.most_topics, ids):
                out.print(plain(line), soft_wrap=True)


def lines_of(
    text: str, mixture: Any, names: Sequence[str], most: int, ids: Sequence[int]
) -> list[str]:
    """Return what is printed of a text: its beginning, and its largest topics."""
    known = f"{mixture.words_known} of {mixture.tokens} words known, none {mixture.none:.1%}"
    begin = " ".join(text.split())
    begin = begin if len(begin) <= _SHOWN else f"{begin[: _SHOWN - 3]}..."
    rows = [
        f"  {mixture.proportions[topic]:6.1%}  {ids[topic]:4}  {names[topic]}"
        for topic, _ in mixture.top_topics(most)
    ]
    return [f"{begin} ({known})", *rows]


def _lines() -> Iterator[str]:
    return (line.rstrip("\n") for line in sys.stdin if line.strip())


def _together(texts: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(texts)
    while part := list(islice(rest, _TOGETHER)):
        yield part


main = command("pipelines.label", __doc__.partition("\n")[0], GROUPS, REQUIRED, label, graph=False)

if __name__ == "__main__":
    sys.exit(main())
