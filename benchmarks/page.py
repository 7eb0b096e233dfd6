"""How long the page of a report takes to write and to open: ``python -m benchmarks.page``.

Made stores of 2,000 words: 50 topics and 100 versions, with 2,000 labelled documents and without,
and 200 topics and 400 versions with 50,000 documents. A document has a share of each topic, and
half of the rows of mixtures are repeated. A headless Chromium opens the page from the disk in a new
context each time, until the map is drawn.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from beam_topics.pipelines import report

ROOT = Path(__file__).parent.parent
OPENED = 10
# Topics, versions and documents. The first page imports what others need, too.
SIZES = ((50, 100, 0), (50, 100, 2000), (200, 400, 50_000))
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


def made(folder: Path, topics: int, versions: int, documents: int) -> tuple[Path, float]:
    """Write the page of a made store; return its path and the processor's seconds."""
    # As pytest does: `tests` is also the name of a package of a dependency.
    sys.path.insert(0, str(ROOT / "tests"))
    from reported import documents_of, mixture_rows, published, written

    words = tuple(f"word{n}" for n in range(2000))
    store = published(folder / "models", versions=versions, topics=topics, words=words)
    given = [f"--model_store={folder / 'models'}", f"--output={folder / 'report.html'}"]
    if documents:
        rows = mixture_rows(store, documents, topics)
        written(folder / "mixtures", rows)
        documents_of(folder / "documents.jsonl", rows)
        given += [
            f"--mixtures={folder / 'mixtures'}",
            f"--documents={folder / 'documents.jsonl'}",
        ]
    begin = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        assert report.main(given) == 0
    return folder / "report.html", time.process_time() - begin


def opened(browser: Any, path: Path) -> float:
    """Return the seconds until the map is drawn."""
    context = browser.new_context()
    page = context.new_page()
    begin = time.monotonic()
    page.goto(path.as_uri())
    page.wait_for_selector("main .map circle")
    taken = time.monotonic() - begin
    context.close()
    return taken


def main() -> int:
    """Write and open the pages, and print their sizes and times."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("BEAM_TOPICS_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for topics, versions, documents in SIZES:
            folder = Path(name) / str(documents)
            folder.mkdir()
            path, seconds = made(folder, topics, versions, documents)
            times = [opened(browser, path) for _ in range(OPENED)]
            print(
                f"{topics} topics, {versions} versions, {documents:,} documents:"
                f" {path.stat().st_size:,} bytes; written in {seconds:.1f} s of the processor;"
                f" median {statistics.median(times):.2f} s, longest {max(times):.2f} s"
            )
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
