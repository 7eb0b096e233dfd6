"""The table and figures 2 to 9 of Yao, Mimno and McCallum (2009), from the runs that were made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments import draw_traces
from benchmarks.ledger import Ledger, Result, mean_and_error, print_table, shown

REFERENCES = ("gibbs1", "gibbs2")
LIGHT = ("maxent", "hybrid", "gibbs3")
MEASURES = {"cosine": "cosine", "kl": "KL, nats", "f1": "F1 at 80 %"}


def report(ledger: Ledger, folder: Path) -> None:
    """Print the tables and draw the figures."""
    for line in ledger.of(dataset="methods"):
        _print_methods(line)
        _print_sample(line)
        _draw_methods(folder / "yao-2009-methods.png", line)
        _draw_sample(folder / "yao-2009-sample.png", line["sample"])
        draw_traces(
            folder / "yao-2009-likelihood.png",
            {"ln P(w, z) a token": {"training": [line["likelihood"]]}},
            "sweeps",
            "nats",
        )
    _draw_topics(ledger, folder / "yao-2009-topics.png")
    _speed(ledger, folder / "yao-2009-speed.png")
    _abstracts(
        ledger,
        folder,
        "shares",
        "trained on, % of the abstracts",
        lambda row, found: float(row.split()[0]),
    )
    _abstracts(ledger, folder, "spans", "known share of the distinct words", _known)
    _abstracts(ledger, folder, "since", "years before 2019", lambda row, found: 2019 - float(row))


def _known(row: str, found: list[Result]) -> float:
    return mean_and_error(line["coverage"]["words"] for line in found)[0]


def _print_methods(line: Result) -> None:
    head = [
        "",
        *(f"{measure}, {reference}" for reference in REFERENCES for measure in MEASURES),
        "ms a paper",
    ]
    rows = [
        [
            name,
            *(
                f"{line[reference][name][measure]:.3f}"
                for reference in REFERENCES
                for measure in MEASURES
            ),
            f"{figures['milliseconds']:.1f}",
        ]
        for name, figures in line["gibbs1"].items()
    ]
    print_table(f"{line['row']}, {line['papers']} papers", head, rows)


def _print_sample(line: Result) -> None:
    rows = (
        [name, *(f"{topic}: {share:.3f}" for topic, share in topics[:5])]
        for name, topics in line["sample"].items()
    )
    print_table(
        "the five largest topics of one paper (number: proportion)",
        ["", "1", "2", "3", "4", "5"],
        rows,
    )


def _panels(count: int, width: float = 4, height: float = 3.4) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * count, height), layout="constrained")
    return figure, figure.subplots(1, count, squeeze=False)[0]


def _draw_methods(path: Path, line: Result) -> None:
    """Figures 3, 4 and 6: bars of the three measures against both references, and of the time."""
    names = [name for name in line["gibbs1"] if name != "gibbs1"]
    figure, axes = _panels(4, 3.6)
    for panel, (measure, title) in zip(axes, MEASURES.items(), strict=False):
        for place, reference in enumerate(REFERENCES):
            found = line[reference]
            # The divergence of a method that puts all mass on one topic is its floor's, and would
            # hide the others.
            values = [
                min(found[name][measure], 1.0) if measure == "kl" else found[name][measure]
                for name in names
            ]
            panel.barh(
                [at + 0.4 * place for at in range(len(names))],
                values,
                height=0.38,
                label=f"against {reference}",
            )
        panel.set_title(title, fontsize=10)
    axes[1].legend(fontsize=7, loc="lower right")
    axes[3].barh(range(len(names)), [line["gibbs1"][name]["milliseconds"] for name in names])
    axes[3].set_xscale("log")
    axes[3].set_title("ms a paper", fontsize=10)
    for at, panel in enumerate(axes):
        labels = names if at in (0, 3) else [""] * len(names)
        panel.set_yticks(
            [place + (0.2 if at < 3 else 0) for place in range(len(names))], labels, fontsize=7
        )
    figure.savefig(path, dpi=90)


def _draw_sample(path: Path, sample: Mapping[str, Sequence[Sequence[float]]]) -> None:
    """Figure 5: one paper's largest topics by each method, in the order that Gibbs1 gives them."""
    topics = [int(topic) for topic, _ in sample["gibbs1"]]
    figure, (axes,) = _panels(1, 8)
    for place, (name, found) in enumerate(sample.items()):
        shares = {int(topic): share for topic, share in found}
        axes.bar(
            [at + place * 0.08 for at in range(len(topics))],
            [shares.get(topic, 0.0) for topic in topics],
            width=0.08,
            label=name,
        )
    axes.set_xticks([at + 0.35 for at in range(len(topics))], [str(topic) for topic in topics])
    axes.set_xlabel("topic", fontsize=8)
    axes.legend(fontsize=7)
    figure.savefig(path, dpi=90)


