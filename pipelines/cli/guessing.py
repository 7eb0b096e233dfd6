"""Options that the first records of the input suggest: the names of fields, and lengths of time.

Nothing is chosen silently. A program prints each option that was chosen, and an input that leaves a
choice open is refused with the options that decide it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any

from model.dead_letters import DeadLetter
from model.files.matching import is_local, matching_files
from model.reading.fields import Guess, guess, sample_records
from model.reading.files import folder_of, format_of, read_file
from model.reading.hints import listed
from model.reading.settings import SMALL, ReadSettings
from model.records import Document
from model.times import to_iso
from pipelines.cli.shared_options import UsageError
from pipelines.cli.values import duration

_RECORDS = 200
# The documents whose times decide the lengths of windows and of publication.
MOST_DOCUMENTS = 200_000
_WINDOWS = ("1min", "10min", "1h", "6h", "1d", "7d", "30d", "365d")
_PERIODS = ("10min", "1h", "6h", "1d", "7d", "30d", "91d", "365d", "1461d", "3652d")
# The most windows and versions of a run whose lengths are chosen here.
_MOST_WINDOWS = 400
_MOST_VERSIONS = 40


def files_of(patterns: Sequence[str]) -> list[str]:
    """Return the files of this machine that the patterns match; none for another file system.

    Raises:
        OptionError: a pattern of this machine matches nothing.
    """
    if not all(map(is_local, patterns)):
        return []
    return sorted({path for pattern in patterns for path in matching_files(pattern, "--input")})


def guess_fields(
    files: Sequence[str], settings: ReadSettings, given: Sequence[str]
) -> dict[str, str]:
    """Return the options for the fields of the first file that has a record.

    Args:
        files: the files.
        settings: how they are read, by the options that are given.
        given: the names of the options that are given.

    Raises:
        UsageError: several fields may hold the text or the time, several forms read the time, none
            holds the text, or no file has a record.
    """
    name, records = _first_records(files, settings)
    if not records:
        return {}
    found = guess(records, settings.parse.fields)
    _decide(found, records[0], name, given)
    chosen = {**found.options}
    for role in _ROLES.values():
        if any(name in given for name in role):
            chosen = {name: value for name, value in chosen.items() if name not in role}
    return chosen


def _first_records(
    files: Sequence[str], settings: ReadSettings
) -> tuple[str, list[Mapping[str, Any]]]:
    records: list[Mapping[str, Any]] = []
    for name in files:
        kind = format_of(name, settings)
        with Path(name).open("rb") as stream:
            most = _RECORDS - len(records)
            records += sample_records(stream, name, settings, most, folder_of(files))
        if records and (kind not in SMALL or len(records) >= _RECORDS):
            break
    if records:
        return files[0] if kind in SMALL else name, records
    # Records that cannot be read are told with their reasons when they are refused.
    if next(_items(files, settings), None) is None:
        more = f" and {len(files) - 1} more files" if len(files) > 1 else ""
        raise UsageError(f"{files[0]}{more}: there is no record. Give a file with documents.")
    return files[0], []


# Options that say the same thing in several ways: one that is given settles the others.
_ROLES = {
    "text": ("text_field",),
    "timestamp": ("timestamp_field", "time_from"),
    "form": ("timestamp_format", "time_from"),
    "id": ("id_field", "id_from"),
}
_WHAT = {
    "text": ("text", "--text_field"),
    "timestamp": ("time", "--timestamp_field"),
    "form": ("form of the times", "--timestamp_format"),
}


def _decide(found: Guess, record: Mapping[str, object], name: str, given: Sequence[str]) -> None:
    for role, candidates in found.unclear.items():
        if any(option in given for option in _ROLES[role]):
            continue
        what, option = _WHAT[role]
        if not candidates:
            raise UsageError(
                f"{name}: no field holds a {what}; the records have {listed(record)}. Name it with"
                f" {option}."
            )
        raise UsageError(
            f"{name}: the {what} may be {'in ' * (role != 'form')}{listed(candidates)}. Choose one,"
            f" for example {option}={quote(candidates[0])}."
        )


def guess_lengths(files: Sequence[str], settings: ReadSettings) -> tuple[dict[str, str], str]:
    """Return ``window`` and ``publish_every`` for the span of the documents, and why.

    Args:
        files: the files.
        settings: how they are read.
    """
    times = [document.timestamp for document in islice(_documents(files, settings), MOST_DOCUMENTS)]
    if not times:
        return {}, ""
    first, last = min(times), max(times)
    span = max(last - first, 1)
    window = _first(_WINDOWS, span / _MOST_WINDOWS)
    every = _first(_PERIODS, max(span / _MOST_VERSIONS, duration(window)))
    number = f"{'the first ' * (len(times) == MOST_DOCUMENTS)}{len(times):,} documents"
    if settings.time_from == "order":
        why = f"{number}, a second apart"
    else:
        why = f"{number} from {to_iso(first)[:10]} to {to_iso(last)[:10]}"
    return {"window": window, "publish_every": every}, why


def _first(lengths: Sequence[str], least: float) -> str:
    """Return the shortest length of time that is long enough, or the longest of all."""
    return next((one for one in lengths if duration(one) >= least), lengths[-1])


def _documents(files: Sequence[str], settings: ReadSettings) -> Iterator[Document]:
    return (item for item in _items(files, settings) if isinstance(item, Document))


def _items(files: Sequence[str], settings: ReadSettings) -> Iterator[Document | DeadLetter]:
    number = 0
    for path in files:
        with Path(path).open("rb") as stream:
            for item in read_file(stream, path, settings, number, folder_of(files)):
                number += 1
                yield item


def with_fields(settings: ReadSettings, chosen: Mapping[str, str]) -> ReadSettings:
    """Return the settings of reading with the options that were chosen."""
    fields = replace(
        settings.parse.fields,
        **{
            name.removesuffix("_field"): value
            for name, value in chosen.items()
            if name.endswith("_field")
        },
    )
    parse = replace(
        settings.parse,
        fields=fields,
        **{name: chosen[name] for name in ("id_from", "timestamp_format") if name in chosen},  # type: ignore[arg-type]
    )
    others = {name: chosen[name] for name in ("time_from",) if name in chosen}
    return replace(settings, parse=parse, **others)  # type: ignore[arg-type]
