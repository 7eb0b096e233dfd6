"""Print the topics of a text by the newest version of a model.

``beam-topics label --model_store=models --text='a ship came into the harbour'``

``--text`` may be repeated. Without it, each line of standard input is a text. A text is labelled
alone, and its id is a digest of it, so the same text gives the same topics. ``none`` is the
probability that no topic explains the text (:mod:`beam_topics.model.inference.serving`). Models
that were learned with ``--key_from=language`` label the texts of their language.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from beam_topics.model.publishing.settings import StoreSettings, VersionSettings
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.invocation import shown
from beam_topics.pipelines.cli.settings_from_options import inference_settings_of
from beam_topics.pipelines.cli.terminal import console, plain, tell

if TYPE_CHECKING:
    from beam_topics.model.reporting.shown import Shown
    from beam_topics.pipelines.service.models import Loaded, Models

# Texts of standard input that are labelled together.
_TOGETHER = 1000
# Models of keys that are held at once.
_MOST_MODELS = 16
_SHOWN = 60
# The topics of a text that are printed.
_MOST_TOPICS = 3


GROUPS = (
    group.StoreOptions,
    group.FunctionOptions,
    group.ModelVersionOptions,
    group.TextOptions,
    group.MethodOptions,
    group.InferenceOptions,
)
REQUIRED = {"model_store": "models"}


def label(options: Options) -> None:
    """Print each text with the shares and names of its largest topics."""
    # Imported here, because --help needs no kernels.
    from beam_topics.pipelines.cli.stored import opened
    from beam_topics.pipelines.service.models import Models

    which = settings_of(options, VersionSettings)
    where, settings = settings_of(options, StoreSettings), inference_settings_of(options)
    models = Models(where.root, settings, _MOST_MODELS, which.version, where.trust)
    lines = (line.rstrip("\n") for line in sys.stdin if line.strip())
    texts = lines if options.text is None else options.text
    if options.text is None and sys.stdin.isatty():
        tell(f"{shown('label')}: each line that you type is a text; Ctrl-D ends them")
    key_of = None if which.key else models.key_of_text
    if key_of is None:
        loaded = models.load(opened(options)[1])
        found = (line for part in _together(texts) for line in _labelled(loaded, part))
    else:
        found = _by_key(models, key_of, texts)
    out = console()
    for line in found:
        out.print(plain(line), soft_wrap=True)


def _by_key(models: Models, key_of: Callable[[str], str], texts: Iterable[str]) -> Iterator[str]:
    """Yield what is printed of each text, by the model of its key."""
    for text in texts:
        key = key_of(text)
        if models.store.has_versions(key):
            yield from _labelled(models.get(key), [text])
        else:
            yield f"{_begin(text)} (its key is {key}, which has no model)"


def _labelled(loaded: Loaded, texts: list[str]) -> Iterator[str]:
    """Yield what is printed of texts, by a version."""
    for text, mixture in zip(texts, loaded.mixtures(texts), strict=True):
        yield from lines_of(text, mixture, loaded.shown)


def lines_of(text: str, mixture: Any, shown: Shown) -> list[str]:
    """Return what is printed of a text: its beginning, and its largest topics."""
    known = f"{mixture.words_known} of {mixture.tokens} words known"
    known += f", no topic explains {mixture.none:.1%}"
    rows = [
        f"  {share:6.1%}  {shown.ids[group]:4}  {shown.names[group]}"
        for group, share in shown.groups.largest(mixture.proportions, _MOST_TOPICS)
    ]
    none = f"  {1:6.1%}  none  the model knows none of its words"
    return [f"{_begin(text)} ({known})", *(rows if mixture.words_known else [none])]


def _begin(text: str) -> str:
    begin = " ".join(text.split())
    return begin if len(begin) <= _SHOWN else f"{begin[: _SHOWN - 3]}..."


def _together(texts: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(texts)
    while part := list(islice(rest, _TOGETHER)):
        yield part


main = command("label", __doc__, GROUPS, REQUIRED, label, graph=False)

if __name__ == "__main__":
    sys.exit(main())
