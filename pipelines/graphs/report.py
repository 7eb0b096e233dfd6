"""The page of ``pipelines.report``: what is read for it, and where it is written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from apache_beam.io.filesystems import FileSystems

from model.errors import OptionError
from model.publishing.catalogue import CatalogueStore
from model.publishing.manifest import Manifest
from model.publishing.store import ModelStore
from model.publishing.store_settings import StoreSettings, VersionSettings
from model.reading.files import ReadSettings, read_file
from model.reporting.course import calendar_unit, period_start
from model.reporting.documents import shown
from model.reporting.figures import Sources, figures_of
from model.reporting.health import Refused, refused
from model.reporting.limits import Limits
from model.reporting.merging import Grouping
from model.reporting.mixtures import Labelled, read_mixtures, rows_of_file
from model.reporting.texts import Text, texts_of
from pipelines.cli.groups import OptionGroup
from pipelines.cli.options import ReportOptions
from pipelines.cli.program_settings import OutputFileSettings
from pipelines.cli.settings_from_options import chosen_version, read_settings_of
from pipelines.cli.settings_options import settings_of
from pipelines.cli.terminal import console, plain
from pipelines.graphs.sinks import SinkOptions
from pipelines.pages.page import check_installed, render
from transforms.read import check_patterns, open_stored
from transforms.write import write_file


def report(options: OptionGroup) -> None:
    """Write the page, once or for each version.

    Raises:
        BeamTopicsError: an option cannot be used, or something that is stored is damaged.
    """
    check_installed()
    which, wanted = settings_of(options, VersionSettings), options.view_as(ReportOptions)
    output, settings = options.view_as(SinkOptions).output, read_settings_of(options)
    _check(output, which.version, options)
    store = ModelStore(settings_of(options, StoreSettings).root)

    dead_letters = settings_of(options, OutputFileSettings).dead_letters or None

    def write(manifest: Manifest) -> None:
        page = page_of(store, manifest, wanted, dead_letters, settings)
        write_file(output, page)
        size = f"{len(page) / 1e6:.1f} MB"
        console().print(plain(f"version {manifest.version} -> {output} ({size})"), soft_wrap=True)

    if wanted.follow is None:
        write(chosen_version(options))
    else:
        seconds = wanted.follow / 1e6
        follow(lambda: store.latest(which.key), write, lambda: time.sleep(seconds))


def _check(output: str, version: str, options: OptionGroup) -> None:
    """Refuse options that have no effect here, and a page that is not HTML."""
    if Path(output).suffix.lower() not in (".html",):
        raise OptionError(
            "--output", output, "a file whose name ends in .html", "Correct the ending."
        )
    if options.view_as(ReportOptions).follow is not None and version != "latest":
        raise OptionError(
            "--model_version", version, "latest with --follow", "Leave one of the two out."
        )
    if (period := settings_of(options, OutputFileSettings).file_period) is not None:
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
    store: ModelStore,
    manifest: Manifest,
    wanted: Any,
    dead_letters: str | None,
    settings: ReadSettings,
) -> bytes:
    """Return the page of a version.

    Args:
        store: the model store.
        manifest: the version.
        wanted: the options of the report.
        dead_letters: the folder of dead letters, or None.
        settings: how documents are read.
    """
    # The models of some versions before may have expired.
    history = [one for one in store.up_to(manifest) if one is manifest or store.has_model(one)]
    snapshot = store.get_snapshot(manifest)
    limits = Limits.of(snapshot.topic_count)
    catalogue = CatalogueStore(store.root).latest(manifest.key)[1]
    grouping = Grouping(catalogue, snapshot.topic_count)
    labelled = _labelled(wanted.mixtures, history, grouping, limits)
    sources = Sources(
        history,
        snapshot,
        store.get_snapshot,
        labelled,
        _texts(wanted.documents, labelled, settings, limits),
        _refused(dead_letters),
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
