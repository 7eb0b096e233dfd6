"""Headlines as one stream: does memory stay flat? ``python -m benchmarks headlines``.

The abstracts of arXiv are cut into pieces of twelve words, in the order of their dates, until there
are a million. A piece comes every ten seconds of event time, so the archive lasts 116 days and has
a version a day. ``beam-topics train`` learns it with default settings from
``--source=replay``, on Prism and on a Flink that runs within the job server.

Measured for each tenth of the documents: the memory of the workers (this process) and of Prism,
what each stateful step keeps, and documents a second of the worker's processor. From the first
tenth to the last, the workers' memory may grow by at most 5 %. Memory is sampled from the first
minibatch on: a runner takes up to half a minute to start, in which the workers hold little.

``BENCHMARK_EVERY=10`` (the default) learns a tenth of the million. ``BEAM_TOPICS_PRISM`` is the
path of Prism, ``BEAM_TOPICS_JOB_SERVER`` that of Flink's job server; a runner without a path is
left out. ``python -m benchmarks.headlines --help`` has the options of a single run; those that it
does not know go to ``beam-topics train``.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from beam_topics.model.documents.document import Document
from beam_topics.pipelines import train
from beam_topics.transforms.write import shard_start, write_shard
from benchmarks.corpora import records
from benchmarks.soak import PASSES, PRISM, Watch, observe, report, sampled

JOB_SERVER = "BEAM_TOPICS_JOB_SERVER"
RUNNERS = {"prism": PRISM, "flink": JOB_SERVER}
HEADLINES, WORDS = 1_000_000, 12
RATE = 1_500.0
SECOND = 1_000_000
_FIRST, _STEP, _SHARD = 1_000_000_000 * SECOND, 10 * SECOND, 86_400 * SECOND


@dataclass
class Tenths(Watch):
    """Peaks of each tenth of the documents, by what the learner has learned."""

    total: int = HEADLINES

    def learned(self, until: int, documents: int) -> None:
        """Note that the learner has learned some documents more."""
        self.documents[self.passed] += documents
        self.ended[self.passed] = time.monotonic(), time.process_time()
        seen = sum(self.documents.values())
        self.passed = min(PASSES, 1 + seen * PASSES // self.total)


def headlines() -> None:
    """Learn headlines as one stream on Prism and on Flink: memory, state and speed by tenth."""
    count = HEADLINES // int(os.environ.get("BENCHMARK_EVERY", "10"))
    for runner, variable in RUNNERS.items():
        if variable in os.environ:
            print(f"-- {runner}", flush=True)
            learn(runner, count)
        else:
            print(f"left out: {variable} does not say where {runner} is")


def learn(runner: str, count: int, rate: float = RATE, flags: Sequence[str] = ()) -> None:
    """Learn headlines on a runner, and print a table of tenths.

    Args:
        runner: One of :data:`RUNNERS`.
        count: The number of headlines.
        rate: Documents a second, on Prism.
        flags: More options of ``beam-topics train``.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        watch = Tenths(first=0, span=1, total=write_archive(folder / "archive", count))
        with observe(watch), sampled(watch):
            status = train.main(
                [
                    "--source=replay",
                    f"--input={folder}/archive/*.avro",
                    f"--model_store={folder}/models",
                    f"--dead_letters={folder}/dead",
                    *flags_of(runner, rate),
                    *flags,
                ]
            )
        if status:
            raise SystemExit(f"beam-topics train ended with {status}")
    report(watch, since=1)


def pieces(texts: Iterable[str]) -> Iterator[str]:
    """Yield pieces of :data:`WORDS` words of each text; what is left of a text is left out."""
    for text in texts:
        words = text.split()
        for first in range(0, len(words) - WORDS + 1, WORDS):
            yield " ".join(words[first : first + WORDS])


def write_archive(folder: Path, count: int) -> int:
    """Write an archive with a file a day, and return the number of documents."""
    texts = (record["text"] for record in records("arxiv-cs-1994-2019"))
    shards: dict[int, list[bytes]] = defaultdict(list)
    for number, text in enumerate(itertools.islice(pieces(texts), count)):
        document = Document(str(number), _FIRST + number * _STEP, text).to_bytes()
        shards[shard_start(document, _SHARD)[0]].append(document)
    for shard in sorted(shards.items()):
        write_shard(shard, str(folder))
    return sum(map(len, shards.values()))


def flags_of(runner: str, rate: float) -> list[str]:
    """Return the options of a runner.

    Prism does not slow a source down, so the replay has a pace there.

    Args:
        runner: One of :data:`RUNNERS`.
        rate: Documents a second.
    """
    if runner == "prism":
        return [
            "--runner=PrismRunner",
            f"--prism_location={os.environ[PRISM]}",
            f"--replay_speed={_STEP / SECOND * rate:.0f}x",
        ]
    return [
        "--runner=FlinkRunner",
        "--flink_master=[local]",
        f"--flink_job_server_jar={os.environ[JOB_SERVER]}",
        "--parallelism=1",
    ]


def main() -> None:
    """Learn the headlines on one runner."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runner", choices=sorted(RUNNERS), required=True)
    parser.add_argument("--documents", type=int, default=HEADLINES)
    parser.add_argument("--rate", type=float, default=RATE, help="documents a second, on Prism")
    given, flags = parser.parse_known_args()
    learn(given.runner, given.documents, given.rate, flags)


if __name__ == "__main__":
    main()
