"""The training pipeline on the local runner against the bare learner on the same minibatches.

Run ``python -m benchmarks pipeline``. ``BENCHMARK_EVERY=5`` (the default) takes every fifth
abstract of arXiv, 1 takes all of them.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path

from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.documents.sequencing import chain_start, sequence_documents
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.learners import LEARNER
from beam_topics.model.reading.parsing import parse_line
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.pipelines import train
from benchmarks.corpora import records
from benchmarks.speed import learn, seconds

SEQUENCE = SequenceSettings(window=30 * 86_400_000_000)


def pipeline() -> None:
    """Documents a second of both, for the default learner and for o-lda."""
    every = int(os.environ.get("BENCHMARK_EVERY", "5"))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "arxiv.jsonl.gz"
        with gzip.open(source, "wt", encoding="utf-8", compresslevel=1) as lines:
            for number, record in enumerate(records("arxiv-cs-1994-2019")):
                if number % every == 0:
                    lines.write(json.dumps(record) + "\n")
        batches = batches_of(source)
        documents = sum(map(len, batches))
        for name, target in (("o-lda", 0.2), ("particle-filter", 0.5)):
            settings = compose(LEARNER, {"learner": name})
            learn(settings, batches[:3])
            bare = learn(settings, batches)
            whole = _train(source, Path(folder) / name, name)
            rates = f"bare {documents / bare:8.0f} documents/s   pipeline {documents / whole:8.0f}"
            print(
                f"{name:16} {documents} documents   {rates}   ratio {bare / whole:.2f} (wanted"
                f" {target})"
            )


def batches_of(source: Path) -> list[Minibatch]:
    """Return the minibatches that the pipeline makes of an archive."""
    documents = []
    with gzip.open(source, "rb") as lines:
        for number, line in enumerate(lines):
            document = parse_line(line, str(number), ParseSettings())
            assert isinstance(document, Document), document
            documents.append(document)
    start = chain_start("", TokeniserSettings(), SEQUENCE)
    block = Tokeniser(TokeniserSettings()).block(documents)
    return [link.minibatch() for link in sequence_documents(block, SEQUENCE, start)]


def _train(source: Path, folder: Path, learner: str) -> float:
    arguments = [
        f"--input={source}",
        f"--model_store={folder}",
        f"--dead_letters={folder}-dead",
        f"--learner={learner}",
        "--window=30d",
        "--publish_every=3650d",
    ]
    status: list[int] = []
    spent = seconds(lambda: status.append(train.main(arguments)))
    if status[0]:
        raise SystemExit(f"beam-topics train ended with {status[0]}")
    return spent
