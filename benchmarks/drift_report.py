"""The tables of :mod:`benchmarks.drift`, from the runs that were made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.ledger import Ledger, print_table, shown


def report(ledger: Ledger) -> None:
    """Print a table for each experiment that has runs."""
    for size in sorted({_size(line) for line in ledger.of(experiment="planted")}):
        _planted(ledger, size)
    if ledger.of(experiment="triples"):
        _triples(ledger)
    if ledger.of(experiment="groups"):
        _groups(ledger)


def _size(line: dict[str, Any]) -> int:
    return int(line["dataset"].split("-")[1].split()[0])


def _rows(lines: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(line["row"] for line in lines))


def _planted(ledger: Ledger, size: int) -> None:
    lines = ledger.of(experiment="planted", dataset=f"planted-{size}")
    for row in _rows(lines):
        runs = [line for line in lines if line["row"] == row]
        alone = {number: _alone(ledger, size, row, number) for number in (1, 2, 3)}
        cells = [_third(runs, number, alone[number]) for number in (1, 2, 3)]
        places = sorted({point[1] for line in runs for point in line["points"]})
        head = [
            "third",
            "alone",
            *(f"+{place:,}" for place in places),
            "effective topics",
            "last version",
        ]
        what = "share of the accuracy of the third alone"
        title = f"planted, {size:,} documents a third, {row} ({len(runs)} runs): {what}"
        print_table(title, head, cells)
        seconds, visits = _mean(runs, "seconds"), _mean(runs, "visits")
        print(f"\nprocessor seconds {seconds:.0f}, visits a token {visits:.0f}")


def _alone(ledger: Ledger, size: int, row: str, number: int) -> float:
    runs = ledger.of(experiment="planted", dataset=f"alone-{size} {number}", row=row)
    runs = runs or ledger.of(experiment="planted", dataset=f"alone-{size} {number}", row="default")
    return float(np.mean([line["points"][-1][2] for line in runs])) if runs else float("nan")


def _third(runs: Sequence[dict[str, Any]], number: int, alone: float) -> list[str]:
    """Accuracies are shares of ``alone``; the effective topics are of the third's last version."""
    places = sorted({point[1] for line in runs for point in line["points"]})
    found = {
        place: [point for line in runs for point in line["points"] if point[:2] == [number, place]]
        for place in places
    }
    shares = [shown([point[2] / alone for point in found[place]]) for place in places]
    effective = float(np.mean([point[3] for point in found[places[-1]]]))
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
