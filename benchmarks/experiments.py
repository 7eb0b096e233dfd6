"""The command line and the plots that the reproductions of papers share."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

# Scores of runs: {line's name: [[(x, y), ...] of each run]}; places that not all runs of a line
# have are left out.
Traces = Mapping[str, Sequence[Sequence[tuple[float, float]]]]


def experiment(
    purpose: str | None,
    name: str,
    datasets: Sequence[str],
    rows: Sequence[str],
    arguments: Sequence[str] | None,
    seeds: int = 30,
) -> argparse.Namespace:
    """Read the command line of an experiment.

    Args:
        purpose: the description for ``--help``.
        name: the experiment's name.
        datasets: the datasets that can be chosen.
        rows: the rows that can be chosen.
        arguments: the command line; None for that of the process.
        seeds: the number of runs in the paper.

    Returns:
        The options, and ``ledger``, the file of the runs.
    """
    parser = argparse.ArgumentParser(
        description=purpose, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--size",
        choices=("small", "paper"),
        default="paper",
        help="small takes about a minute, and writes elsewhere",
    )
    parser.add_argument("--datasets", nargs="+", default=None, choices=datasets)
    if rows:
        parser.add_argument("--rows", nargs="+", default=list(rows), choices=rows)
    parser.add_argument(
        "--seeds",
        type=int,
        default=None,
        help="runs of each row; runs that were made are kept. 0: tables and plots only",
    )
    parser.add_argument(
        "--results",
        type=Path,
        help="folder; without it docs/results, or a temporary one with --size=small",
    )
    given = parser.parse_args(arguments)
    small = given.size == "small"
    given.datasets = given.datasets or list(datasets[:1] if small else datasets)
    given.seeds = given.seeds if given.seeds is not None else 2 if small else seeds
    given.results = given.results or Path(
        tempfile.mkdtemp(prefix=f"{name}-") if small else "docs/results"
    )
    given.ledger = given.results / f"{name}.jsonl"
    return given


def draw_traces(
    path: Path,
    panels: Mapping[str, Traces],
    x: str,
    y: str,
    levels: Mapping[str, float] | None = None,
    columns: int | None = None,
) -> None:
    """Draw a panel for each dataset.

    A panel has a line for the mean of runs with a band of one standard deviation, and a dashed line
    where ``levels`` has its name.
    """
    from matplotlib.figure import Figure

    columns = columns or len(panels)
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(4 * columns, 3.2 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for panel, (title, traces) in zip(axes, panels.items(), strict=False):
        for name, runs in traces.items():
            places = sorted(set.intersection(*({place for place, _ in run} for run in runs)))
            scores = np.array([[dict(run)[place] for place in places] for run in runs])
            mean, deviation = (
                scores.mean(axis=0),
                scores.std(axis=0, ddof=1) if len(runs) > 1 else 0.0,
            )
            (line,) = panel.plot(places, mean, marker=".", linewidth=1.2, label=name)
            panel.fill_between(
                places,
                mean - deviation,
                mean + deviation,
                color=line.get_color(),
                alpha=0.15,
                linewidth=0,
            )
        if levels and title in levels:
            panel.axhline(levels[title], linestyle="--", color="black", linewidth=0.8)
        panel.set_title(title, fontsize=10)
        panel.set_xlabel(x, fontsize=8)
        panel.tick_params(labelsize=8)
    axes[0].set_ylabel(y, fontsize=8)
    handles = {
        label: handle
        for panel in axes
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=7)
    figure.savefig(path, dpi=90)
