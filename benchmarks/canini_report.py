"""Figures 2 and 3 and tables 1 and 2 of Canini et al. (2009), from the runs that were made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiments import draw_traces
from benchmarks.ledger import Ledger, newest_seconds, print_table, shown

# Places in a point.
SEEN, TRAINING, HELD_OUT = range(3)
_TITLES = {TRAINING: "training", HELD_OUT: "held-out"}


def report(ledger: Ledger, folder: Path) -> None:
    """Print the tables and draw the figures."""
    datasets, rows = _names(ledger, "dataset"), _names(ledger, "row")
    for place, title in _TITLES.items():
        cells = (
            [row, *(_score(ledger, dataset, row, place) for dataset in datasets)] for row in rows
        )
        print_table(
            f"nMI, {title}, at the end of the stream: mean ± standard error (runs)",
            ["", *datasets],
            cells,
        )
        levels = {
            d: _mean(ledger, d, "batch", place)
            for d in datasets
            if ledger.of(dataset=d, row="batch")
        }
        panels = {
            d: {
                row: traces
                for row in rows
                if row != "batch" and (traces := _traces(ledger, d, row, place))
            }
            for d in datasets
        }
        draw_traces(
            folder / f"canini-2009-{title}.png",
            panels,
            "documents",
            f"nMI, {title}",
            levels,
            columns=2,
        )
    costs = ([row, *(_cost(ledger, dataset, row) for dataset in datasets)] for row in rows)
    print_table(
        "processor seconds of learning, median of the newest five runs (times o-LDA's), moves a"
        " token, MB",
        ["", *datasets],
        costs,
    )
    _print_groups(ledger)


def _names(ledger: Ledger, field: str) -> list[str]:
    return list(dict.fromkeys(line[field] for line in ledger.lines))


def _score(ledger: Ledger, dataset: str, row: str, place: int) -> str:
    found = ledger.of(dataset=dataset, row=row)
    return f"{shown([line['points'][-1][place] for line in found])} ({len(found)})" if found else ""


def _mean(ledger: Ledger, dataset: str, row: str, place: int) -> float:
    return float(
        np.mean([line["points"][-1][place] for line in ledger.of(dataset=dataset, row=row)])
    )


def _traces(ledger: Ledger, dataset: str, row: str, place: int) -> Any:
    return [
        [(p[SEEN], p[place]) for p in line["points"] if p[place] is not None]
        for line in ledger.of(dataset=dataset, row=row)
    ]


def _cost(ledger: Ledger, dataset: str, row: str) -> str:
    found, base = ledger.of(dataset=dataset, row=row), ledger.of(dataset=dataset, row="o-LDA")
    if not found or not base or row == "batch":
        return ""
    seconds = newest_seconds(found)
    ratio = seconds / newest_seconds(base)
    return (
        f"{seconds:.1f} ({ratio:.1f}), {np.mean([line['moves'] for line in found]):.2f},"
        f" {found[-1]['bytes'] / 1e6:.0f}"
    )


def _print_groups(ledger: Ledger) -> None:
    found = ledger.of(dataset="subset20", row="particle filter")
    if found:
        best = max(found, key=lambda line: line["points"][-1][-1])
        rows = ([str(count), group, f"{share:.2f}"] for count, group, share in best["groups"])
        print_table(
            "subset20, the filter's run with the highest P(w, z): its topics",
            ["documents", "mostly of", "share"],
            rows,
        )
