"""Write a model in the form of another tool: gensim, pyLDAvis, MALLET, or a table.

``beam-topics export --model_store=models --format=csv --output=topics.csv``

:mod:`beam_topics.model.reporting.exports` has the forms, and what each of them holds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from beam_topics.model.errors import OptionError, OutputError
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.reporting import exports
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.settings.options import Record, option
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import OptionGroup, Options, settings_of
from beam_topics.pipelines.cli.stored import opened
from beam_topics.pipelines.cli.terminal import console, plain

# What makes the bytes of each form of a model, the versions up to it, and the chosen topics.
FORMS: dict[str, Callable[[Shown, Sequence[Manifest], Sequence[int]], bytes]] = {
    "csv": lambda shown, *_: exports.to_csv(shown),
    "parquet": lambda shown, *_: exports.to_parquet(shown),
    "json": lambda shown, history, _: exports.to_json(shown, history),
    "pyldavis": lambda shown, *_: exports.to_pyldavis(shown),
    "mallet": lambda shown, *_: exports.to_mallet(shown),
    "seeds": lambda shown, _, topics: exports.to_seeds(shown, topics),
}
# Gensim writes several files.
_ALL = (*FORMS, "gensim")


# The options of all programs have one namespace, in which --format says how files are read.
@dataclass(frozen=True)
class _FormSettings(Record):
    """What is written, and where."""

    format: str | None = option(None, "form of the file", values=_ALL)
    output: str | None = option(None, "file to write; gensim writes more files next to it")


GROUPS = (
    group.StoreOptions,
    group.ModelVersionOptions,
    OptionGroup("Form", _FormSettings),
    group.TopicOptions,
)
REQUIRED = {"model_store": "models", "format": "csv", "output": "topics.csv"}


def export(options: Options) -> None:
    """Write the version that the options name."""
    topics = settings_of(options, group.TopicSettings).topic_ids
    if topics and options.format != "seeds":
        given, remedy = ",".join(map(str, topics)), "Add --format=seeds, or leave it out."
        raise OptionError("--topic_ids", given, "topics of --format=seeds", remedy)
    store, manifest = opened(options)
    shown, path = Shown.stored(store, manifest), Path(options.output)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if options.format == "gensim":
            exports.write_gensim(shown, path)
        else:
            path.write_bytes(FORMS[options.format](shown, store.up_to(manifest), topics))
    except OSError as error:
        why = f"{path} cannot be written: {error.strerror}. Give a place that this user may write."
        raise OutputError(f"--output: {why}") from error
    form, (tokens, whole) = options.format, exports.rounding(shown)
    if form == "mallet" and tokens != whole:
        form += f"; {tokens:,.1f} tokens are rounded to {whole:,} whole ones"
    line = f"version {manifest.version} -> {path} ({form})"
    console().print(plain(line), soft_wrap=True)


main = command("export", __doc__, GROUPS, REQUIRED, export, graph=False)

if __name__ == "__main__":
    sys.exit(main())
