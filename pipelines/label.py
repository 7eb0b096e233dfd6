"""Print the topics of a text by the newest version of a model.

``python -m pipelines.label --model_store=models --text='a ship came into the harbour'``

``--text`` may be repeated. Without it, each line of standard input is a text. A text is labelled
alone, and its id is a digest of it, so the same text gives the same topics. ``none`` is the
probability that no topic explains the text (:mod:`model.inference.none_share`). Models that were
learned with ``--key_from=language`` label the texts of their language.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from model.errors import OptionError
from model.publishing.catalogue import CatalogueStore
from model.publishing.keys_from_texts import settings_of_keys
from model.publishing.manifest import Manifest
from model.publishing.store import ModelStore
from model.publishing.store_settings import StoreSettings, VersionSettings
from model.reporting.shown import Shown, shown_of
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
# Models of keys that are held at once.
_MOST_MODELS = 16
_SHOWN = 60


GROUPS = (StoreOptions, ModelVersionOptions, TextOptions, MethodOptions, InferenceOptions)
REQUIRED = {"model_store": "models"}


def label(options: OptionGroup) -> None:
    """Print each text with the shares and names of its largest topics.

    Raises:
        OptionError: there is no such version, or the method needs more than the model.
    """
    # Imported here, because --help needs no kernels.
    from model.inference import inference_for
    from model.words.tokeniser import Tokeniser

    settings, wanted = inference_settings_of(options), options.view_as(TextOptions)
    method, which = inference_for(settings), settings_of(options, VersionSettings)
    if method.needs or method.needs_all_documents:
        allowed = "a method that labels one text by the model alone"
        raise OptionError("--method", settings.kind, allowed, "Use gibbs3.")
    store = ModelStore(settings_of(options, StoreSettings).root)
    texts = wanted.text if wanted.text is not None else _lines()
    of_texts = None if which.key else settings_of_keys(store)
    if of_texts is None:
        lines = _labelled(options, chosen_version(options))
        found = (line for part in _together(texts) for line in lines(part))
    else:
        found = _by_key(options, store, Tokeniser(of_texts).key, texts)
    out = console()
    for line in found:
        out.print(plain(line), soft_wrap=True)


def _by_key(
    options: OptionGroup, store: ModelStore, key_of: Callable[[str], str], texts: Iterable[str]
) -> Iterator[str]:
    """Yield what is printed of each text, by the model of its key."""
    version = settings_of(options, VersionSettings).version
    lines = lru_cache(_MOST_MODELS)(lambda key: _labelled(options, store.manifest(key, version)))
    for text in texts:
        key = key_of(text)
        if store.has_versions(key):
            yield from lines(key)([text])
        else:
            yield f"{_begin(text)} (its key is {key}, which has no model)"


def _labelled(options: OptionGroup, manifest: Manifest) -> Callable[[list[str]], Iterator[str]]:
    """Return the function that labels texts by a version, and gives what is printed."""
    from model.inference import PublishedModel, inference_for
    from model.inference.features import numbered
    from model.inference.labelling_texts import tokenised
    from model.inference.none_share import NoneShares
    from model.words.tokeniser import Tokeniser

    settings, most = inference_settings_of(options), options.view_as(TextOptions).most_topics
    method, store = inference_for(settings), ModelStore(settings_of(options, StoreSettings).root)
    snapshot = store.get_snapshot(manifest)
    shown = shown_of(CatalogueStore(store.root).latest(manifest.key)[1], manifest, snapshot)
    prepared = method.prepare(settings, PublishedModel(snapshot, manifest.version))
    tokeniser, none = Tokeniser(manifest.tokeniser), NoneShares(snapshot)

    def labelled(texts: list[str]) -> Iterator[str]:
        documents = numbered(snapshot, [tokenised(text, manifest.key, tokeniser) for text in texts])
        mixtures = none.added_to(method.infer(prepared, documents), documents)
        for text, mixture in zip(texts, mixtures, strict=True):
            yield from lines_of(text, mixture, shown, most)

    return labelled


def lines_of(text: str, mixture: Any, shown: Shown, most: int) -> list[str]:
    """Return what is printed of a text: its beginning, and its largest topics."""
    known = f"{mixture.words_known} of {mixture.tokens} words known, none {mixture.none:.1%}"
    rows = [
        f"  {share:6.1%}  {shown.ids[group]:4}  {shown.names[group]}"
        for group, share in shown.grouping.groups.largest(mixture.proportions, most)
    ]
    none = f"  {1:6.1%}  none  the model knows none of its words"
    return [f"{_begin(text)} ({known})", *(rows if mixture.words_known else [none])]


def _begin(text: str) -> str:
    begin = " ".join(text.split())
    return begin if len(begin) <= _SHOWN else f"{begin[: _SHOWN - 3]}..."


def _lines() -> Iterator[str]:
    return (line.rstrip("\n") for line in sys.stdin if line.strip())


def _together(texts: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(texts)
    while part := list(islice(rest, _TOGETHER)):
        yield part


main = command("pipelines.label", __doc__, GROUPS, REQUIRED, label, graph=False)

if __name__ == "__main__":
    sys.exit(main())
