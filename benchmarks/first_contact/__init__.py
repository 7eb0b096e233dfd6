"""A person's own file, the first time: ``python -m benchmarks first_contact``.

Each input is learned by ``beam-topics train`` with nothing but its name. Where the command asks a
question (status 2), the benchmark follows the option that the message names, as a person would. The
table says what was found, what was learned, and how well the topics recover the true subjects: the
normalised mutual information between the topic and the subject of a token, over the tokens whose
subject is known. Inputs of ``first_contact/inputs.py`` are made here; those of the folder
``BEAM_TOPICS_CASES``, where it is set, are learned too.

``BENCHMARK_ROWS=html,thai`` measures some inputs. The lines are a table in Markdown.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beam_topics.model.evaluation.held_out import nmi_of_table
from beam_topics.model.publishing.store import ModelStore
from benchmarks.first_contact import kinds, structured  # noqa: F401 - they register their inputs
from benchmarks.first_contact.cases import shared_cases
from benchmarks.first_contact.inputs import INPUTS, MOST_QUESTIONS, Input
from benchmarks.first_contact.subjects import of_words

_OPTION = re.compile(r"--[a-z_]+=(?:'[^']*'|[^\s;,)]+)")
_FOUND = re.compile(r"train: (--.*?) \(")
# Options that every input has are not shown.
_SHOWN = re.compile(r"--(input|model_store|dead_letters)=\S+")
_SECONDS = 600


@dataclass(frozen=True)
class Outcome:
    """What came of an input.

    Attributes:
        found: The options that the run chose or was given.
        asked: The number of questions that were answered.
        status: The status of the last command.
        lines: The lines that it printed.
        documents: The documents that were learned.
        tokens: The tokens that were learned.
        topics: The topics that hold 95 % of the tokens.
        nmi: The agreement with the true subjects; None without subjects or without a model.
        seconds: The seconds of the last command.
        output: What it printed.
    """

    found: str
    asked: int
    status: int
    lines: int
    documents: int
    tokens: int
    topics: int
    nmi: float | None
    seconds: float
    output: str

    def meets(self, wanted: Input) -> bool:
        """Return whether a person would be content."""
        refused = wanted.documents == 0
        return (
            (self.status in (2, 3) if refused else self.status == 0)
            and self.documents == wanted.documents
            and (self.nmi is None or self.nmi >= wanted.least)
            and (wanted.subjects is None or self.nmi is not None)
            and (not wanted.timed or refused or "--time_from=order" not in self.found)
            and all(word in self.output for word in wanted.said)
        )


def outcome(wanted: Input, folder: Path) -> Outcome:
    """Make an input, learn it, follow the advice of messages, and measure what was learned."""
    argument = wanted.make(folder)
    options, asked, said = list(wanted.options), 0, ""
    while True:
        started = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-m", "beam_topics", "train", argument, *options],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        seconds, output = time.monotonic() - started, ended.stdout + ended.stderr
        said += output
        if ended.returncode != 2 or asked == MOST_QUESTIONS or not wanted.documents:
            break
        advice = [one.rstrip(".") for one in _OPTION.findall(output.splitlines()[-1])]
        given = output.splitlines()[-1].partition(" Give ")[2].rstrip(".")
        given, _, replaced = given.partition(" in place of ")
        choices = given.split(" or ")
        if not advice and not replaced:
            break
        chosen = [one for one in choices if wanted.answer and one.startswith(wanted.answer)]
        words = shlex.split(chosen[0]) if chosen else [advice[-1].replace("'", "")]
        if replaced:
            argument, *words = words
        options += words
        asked += 1
    found = " ".join(_SHOWN.sub("", one).strip() for one in [*options, *_FOUND.findall(output)])
    return Outcome(
        found,
        asked,
        ended.returncode,
        len(output.splitlines()),
        *_learned(folder, wanted),
        seconds,
        said,
    )


def _learned(folder: Path, wanted: Input) -> tuple[int, int, int, float | None]:
    """Return documents, tokens, the topics that matter, and nMI of the newest version."""
    found = list(folder.glob("**/*.topics/models/*/LATEST"))
    if not found:
        return 0, 0, 0, None
    store = ModelStore(str(found[0].parent.parent))
    key = store.keys()[0]
    manifest = store.manifest(key)
    snapshot = store.get_snapshot(manifest)
    counts = snapshot.rows(np.arange(len(snapshot.words), dtype=np.int64))
    sizes = np.sort(counts.sum(axis=0))[::-1]
    topics = int(np.searchsorted(np.cumsum(sizes), 0.95 * sizes.sum()) + 1) if sizes.sum() else 0
    return (
        manifest.documents,
        manifest.tokens,
        topics,
        _agreement(list(snapshot.words), counts, wanted),
    )


def _agreement(words: list[str], counts: np.ndarray, wanted: Input) -> float | None:
    """Return the nMI between the topic of a token and its subject."""
    if wanted.subjects is None:
        return None
    subject_of, names = of_words(wanted.subjects), list(wanted.subjects)
    table = np.zeros((counts.shape[1], len(names)))
    for word, row in zip(words, counts, strict=True):
        if (name := subject_of.get(word)) is not None:
            table[:, names.index(name)] += row
    return nmi_of_table(table) if table.sum() else 0.0


def first_contact() -> None:
    """Learn files in the forms in which people bring them, with nothing but their names."""
    rows = os.environ.get("BENCHMARK_ROWS", "")
    inputs = [*INPUTS, *shared_cases(os.environ.get("BEAM_TOPICS_CASES"))]
    chosen = [one for one in inputs if not rows or one.name in rows.split(",")]
    met: Counter[bool] = Counter()
    asked = right = silent = 0
    print("| input | expected | found | asked | status | lines | documents | tokens | topics | nMI"
          " | s | met |\n|---|---|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    for wanted in chosen:
        folder = Path(tempfile.mkdtemp())
        try:
            one = outcome(wanted, folder)
        finally:
            shutil.rmtree(folder)
        met[one.meets(wanted)] += 1
        asked += one.asked > 0
        right += one.asked == 1 and one.meets(wanted)
        # Status 0 without a question, and something else learned.
        silent += one.status == 0 and not one.asked and not one.meets(wanted)
        nmi = "–" if one.nmi is None else f"{one.nmi:.2f}"
        print(
            f"| {wanted.name} | {wanted.expected} | `{one.found}` | {one.asked} | {one.status} |"
            f" {one.lines} | {one.documents} of {wanted.documents} | {one.tokens} | {one.topics} |"
            f" {nmi} | {one.seconds:.0f} | {'yes' if one.meets(wanted) else '**no**'} |",
            flush=True,
        )
        if os.environ.get("BENCHMARK_OUTPUT"):
            print(one.output, file=sys.stderr, flush=True)
    print(f"\n{met[True]} of {len(chosen)} inputs were learned as a person expects.")
    print(f"{silent} were silently learned as something else.")
    print(f"{asked} were asked for, and one printed command was right for {right} of them.")