def _draw_topics(ledger: Ledger, path: Path) -> None:
    """Figure 7: F1 over T."""
    found = sorted(ledger.of(dataset="topics"), key=lambda line: int(line["row"].split()[-1]))
    if not found:
        return
    names = list(found[0]["gibbs1"])
    counts = list(dict.fromkeys(int(line["row"].split()[-1]) for line in found))
    figure, axes = _panels(2)
    for panel, reference in zip(axes, REFERENCES, strict=True):
        rows = []
        for number, name in enumerate(names):
            values = [
                [line[reference][name]["f1"] for line in found if line["row"] == f"T = {count}"]
                for count in counts
            ]
            rows.append([name, *(shown(runs) for runs in values)])
            if name != reference:
                style = {
                    "color": f"C{number % 10}",
                    "linestyle": "-" if number < 10 else "--",
                    "marker": ".",
                }
                panel.plot(
                    counts, [mean_and_error(runs)[0] for runs in values], label=name, **style
                )
        print_table(
            f"F1 against {reference} for other T", ["", *(f"T = {count}" for count in counts)], rows
        )
        panel.set_title(f"F1, against {reference}", fontsize=10)
        panel.set_xlabel("T", fontsize=8)
    handles = {
        label: handle
        for panel in axes
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside right center", fontsize=7)
    figure.savefig(path, dpi=90)


def _speed(ledger: Ledger, path: Path) -> None:
    """Figure 2: a sweep's time and memory over T."""
    found = ledger.of(dataset="speed")
    if not found:
        return
    counts = list(dict.fromkeys(int(line["row"].split()[2]) for line in found))
    figure, axes = _panels(2)
    rows: dict[int, list[str]] = {count: [f"{count}"] for count in counts}
    for panel, (field, unit, title) in zip(
        axes, (("milliseconds", 1.0, "ms a sweep"), ("bytes", 1e6, "MB of counts")), strict=True
    ):
        for sampler in ("dense", "sparse"):
            values = [
                [line[field] / unit for line in ledger.of(row=f"T = {count} {sampler}")]
                for count in counts
            ]
            panel.plot(
                counts,
                [sum(runs) / max(len(runs), 1) for runs in values],
                marker=".",
                label=sampler,
            )
            for count, runs in zip(counts, values, strict=True):
                rows[count].append(shown(runs, 1) if runs else "")
        panel.set_title(title, fontsize=10)
        panel.set_yscale("log")
        panel.set_xlabel("T", fontsize=8)
    axes[0].legend(fontsize=7)
    figure.savefig(path, dpi=90)
    what = f"a sweep over {found[0]['tokens']:,} tokens of {found[0]['words']:,} words"
    print_table(what, ["T", "dense, ms", "sparse, ms", "dense, MB", "sparse, MB"], rows.values())


def _abstracts(
    ledger: Ledger,
    folder: Path,
    dataset: str,
    title: str,
    place: Callable[[str, list[Result]], float],
) -> None:
    """Figures 8 and 9: agreement with Gibbs2, means over the seeds."""
    runs = {
        row: ledger.of(dataset=dataset, row=row)
        for row in dict.fromkeys(line["row"] for line in ledger.of(dataset=dataset))
    }
    if not runs:
        return
    places = {row: place(row, found) for row, found in runs.items()}
    order = sorted(runs, key=lambda row: places[row])
    head = [
        "",
        "trained on",
        "words known",
        "tokens known",
        *(f"{m}, {n}" for n in LIGHT for m in MEASURES),
    ]
    rows = []
    for row in order:
        known = [
            shown(line["coverage"][unit] for line in runs[row]) for unit in ("words", "tokens")
        ]
        cells = [
            shown(line[name][measure] for line in runs[row])
            for name in LIGHT
            for measure in MEASURES
        ]
        rows.append(
            [
                f"{row} ({len(runs[row])})",
                shown((line["trained"] for line in runs[row]), 0),
                *known,
                *cells,
            ]
        )
    print_table(f"{dataset}: against gibbs2, mean ± standard error (runs)", head, rows)
    figure, axes = _panels(3, height=3)
    for panel, (measure, label) in zip(axes, MEASURES.items(), strict=True):
        for name in LIGHT:
            means = [mean_and_error(line[name][measure] for line in runs[row])[0] for row in order]
            panel.plot([places[row] for row in order], means, marker=".", label=name)
        panel.set_title(label, fontsize=10)
        panel.set_xlabel(title, fontsize=8)
    axes[0].legend(fontsize=7)
    figure.savefig(folder / f"yao-2009-{dataset}.png", dpi=90)
