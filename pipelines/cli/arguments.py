"""Complete a command line: the options of a file, and those behind arguments without a name.

:mod:`pipelines.cli.config` and :mod:`pipelines.cli.places` have the rules. What is chosen for the
user is printed to standard error, as the options that would choose the same.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from model.errors import BeamTopicsError
from pipelines.cli import places
from pipelines.cli.config import expanded
from pipelines.cli.groups import OptionGroup
from pipelines.cli.invocation import shown

Groups = Sequence[type[OptionGroup]]


@dataclass(frozen=True)
class Arranged:
    """A completed command line.

    Attributes:
        argv: options only.
        folder: where its options are kept for the programs that follow; None for nowhere.
        files: what is kept there, by the name of the file.
    """

    argv: list[str]
    folder: Path | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    def ended(self) -> None:
        """Write the options of a run that succeeded, and say what can follow."""
        if (folder := self.folder) is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in self.files.items():
                (folder / name).write_text(text, encoding="utf-8")
            told = f"Next: {shown('pipelines.show')} {folder}, {shown('pipelines.report')} {folder}"
            _tell(told)


def arranged(argv: Sequence[str], prog: str, groups: Groups) -> Arranged:
    """Return a command line with options only.

    Args:
        argv: the command line as it was given.
        prog: the name of the program, for example ``pipelines.train``.
        groups: the groups of options that the program has.

    Raises:
        UsageError: an argument without a name is nothing that the program takes, or the input
            leaves open what its fields are.
        OptionError: a file cannot be read, or an option has a wrong value.
    """
    if any(one.partition("=")[0] in ("-h", "--help") for one in argv):
        return Arranged(list(argv))
    # Imported here, because --help needs the program's own groups alone.
    from pipelines.cli.all_groups import all_groups

    own, known = names_of(tuple(groups)), names_of(tuple(all_groups()))
    bare, rest = places.without_name(expanded(argv, own, known))
    given = {one.removeprefix("--").partition("=")[0] for one in rest}
    if bare and {"learner", "input"} <= own:
        return _learner(bare, rest, prog, own, known)
    pairs: list[tuple[str, str]] = []
    if bare or prog == "pipelines.label":
        pairs = [
            pair for pair in places.of_reader(prog, bare, given, own, known) if pair[0] not in given
        ]
    stored = {name: value for name, value in pairs if name in places.READING}
    named = [path for path in bare if not places.is_run(path)]
    chosen = _as_the_input_is(dict([*pairs, *_values(rest)]), rest, prog, stored, bool(named), own)
    if chosen is not None:
        pairs = [*(pair for pair in pairs if pair[0] not in stored), *chosen.items()]
    if "model_store" in own:
        chosen = {name: value for name, value in pairs if name != "text"}
        _say(prog, chosen, "what stands for the arguments")
    return Arranged([*(f"--{name}={value}" for name, value in pairs), *rest])


def _as_the_input_is(
    options: Mapping[str, str],
    rest: Sequence[str],
    prog: str,
    stored: Mapping[str, str],
    named: bool,
    own: frozenset[str],
) -> dict[str, str] | None:
    """Return the options by which files are read that are not those of an earlier run.

    Args:
        options: all options, by name.
        rest: the options of the command line.
        prog: the name of the program.
        stored: the options of reading of an earlier run.
        named: whether the files are an argument without a name. Then what is not clear is asked.
        own: the names of the options that the program has.

    Returns:
        The options; None where no file is read but those of the earlier run.
    """
    takes = next((name for name in ("held_out", "input") if name in own), "")
    is_given = any(one.startswith(f"--{takes}=") for one in rest)
    reads = "text_field" in own and own & {"model_store", "archive"}
    if not reads or not (named or is_given) or options.get("source", "files") != "files":
        return None
    # Imported here, because --help reads no file.
    from pipelines.cli import profiling

    given = {name for name, _ in _values(rest)}
    try:
        files = profiling.files_of(options[takes].split(","))
        if not files:
            return None
        profile, kept = profiling.look_at(files, rest, stored)
    except BeamTopicsError:
        if named:
            raise
        # The run says what is wrong.
        return None
    if named:
        profiling.check_clear(profile, given, files[0])
        return {**kept, **profile.options}
    # The fields of an input that an option names have the names of the options.
    found = profiling.of_files(profile)
    _say(prog, found, f"how {files[0]} is written")
    return {**kept, **found}


def _learner(
    bare: Sequence[str],
    rest: Sequence[str],
    prog: str,
    own: frozenset[str],
    known: frozenset[str],
) -> Arranged:
    run, files = places.run_to_continue(prog, bare)
    folder, values = run or places.run_folder(files[0]), dict(_values(rest))
    before = places.stored_options(run, known) if run else {}
    earlier = before.pop("input", "")
    given = {one.removeprefix("--").partition("=")[0] for one in rest}
    where = places.of_learner(files, folder, given, own)
    before = {name: value for name, value in before.items() if name in own - given}
    options = {n: before[n] for n in before if n not in {*places.READING, *where}}
    _say(prog, options, f"as {run} has learned")
    kept: dict[str, str] = {}
    if "input" in where:
        chosen, kept = _looked(where["input"].split(","), rest, prog, before, own)
        options |= chosen
    _say(prog, where, "the input, and what is written")
    options |= where
    head = f"What {shown(prog)} chose, for --config and for the programs that follow."
    read = ",".join(dict.fromkeys(filter(None, (earlier, where.get("input", "")))))
    lasting = {n: v for n, v in values.items() if n in own and n != "resume_from"}
    stored = {**options, **({"input": read} if read else {}), **lasting}
    return Arranged(
        [*(f"--{name}={value}" for name, value in options.items()), *rest],
        Path(folder),
        {places.RUN_FILE: places.as_yaml(stored, head), **kept},
    )


def _looked(
    patterns: Sequence[str],
    rest: Sequence[str],
    prog: str,
    before: Mapping[str, str],
    own: frozenset[str],
) -> tuple[dict[str, str], dict[str, str]]:
    """Look at the input of a program that learns, and print what is found.

    Args:
        patterns: the files.
        rest: the options of the command line.
        prog: the name of the program.
        before: the options of the run that learns more documents. They stay, but for those that say
            how its own files are written.
        own: the names of the options that the program has.

    Returns:
        The options that are found; files to keep for the programs that follow, by name.
    """
    # Imported here, because --help reads no file.
    from pipelines.cli import profiling

    files = profiling.files_of(patterns)
    if not files:
        return {}, {}
    given = {name for name, _ in _values(rest)}
    stored = {name: value for name, value in before.items() if name in places.READING}
    profile, kept = profiling.look_at(files, rest, stored)
    profiling.check_clear(profile, given, files[0])
    lengths, words = ({}, {}) if before else profiling.learning_of(profile, own)
    read = {**kept, **profile.options}
    _say(prog, read, f"how {files[0]} is written, and its fields")
    _say(prog, words, "what the texts are")
    _say(prog, lengths, profiling.why_lengths(profile) if lengths else "")
    for remark in profiling.remarks_of(profile, dict(_values(rest)).get("topics")) * (not before):
        _tell(f"{shown(prog)}: {remark}")
    text = json.dumps(profile.to_json(), ensure_ascii=False) + "\n"
    return {**read, **words, **lengths}, {} if before else {places.PROFILE_FILE: text}


def _values(rest: Sequence[str]) -> list[tuple[str, str]]:
    """Return the options of the command line that have a value."""
    pairs = (one.removeprefix("--").partition("=") for one in rest)
    return [(name, value) for name, equals, value in pairs if equals and value]


def _say(prog: str, options: Mapping[str, str], why: str) -> None:
    if options:
        flags = " ".join(f"--{name}={shlex.quote(value)}" for name, value in options.items())
        _tell(f"{shown(prog)}: {flags} ({why})")


def _tell(line: str) -> None:
    # Imported here, because --help tells nothing.
    from pipelines.cli.terminal import tell

    tell(line)


@cache
def names_of(groups: tuple[type[OptionGroup], ...]) -> frozenset[str]:
    """Return the names of the options of some groups."""
    parser = argparse.ArgumentParser(add_help=False, conflict_handler="resolve")
    for group in groups:
        group._add_argparse_args(parser)
    return frozenset(
        flag.removeprefix("--") for action in parser._actions for flag in action.option_strings
    )
