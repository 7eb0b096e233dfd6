"""Show the topics of a model store, what changed in them, and the versions.

``beam-topics show --model_store=models``

``--topic_ids=3,17 --top_words=50`` lists some topics with more of their words.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import compress

from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation.coherence import judge
from beam_topics.model.learner_log.at_hand import documents_at_hand
from beam_topics.model.publishing.manifest import Manifest, topics_in_use
from beam_topics.model.publishing.version_events import summary_of
from beam_topics.model.reporting.shown import Shown
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import ShowSettings, TopicSettings
from beam_topics.pipelines.cli.stored import is_ordered, opened
from beam_topics.pipelines.cli.terminal import (
    ACROSS,
    CURVES,
    PREQUENTIAL,
    console,
    day,
    figure_table,
    mixed_table,
    plain,
    sparkline,
    thin,
    topic_table,
)

GROUPS = (group.StoreOptions, group.ModelVersionOptions, group.TopicOptions, group.ShowOptions)
# Periods of a curve, versions in the table, and versions whose events are listed.
_CURVE = 24
_EVENTS = 5
_VERSIONS = 12
VERSION_COLUMNS = (
    "up to", "documents", "tokens", "words", "topics", "prequential", "version"
)  # fmt: skip
IN_USE = (
    "topics: those in use, which have a fifth or more of the mean share of what came since the"
    " version before"
)


def show(options: Options) -> None:
    """Print topics, with curves of what came to each, changes and versions.

    The digests of version and snapshot are checked first.
    """
    display = settings_of(options, ShowSettings)
    store, chosen = opened(options)
    snapshot = store.get_snapshot(chosen)
    history = store.up_to(chosen)
    shown = Shown.stored(store, chosen, snapshot)
    listed = listed_topics(shown, settings_of(options, TopicSettings).topic_ids)
    drawn = shown.curves(history, _CURVE)
    ordered = is_ordered(store.root)
    period = "the order of the records" if ordered else f"{day(drawn.first)} to {day(drawn.last)}"
    until = "" if ordered else f", up to {day(chosen.until)}"
    out = console()
    out.print(
        topic_table(
            f"version {chosen.version}{until}",
            shown.snapshot,
            [sparkline(trace) for trace in drawn.shares.T],
            f"share of what came, {period}",
            display.top_words,
            shown.given,
            ids=shown.ids,
            marks=shown.marks,
            hidden=[topic not in listed for topic in shown.ids],
        )
    )
    if any(shown.hidden):
        left_out = ", ".join(map(str, compress(shown.ids, shown.hidden)))
        out.print(f"hidden: {left_out}")
    if empty := empty_topics(shown) - listed:
        out.print(f"not in use: {len(empty)} of at most {len(shown.ids)} topics")
    out.print()
    rows = [version_row(manifest) for manifest in thin(history, _VERSIONS)]
    first = 1 if ordered else 0
    columns, rows = VERSION_COLUMNS[first:], [row[first:] for row in rows]
    some = f"{len(rows)} of " * (len(rows) < len(history))
    out.print(figure_table(f"{some}{len(history)} versions", columns, rows))
    out.print(f"\n{CURVES}\n{PREQUENTIAL}\n{IN_USE}")
    for line in list(filter(None, map(summary_of, history)))[-_EVENTS:]:
        out.print()
        out.print(plain(line), soft_wrap=True)
    if display.mixed:
        out.print()
        documents = documents_at_hand(store, chosen.key, chosen.island)
        ids = chosen.ids(snapshot.topic_count)
        out.print(mixed_table(judge(snapshot, documents), ids, len(documents)))
        out.print(ACROSS)


def version_row(manifest: Manifest) -> tuple[object, ...]:
    """Return the figures of a version, in the order of :data:`VERSION_COLUMNS`."""
    return (
        day(manifest.until),
        manifest.documents,
        manifest.tokens,
        manifest.words,
        topics_in_use(manifest.topic_tokens),
        manifest.prequential_perplexity,
        manifest.version,
    )


def listed_topics(shown: Shown, chosen: Sequence[int]) -> set[int]:
    """Return the ids of the topics that are listed: the chosen ones, or all that have something.

    Hidden topics and those without a token are left out.
    """
    for topic in chosen:
        if topic not in shown.ids:
            allowed = f"topics that version {shown.manifest.version} shows"
            remedy = "Without --topic_ids all of them are listed."
            raise OptionError("--topic_ids", topic, allowed, remedy)
    hidden = set(compress(shown.ids, shown.hidden))
    return set(chosen) or set(shown.ids) - hidden - empty_topics(shown)


def empty_topics(shown: Shown) -> set[int]:
    """Return the ids of the topics without a token that have no name."""
    without = compress(shown.ids, shown.snapshot.totals == 0)
    return {topic for topic in without if topic not in shown.given}


main = command("show", __doc__, GROUPS, {"model_store": "models"}, show, graph=False)

if __name__ == "__main__":
    sys.exit(main())
