"""Half-lives compared, and chosen by evidence: ``python -m benchmarks.memory_lengths --help``.

One pass of a learner for each half-life, as the islands of ``--half_life=none,...`` are, over
made-up streams with ten topics of 1,000 words, 60 tokens a document:

* ``stationary``: the topics stay as they are, so nothing should be forgotten.
* ``rotating``: in each topic a word becomes its most probable one every 20 documents, and falls
  behind the others of its list afterwards. A topic is another one after about 2,000 documents.
* ``stops``: rotating for the first half, stationary afterwards.

and, in the order of their dates, over ``20news`` (all groups) and ``arxiv`` (every eighth of the
abstracts of 1994 to 2019). Event time counts documents.

The figure is the prequential perplexity: each minibatch is predicted before it is learned. The
choice is that of the publisher, which publishes after every fifth minibatch, and the perplexity of
the choice is that of the minibatches until the next version.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import abstracts, minibatches
from benchmarks.drift_streams import posts
from benchmarks.ledger import Ledger, Result, Run, print_table
from model.compositions import compose
from model.learners import LEARNER, learner_for
from model.publishing.choice import PublishSettings, Standing, choose
from model.records import Document, TokenisedDocument
from model.scaled import Scaled

STREAMS = ("stationary", "rotating", "stops", "20news", "arxiv")
TOPICS, WORDS, LENGTH, ROTATION, SCALE = 10, 1000, 60, 20, 100.0
MINIBATCH, PUBLISHED, WINDOW = 100, 5, 20
_BIT = math.log(2.0)


def made_up(name: str, count: int, seed: int) -> list[TokenisedDocument]:
    """Return the documents of a made-up stream."""
    generator = np.random.default_rng(seed)
    rings = [generator.permutation(WORDS) for _ in range(TOPICS)]
    weights = np.exp(-np.arange(WORDS) / SCALE)
    weights /= weights.sum()
    found = []
    for number in range(count):
        turned = {"stationary": 0, "rotating": number, "stops": min(number, count // 2)}[name]
        theta = generator.dirichlet(np.full(TOPICS, 0.1))
        topics = generator.choice(TOPICS, LENGTH, p=theta)
        # The word at place j of a ring has rank j - turned / ROTATION.
        places = generator.choice(WORDS, LENGTH, p=weights) + turned // ROTATION
        words = [f"w{rings[t][place % WORDS]}" for t, place in zip(topics, places, strict=True)]
        found.append(TokenisedDocument.from_words(Document(f"d{number}", 0, ""), words))
    return found


def documents_of(run: Run, count: int) -> tuple[Sequence[TokenisedDocument], int]:
    """Return the documents of a stream, and T."""
    if run.dataset == "20news":
        return posts((), "train"), 50
    if run.dataset == "arxiv":
        return abstracts(8), 50
    return made_up(run.dataset, count, run.seed), TOPICS


def learned(run: Run, count: int) -> Result:
    """Return the evidence and the scored tokens of each minibatch, and the processor time."""
    documents, topics = documents_of(run, count)
    half_life = 0 if run.row == "none" else int(run.row)
    options = {"seed": run.seed, "topics": topics, "half_life": (half_life,)}
    settings: Any = compose(LEARNER, options)
    learner: Any = learner_for(settings)
    state = learner.init(settings, "", 0)
    evidence, scored, begin = [], [], time.thread_time()
    for minibatch in minibatches(list(documents), MINIBATCH):
        info = learner.step(state, replace(minibatch, window_end=minibatch.sequence * MINIBATCH))
        evidence.append(info.log_evidence)
        scored.append(info.scored_tokens)
    seconds = time.thread_time() - begin
    alive = int(state.population.totals.sum())
    return {"evidence": evidence, "scored": scored, "alive": alive, "seconds": seconds}


def choices(lines: Sequence[Result]) -> list[int]:
    """Return for each minibatch which of the learners the publisher has published before it."""
    evidence = np.array([line["evidence"] for line in lines])
    standing: Standing | None = None
    found = []
    for step in range(evidence.shape[1]):
        if step and step % PUBLISHED == 0:
            recent = evidence[:, max(0, step - WINDOW) : step].sum(axis=1) / _BIT
            figures = [(Scaled(0.5, round(bits)),) for bits in recent.tolist()]
            standing = choose(standing, figures, PublishSettings(), step)
        found.append(standing.number if standing else 0)
    return found


def report(ledger: Ledger) -> None:
    """Print a table for each stream."""
    for name in dict.fromkeys(line["dataset"] for line in ledger.lines):
        rows = []
        for seed in dict.fromkeys(line["seed"] for line in ledger.of(dataset=name)):
            lines = ledger.of(dataset=name, seed=seed)
            chosen = choices(lines)
            shares = np.bincount(chosen, minlength=len(lines)) / len(chosen)
            for line, share in zip(lines, shares.tolist(), strict=True):
                own = zip(line["evidence"], line["scored"], strict=True)
                figures = [*_perplexities(list(own)), f"{share:.2f}", f"{line['alive']:,}"]
                rows.append([str(seed), line["row"], *figures, f"{line['seconds']:.0f}"])
            pairs = [
                (lines[n]["evidence"][step], lines[n]["scored"][step])
                for step, n in enumerate(chosen)
            ]
            rows.append([str(seed), "chosen", *_perplexities(pairs), "", "", ""])
        head = ["seed", "half-life", "perplexity", "of the last quarter", "published"]
        print_table(name, [*head, "tokens alive", "processor seconds"], rows)


def _perplexities(pairs: Sequence[tuple[float, int]]) -> list[str]:
    """Return the perplexity of all minibatches and of the last quarter."""
    parts = pairs, pairs[3 * len(pairs) // 4 :]
    sums = [np.array(part).sum(axis=0) for part in parts]
    return [f"{math.exp(-evidence / scored):.1f}" for evidence, scored in sums]


def main() -> None:
    """Make the runs that are not there yet, then the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", nargs="+", default=list(STREAMS), choices=STREAMS)
    parser.add_argument("--lengths", nargs="+", default=["none", "3000", "1000"])
    parser.add_argument("--documents", type=int, default=6000, help="of a made-up stream")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each row; 0: tables only")
    parser.add_argument("--results", type=Path, default=Path("docs/results"))
    given = parser.parse_args()

    def plan() -> Iterator[Run]:
        for seed in range(1, given.seeds + 1):
            for name in given.streams:
                yield from (Run("half-life", name, row, seed) for row in given.lengths)

    ledger = Ledger(given.results / "half-life.jsonl")
    ledger.make(plan(), lambda run: learned(run, given.documents))
    report(ledger)


if __name__ == "__main__":
    main()
