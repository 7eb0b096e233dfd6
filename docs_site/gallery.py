"""Make the reports of the gallery, of the documents that the repository makes or installs.

They are kept in ``build/gallery``, where `make docs` makes them anew.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

KEPT = Path("build", "gallery")
_COMMAND = "-m beam_topics.pipelines"
# Of each page the commands, the last of which writes report.html.
REPORTS = {
    "union": f"{_COMMAND} demo --output=.",
    "tickets": (
        f"-m benchmarks.task_data tickets; {_COMMAND} stream tickets.csv --topics=10"
        " --strip=signatures --trends=trends --group_field=segment;"
        f" {_COMMAND} report tickets.topics --rows=trends --group_field=segment --label_field=csat"
        " --title=Tickets --output=report.html"
    ),
    "news": (
        f"-m benchmarks.task_data news; {_COMMAND} stream news.jsonl --topics=6 --publish_every=1d"
        f" --duplicates=count_once --trends=trends; {_COMMAND} report news.topics --rows=trends"
        " --title=News --output=report.html"
    ),
    "chats": (
        f"-m benchmarks.task_data chats; {_COMMAND} stream chats.jsonl --topics=10 --trends=trends;"
        f" {_COMMAND} report chats.topics --rows=trends --title=Chats --output=report.html"
    ),
}


def kept(root: Path) -> Iterator[Path]:
    """Yield the reports, and make those that are not kept."""
    for name in REPORTS:
        if not (path := root / KEPT / f"{name}.html").exists():
            make(name, path, root)
        yield path


def make(name: str, path: Path, root: Path) -> None:
    """Run the commands of a report in an empty folder, and keep the page."""
    with tempfile.TemporaryDirectory() as folder:
        for command in REPORTS[name].split(";"):
            subprocess.run(
                [sys.executable, *shlex.split(command)],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(root)},
                stdout=subprocess.DEVNULL,
                check=True,
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(Path(folder, "report.html").read_bytes())
