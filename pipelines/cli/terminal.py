"""Terminal output: tables of topics, small curves, readable numbers.

Words and names come from documents, so they may hold anything. They reach the terminal as plain
text (:func:`plain`), never as markup or control characters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.table import Column, Table
from rich.text import Text

from beam_topics.model.evaluation.coherence import MIXED, Judged
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.publishing.succession import topic_of
from beam_topics.model.reporting.escaping import harmless
from beam_topics.model.reporting.relevance import topic_shares
from beam_topics.model.times import to_iso

# Printed under every table with such a figure.
PREQUENTIAL = (
    "Prequential perplexity: each minibatch is scored before it is learned; over the tokens since"
    " the version before, so the first version has none. A word that is new to the model has the"
    " probability that its prior gives to new words. Lower is better."
)
# Printed under a table of topics.
ACROSS = (
    "Across: how often the two groups of a topic's characteristic words that are farthest apart"
    f" occur together, as a ratio to chance. Up to {MIXED:g} the topic is judged mixed."
)

CURVES = (
    "Share of what came: a topic's share of the tokens that came in equal periods of event time, by"
    " the topics that they had when they were learned; a blank where nothing came or it was"
    " not counted."
)
_BARS = "▁▂▃▄▅▆▇█"


def tell(text: str) -> None:
    """Print a line to standard error, without signs that a terminal obeys."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(plain(text))


def plain(text: str) -> Text:
    """Return text that cannot act on the terminal."""
    return Text(harmless(text))


def sparkline(values: Iterable[float]) -> str:
    """Return a curve of one character a value, from 0 to the largest; NaN is a blank."""
    numbers = [float(value) for value in values]
    most = max((value for value in numbers if value == value), default=0.0)
    return "".join(
        " " if value != value else _BARS[min(7, int(8 * value / most))] if most > 0 else _BARS[0]
        for value in numbers
    )


def thin(values: Sequence[Any], most: int) -> list[Any]:
    """Return at most ``most`` values, evenly spread, always with the last one."""
    if len(values) <= most:
        return list(values)
    if most == 1:
        return [values[-1]]
    return [values[i] for i in np.unique(np.linspace(0, len(values) - 1, most).round().astype(int))]


def table_of(*columns: str | Column) -> Table:
    """Return an empty table without an edge."""
    return Table(*columns, show_edge=False)


def figures(*titles: str) -> list[Column]:
    """Return columns of numbers."""
    return [Column(title, justify="right") for title in titles]


def wide(title: str) -> Column:
    """Return a column of text that takes the rest of a row."""
    return Column(title, overflow="fold", ratio=1)


def titled(title: str, table: Table) -> Group:
    """Return a table under its title, which may be longer than a row.

    A title of the table itself would be wrapped to the width of the table.
    """
    return Group(Text(plain(title).plain, style="italic"), table)


def topic_table(
    title: str,
    snapshot: Snapshot,
    curves: Sequence[str],
    curve_title: str,
    words: int,
    names: Mapping[int, str],
    *,
    ids: Sequence[int],
    marks: Sequence[str],
    hidden: Sequence[bool] = (),
) -> Group:
    """Make a table of topics by share: id, share, curve, most frequent words.

    A topic that has a name in ``names``, by id, has it before its words, and its mark after them.
    ``hidden`` says of each topic whether it is left out.
    """
    curve = Column(plain(curve_title), no_wrap=True)
    table = table_of(*figures("topic", "share"), curve, wide("words"))
    share, top = topic_shares(snapshot), snapshot.top_words(words)
    listed = [topic for topic in range(snapshot.topic_count) if not (hidden and hidden[topic])]
    for topic in sorted(listed, key=lambda t: (-share[t], t)):
        named = plain(f"{names[ids[topic]]}: " if ids[topic] in names else "")
        named.stylize("bold")
        mark = Text(f" [{marks[topic]}]" if marks[topic] else "", style="yellow")
        table.add_row(
            str(ids[topic]),
            f"{share[topic]:.1%}",
            Text(curves[topic], style="cyan"),
            Text.assemble(named, plain(" ".join(top[topic])), mark),
        )
    return titled(title, table)


