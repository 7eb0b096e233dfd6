"""The demo's report: topics over the decades, and the topics of a few passages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from model.records import FloatArray
from model.reporting.mixtures import rows_of_file
from pipelines.cli.terminal import plain, thin

Mixture = Mapping[str, Any]

_PASSAGES = 5
_BEGINNING = 220
_BAR = 12


def read_mixtures(folder: Path) -> list[Mixture]:
    """Return the rows of all ``mixtures-*.jsonl`` in a folder, sorted by time and id."""
    rows: list[Mixture] = []
    for path in sorted(folder.glob("mixtures-*.jsonl")):
        with path.open("rb") as stream:
            rows += [row for _, row in rows_of_file(stream, path.name)]
    return sorted(rows, key=lambda row: (row["timestamp"], row["id"]))


def shares_by_decade(mixtures: Sequence[Mixture], ids: Sequence[int], decades: range) -> FloatArray:
    """Compute each topic's share of the known words of each decade.

    Args:
        mixtures: rows of mixtures.
        ids: the ids of the topics.
        decades: the first year of each decade.

    Returns:
        float64[topics, decades]; NaN where a decade has no word.
    """
    counts, places = np.zeros((len(ids), len(decades))), {topic: z for z, topic in enumerate(ids)}
    for row in mixtures:
        decade = min(
            max((int(row["timestamp"][:4]) - decades.start) // decades.step, 0), len(decades) - 1
        )
        for one in row["topics"]:
            counts[places[one["topic"]], decade] += one["share"] * row["words_known"]
    totals = counts.sum(axis=0)
    return np.divide(counts, totals, out=np.full_like(counts, np.nan), where=totals > 0)


def document_table(
    mixtures: Sequence[Mixture], corpus: Path, top_words: Mapping[int, Sequence[str]]
) -> Table:
    """Make a table of a few passages, evenly spread over time, with their largest topics."""
    chosen = {row["id"]: row for row in thin(mixtures[len(mixtures) // 20 :], _PASSAGES)}
    with corpus.open(encoding="utf-8") as lines:
        texts = {row["id"]: row for row in map(json.loads, lines) if row["id"] in chosen}
    table = Table(
        title="A few passages and what they are about",
        title_justify="left",
        show_edge=False,
        show_lines=True,
    )
    table.add_column("passage", ratio=1, min_width=40)
    table.add_column("topics", no_wrap=True, max_width=60)
    for name, row in chosen.items():
        text = texts[name]
        begins = " ".join(text["text"].split())[:_BEGINNING].rpartition(" ")[0]
        table.add_row(
            plain(f"{text['label']}, {text['timestamp']}: {begins} …"),
            Text("\n").join(map(plain, _largest(row, top_words))),
        )
    return table


def _largest(row: Mixture, top_words: Mapping[int, Sequence[str]]) -> list[str]:
    return [
        f"{one['share']:4.0%} {'█' * round(_BAR * one['share']):{_BAR}} {one['topic']:2}"
        f" {' '.join(top_words[one['topic']])}"
        for one in row["topics"][:3]
        if one["share"] >= 0.05
    ]
