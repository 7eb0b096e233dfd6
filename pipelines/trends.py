"""Show shares, bursts and typical documents of written trends.

``beam-topics trends --rows=trends --model_store=models``

The rows are those that ``--trends`` of infer and stream wrote. Without ``--trends_group`` all
groups are added up. Topics are named by the catalogue and by their words.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Column
from rich.text import Text

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.settings import VersionSettings
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.reporting.trends import merged_rows, rows_of_file, whole_rows
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.stored import opened
from beam_topics.pipelines.cli.terminal import (
    console,
    day,
    figures,
    plain,
    sparkline,
    table_of,
    titled,
    wide,
)

if TYPE_CHECKING:
    from beam_topics.model.reporting.course import Burst

GROUPS = (group.RowOptions, group.TrendFileOptions, group.StoreOptions, group.ModelVersionOptions)
REQUIRED = {"rows": "trends", "model_store": "models"}
# Windows of a curve in the terminal, typical documents, and bursts that are listed.
_CURVE, _DOCUMENTS, _BURSTS = 40, 2, 20
# Topics with a smaller mean share, and hidden ones, are counted and not listed.
_LEAST_SHARE = 5e-4


def trends(options: Options) -> None:
    """Print the table of topics and the bursts."""
    # Imported here, because --help needs no scipy.
    from beam_topics.model.reporting.course import bursts_of

    key = settings_of(options, VersionSettings).key
    shown = Shown.stored(*opened(options))
    names = [f"{topic}  {name}" for topic, name in zip(shown.ids, shown.names, strict=True)]
    names.append("none")
    rows = [row for row in _rows(options.rows) if row["key"] == key]
    if options.trends_group is not None:
        rows = [row for row in rows if row["group"] == options.trends_group]
    rows = [row for row in rows if row["topic"] is None or shown.groups_of([row["topic"]])]
    if not rows:
        allowed = "rows of this model key and group"
        raise OptionError("--rows", ",".join(options.rows), allowed, "Look into the files.")
    table = merged_rows(whole_rows(rows), shown)
    out = console()
    out.print(_table(table, names, [*shown.hidden, False]))
    out.print()
    out.print(_burst_table(bursts_of(table)[-_BURSTS:], names))


def _rows(patterns: Sequence[str]) -> list[dict[str, Any]]:
    # Imported here, because --help needs no Beam.
    from beam_topics.pipelines.graphs.labelled_files import stored_files
    from beam_topics.transforms.read import open_stored

    found = []
    for path in stored_files(patterns, "trends-*", "--rows"):
        with open_stored(path) as stream:
            found += rows_of_file(stream, path)
    return found


def _table(rows: Sequence[Mapping[str, Any]], names: Sequence[str], hidden: Sequence[bool]) -> Any:
    """Return a table of topics: mean share, curve over the windows, typical documents."""
    starts = sorted({row["window_start"] for row in rows})
    place = {start: number for number, start in enumerate(starts)}
    shares = np.full((len(starts), len(names)), np.nan)
    for row in rows:
        shares[place[row["window_start"]], row["topic"]] = row["mean_share"]
    sizes = {row["window_start"]: row["documents"] for row in rows}
    weights = np.array([sizes[start] for start in starts], np.float64)
    means = np.nan_to_num(shares).T @ weights / weights.sum()
    blocks = np.array_split(np.arange(len(starts)), min(_CURVE, len(starts)))
    windows = Column("by window", no_wrap=True)
    table = table_of(wide("topic"), *figures("share"), windows, wide("typical documents"))
    large = [*(means[:-1] >= _LEAST_SHARE), True]
    listed = [z for z in range(len(names)) if large[z] and not hidden[z]]
    for topic in sorted(listed, key=lambda z: -means[z]):
        curve = [np.average(shares[block, topic], weights=weights[block]) for block in blocks]
        typical = [one for row in rows if row["topic"] == topic for one in row["typical"]]
        typical.sort(key=lambda one: (-one["share"], one["timestamp"], one["id"]))
        ids = ", ".join(f"{one['id']} ({one['share']:.0%})" for one in typical[:_DOCUMENTS])
        picture = Text(sparkline(curve), style="cyan")
        table.add_row(plain(names[topic]), f"{means[topic]:.1%}", picture, plain(ids))
    last = max(row["window_end"] for row in rows) - 1
    title = f"{weights.sum():,.0f} documents in {len(starts)} windows"
    title += f", {day(starts[0])} to {day(last)}"
    if left_out := len(names) - len(listed):
        title += f"; not listed: {left_out} topics, hidden or below {_LEAST_SHARE:.2%}"
    return titled(title, table)


def _burst_table(bursts: Sequence[Burst], names: Sequence[str]) -> Any:
    counts = figures("documents", "expected", "probability")
    table = table_of("window", wide("topic"), *counts)
    for one in bursts:
        counted = (f"{one.documents:,.0f}", f"{one.expected:,.1f}", f"{one.probability:.1e}")
        table.add_row(day(one.start), plain(names[one.topic]), *counted)
    return titled("the last bursts" if bursts else "no bursts", table)


main = command("trends", __doc__, GROUPS, REQUIRED, trends)

if __name__ == "__main__":
    sys.exit(main())