def figure_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Group:
    """Make a table of figures; None is shown as a dash."""
    table = table_of(*(Column(title, justify="right", overflow="fold") for title in columns))
    for row in rows:
        table.add_row(*(plain(_figure(value)) for value in row))
    return titled(title, table)


def change_table(title: str, changed: Iterable[Mapping[str, Any]]) -> Group:
    """Make a table of the words that entered and left the first words of topics, with ranks."""
    table = table_of(*figures("topic"), wide("entered"), wide("left"))
    for topic in changed:
        words = (
            " ".join(f"{word} {_figure(rank)}" for word, rank in topic[way].items())
            for way in ("entered", "left")
        )
        table.add_row(*map(plain, (str(topic["topic"]), *words)))
    return titled(title, table)


def coherence_table(row: Mapping[str, Any]) -> Group:
    """Make a table of the coherence of each topic of a version, with the mixed ones first."""
    table = table_of(*figures("topic", "NPMI", "never", "across"), wide("words"))
    topics = row["topics"]
    across = [math.inf if topic["across"] is None else topic["across"] for topic in topics]
    for number in sorted(range(len(topics)), key=lambda n: (across[n], n)):
        topic, mixed = topics[number], across[number] <= MIXED
        measured = (_figure(topic[figure]) for figure in ("npmi", "never", "across"))
        words = " ".join(topic["characteristic" if mixed else "words"])
        name = str(topic["topic"]) + ("*" if mixed else " ")
        table.add_row(name, *measured, plain(words))
    title = f"version {row['version']}: {row['mixed']} of {len(topics)} topics are judged mixed"
    return titled(title, table)


def mixed_table(judged: Sequence[Judged], ids: Sequence[int], documents: int) -> Group | str:
    """Make a table of the topics that are judged mixed, with their characteristic words.

    Returns:
        The table; only its title where no topic is mixed.
    """
    table = table_of(*figures("topic", "across"), wide("characteristic words"))
    mixed = [(one.across, topic) for topic, one in enumerate(judged) if one.mixed]
    for across, topic in sorted(mixed):
        table.add_row(str(ids[topic]), _figure(across), plain(" ".join(judged[topic].words)))
    title = f"{len(mixed)} of {len(judged)} topics are judged mixed, by {documents:,} documents"
    return titled(title, table) if mixed else f"{title}."


def rank_table(words: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Group:
    """Make a table of each word's rank in the topic where it ranks highest in the last row.

    The curve is high where the rank is high.
    """
    table = table_of("word", *figures("topic", "first", "best", "now"), "over the stream")
    for word in words:
        topic, ranks = rank_trace(word, rows)
        known = [rank for rank in ranks if rank is not None]
        heights = [math.nan if rank is None else 1 / math.log2(1 + rank) for rank in ranks]
        found = (topic, known[0], min(known), ranks[-1]) if known else (None,) * 4
        table.add_row(plain(word), *map(_figure, found), Text(sparkline(heights), style="cyan"))
    return titled("ranks of words", table)


def rank_trace(word: str, rows: Sequence[Mapping[str, Any]]) -> tuple[str | None, list[int | None]]:
    """Return the id of a word's topic, and its rank there in each row.

    The topic is the one where the word ranks highest in the last row that has the word.
    """
    for row in reversed(rows):
        if (topic := topic_of(row["ranks"][word])) is not None:
            return topic, [row["ranks"][word].get(topic) for row in rows]
    return None, [None] * len(rows)


def _figure(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def console() -> Console:
    """Return standard output; a pipe gets plain text, wide enough for a table."""
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=140)


def day(micros: int) -> str:
    """Return the date of a time in microseconds."""
    return to_iso(micros)[:10]
