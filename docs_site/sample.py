"""Take the README's sample and the pictures of the page from one run of the demo: ``make sample``.

The table is what the demo prints, and the pictures show the page that it writes, so all are of one
model. Pictures need ``chromium`` on the path, or ``BEAM_TOPICS_CHROMIUM``; without it only the
table is renewed, and the script says so.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from beam_topics.pipelines import demo, show

ROOT = Path(__file__).parent.parent
# Pictures by their names, with views of the page; {} is the id of the largest topic.
PICTURES = ROOT / "docs" / "images"
VIEWS = {
    "report": "",
    "report-time": "time/1940s",
    "report-topic": "topic/{}",
    "report-document": "document/100",
}
SAMPLE = re.compile(r"```\n(version \d+-.*?)\n```", re.DOTALL)
_TOPICS = 4


def sample_of(folder: Path) -> str:
    """Return the head of the table of topics that the demo prints."""
    stream = io.StringIO()
    with redirect_stdout(stream):
        if show.main((f"--model_store={folder / 'models'}", "--top_words=7")):
            sys.exit("the topics cannot be shown; the message is above")
    title, head, rule, *rows = stream.getvalue().splitlines()
    return "\n".join(map(str.rstrip, (title, head, rule, *rows[:_TOPICS], "  ...")))


def take_picture(page: str, name: str, chromium: str) -> None:
    """Make the picture of a view."""
    # A profile of its own, so that a browser that is open is left alone.
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        flags += [f"--user-data-dir={profile}", "--window-size=1180,1120"]
        flags += ["--virtual-time-budget=5000", f"--screenshot={PICTURES / name}.png", page]
        subprocess.run([chromium, *flags], check=True)


def main() -> None:
    """Run the demo and renew all."""
    with tempfile.TemporaryDirectory() as place:
        folder, readme = Path(place) / "demo", ROOT / "README.md"
        if demo.main([f"--output={folder}"]):
            sys.exit("the demo failed; its message is above")
        text, sample = readme.read_text(encoding="utf-8"), sample_of(folder)
        renewed = SAMPLE.sub(lambda _: f"```\n{sample}\n```", text, count=1)
        readme.write_text(renewed, encoding="utf-8")
        chromium = os.environ.get("BEAM_TOPICS_CHROMIUM") or shutil.which("chromium")
        if chromium is None:
            sys.exit("the pictures are as before: there is no chromium on the path")
        largest = sample.splitlines()[3].split()[0]
        for name, view in VIEWS.items():
            page = f"{(folder / demo.PAGE).as_uri()}#/{view.format(largest)}"
            take_picture(page, name, chromium)


if __name__ == "__main__":
    main()
