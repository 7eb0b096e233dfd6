"""Look at the input of a program, and print the options that fit it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import BeamTopicsError
from beam_topics.model.files import is_local
from beam_topics.model.settings.options import names_in, options_of
from beam_topics.model.times import duration_text
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import values_in
from beam_topics.pipelines.cli.invocation import shown

# What the input of the run was (:mod:`beam_topics.model.profile`).
PROFILE_FILE = "profile.json"
# How the records of a run are read. The programs that follow read theirs alike.
READING = (
    "id_field",
    "timestamp_field",
    "text_field",
    "label_field",
    "key_field",
    "id_from",
    "time_from",
    "timestamp_format",
    "time_zone",
    "format",
    "encoding",
    "chats",
    "delimiter",
    "columns",
    "unquoted_field",
    "records",
    "max_document_mb",
)

# Options that are chosen by the texts.
_OF_TEXTS = ("strip", "stop_words", "segmenter", "key_from")


def as_input_is(
    options: Mapping[str, str],
    rest: Sequence[str],
    prog: str,
    stored: Mapping[str, str],
    named: bool,
    own: frozenset[str],
) -> dict[str, str] | None:
    """Return the options by which files are read that are not those of an earlier run (``stored``).

    Where the files are an argument without a name (``named``), what is not clear is asked.

    Returns:
        The options; None where no file is read but those of the earlier run.
    """
    takes = next((name for name in ("held_out", "input") if name in own), "")
    is_given = any(one.startswith(f"--{takes}=") for one in rest)
    reads = "text_field" in own and own & {"model_store", "output"}
    if not reads or not (named or is_given) or options.get("source", "files") != "files":
        return None
    # Imported here, because --help reads no file.
    from beam_topics.pipelines.cli import profiling

    try:
        files = profiling.files_of(names_in(options[takes]))
        if not files:
            return None
        profile, kept = profiling.look_at(files, rest, stored)
    except BeamTopicsError as error:
        if named or isinstance(error, profiling.NoFieldError):
            raise
        # The run says what is wrong.
        return None
    if named:
        profiling.check_clear(profile, values_in(rest), files[0])
    if named or stored:
        return {**kept, **profile.options}
    # The fields of an input that an option names have the names of the options.
    found = {n: value for n, value in profile.options.items() if n in profiling.OF_FILES}
    say(prog, found, f"how {files[0]} is written")
    return {**kept, **found}


def look(
    patterns: Sequence[str],
    rest: Sequence[str],
    prog: str,
    before: Mapping[str, str],
    own: frozenset[str],
    store: str,
) -> tuple[dict[str, str], dict[str, str]]:
    """Look at the input of a program that learns, and print what is found.

    The options ``before``, of the run that learns more documents, stay, but for those that say how
    its own files are written. So do those that the store was learned with, where it has a version.

    Returns:
        The options that are found; files to keep for the programs that follow, by name.
    """
    # Imported here, because --help reads no file.
    from beam_topics.model.profile.profile import chooses_words, few_documents
    from beam_topics.pipelines.cli import profiling

    files = profiling.files_of(patterns)
    if not files:
        return {}, {}
    values = values_in(rest)
    stored = {name: value for name, value in before.items() if name in READING}
    words = not before and "stop_words" in own and chooses_words(values)
    profile, kept = profiling.look_at(files, rest, stored, words)
    profiling.check_clear(profile, values, files[0])
    lengths, chosen = ({}, {}) if before else profiling.learning_of(profile, own)
    why = profiling.why_lengths(profile) if lengths else ""
    about = "what the texts are"
    if not before and is_local(store) and (found := _learned_in(store)):
        lengths, chosen = ({n: one[n] for n in one if n in own - values.keys()} for one in found)
        why = about = f"as in {store}"
    read = {**kept, **profile.options}
    say(prog, read, f"how {files[0]} is written, and its fields")
    say(prog, chosen, about)
    say(prog, lengths, why)
    number = values.get("topics", "")
    few = few_documents(profile.samples.documents, int(number)) if number.isdigit() else ""
    for remark in filter(None, [*profile.remarks, few] * (not before)):
        inform(f"{shown(prog)}: {remark}")
    text = json.dumps(profile.to_json(), ensure_ascii=False) + "\n"
    return {**read, **chosen, **lengths}, {} if before else {PROFILE_FILE: text}


def _learned_in(root: str) -> tuple[dict[str, str], dict[str, str]] | None:
    """Return the lengths of time and options of words that a store has; None without a version.

    A list or a function of a person's own is not chosen.
    """
    # Imported here, because --help needs no NumPy.
    from beam_topics.model.publishing.store import ModelStore

    store = ModelStore(root)
    newest = next(filter(None, map(store.latest, store.keys())), None)
    if newest is None:
        return None
    settings = store.settings(newest.key)
    window = SequenceSettings.from_json(settings["sequence"], "sequence").window
    lengths = {"window": duration_text(window)}
    if newest.rhythm:
        lengths["publish_every"] = str(newest.rhythm)
    words = TokeniserSettings.from_json(settings["tokeniser"], "tokeniser")
    values = {item: getattr(words, item.field) for item in options_of(TokeniserSettings)}
    found = {
        item.name: item.shown(value)
        for item, value in values.items()
        if item.name in _OF_TEXTS and value not in (item.default, "file")
    }
    return lengths, found


def say(prog: str, options: Mapping[str, str], why: str) -> None:
    """Print options that are chosen for a program, and why."""
    if options:
        flags = " ".join(f"--{name}={shlex.quote(value)}" for name, value in options.items())
        inform(f"{shown(prog)}: {flags} ({why})")


def inform(line: str) -> None:
    """Print a line to standard error."""
    # Imported here, because --help tells nothing.
    from beam_topics.pipelines.cli.terminal import tell

    tell(line)
