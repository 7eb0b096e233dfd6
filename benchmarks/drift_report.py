"""The tables of :mod:`benchmarks.drift`, from the runs that were made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.drift_streams import COURSES
from benchmarks.ledger import Ledger, print_table, shown, size_of


def report(ledger: Ledger) -> None:
    """Print a table for each experiment that has runs."""
    for size in sorted({size_of(line["dataset"]) for line in ledger.of(experiment="planted")}):
        for course in COURSES:
            _planted(ledger, course, size)
    if ledger.of(experiment="triples"):
        _triples(ledger)
    if ledger.of(experiment="groups"):
        _groups(ledger)


def _rows(lines: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(line["row"] for line in lines))


def _planted(ledger: Ledger, course: str, size: int) -> None:
    lines = ledger.of(experiment="planted", dataset=f"{course}-{size}")
    for row in _rows(lines):
        runs = [line for line in lines if line["row"] == row]
        ends = sorted({(point[0], point[1]) for line in runs for point in line["points"]})
        numbers = list(dict.fromkeys(point[0] for point in runs[0]["points"]))
        places = sorted({place for _, place in ends})
        cells = [_domain(runs, n, _alone(ledger, size, row, n), places) for n in numbers]
        head = [
            "domain",
            "alone",
            *(f"+{place:,}" for place in places),
            "effective topics",
            "last version",
        ]
        what = "share of the accuracy of the domain alone"
        print_table(f"{course}, N = {size:,}, {row} ({len(runs)} runs): {what}", head, cells)
        seconds, visits = _mean(runs, "seconds"), _mean(runs, "visits")
        print(f"\nprocessor seconds {seconds:.0f}, visits a token {visits:.0f}")


def _alone(ledger: Ledger, size: int, row: str, number: int) -> float:
    dataset = f"alone-{size} {number}"
    runs = ledger.of(experiment="planted", dataset=dataset, row=row)
    runs = runs or ledger.of(experiment="planted", dataset=dataset, row="small reservoir")
    return float(np.mean([line["points"][-1][2] for line in runs])) if runs else float("nan")


def _domain(
    runs: Sequence[dict[str, Any]], number: int, alone: float, places: Sequence[int]
) -> list[str]:
    """Return a row: shares of ``alone``, and the effective topics of the part's last version."""
    points = [point for line in runs for point in line["points"] if point[0] == number]
    found = [[point for point in points if point[1] == place] for place in places]
    shares = [shown([point[2] / alone for point in at]) if at else "" for at in found]
    effective = float(np.mean([point[3] for point in [at for at in found if at][-1]]))
    last = shown(
        [score / alone for line in runs for which, score, _ in line["last"] if which == number]
    )
    return [str(number), f"{alone:.3f}", *shares, f"{effective:.1f}", last]


def _triples(ledger: Ledger) -> None:
    lines = ledger.of(experiment="triples")
    triples = list(dict.fromkeys(line["dataset"].split()[0] for line in lines))
    cells = []
    for row in _rows(lines):
        for order in dict.fromkeys(
            line["dataset"].split()[1] for line in lines if line["row"] == row
        ):
            runs = {
                t: ledger.of(experiment="triples", row=row, dataset=f"{t} {order}") for t in triples
            }
            means = [
                float(np.mean([line["nmi"] for line in found])) for found in runs.values() if found
            ]
            made = [line for found in runs.values() for line in found]
            each = [
                f"{np.mean([line['nmi'] for line in found]):.3f}" if found else ""
                for found in runs.values()
            ]
            name = row if row == "batch" else f"{row}, {order}"
            cells.append(
                [
                    name,
                    *each,
                    f"{np.mean(means):.3f}",
                    f"{_mean(made, 'seconds'):.1f}",
                    f"{_mean(made, 'visits'):.0f}",
                ]
            )
    print_table("triples: held-out nMI", ["", *triples, "mean", "seconds", "visits a token"], cells)


def _groups(ledger: Ledger) -> None:
    lines = ledger.of(experiment="groups")
    cells = []
    for row in _rows(lines):
        for dataset in dict.fromkeys(line["dataset"] for line in lines if line["row"] == row):
            runs = ledger.of(experiment="groups", row=row, dataset=dataset)
            scores = [
                shown([line["nmi"] for line in runs]),
                shown([line["perplexity"] for line in runs], 0),
            ]
            costs = [f"{_mean(runs, name):.0f}" for name in ("seconds", "visits")]
            cells.append([f"{row}, {dataset.split()[1]} ({len(runs)})", *scores, *costs])
    print_table(
        "all groups, T = 50: held-out",
        ["", "nMI", "perplexity of known words", "seconds", "visits a token"],
        cells,
    )


def _mean(runs: Sequence[dict[str, Any]], name: str) -> float:
    return float(np.mean([line[name] for line in runs]))
