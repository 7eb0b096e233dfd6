"""Write a model in the form of another tool: gensim, pyLDAvis, MALLET, GraphViz, or a table.

``python -m pipelines.export --model_store=models --format=csv --output=topics.csv``

:mod:`model.exports` has the forms, and what each of them holds.
"""

from __future__ import annotations

import sys
from pathlib import Path

from model.errors import OptionError, OutputError
from model.exports import Exported
from model.publishing.catalogue import CatalogueStore
from model.publishing.manifest import Manifest
from model.publishing.settings import StoreSettings
from model.publishing.store import ModelStore
from model.reporting.shown import Shown, shown_of
from pipelines.cli.command import command
from pipelines.cli.groups import OptionGroup
from pipelines.cli.options import ExportOptions, ModelVersionOptions, StoreOptions
from pipelines.cli.settings_from_options import chosen_version
from pipelines.cli.settings_options import flags, settings_of
from pipelines.cli.terminal import console, plain, thin
from pipelines.cli.values import choices

FORMS = ("csv", "parquet", "json", "pyldavis", "gensim", "mallet", "dot", "seeds")


# The options of all programs have one namespace, in which --format says how files are read.
_FormOptions = flags(
    "Form",
    format={"choices": FORMS, "help": choices(FORMS)},
    output={"help": "file to write; gensim writes some beside it"},
)
GROUPS = (StoreOptions, ModelVersionOptions, _FormOptions, ExportOptions)
REQUIRED = {"model_store": "models", "format": "csv", "output": "topics.csv"}


def export(options: OptionGroup) -> None:
    """Write the version that the options name.

    Raises:
        OptionError: there is no such version, or it has no such form.
        OutputError: the file cannot be written.
    """
    manifest, wanted = chosen_version(options), options.view_as(_FormOptions)
    freeze = options.view_as(ExportOptions).freeze
    if freeze and wanted.format != "seeds":
        given, remedy = ",".join(map(str, freeze)), "Add --format=seeds, or leave it out."
        raise OptionError("--freeze", given, "topics of --format=seeds", remedy)
    store = ModelStore(settings_of(options, StoreSettings).root)
    catalogue = CatalogueStore(store.root).latest(manifest.key)[1]
    shown = shown_of(catalogue, manifest, store.get_snapshot(manifest))
    exported = Exported(shown, store.up_to(manifest))
    path = Path(wanted.output)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if wanted.format == "gensim":
            from model.exports.gensim_model import write_gensim

            write_gensim(exported, path)
        else:
            path.write_bytes(data_of(exported, wanted.format, options, store))
    except OSError as error:
        raise OutputError(f"--output: {path} cannot be written: {error}.") from error
    form = f"{wanted.format}{_rounded(exported, wanted.format)}"
    told = f"version {manifest.version} -> {path} ({form})"
    console().print(plain(told), soft_wrap=True)


def _rounded(exported: Exported, form: str) -> str:
    """Return what a state of whole tokens leaves out or adds; empty for nothing."""
    from model.exports.mallet import rounding

    tokens, whole = rounding(exported)
    if form != "mallet" or tokens == whole:
        return ""
    return f"; {tokens:,.1f} tokens are rounded to {whole:,} whole ones"


def data_of(exported: Exported, form: str, options: OptionGroup, store: ModelStore) -> bytes:
    """Return the bytes of a form that is one file.

    Raises:
        OptionError: the version has no such form.
    """
    from model.exports import lineage, mallet, pyldavis, seeds, tables, web

    wanted = options.view_as(ExportOptions)
    if form == "dot":
        return lineage.to_dot(versions_of(exported, wanted.graph_versions, store))
    if form == "pyldavis":
        return pyldavis.to_pyldavis(exported)
    if form == "seeds":
        return seeds.to_seeds(exported, wanted.freeze)
    if form == "mallet":
        return mallet.to_mallet(exported)
    forms = {"csv": tables.to_csv, "parquet": tables.to_parquet, "json": web.to_json}
    return forms[form](exported, wanted.words_per_topic)


def versions_of(exported: Exported, most: int, store: ModelStore) -> list[Shown]:
    """Return the versions of the graph, evenly spread, as the catalogue shows them.

    Raises:
        OptionError: fewer than two versions have a model.
    """
    there: list[Manifest] = [one for one in exported.history if store.has_model(one)]
    if len(there) < 2:
        raise OptionError(
            "--format",
            "dot",
            "a form for a store with two versions or more",
            "Train with a shorter --publish_every.",
        )
    catalogue = exported.shown.catalogue
    return [shown_of(catalogue, one, store.get_snapshot(one)) for one in thin(there, most)]


main = command("pipelines.export", __doc__, GROUPS, REQUIRED, export, graph=False)

if __name__ == "__main__":
    sys.exit(main())
