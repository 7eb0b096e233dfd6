"""Erase documents from a model store and from the files that were written of them.

``beam-topics erase --model_store=models --ids=ids.txt --mixtures=mixtures``

``--ids`` has one id a line; the time of the document may follow after a tab. Documents leave the
checkpoints, the known documents, and the files that are named; their tokens leave the counts of a
checkpoint that holds them. The report and the profile in the folder of the run are removed. What is
published stays, and is reported. Stop the jobs that use the store or write the files first: the
state of a runner is not reached, and a job that goes on cannot write another checkpoint. Continue
with ``--add_documents`` and an input without the documents.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from beam_topics.model.settings.options import Record, option
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command, later
from beam_topics.pipelines.cli.groups import OptionGroup

_FILES = "folders, paths or globs, with commas"


# The options of all programs have one namespace, in which some of these belong to other groups.
@dataclass(frozen=True)
class _ErasureSettings(Record):
    """What is erased, and where."""

    ids: str | None = option(
        None, "file with an id a line, in UTF-8; a tab and the document's time may follow"
    )
    mixtures: tuple[str, ...] = option((), f"mixtures: {_FILES}", unit="paths")
    rows: tuple[str, ...] = option((), f"trends and stories: {_FILES}", unit="paths")
    events: tuple[str, ...] = option((), f"events: {_FILES}", unit="paths")
    dead_letters: tuple[str, ...] = option((), f"dead letters: {_FILES}", unit="paths")


GROUPS = (group.StoreOptions, OptionGroup("Erasure", _ErasureSettings), group.SignOptions)
REQUIRED = {"model_store": "models", "ids": "ids.txt"}

main = command("erase", __doc__, GROUPS, REQUIRED, later("erase.erase"), graph=False)

if __name__ == "__main__":
    sys.exit(main())
