"""The inputs of a folder of cases, where there is one, and what a person expects of each."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.first_contact.inputs import Input
from benchmarks.first_contact.subjects import ENGLISH, Subjects, some

_SIX = some(ENGLISH, "space", "kitchen", "law", "sport", "finance", "medicine")
_TOY = {
    "sea": "ship wave captain sea harbour sail",
    "law": "jury court law judge crime trial",
    "sport": "match team goal player league cup",
}
# Folder/argument, documents, subjects, least nMI, options, words that the output has to have, what
# is expected. Texts of several subjects have no truth that a token shows.
_CASES: Sequence[
    tuple[str, int, Subjects | None, float, tuple[str, ...], tuple[str, ...], str]
] = (
    ("toy/three-subjects.csv", 600, _TOY, 0.9, (), (), "three pure topics"),
    ("kaggle/kaggle_news.csv", 796, _SIX, 0.3, (), (), "learned by title and text"),
    ("tickets/tickets.csv", 700, _SIX, 0.0, (), ("strip",), "Description without tags"),
    ("encoding/meldungen.csv", 500, None, 0.0, (), (), "learned"),
    ("headerless/ag_news_noheader.csv", 500, None, 0.0, (), (), "500 documents"),
    ("textfield/data.csv", 600, None, 0.0, (), (), "learned"),
    ("outlier/outlier.jsonl", 1000, None, 0.0, (), ("1970",), "the outlier named"),
    ("slash/slash.csv", 200, None, 0.0, (), (), "read"),
    ("slash/day-first.csv", 400, some(ENGLISH, "sea", "law", "sport"), 0.9, (), (), "read"),
    ("emptied/in.jsonl", 378, None, 0.0, ("--topics=5",), (), "learned"),
    ("thai/in.jsonl", 300, None, 0.0, ("--topics=5",), ("thai",), "segmented"),
    ("allempty/in.jsonl", 0, None, 0.0, (), ("stop",), "refused, with the reason"),
    ("codes/numbers-only.jsonl", 0, None, 0.0, (), ("number",), "refused, with the reason"),
    ("codes/in.jsonl", 300, None, 0.0, ("--topics=5",), (), "codes are words"),
    ("dupids/*.jsonl", 400, None, 0.0, (), ("id",), "learned, the repeated ids told"),
    ("ragged/ragged.csv", 100, None, 0.0, (), ("fields",), "told which rows, and what helps"),
    ("fewdocs/in.jsonl", 12, None, 0.0, (), ("topics",), "a remark"),
    ("letters", 10, None, 0.0, (), (), "a folder of texts"),
    ("mbox/archive.mbox", 200, None, 0.0, (), (), "a mailbox"),
)  # fmt: skip


def shared_cases(root: str | None) -> list[Input]:
    """Return the inputs of a folder; none without a folder."""
    if root is None:
        return []
    found = []
    for path, documents, subjects, least, options, said, expected in _CASES:
        name, _, argument = path.partition("/")

        def make(folder: Path, name: str = name, argument: str = argument) -> str:
            source = Path(root) / name
            if not argument:
                shutil.copytree(source, folder / name)
                return name
            for file in source.iterdir():
                shutil.copy(file, folder)
            return argument

        found.append(
            Input(
                f"cases/{path}",
                make,
                documents,
                subjects,
                expected,
                said,
                options,
                least,
                timed=name not in ("headerless", "letters"),
            )
        )
    return found
