"""What a notebook shows of an estimator: its topics as rows and text, and the page of a report."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from beam_topics.model.reporting.relevance import topic_shares
from beam_topics.model.reporting.shown import Shown

# Topics and words that a text shows, and the height of a page in a notebook.
_TOPICS, _WORDS, _HEIGHT = 20, 8, 720


@dataclass(frozen=True)
class Page:
    """A page of HTML, and the view that it begins with."""

    html: str
    view: str = ""

    def _repr_html_(self) -> str:
        # The page is a document of its own, with an address that its links to places within need.
        data = b64encode(self.html.encode()).decode()
        return (
            f'<iframe src="data:text/html;charset=utf-8;base64,{data}#/{self.view}"'
            ' sandbox="allow-scripts allow-downloads"'
            f' style="width:100%;height:{_HEIGHT}px;border:0"></iframe>'
        )


def topics_table(shown: Shown, words: int) -> list[dict[str, Any]]:
    """Return a row for each topic with tokens that is not hidden, the largest first."""
    shares, top = topic_shares(shown.snapshot).tolist(), shown.snapshot.top_words(words)
    rows = [
        {
            "topic": topic,
            "name": shown.names[group],
            "share": shares[group],
            "words": " ".join(top[group]),
        }
        for group, topic in enumerate(shown.ids)
        if shares[group] > 0 and not shown.hidden[group]
    ]
    return sorted(rows, key=lambda row: (-row["share"], row["topic"]))


def lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return topics as lines of text, the largest ones alone where there are many."""
    found = [
        f"{row['topic']:>5}  {row['share']:6.1%}  {' '.join(row['words'].split()[:_WORDS])}"
        for row in rows[:_TOPICS]
    ]
    left = len(rows) - len(found)
    return [*found, f"       and {left} smaller topics"] if left else found
