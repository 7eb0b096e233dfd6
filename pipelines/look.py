"""Show what an input is, and the options that train would choose for it.

``beam-topics look data.csv``

A sample of the records is read, spread over all files. Nothing is learned and nothing is written,
but for ``--json``.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from beam_topics.model.reading.paths import is_path
from beam_topics.model.settings.options import names_text
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.invocation import shown
from beam_topics.pipelines.cli.options import FigureSettings, InputSettings

if TYPE_CHECKING:
    from rich.table import Table

    from beam_topics.model.profile.profile import Profile

# The paths below the top level that the table shows, apart from those with a role.
_MOST_PATHS = 20
GROUPS = (group.InputOptions, group.FigureOptions, group.RecordOptions)
REQUIRED = {"input": "data.csv"}


def look(options: Options) -> None:
    """Print the profile of the input, and write it into the file ``--json``."""
    # Imported here, because --help reads no file.
    from beam_topics.pipelines.cli import profiling
    from beam_topics.pipelines.cli.terminal import console, plain

    given, path = (
        settings_of(options, InputSettings).input,
        settings_of(options, FigureSettings).json,
    )
    flags = [one for one in options.argv if not one.startswith(("--input=", "--json="))]
    profile, _ = profiling.look_at(profiling.files_of(given), flags, with_language=True)
    if path is not None:
        found = {**profile.to_json(), "remarks": profile.remarks}
        Path(path).write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    out = console()
    for what, value in profile.summary():
        out.print(plain(f"{what:13}{value}"), soft_wrap=True)
    if profile.fields:
        out.print(field_table(profile))
    for remark in profile.remarks:
        out.print(plain(f"Note: {remark}"), soft_wrap=True)
    for question in profile.questions:
        out.print(plain(f"Question: {question}"), soft_wrap=True)
    # No command learns an input with a question that has no choices.
    if all(question.choices for question in profile.questions):
        out.print(plain(f"Learn it: {learning_command(profile, given, flags)}"), soft_wrap=True)


def field_table(profile: Profile) -> Table:
    """Make a table of the fields."""
    from rich.table import Column
    from rich.text import Text

    from beam_topics.pipelines.cli.terminal import figures, plain, table_of

    field = Column("field", overflow="fold")
    example = Column("example", overflow="ellipsis", no_wrap=True, ratio=1)
    table = table_of(field, "role", "type", *figures("filled", "different"), example)
    below = [one for one in profile.fields if is_path(one.name) and not one.role]
    hidden = sorted(below, key=lambda one: -one.words * one.filled)[_MOST_PATHS:]
    for one in (one for one in profile.fields if one not in hidden):
        shares = (Text(f"{share:.0%}") for share in (one.filled, one.different))
        texts = map(plain, (one.name, one.role or "–", one.type))
        table.add_row(*texts, *shares, plain(one.example))
    if hidden:
        table.add_row(f"{len(hidden):,} more paths, in --json")
    return table


def learning_command(profile: Profile, given: Sequence[str], flags: Sequence[str]) -> str:
    """Return the command that learns the input, with every option that it would choose.

    A question is answered with its first choice. What the records are comes before their fields,
    which train then finds.
    """
    first = [one.choices[0] for one in profile.questions]
    # A path that exists is itself; commas would cut a glob.
    paths = [one if Path(one).exists() else names_text([one]) for one in given]
    if anew := [one for one in first if one.startswith(("--records=", "--format="))]:
        return " ".join([shown("train"), shlex.join([*paths, *flags]), anew[0]])
    chosen = {**profile.options, **profile.learning}
    options = [*flags, *(f"--{name}={value}" for name, value in chosen.items())]
    words = [shlex.join([*paths, *options]), *first]
    return " ".join([shown("train"), *words])


main = command("look", __doc__, GROUPS, REQUIRED, look, graph=False)

if __name__ == "__main__":
    sys.exit(main())
