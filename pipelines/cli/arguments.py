"""Complete a command line: the options of a file, and those behind arguments without a name.

:mod:`pipelines.cli.config` and :mod:`pipelines.cli.places` have the rules. What is chosen for the
user is printed to standard error, as the options that would choose the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from model.reading.settings import ReadSettings
from pipelines.cli import places
from pipelines.cli.config import expanded
from pipelines.cli.groups import OptionGroup
from pipelines.cli.invocation import shown
from pipelines.cli.settings_options import settings_of

Groups = Sequence[type[OptionGroup]]


@dataclass(frozen=True)
class Arranged:
    """A completed command line.

    Attributes:
        argv: options only.
        run_file: where its options are kept for the programs that follow; None for nowhere.
        text: what is kept there.
    """

    argv: list[str]
    run_file: Path | None = None
    text: str = ""

    def ended(self) -> None:
        """Write the options of a run that succeeded, and say what can follow."""
        if self.run_file is not None:
            folder = self.run_file.parent
            folder.mkdir(parents=True, exist_ok=True)
            self.run_file.write_text(self.text, encoding="utf-8")
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
    if not bare and prog != "pipelines.label":
        return Arranged(rest)
    given = {one.removeprefix("--").partition("=")[0] for one in rest}
    if {"learner", "input"} <= own:
        return _learner(bare, rest, prog, given, own)
    pairs = places.of_reader(prog, bare, given, own, known)
    found = [pair for pair in pairs if pair[0] not in given]
    _say(prog, dict(pair for pair in found if pair[0] != "text"), "what stands for the arguments")
    return Arranged([*(f"--{name}={value}" for name, value in found), *rest])


def _learner(
    bare: Sequence[str], rest: Sequence[str], prog: str, given: set[str], own: frozenset[str]
) -> Arranged:
    # Imported here, because --help reads no file.
    from pipelines.cli import guessing

    where = places.of_learner(bare, given, own)
    chosen: dict[str, str] = {}
    if files := guessing.files_of(where.get("input", "").split(",")) if "input" in where else []:
        settings = settings_of(OptionGroup(rest), ReadSettings)
        fields = guessing.guess_fields(files, settings, sorted(given))
        _say(prog, fields, f"the fields of {files[0]}")
        chosen |= fields
        if not given & {"window", "publish_every"}:
            read = guessing.with_fields(settings, fields)
            lengths, why = guessing.guess_lengths(files, read)
            _say(prog, lengths, why)
            chosen |= lengths
    _say(prog, where, "the input, and what is written")
    options = {**where, **chosen}
    folder = Path(places.run_folder(bare[0]))
    head = f"What {shown(prog)} chose, for --config and for the programs that follow."
    return Arranged(
        [*(f"--{name}={value}" for name, value in options.items()), *rest],
        folder / places.RUN_FILE,
        places.as_yaml({**options, **_written(rest, own)}, head),
    )


def _written(rest: Sequence[str], own: frozenset[str]) -> dict[str, str]:
    """Return the options of the command line that have a value."""
    pairs = (one.removeprefix("--").partition("=") for one in rest)
    return {name: value for name, equals, value in pairs if equals and value and name in own}


def _say(prog: str, options: dict[str, str], why: str) -> None:
    if options:
        flags = " ".join(f"--{name}={value}" for name, value in options.items())
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
