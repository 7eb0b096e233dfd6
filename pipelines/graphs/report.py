"""The page of ``beam-topics report``: what is read for it, and where it is written."""

from __future__ import annotations

import json
from pathlib import Path

from beam_topics.model.errors import OptionError
from beam_topics.model.files import read_text
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.figures import Sources, figures_of
from beam_topics.model.reporting.mixtures import Limits, shortened
from beam_topics.model.reporting.shown import Shown
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.looking import PROFILE_FILE
from beam_topics.pipelines.cli.options import OutputFileSettings, ReportSettings
from beam_topics.pipelines.cli.stored import opened
from beam_topics.pipelines.cli.terminal import console, plain
from beam_topics.pipelines.graphs.labelled_files import check_documents, newest_of, refused_in
from beam_topics.pipelines.graphs.page_documents import documents_on_page
from beam_topics.pipelines.pages.page import check_installed, render
from beam_topics.transforms.write import write_file

# The most lines of a profile.
_LINES = 20


def report(options: Options) -> None:
    """Write the page."""
    check_installed()
    output = options.output
    if Path(output).suffix.lower() not in (".html",):
        raise OptionError(
            "--output", output, "a file whose name ends in .html", "Correct the ending."
        )
    if (period := settings_of(options, OutputFileSettings).file_period) is not None:
        raise OptionError("--file_period", period, "nothing in a report", "Leave it out.")
    store, manifest = opened(options)
    page = page_of(store, manifest, options)
    write_file(output, page)
    size = f"{len(page) / 1e6:.1f} MB"
    console().print(plain(f"version {manifest.version} -> {output} ({size})"), soft_wrap=True)


def page_of(store: ModelStore, manifest: Manifest, options: Options) -> bytes:
    """Return the page of a version."""
    dead_letters = settings_of(options, OutputFileSettings).dead_letters or None
    check_documents(options.documents, options.mixtures)
    history = store.with_models(manifest)
    snapshot = store.get_snapshot(manifest)
    view = Shown.stored(store, manifest, snapshot)
    limits = Limits.of(len(view.topics))
    told = newest_of(options.rows).told(view, history, limits.name)
    labelled, texts = None, None
    if options.mixtures:
        ids = told.documents
        labelled, texts = documents_on_page(options, history, view, snapshot, ids)
    sources = Sources(
        history,
        view,
        store.get_snapshot,
        labelled,
        texts,
        dead_letters and refused_in(dead_letters),
        _profile(Path(store.root).parent / PROFILE_FILE, limits),
        told,
    )
    return render(figures_of(sources, limits), settings_of(options, ReportSettings).title).encode()


def _profile(path: Path, limits: Limits) -> list[list[str]] | None:
    """Return the summary of the profile next to a model store; another file there is refused."""
    if not path.is_file():
        return None
    allowed = "a store next to a profile that train wrote"
    try:
        summary = json.loads(read_text("--model_store", str(path), allowed))["summary"]
        return [[shortened(str(text), limits.name) for text in pair] for pair in summary[:_LINES]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        remedy = f"It cannot be read: {type(error).__name__}. Remove the file."
        raise OptionError("--model_store", str(path), allowed, remedy) from error
