"""Look at the input of a program, and complete its options with what is found.

:mod:`beam_topics.model.profile` has the rules. Options that are given win. Of the options of an
earlier run, those that name fields of this input stay; how the files are written is found anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from beam_topics.model.errors import OptionError, did_you_mean
from beam_topics.model.files import is_local, matching_files
from beam_topics.model.profile.profile import Profile, profile_of
from beam_topics.model.profile.sampling import take_samples
from beam_topics.model.reading.paths import value_of
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.settings.options import names_in
from beam_topics.model.times import to_iso
from beam_topics.pipelines.cli.groups import UsageError, parsed, settings_of, values_in
from beam_topics.pipelines.cli.options import RecordOptions

# Options that an earlier run chose for its own files.
OF_FILES = ("encoding", "delimiter", "columns", "unquoted_field")
# Fields that a message lists.
_MOST_FIELDS = 20
_LENGTHS = ("window", "publish_every")
# Options that name fields.
_OF_FIELDS = ("text_field", "timestamp_field", "id_field", "label_field", "key_field")


class NoFieldError(OptionError):
    """A field that no record of the input has."""


def files_of(patterns: Sequence[str]) -> list[str]:
    """Return the files of this machine that the patterns match; none for another file system."""
    if not all(map(is_local, patterns)):
        return []
    return sorted({path for pattern in patterns for path in matching_files(pattern, "--input")})


def look_at(
    files: Sequence[str],
    flags: Sequence[str],
    stored: Mapping[str, str] | None = None,
    with_language: bool = False,
) -> tuple[Profile, dict[str, str]]:
    """Return the profile of files, and the options of an earlier run that fit them."""
    given = values_in(flags)
    settings = settings_of(parsed(flags, [RecordOptions]), ReadSettings)
    samples = take_samples(files, settings, given)
    records = samples.records
    ragged = any(one.layout is not None and one.layout.others for one in samples.sampled)
    if not records and not ragged and not any(one.unread for one in samples.sampled):
        more = f" and {len(files) - 1} more files" if len(files) > 1 else ""
        raise UsageError(f"{files[0]}{more}: there is no record. Give a file with documents.")
    _check_fields(given, records)
    kept = _kept(stored or {}, given, records)
    flags = [*(f"--{name}={value}" for name, value in kept.items()), *flags]
    settings = settings_of(parsed(flags, [RecordOptions]), ReadSettings)
    return profile_of(samples, settings, {**given, **kept}, with_language), kept


def _check_fields(given: Mapping[str, str], records: Sequence[Mapping[str, Any]]) -> None:
    """Refuse the names of a text or a time of which no record of the sample has one."""
    checked = {"text_field": names_in(given.get("text_field", ""))}
    if "time_from" not in given and "timestamp_field" in given:
        checked["timestamp_field"] = [given["timestamp_field"]]
    for name, fields in checked.items() if records else ():
        if fields and not any(_is_field(one, records) for one in fields):
            there = list(dict.fromkeys(key for one in records for key in one))[:_MOST_FIELDS]
            allowed = f"a field of the records, which have {', '.join(map(repr, there))}"
            remedy = did_you_mean(fields[0], there, "Correct the name.")
            raise NoFieldError(f"--{name}", given[name], allowed, remedy)


def _is_field(name: str, records: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a record has a field of this name or path."""
    return any(name in one or value_of(one, name) is not None for one in records)


def _kept(
    stored: Mapping[str, str], given: Collection[str], records: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Return the options of an earlier run that are not given and fit the fields of the input."""
    # The columns of lines are how they are told apart from lines that are texts.
    left_out = {*OF_FILES} - {"columns" if stored.get("format") == "lines" else ""}
    found = {
        name: value
        for name, value in stored.items()
        if name not in given and name not in left_out and name != "timestamp_format"
    }
    if {"timestamp_field", "timestamp_format"} & set(given):
        found.pop("time_from", None)
    for name in set(_OF_FIELDS) & set(found):
        fields = names_in(found[name]) if name == "text_field" else [found[name]]
        if not all(_is_field(name, records) for name in fields):
            del found[name]
    return found


def check_clear(profile: Profile, given: Collection[str], where: str) -> None:
    """Ask the first question that the options that are given do not answer."""
    for question in profile.questions:
        if not set(question.settles) & set(given):
            said = str(question)
            raise UsageError(said if said.startswith(where) else f"{where}: {said}")


def learning_of(profile: Profile, own: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the lengths of time and the options of words for a program that learns."""
    found = {name: value for name, value in profile.learning.items() if name in own}
    language = profile.language
    if language is not None and language.missing and language.options.items() & found.items():
        raise UsageError(f"the texts are of the language {language.code}. {language.missing}")
    lengths = {name: found.pop(name) for name in _LENGTHS if name in found}
    return lengths, found


def why_lengths(profile: Profile) -> str:
    """Return what the lengths of time were chosen for."""
    assert profile.span is not None, "lengths are those of times"
    about = "" if profile.samples.whole else "about "
    number = f"{about}{profile.samples.documents:,} documents"
    if profile.samples.documents == 1:
        return "1 document"
    if not profile.form:
        return f"{number}, a second apart"
    first, last = (to_iso(time)[:10] for time in (profile.span.first, profile.span.last))
    return f"{number} from {first} to {last}"
