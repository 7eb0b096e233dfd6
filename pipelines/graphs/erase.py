"""What ``beam-topics erase`` reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from apache_beam.io.filesystems import FileSystems

from beam_topics.model.errors import OptionError
from beam_topics.model.files import read_text
from beam_topics.model.learner_log.erasing import KeyErasure
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.erasure import Erased, copied_without
from beam_topics.pipelines.cli.arguments import ENDING, RUN_FILE
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.cli.looking import PROFILE_FILE
from beam_topics.pipelines.cli.terminal import console, plain
from beam_topics.pipelines.graphs.labelled_files import matched, stored_files
from beam_topics.transforms.read import open_stored
from beam_topics.transforms.write import write_file

_OPTIONS = ("mixtures", "rows", "events", "dead_letters")
_INSIDE = ("mixtures-*", "trends-*", "words-*", "stories-*", "events-*", "dead-letters-*")
_SHOWN = 10


def erase(options: Options) -> None:
    """Erase documents, and print what was removed and what stays.

    Everything is read once before anything is written.

    Raises:
        OptionError: None of the ids is found, a file or a key cannot be used.
        DamagedDataError: Something that is stored is damaged.
    """
    erased = Erased(_lines(options.ids))
    store = ModelStore(options.model_store, options.get("trust") or "", options.sign or "")
    store.signatures.check_keys()
    keys = [KeyErasure(store, key, erased) for key in store.keys()]  # noqa: SIM118

    def done(writes: bool) -> list[str]:
        found = [*_files(options, erased, writes), *_pages(store, writes)]
        return [*found, *(line for key in keys for line in key.run(writes))]

    done(writes=False)
    missing = sorted(erased.ids - erased.found)
    listed = ", ".join(map(repr, missing[:_SHOWN])) + ", ..." * (len(missing) > _SHOWN)
    if not erased.found:
        allowed = "ids of documents that the model store or the files hold"
        raise OptionError(
            "--ids",
            options.ids,
            allowed,
            f"None is found: {listed}. The lines that infer writes have the ids.",
        )
    out = console()
    for line in (*done(writes=True), *[f"not found: {len(missing)} ids: {listed}"] * bool(missing)):
        out.print(plain(line), soft_wrap=True)


def _lines(path: str) -> list[str]:
    allowed = "a file with one id a line"
    lines = read_text("--ids", path, allowed).split("\n")
    found = [one for line in lines if (one := line.removesuffix("\r"))]
    if not found:
        raise OptionError("--ids", path, allowed, "It has none.")
    return found


def _files(options: Options, erased: Erased, writes: bool) -> Iterator[str]:
    for path in _paths(options):
        with open_stored(path) as source:
            data, changed = copied_without(source, path, erased)
        if changed and writes:
            write_file(path, data)
        if changed:
            yield f"{path}: {changed} rows removed, or written without the documents"


def _paths(options: Options) -> Iterator[str]:
    for name in _OPTIONS:
        for pattern in options.get(name) or []:
            places = (FileSystems.join(pattern, inside) for inside in _INSIDE)
            paths = [path for place in places for path in matched(place)]
            # A folder of a run may have no file yet.
            is_empty = not paths and Path(pattern).is_dir()
            yield from paths or ([] if is_empty else stored_files([pattern], "", f"--{name}"))


def _pages(store: ModelStore, writes: bool) -> Iterator[str]:
    """Remove what shows documents in the folder of a run."""
    folder = Path(store.root).parent
    is_run = folder.suffix == ENDING or (folder / RUN_FILE).is_file()
    for page in (folder / "report.html", folder / PROFILE_FILE) if is_run else ():
        if page.is_file():
            anew = "; beam-topics report writes it anew" if page.name != PROFILE_FILE else ""
            yield f"{page}: removed{anew}"
            if writes:
                page.unlink()
