"""One archive, learned and labelled on any runner; and what must be the same wherever it was.

Two keys of 600 documents each over 120 days, in windows of a day and minibatches of five; a version
every ten days. A second archive has a document of each key on each of 3,000 days, so each key has
3,000 windows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from runners.processes import Server
from runners.tools import ROOT
from streams import final_states

from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.encoding import ROW_KEY
from beam_topics.model.reporting.trends import TREND_KEY, rows_of_file, whole_rows
from beam_topics.pipelines import archive

DAYS, DOCUMENTS, VERSIONS = 120, 1200, 12
MANY_DAYS = 3000
# Of the second archive, beside FLAGS: a later flag wins.
MANY_FLAGS = ["--publish_every=250d", "--checkpoint_tokens=15000"]
KEYS = ("law", "sea")
TOPICS = (
    "ship sailed harbour sailor ocean wind mast anchor storm deck island captain",
    "judge court verdict lawyer witness trial appeal jury prison crime law oath",
)
FLAGS = [
    "--window=1d",
    "--publish_every=10d",
    "--key_field=key",
    "--minibatch_size=5",
    "--topics=4",
    # The first documents choose topics with other ids, and rows of trends of a job that streams
    # have the parts of a window that have each id. Without births none does here.
    "--births=off",
    "--checkpoint_tokens=1500",
    "--trends_window=10d",
]
_DAY = 86_400


class Outcome(NamedTuple):
    """What a run leaves for each key: manifests, last states with digests, labels and trends."""

    manifests: list
    states: list
    labels: dict
    trends: list


def write_archive(folder: Path, days: int = DAYS, documents: int = DOCUMENTS) -> Path:
    """Write synthetic documents about ships or courts as an archive, and return its folder."""
    source = folder / "documents.jsonl"
    with source.open("w", encoding="utf-8") as lines:
        for number in range(documents):
            words = TOPICS[number // 2 % 2].split()
            text = " ".join(
                words[(number * step + step * step) % len(words)] for step in range(1, 21)
            )
            row = {
                "id": str(number),
                "timestamp": number * days * _DAY // documents,
                "text": text,
                "key": KEYS[number % 2],
            }
            lines.write(json.dumps(row) + "\n")
    dead = folder / "archive-dead"
    assert (
        archive.main(
            [
                f"--input={source}",
                f"--output={folder / 'archive'}",
                f"--dead_letters={dead}",
                "--key_field=key",
            ]
        )
        == 0
    )
    return folder / "archive"


def command(archived: Path, folder: Path, *flags: str) -> list[str]:
    """``beam_topics.pipelines.stream`` over the archive, with all its outputs in the folder."""
    places = [
        f"--model_store={folder / 'models'}",
        f"--output={folder / 'mixtures'}",
        f"--dead_letters={folder / 'dead'}",
        f"--trends={folder / 'trends'}",
    ]
    source = ["--source=replay", f"--input={archived}/*.avro"]
    return [sys.executable, "-m", "beam_topics.pipelines.stream", *source, *places, *FLAGS, *flags]


def run(archived: Path, folder: Path, *flags: str, seconds: float = 300) -> Outcome:
    """Run it to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    with Server("pipeline", command(archived, folder, *flags), folder, cwd=ROOT) as pipeline:
        finish(pipeline, seconds)
    return outcome(folder)


def finish(pipeline: Server, seconds: float) -> None:
    """Wait for the end of a pipeline. Raises AssertionError: it failed, or took longer."""
    try:
        code = pipeline.process.wait(seconds)
    except subprocess.TimeoutExpired:
        code = "no end"
    assert code == 0, f"{code}: {pipeline.output()[-3000:]}"


def outcome(folder: Path) -> Outcome:
    """What a run left in its folder."""
    store = ModelStore(str(folder / "models"))
    return Outcome(
        [store.manifests(key) for key in KEYS],
        [final_states(folder / "models", key) for key in KEYS],
        labels(folder),
        trends(folder),
    )


def labels(folder: Path) -> dict:
    """The mixtures in the output by ``ROW_KEY``.

    Raises:
        AssertionError: one of them was written with two contents.
    """
    found: dict = {}
    for path in (folder / "mixtures").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            assert found.setdefault(tuple(row[name] for name in ROW_KEY), row) == row
    return found


def trends(folder: Path) -> list:
    """The whole rows of the trends table; the parts of a window are added up.

    Documents that wait for the first version are in a part of their own where a job streams. The
    sum of parts has other last bits than the whole, so shares and tokens have nine digits.

    Raises:
        AssertionError: a row was written with two contents.
    """
    found: dict = {}
    for path in sorted((folder / "trends").glob("*.jsonl")):
        with path.open("rb") as stream:
            for row in rows_of_file(stream, path.name):
                assert found.setdefault(tuple(row[name] for name in TREND_KEY), row) == row
    rounded = ("tokens", "mean_share")
    whole = whole_rows(found.values())
    return [{**row, **{name: round(row[name], 9) for name in rounded}} for row in whole]


def versions(folder: Path) -> int:
    """How many versions all keys have together, as far as LATEST leads."""
    store = ModelStore(str(folder / "models"))
    return sum(len(store.manifests(key)) for key in KEYS)


@contextmanager
def latest_never_goes_back(folder: Path):
    """Read LATEST of each key again and again in the meantime.

    Raises:
        AssertionError: it went back, or a read failed.
    """
    store, stop, seen, wrong = (
        ModelStore(str(folder / "models")),
        threading.Event(),
        dict.fromkeys(KEYS, -1),
        [],
    )

    def watch() -> None:
        try:
            while not stop.wait(0.1):
                for key in KEYS:
                    newest = store.latest(key)
                    now = -1 if newest is None else newest.sequence
                    if now < seen[key]:
                        wrong.append(f"{key}: from {seen[key]} back to {now}")
                    seen[key] = now
        except Exception as error:
            wrong.append(repr(error))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
    assert not wrong, wrong
    assert min(seen.values()) > 0
