"""All figures of a report, as one value that JSON can hold.

The value is a dictionary of columns, so that it is small. Numbers keep the precision that the
tables have. Times are in milliseconds since 1970, as browsers count. Topics are named by their
numbers, words and documents by their place in the columns ``words`` and ``documents``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from model.publishing.catalogue import Catalogue
from model.publishing.curves import Came
from model.publishing.manifest import Manifest
from model.publishing.version_events import events_of, line_of
from model.reporting.bursts import LEVEL, judged
from model.reporting.course import calendar_unit, movements, period_of, periods
from model.reporting.documents import document_columns
from model.reporting.health import Refused
from model.reporting.limits import Limits, shortened
from model.reporting.merging import Grouping, grouping_of
from model.reporting.mixtures import Labelled
from model.reporting.names import mean_length, model_names
from model.reporting.relevance import WordStatistics, topic_shares, word_statistics
from model.reporting.texts import Text
from model.reporting.topic_map import distances, nearest, places
from model.reporting.word_columns import WordColumns
from model.reporting.word_ranks import follow
from model.snapshot import Snapshot

FORM = 1
_FIRST_WORDS = 10
_MOST_BURSTS = 300
_MILLISECOND = 1000


@dataclass(frozen=True)
class Sources:
    """What a report is made of.

    Attributes:
        history: The versions, the oldest first.
        snapshot: The model of the last version.
        model_of: Returns the model of a version; None if the store does not have it any more.
        labelled: What the mixtures say; None without mixtures.
        texts: The texts of documents by digest; None without documents.
        refused: The dead letters by reason; None if no place of them is known.
        profile: What the input was, in lines of two texts; None where it is not known.
        catalogue: What people say of topics: names, notes, which are hidden or merged. The mixtures
            are those of its groups (:class:`model.reporting.merging.Grouping`).
    """

    history: Sequence[Manifest]
    snapshot: Snapshot
    model_of: Callable[[Manifest], Snapshot | None]
    labelled: Labelled | None = None
    texts: Mapping[bytes, Text] | None = None
    refused: Sequence[Refused] | None = None
    profile: Sequence[Sequence[str]] | None = None
    catalogue: Catalogue = field(default_factory=Catalogue)


def figures_of(sources: Sources, limits: Limits) -> dict[str, Any]:
    """Return the figures of a report."""
    grouping = grouping_of(sources.catalogue, sources.history[-1], sources.snapshot)
    sources = _grouped(sources, grouping)
    came = [grouping.came(manifest) for manifest in sources.history]
    snapshot, statistics = sources.snapshot, word_statistics(sources.snapshot)
    columns = WordColumns(snapshot, statistics, limits)
    ranked = snapshot.top_words(limits.ranked)
    followed = follow(sources.history, sources.model_of, ranked, columns.strings(), limits.models)
    return {
        "form": FORM,
        "model": _model(sources),
        "versions": _versions(sources.history, came, limits.points),
        "topics": _topics(sources, grouping.ids, came, statistics, limits)
        | _entries(sources.catalogue, grouping, sources.snapshot.totals.tolist()),
        "terms": columns.terms,
        "words": {**columns.words(), "since": _since(sources.history, followed.since)},
        "ranks": {
            "versions": followed.versions,
            "time": _times(sources.history, followed.versions),
            "words": [[shortened(w, limits.name) for w in words] for words in ranked],
            "topics": followed.ranks,
        },
        "periods": _periods(sources, came, grouping, limits),
        "labelled": _labelled(sources),
        "documents": document_columns(sources.labelled, sources.texts, limits),
        "events": _events(sources.history, grouping, limits),
        "profile": sources.profile,
        "refused": None if sources.refused is None else [vars(one) for one in sources.refused],
    }


def _grouped(sources: Sources, grouping: Grouping) -> Sources:
    """Return the same sources with groups in place of topics."""

    def model_of(manifest: Manifest) -> Snapshot | None:
        found = sources.model_of(manifest)
        return None if found is None else grouping.of_version(manifest, found)

    return replace(
        sources,
        snapshot=grouping.snapshot(sources.snapshot),
        model_of=model_of,
    )


def _entries(catalogue: Catalogue, grouping: Grouping, tokens: Sequence[float]) -> dict[str, Any]:
    """Return what the catalogue says of each group; a name takes the place of its words.

    A group without a token that has no name is empty, and left out of lists.
    """
    entries = [catalogue.of(topic) for topic in grouping.ids]
    return {
        "id": grouping.ids,
        "parts": grouping.parts(),
        "given": [entry.name for entry in entries],
        "note": [entry.note for entry in entries],
        "colour": [entry.colour for entry in entries],
        "hidden": [entry.hidden for entry in entries],
        "pinned": [entry.pinned for entry in entries],
        "empty": [not n and not one.name for n, one in zip(tokens, entries, strict=True)],
    }


def _times(history: Sequence[Manifest], numbers: Sequence[int]) -> list[int]:
    return [history[number].event_time // _MILLISECOND for number in numbers]


def _since(history: Sequence[Manifest], numbers: Sequence[int | None]) -> list[int | None]:
    return [None if n is None else history[n].event_time // _MILLISECOND for n in numbers]


def _model(sources: Sources) -> dict[str, Any]:
    last, first = sources.history[-1], sources.history[0]
    settings = last.settings.get("learner", {})
    return {
        "key": last.key,
        "version": last.version,
        "versions": len(sources.history),
        "topics": int(np.count_nonzero(sources.snapshot.totals)),
        "documents": last.documents,
        "tokens": last.tokens,
        "words": last.words,
        "first": first.event_time // _MILLISECOND,
        "last": last.event_time // _MILLISECOND,
        "release": last.release,
        "learner": str(settings.get("kind", "")),
    }


def groups_of(count: int, most: int) -> list[range]:
    """Return consecutive groups of numbers, at most ``most`` of nearly equal size."""
    ends = np.linspace(0, count, min(count, most) + 1).round().astype(int).tolist()
    return [range(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def _versions(
    history: Sequence[Manifest], came: Sequence[Came | None], most: int
) -> dict[str, Any]:
    """Return the versions; of a group of versions the last, and the tokens of all together."""
    groups = groups_of(len(history), most)
    last = [history[group[-1]] for group in groups]
    return {
        "name": [m.version for m in last],
        "time": [m.event_time // _MILLISECOND for m in last],
        "documents": [m.documents for m in last],
        "tokens": [m.tokens for m in last],
        "words": [m.words for m in last],
        "perplexity": [m.prequential_perplexity for m in last],
        "ess": [m.ess for m in last],
        "grouped": [len(group) for group in groups],
        "came": [_sum([came[n] for n in group]) for group in groups],
        "elsewhere": [sum(one.elsewhere for n in group if (one := came[n])) for group in groups],
    }


def _sum(rows: Sequence[Came | None]) -> list[float] | None:
    known = [row.tokens for row in rows if row is not None]
    return np.sum(known, axis=0).tolist() if known else None


def _topics(
    sources: Sources,
    ids: Sequence[int],
    came: Sequence[Came | None],
    statistics: WordStatistics,
    limits: Limits,
) -> dict[str, Any]:
    snapshot = sources.snapshot
    numbers = range(snapshot.topic_count)
    since, moved = movements(sources.history, came, snapshot.topic_count)
    apart = distances(snapshot)
    top = snapshot.top_words(_FIRST_WORDS)
    names = model_names(snapshot, statistics, mean_length(sources.history[-1]))
    return {
        "name": [
            shortened(name, limits.name) or f"topic {topic}"
            for topic, name in zip(ids, names, strict=True)
        ],
        "share": topic_shares(snapshot).tolist(),
        "tokens": snapshot.totals.tolist(),
        "first": [[shortened(word, limits.name) for word in words] for words in top],
        "kind": [one.kind for one in moved],
        "recent": [one.recent for one in moved],
        "before": [one.before for one in moved],
        "since": since // _MILLISECOND,
        "place": places(apart).tolist(),
        "near": [nearest(apart, z, limits.near) for z in numbers],
    }


def _periods(
    sources: Sources, came: Sequence[Came | None], grouping: Grouping, limits: Limits
) -> dict[str, Any]:
    """Return what came in each period, and which words entered and left the first ten."""
    history = sources.history
    found = periods(history, came, sources.snapshot.topic_count)
    return {
        "unit": calendar_unit(history),
        "name": [period.name for period in found],
        "from": [period.versions[0] for period in found],
        "versions": [len(period.versions) for period in found],
        "time": [history[period.versions[-1]].event_time // _MILLISECOND for period in found],
        "shares": [period.shares for period in found],
        "changes": [
            net_changes(
                [change for n in period.versions for change in grouping.changes(history[n])], limits
            )
            for period in found
        ],
    }


def net_changes(changes: Iterable[dict[str, Any]], limits: Limits) -> list[list[Any]]:
    """Return which words are new and gone in the first ten of topics after some versions.

    Args:
        changes: The changes of all of them, in their order.
        limits: How much of them is returned.

    Returns:
        For each topic with such words: its number, the words that entered, and those that left.
    """
    moved: dict[int, dict[str, int]] = {}
    ranks: dict[tuple[int, str], int] = {}
    for change in changes:
        topic, words = change["topic"], moved.setdefault(change["topic"], {})
        for word, rank in change["entered"].items():
            words[word] = words.get(word, 0) + 1
            ranks[topic, word] = rank
        for word in change["left"]:
            words[word] = words.get(word, 0) - 1
    found = []
    for topic, words in sorted(moved.items()):
        new = [w for _, w in sorted((ranks[topic, w], w) for w, n in words.items() if n > 0)]
        gone = sorted(w for w, n in words.items() if n < 0)
        if new or gone:
            found.append([topic, *(_first(some, limits) for some in (new, gone))])
    return found


def _first(words: Sequence[str], limits: Limits) -> list[str]:
    return [shortened(word, limits.name) for word in words[: limits.changed]]


def _labelled(sources: Sources) -> dict[str, Any] | None:
    """Return what the mixtures say of each period; documents and shares are exact sums."""
    if (labelled := sources.labelled) is None:
        return None
    unit = calendar_unit(sources.history)
    cells = [cell for _, cell in sorted(labelled.trends.cells.items())]
    return {
        "name": [period_of(start, unit) for start, _ in sorted(labelled.trends.cells)],
        "documents": [cell.documents for cell in cells],
        "tokens": [cell.tokens for cell in cells],
        "known": [cell.words_known for cell in cells],
        "shares": [cell.mean_shares() for cell in cells],
        "repeated": labelled.repeated,
        "foreign": labelled.foreign,
        "without": sum(cell.none for cell in cells),
        "judged": labelled.judged,
        "unexplained": labelled.unexplained,
        "bursts": bursts_of_periods(
            [cell.documents for cell in cells], [c.mean_shares() for c in cells]
        ),
        "versions": sorted(labelled.versions.items()),
    }


def bursts_of_periods(
    documents: Sequence[int], shares: Sequence[Sequence[float]]
) -> list[list[Any]]:
    """Return the newest bursts: period, topic, documents of the topic, and what was expected."""
    found: list[list[Any]] = []
    for topic in range(len(shares[0]) if shares else 0):
        counts = [n * row[topic] for n, row in zip(documents, shares, strict=True)]
        for at, expected, probability in judged(counts, documents):
            if probability < LEVEL:
                found.append([at, topic, counts[at], expected])
    return sorted(found, key=lambda burst: burst[:2])[-_MOST_BURSTS:]


def _events(
    history: Sequence[Manifest], grouping: Grouping, limits: Limits
) -> list[dict[str, Any]]:
    found = [
        {
            "time": event.time // _MILLISECOND,
            "kind": event.kind,
            "version": manifest.version,
            "topics": grouping.groups_of(event.topics),
            "line": shortened(line_of(manifest, event), 2000),
        }
        for manifest in history
        for event in events_of(manifest)
    ]
    return found[-limits.events :]
