"""The experiments of Yao, Mimno and McCallum (2009): ``python -m benchmarks.yao --help``.

* ``methods``: nine ways to infer the topics of 30 % of the NIPS papers, T = 70, trained by 1,000
  sweeps or until the likelihood is flat (the table, figures 3 to 6);
* ``topics``: the same on fewer papers for other T, with 150 sweeps of training and 100 of inference
  (figure 7);
* ``speed``: time and memory of SparseLDA's sweeps beside dense ones (figure 2);
* ``shares``, ``spans``, ``since``: MaxEnt and others against Gibbs2 on arXiv's abstracts, which
  stand in for PubMed's and the New York Times', learned from growing shares (figure 8), from years
  ever further back (figure 9, left: vocabulary coverage), and from ever more years (figure 9,
  right).
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.experiments import experiment
from benchmarks.inference import GIBBS, OTHERS
from benchmarks.ledger import Ledger, Result, Run
from benchmarks.yao_report import report
from benchmarks.yao_runs import PAPER, SMALL, Size, compare, shares, since, span, speed

METHODS = (*GIBBS, *OTHERS)
TOPICS = (20, 50, 100)
SPEEDS = (50, 100, 200, 400, 800)
SHARES = (10, 25, 40, 55, 70)
SPANS = (
    (1994, 2004),
    (2005, 2008),
    (2009, 2011),
    (2012, 2014),
    (2015, 2017),
    (2018, 2018),
    (2019, 2019),
)
FIRSTS = (2018, 2017, 2015, 2012)
DATASETS = ("methods", "topics", "speed", "shares", "spans", "since")


def work(run: Run, size: Size) -> Result:
    """Make the run that a name stands for."""
    name, seed = run.row.split(), run.seed
    if run.dataset == "methods":
        return compare(size.papers, size.topics, size.sweeps, size.inference, seed, METHODS)
    if run.dataset == "topics":
        return compare(size.fewer_papers, int(name[2]), *size.varied, seed, METHODS)
    if run.dataset == "speed":
        return speed(size, int(name[2]), name[3])
    if run.dataset == "shares":
        return shares(size, int(name[0]), seed)
    if run.dataset == "spans":
        return span(size, int(name[0]), int(name[1]), seed)
    return since(size, int(name[0]), seed)


def plan(datasets: list[str], size: Size, seeds: int) -> Iterator[Run]:
    """All rows with one seed before any with two."""
    most = 1 if size is SMALL else None
    rows = {
        "methods": [f"T = {size.topics}"],
        "topics": [f"T = {topics}" for topics in TOPICS[:most]],
        "speed": [
            f"T = {topics} {sampler}" for topics in SPEEDS[:most] for sampler in ("dense", "sparse")
        ],
        "shares": [f"{share} %" for share in SHARES[:most]],
        "spans": [f"{first} {last}" for first, last in SPANS[:most]],
        "since": [f"{first}" for first in FIRSTS[:most]],
    }
    for seed in range(1, seeds + 1):
        for dataset in datasets:
            yield from (Run("yao", dataset, row, seed) for row in rows[dataset])


def yao() -> None:
    """Reproduce Yao et al. (2009) in small: 60 papers, 10 topics, one row of each.

    ``python -m benchmarks.yao`` has the paper's size.
    """
    main(["--size=small", "--seeds=1", "--datasets", *DATASETS])


def main(arguments: list[str] | None = None) -> None:
    """Make the runs, then the tables and the plots."""
    given = experiment(__doc__, "yao-2009", DATASETS, (), arguments, seeds=1)
    size = SMALL if given.size == "small" else PAPER
    ledger = Ledger(given.ledger)
    ledger.make(plan(given.datasets, size, given.seeds), lambda run: work(run, size))
    report(ledger, given.results)


if __name__ == "__main__":
    main()
