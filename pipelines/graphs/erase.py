"""What ``beam-topics erase`` reads and writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from beam_topics.model.errors import OptionError
from beam_topics.model.files import read_text
from beam_topics.model.learner_log.erasing import KeyErasure
from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.erasure import Erased, copy_without
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.terminal import console, plain
from beam_topics.pipelines.graphs.labelled_files import stored_files
from beam_topics.transforms.read import open_stored
from beam_topics.transforms.write import replaced

_FILES = (
    ("mixtures", "mixtures-*"),
    ("rows", "trends-*"),
    ("rows", "stories-*"),
    ("events", "events-*"),
    ("dead_letters", "dead-letters-*"),
)
_SHOWN = 10


def erase(options: Options) -> None:
    """Erase documents, and print what was removed and what stays.

    Everything is read once before anything is written.

    Raises:
        OptionError: None of the ids is found, a file or a key cannot be used.
        DamagedDataError: Something that is stored is damaged.
    """
    erased = Erased(_ids(options.ids))
    where = settings_of(options, StoreSettings)
    store = ModelStore(where.root, where.trust, options.sign or "")
    store.signatures.check_keys()
    lines = [*_files(options, erased, writes=False), *_store(store, erased, writes=False)]
    missing = sorted(erased.ids - erased.found)
    listed = ", ".join(map(repr, missing[:_SHOWN])) + ", ..." * (len(missing) > _SHOWN)
    if not erased.found:
        allowed = "ids of documents that the model store or the files hold"
        raise OptionError("--ids", options.ids, allowed, f"None is found: {listed}.")
    lines = [*_files(options, erased, writes=True), *_store(store, erased, writes=True)]
    lines += [f"not found: {len(missing)} ids: {listed}"] * bool(missing)
    out = console()
    for line in lines:
        out.print(plain(line), soft_wrap=True)


def _ids(path: str) -> list[str]:
    allowed = "a file with one id a line"
    lines = read_text("--ids", path, allowed).split("\n")
    found = [one for line in lines if (one := line.removesuffix("\r"))]
    if not found:
        raise OptionError("--ids", path, allowed, "It has none.")
    return found


def _store(store: ModelStore, erased: Erased, writes: bool) -> Iterator[str]:
    for key in store.keys():  # noqa: SIM118
        erasure = KeyErasure(store, key, erased, writes)
        erasure.run()
        yield from erasure.told


def _files(options: Options, erased: Erased, writes: bool) -> Iterator[str]:
    for name, inside in _FILES:
        for path in _paths(options.get(name) or [], inside, f"--{name}"):
            with open_stored(path) as source:
                changed = copy_without(source, None, path, erased)
            if changed and writes:
                with open_stored(path) as source, replaced(path) as target:
                    copy_without(source, target, path, erased)
            if changed:
                yield f"{path}: {changed} rows removed, or written without the documents"
    for page in filter(Path.is_file, map(Path, options.pages or [])):
        yield f"{page}: removed; beam-topics report or look writes it anew"
        if writes:
            page.unlink()


def _paths(patterns: Sequence[str], inside: str, option: str) -> list[str]:
    # A folder of a run may have no file yet.
    empty = [one for one in patterns if Path(one).is_dir() and not any(Path(one).glob(inside))]
    rest = [one for one in patterns if one not in empty]
    return stored_files(rest, inside, option) if rest else []
