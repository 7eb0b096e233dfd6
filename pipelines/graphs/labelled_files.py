"""What programs read of labelled documents: mixtures, texts, and dead letters in files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from apache_beam.io.filesystems import FileSystems

from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError
from beam_topics.model.files import folder_of, is_local, local_files
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.reporting.added_files import Refused, refused
from beam_topics.model.reporting.encoding import RawRow, raw_rows
from beam_topics.model.reporting.mixtures import Labelled, read_mixtures
from beam_topics.model.reporting.now import Newest
from beam_topics.model.reporting.shown import Shown
from beam_topics.transforms.read import check_patterns, open_stored


def labelled_of(
    patterns: Sequence[str],
    history: Sequence[Manifest],
    shown: Shown,
    period: Callable[[int], int],
    *,
    typical: int,
    sample: int,
    named: Collection[str] = (),
) -> Labelled:
    """Return what the mixtures of some versions say, see :func:`read_mixtures`."""
    paths = stored_files(patterns, "mixtures-*", "--mixtures")
    found = read_mixtures(
        lambda: _rows(paths),
        {manifest.version for manifest in history},
        shown.topics,
        period,
        typical=typical,
        sample=sample,
        named=named,
        groups=shown.groups,
    )
    if not found.documents:
        raise OptionError(
            "--mixtures",
            ",".join(patterns),
            "mixtures of a version of this model store",
            "Label documents with it, or leave --mixtures out.",
        )
    return found


def _rows(paths: Sequence[str]) -> Iterator[tuple[str, RawRow]]:
    for path in paths:
        with open_stored(path) as stream:
            yield from raw_rows(stream, path)


def newest_of(patterns: Sequence[str] | None) -> Newest:
    """Return the newest windows of trends and stories, from files that infer or stream wrote."""
    found = Newest()
    for path in stored_files(patterns, "*.jsonl", "--rows") if patterns else ():
        with open_stored(path) as stream:
            found.take(stream, path)
    return found


def documents_of(
    patterns: Sequence[str], settings: ReadSettings, manifest: Manifest
) -> Iterator[Any]:
    """Yield the documents and the dead letters of the files of ``--documents``.

    Where texts have keys, each document has that of the model. An id names a document already, so
    its language need not be found.
    """
    paths = check_patterns(patterns, settings, "--documents")
    has_keys = manifest.tokeniser.has_keys
    for path in paths:
        with open_stored(path) as stream:
            for item in read_file(stream, path, settings, folder=folder_of(patterns)):
                keyed = has_keys and isinstance(item, Document)
                yield replace(item, key=manifest.key) if keyed else item


def check_documents(
    patterns: Sequence[str] | None, mixtures: Sequence[str] | None, both: bool = False
) -> None:
    """Refuse ``--documents`` without ``--mixtures``; with ``both``, the reverse too."""
    if both and mixtures is not None and patterns is None:
        allowed = "nothing without --documents"
        remedy = "Add the files of the documents, whose words make the names."
        raise OptionError("--mixtures", ",".join(mixtures), allowed, remedy)
    if patterns is not None and mixtures is None:
        raise OptionError(
            "--documents",
            ",".join(patterns),
            "nothing without --mixtures",
            "Give the folder of mixtures, which say what the documents are about.",
        )


def refused_in(folder: str) -> list[Refused]:
    """Return the dead letters of a folder by reason."""

    def letters() -> Iterator[tuple[str, bytes]]:
        for path in matched(FileSystems.join(folder, "dead-letters-*")):
            with open_stored(path) as stream:
                for number, line in enumerate(stream, 1):
                    yield f"{path}:{number}", line

    return refused(letters())


def stored_files(patterns: Sequence[str], inside: str, option: str) -> list[str]:
    """Return the files of patterns, and those of this name in folders, sorted."""
    paths = {
        path
        for pattern in patterns
        for path in (
            matched(FileSystems.join(pattern, inside)) or [p for p in matched(pattern) if p]
        )
    }
    if not paths:
        remedy = "Check the spelling, and that infer or stream has written something."
        allowed = f"a folder with files {inside}, or paths or globs that match files"
        raise OptionError(option, ",".join(patterns), allowed, remedy)
    return sorted(paths)


def matched(pattern: str) -> list[str]:
    """Return the files that a pattern matches, sorted."""
    if is_local(pattern):
        return local_files(pattern, "--mixtures")
    (result,) = FileSystems.match([pattern])
    return sorted(found.path for found in result.metadata_list)
