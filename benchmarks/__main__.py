"""Run benchmarks: ``python -m benchmarks CASE ...``.

``python -m benchmarks list`` names the cases. Without a case all of them run; those that reproduce
papers run in a small size.
"""

from __future__ import annotations

import sys

from benchmarks.canini import canini
from benchmarks.capacity import capacity
from benchmarks.fanout import fanout
from benchmarks.first_contact import first_contact
from benchmarks.flood import flood
from benchmarks.headlines import headlines
from benchmarks.infer_memory import infer_memory
from benchmarks.ingest import ingest
from benchmarks.labelling import labelling
from benchmarks.may import may
from benchmarks.memory import memory
from benchmarks.names import names
from benchmarks.nonsense import nonsense
from benchmarks.phrases import compare_phrases
from benchmarks.pipeline import pipeline
from benchmarks.runners import runners
from benchmarks.scale import scale
from benchmarks.seeds import seeds
from benchmarks.serve import serve
from benchmarks.soak import soak
from benchmarks.soak_flink import soak_flink
from benchmarks.speed import one_pass
from benchmarks.starts import starts
from benchmarks.stop_words import compare_stop_words
from benchmarks.stories import stories
from benchmarks.time_forms import time_forms
from benchmarks.variational import variational
from benchmarks.versions import versions
from benchmarks.yao import yao

CASES = {
    "labelling": labelling,
    "fanout": fanout,
    "pass": one_pass,
    "variational": variational,
    "pipeline": pipeline,
    "time_forms": time_forms,
    "ingest": ingest,
    "versions": versions,
    "first_contact": first_contact,
    "scale": scale,
    "capacity": capacity,
    "runners": runners,
    "memory": memory,
    "infer_memory": infer_memory,
    "names": names,
    "nonsense": nonsense,
    "seeds": seeds,
    "phrases": compare_phrases,
    "stop_words": compare_stop_words,
    "stories": stories,
    "serve": serve,
    "soak": soak,
    "soak_flink": soak_flink,
    "starts": starts,
    "headlines": headlines,
    "flood": flood,
    "canini": canini,
    "may": may,
    "yao": yao,
}


def main() -> None:
    """Run the cases that the command line names."""
    names = sys.argv[1:] or list(CASES)
    if names == ["list"] or not set(names) <= set(CASES):
        summaries = {name: str(case.__doc__).partition("\n")[0] for name, case in CASES.items()}
        raise SystemExit("\n".join(f"{name:10} {line}" for name, line in summaries.items()))
    for name in names:
        print(f"== {name}", flush=True)
        CASES[name]()


if __name__ == "__main__":
    main()
