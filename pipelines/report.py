"""Write a page about the topics of a model store, as one HTML file.

``python -m pipelines.report --model_store=models --mixtures=mixtures --output=report.html``

The page loads nothing from elsewhere. ``--documents`` adds the texts of the documents that it
shows, ``--dead_letters`` counts the records that could not be used, and ``--follow`` writes the
page anew for each new version.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions

from model.errors import OptionError
from model.publishing.catalogue import CatalogueStore
from model.publishing.manifest import Manifest
from model.publishing.store import ModelStore
from model.reading.files import ReadSettings, read_file
from model.reporting.course import calendar_unit, period_start
from model.reporting.documents import shown
from model.reporting.figures import Sources, figures_of
from model.reporting.health import Refused, refused
from model.reporting.limits import Limits
from model.reporting.merging import Grouping
from model.reporting.mixtures import Labelled, read_mixtures, rows_of_file
from model.reporting.texts import Text, texts_of
from pipelines.cli.command import command
from pipelines.cli.input_options import RecordOptions
from pipelines.cli.options import ModelVersionOptions, ReportOptions, StoreOptions
from pipelines.cli.settings_from_options import read_settings_of
from pipelines.cli.terminal import console, plain
from pipelines.graphs.sinks import SinkOptions
from pipelines.pages.page import check_installed, render
from transforms.read import check_patterns, open_stored
from transforms.write import write_file


class _PageOptions:
    """Output."""

    # Beam has one namespace, in which --output belongs to the sinks; SinkOptions reads it.
    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument("--output", help="file for the page, for example report.html")


GROUPS = (StoreOptions, ModelVersionOptions, ReportOptions, _PageOptions, RecordOptions)
REQUIRED = {"model_store": "models", "output": "report.html"}


def report(options: PipelineOptions) -> None:
    """Write the page, once or for each version.

    Raises:
        BeamTopicsError: an option cannot be used, or something that is stored is damaged.
    """
    check_installed()
    which, wanted = options.view_as(ModelVersionOptions), options.view_as(ReportOptions)
    output, settings = options.view_as(SinkOptions).output, read_settings_of(options)
    _check(output, which.model_version, options)
    store = ModelStore(options.view_as(StoreOptions).model_store)

    def write(manifest: Manifest) -> None:
        page = page_of(store, manifest, wanted, options.view_as(RecordOptions), settings)
        write_file(output, page)
        size = f"{len(page) / 1e6:.1f} MB"
        console().print(plain(f"version {manifest.version} -> {output} ({size})"), soft_wrap=True)

    if wanted.follow is None:
        write(store.manifest(which.model_key, which.model_version))
    else:
        seconds = wanted.follow / 1e6
        follow(lambda: store.latest(which.model_key), write, lambda: time.sleep(seconds))


def _check(output: str, version: str, options: PipelineOptions) -> None:
    """Refuse options that have no effect here, and a page that is not HTML."""
    if Path(output).suffix.lower() not in (".html",):
        raise OptionError(
            "--output", output, "a file whose name ends in .html", "Correct the ending."
        )
    if options.view_as(ReportOptions).follow is not None and version != "latest":
        raise OptionError(
            "--model_version", version, "latest with --follow", "Leave one of the two out."
        )
    if (period := options.view_as(RecordOptions).file_period) is not None:
        raise OptionError("--file_period", period, "nothing in a report", "Leave it out.")


def follow(
    newest: Callable[[], Manifest | None],
    write: Callable[[Manifest], None],
    wait: Callable[[], None],
) -> None:
    """Write each new version, without an end.

    Args:
        newest: returns the newest version, None before the first.
        write: writes the page of a version.
        wait: waits before the next look.
    """
    written = None
    while True:
        found = newest()
        if found is not None and found.version != written:
            write(found)
            written = found.version
        wait()


def page_of(
    store: ModelStore, manifest: Manifest, wanted: Any, records: Any, settings: ReadSettings
) -> bytes:
    """Return the page of a version.

    Args:
        store: the model store.
        manifest: the version.
        wanted: the options of the report.
        records: the options of records.
        settings: how documents are read.
    """
    history = store.up_to(manifest)
    snapshot = store.get_snapshot(manifest.key, manifest.snapshot)
    limits = Limits.of(snapshot.topic_count)
    catalogue = CatalogueStore(store.root).latest(manifest.key)[1]
    grouping = Grouping(catalogue, snapshot.topic_count)
    labelled = _labelled(wanted.mixtures, history, grouping, limits)
    sources = Sources(
        history,
        snapshot,
        lambda version: store.get_snapshot(version.key, version.snapshot),
        labelled,
        _texts(wanted.documents, labelled, settings, limits),
        _refused(records.dead_letters),
        catalogue,
    )
    return render(figures_of(sources, limits), wanted.title).encode()


def _labelled(
    patterns: Sequence[str] | None, history: Sequence[Manifest], grouping: Grouping, limits: Limits
) -> Labelled | None:
    if patterns is None:
        return None
    paths, unit = _files(patterns, "mixtures-*", "--mixtures"), calendar_unit(history)
    found = read_mixtures(
        lambda: _rows(paths),
        [manifest.version for manifest in history],
        len(grouping.of),
        lambda micros: period_start(micros, unit),
        typical=limits.typical,
        sample=limits.sample,
        merge=grouping.sums,
    )
    if not found.documents:
        raise OptionError(
            "--mixtures",
            ",".join(patterns),
            "mixtures of a version of this model store",
            "Label documents with it, or leave --mixtures out.",
        )
    return found


def _rows(paths: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in paths:
        with open_stored(path) as stream:
            yield from rows_of_file(stream, path)


def _texts(
    patterns: Sequence[str] | None,
    labelled: Labelled | None,
    settings: ReadSettings,
    limits: Limits,
) -> dict[bytes, Text] | None:
    if patterns is None:
        return None
    if labelled is None:
        raise OptionError(
            "--documents",
            ",".join(patterns),
            "nothing without --mixtures",
            "Give the folder of mixtures, which say what the documents are about.",
        )
    paths = check_patterns(patterns, settings, "--documents")
    return texts_of(
        (item for path in paths for item in _items(path, settings)),
        {mixture.digest for mixture in shown(labelled)},
        limits,
    )


def _items(path: str, settings: ReadSettings) -> Iterator[Any]:
    with open_stored(path) as stream:
        yield from read_file(stream, path, settings)


def _refused(folder: str | None) -> list[Refused] | None:
    if folder is None:
        return None
    paths = _matched(FileSystems.join(folder, "dead-letters-*"))
    return refused(letter for path in paths for letter in _lines(path))


def _lines(path: str) -> Iterator[tuple[str, bytes]]:
    with open_stored(path) as stream:
        for number, line in enumerate(stream, 1):
            yield f"{path}:{number}", line


def _files(patterns: Sequence[str], inside: str, option: str) -> list[str]:
    """Return the files of patterns, and those of this name in folders, sorted."""
    paths = {
        path
        for pattern in patterns
        for path in (
            _matched(FileSystems.join(pattern, inside)) or [p for p in _matched(pattern) if p]
        )
    }
    if not paths:
        remedy = "Check the spelling, and that infer or stream has written something."
        allowed = f"a folder with files {inside}, or paths or globs that match files"
        raise OptionError(option, ",".join(patterns), allowed, remedy)
    return sorted(paths)


def _matched(pattern: str) -> list[str]:
    (result,) = FileSystems.match([pattern])
    return sorted(found.path for found in result.metadata_list if not Path(found.path).is_dir())


main = command("pipelines.report", __doc__.partition("\n")[0], GROUPS, REQUIRED, report)

if __name__ == "__main__":
    sys.exit(main())
