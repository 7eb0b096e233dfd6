"""Figures 1 to 3 of May, Clemmer and Van Durme (2014) from recorded runs.

The last points of the figures are a table, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.experiments import draw_traces
from benchmarks.ledger import Ledger, mean_and_error, newest_seconds, print_table


def report(ledger: Ledger, folder: Path, figures: Mapping[str, Sequence[str]]) -> None:
    """Print a table and draw each figure; ``figures`` names the rows of each."""
    datasets = list(dict.fromkeys(line["dataset"] for line in ledger.lines))
    for figure, rows in figures.items():
        cells = ([row, *(_cell(ledger, dataset, row) for dataset in datasets)] for row in rows)
        what = "nMI out of sample, first measured → last ± its standard error, its deviation (runs)"
        print_table(f"figure {figure}: {what}", ["", *datasets], cells)
        panels, levels = {}, {}
        for dataset in datasets:
            lines = {
                row: [line["points"] for line in found]
                for row in rows
                if (found := ledger.of(dataset=dataset, row=row))
            }
            batch = lines.pop("batch", [])
            panels[dataset] = lines
            if batch:
                levels[dataset] = float(np.mean([points[-1][1] for points in batch]))
        draw_traces(
            folder / f"may-2014-{figure}.png", panels, "documents", "nMI, out of sample", levels
        )
    rows = list(dict.fromkeys(line["row"] for line in ledger.lines))
    costs = ([row, *(_cost(ledger, dataset, row) for dataset in datasets)] for row in rows)
    print_table(
        "processor seconds (median of the newest five runs), moves a token, resamplings, ln"
        " P(w, z)",
        ["", *datasets],
        costs,
    )


def _cell(ledger: Ledger, dataset: str, row: str) -> str:
    found = ledger.of(dataset=dataset, row=row)
    if not found:
        return ""
    first = float(np.mean([line["points"][0][1] for line in found]))
    mean, deviation, error = mean_and_error([line["points"][-1][1] for line in found])
    spread = f" ± {error:.3f}, {deviation:.3f}" if len(found) > 1 else ""
    return f"{first:.3f} → {mean:.3f}{spread} ({len(found)})"


def _cost(ledger: Ledger, dataset: str, row: str) -> str:
    found = ledger.of(dataset=dataset, row=row)
    if not found:
        return ""
    means = {
        name: float(np.mean([line[name] for line in found]))
        for name in ("moves", "resamplings", "log_joint")
    }
    return (
        f"{newest_seconds(found):.1f}, {means['moves']:.2f}, {means['resamplings']:.0f},"
        f" {means['log_joint']:,.0f}"
    )
