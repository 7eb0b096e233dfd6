"""All figures of a report, as one value that JSON can hold.

The value is a dictionary of columns, so that it is small (:func:`figures_of`). Numbers keep the
precision that the tables have. Times are in milliseconds since 1970, as browsers count. Topics are
named by their numbers, words and documents by their place in the columns ``words`` and
``documents``.

**Places of topics** on a plane follow from the Hellinger distances between their word
distributions. Classical scaling gives the first places, and stress majorisation (SMACOF) improves
them. Both are deterministic: no random start, a fixed number of steps, and the signs of
eigenvectors are set by their largest component.

**Ranks of words.** A rank is the place of a word in the order of
:meth:`beam_topics.model.publishing.snapshot.Snapshot.top_words`, with 1 for the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.publishing.catalogue import Came
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.publishing.version_events import line_of, newest_events
from beam_topics.model.reporting.added_files import Refused
from beam_topics.model.reporting.course import (
    DAY,
    HOUR,
    bursts_in,
    calendar_unit,
    movements,
    period_of,
    periods,
)
from beam_topics.model.reporting.mixtures import Labelled, Limits, Text, document_columns, shortened
from beam_topics.model.reporting.now import Told
from beam_topics.model.reporting.relevance import (
    DIGITS,
    WordStatistics,
    topic_shares,
)
from beam_topics.model.reporting.shown import Shown

FORM = 1
_FIRST_WORDS = 10
_MOST_BURSTS, _MOST_STORIES = 300, 20
_MILLISECOND = 1000
_STEPS = 300
# The places of the slider of lambda.
LAMBDAS = tuple(n / 20 for n in range(21))
# Topics of a word that are listed.
_TOPICS = 10


@dataclass(frozen=True)
class Sources:
    """What a report is made of.

    Attributes:
        history: The versions, the oldest first.
        shown: The last version as people see it. The mixtures are those of its groups.
        model_of: Returns the model of a version; None if the store does not have it any more.
        labelled: What the mixtures say; None without mixtures.
        texts: The texts of documents by digest; None without documents.
        refused: The dead letters by reason; None if no place of them is known.
        profile: What the input was, in lines of two texts; None where it is not known.
        told: What rows of trends and stories say.
    """

    history: Sequence[Manifest]
    shown: Shown
    model_of: Callable[[Manifest], Snapshot | None]
    labelled: Labelled | None = None
    texts: Mapping[bytes, Text] | None = None
    refused: Sequence[Refused] | None = None
    profile: Sequence[Sequence[str]] | None = None
    told: Told = field(default_factory=Told)


def figures_of(sources: Sources, limits: Limits) -> dict[str, Any]:
    """Return the figures of a report."""
    shown, snapshot = sources.shown, sources.shown.snapshot
    came = [shown.came(manifest) for manifest in sources.history]
    statistics = shown.statistics
    columns = WordColumns(snapshot, statistics, limits)
    ranked = snapshot.top_words(limits.ranked)

    def model_of(manifest: Manifest) -> Snapshot | None:
        found = sources.model_of(manifest)
        return None if found is None else shown.of_version(manifest, found)

    listed = columns.strings()
    new = {w for m in sources.history for one in m.new_words for w in one["words"]} - {*listed}
    words = [*listed, *sorted(new)]
    followed = follow(sources.history, model_of, ranked, words, limits.models)
    since = dict(zip(words, followed.since, strict=True))
    return {
        "form": FORM,
        "model": _model(sources),
        "versions": _versions(sources.history, came, limits.points),
        "topics": _topics(sources, came, statistics, limits) | _entries(shown),
        "terms": columns.terms,
        "words": {
            **columns.words(),
            "since": _times(sources.history, followed.since[: len(listed)]),
        },
        "ranks": {
            "versions": followed.versions,
            "time": _times(sources.history, followed.versions),
            "words": [[shortened(w, limits.name) for w in words] for words in ranked],
            "topics": followed.ranks,
        },
        "periods": _periods(sources, came, since, limits),
        "labelled": _labelled(sources),
        "documents": document_columns(sources.labelled, sources.texts, limits),
        "events": _events(sources.history, shown, limits),
        "stories": _stories(sources, limits),
        "now": sources.told.now,
        "profile": sources.profile,
        "refused": None if sources.refused is None else [vars(one) for one in sources.refused],
    }


def _model(sources: Sources) -> dict[str, Any]:
    last, first = sources.history[-1], sources.history[0]
    settings = last.settings.get("learner", {})
    return {
        "key": last.key,
        "version": last.version,
        "state": sources.told.state,
        "versions": len(sources.history),
        "topics": int(np.count_nonzero(sources.shown.snapshot.totals)),
        "documents": last.documents,
        "tokens": last.tokens,
        "words": last.words,
        "first": (last.times or [first.event_time])[0] // _MILLISECOND,
        "last": last.until // _MILLISECOND,
        "release": last.release,
        "learner": str(settings.get("kind", "")),
    }


def _versions(
    history: Sequence[Manifest], came: Sequence[Came | None], most: int
) -> dict[str, Any]:
    """Return the versions; of a group of versions the last, and the tokens of all together."""
    groups = groups_of(len(history), most)
    last = [history[group[-1]] for group in groups]
    return {
        "name": [m.version for m in last],
        "time": [m.until // _MILLISECOND for m in last],
        "documents": [m.documents for m in last],
        "tokens": [m.tokens for m in last],
        "words": [m.words for m in last],
        "perplexity": [m.prequential_perplexity for m in last],
        "ess": [m.ess for m in last],
        "came": [_sum([came[n] for n in group]) for group in groups],
        "elsewhere": [sum(one.elsewhere for n in group if (one := came[n])) for group in groups],
    }


def groups_of(count: int, most: int) -> list[range]:
    """Return consecutive groups of numbers, at most ``most`` of nearly equal size."""
    ends = np.linspace(0, count, min(count, most) + 1).round().astype(int).tolist()
    return [range(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def _sum(rows: Sequence[Came | None]) -> list[float] | None:
    known = [row.tokens for row in rows if row is not None]
    return np.sum(known, axis=0).tolist() if known else None


def _topics(
    sources: Sources,
    came: Sequence[Came | None],
    statistics: WordStatistics,
    limits: Limits,
) -> dict[str, Any]:
    snapshot = sources.shown.snapshot
    numbers = range(snapshot.topic_count)
    since, moved = movements(sources.history, came, snapshot.topic_count)
    apart = sources.shown.distances
    top, shown_of = snapshot.top_words(_FIRST_WORDS), np.flatnonzero(snapshot.totals)
    return {
        "name": [
            shortened(name, limits.name) or f"topic {topic}"
            for topic, name in zip(sources.shown.ids, sources.shown.by_words, strict=True)
        ],
        "share": topic_shares(snapshot).tolist(),
        "tokens": snapshot.totals.tolist(),
        "first": [[shortened(word, limits.name) for word in words] for words in top],
        "kind": [one.kind for one in moved],
        "recent": [one.recent for one in moved],
        "before": [one.before for one in moved],
        "since": since // _MILLISECOND,
        "place": places(apart).tolist(),
        "near": [nearest(apart, z, limits.near, shown_of) for z in numbers],
        "leaves": shown_of.tolist(),
        "tree": tree(apart[np.ix_(shown_of, shown_of)]),
    }


def _entries(shown: Shown) -> dict[str, Any]:
    """Return what the catalogue says of each group; a name takes the place of its words.

    A group without a token that has no name is empty, and left out of lists.
    """
    entries = [shown.catalogue.of(topic) for topic in shown.ids]
    tokens, topics = shown.snapshot.totals.tolist(), np.array(shown.topics)
    return {
        "id": shown.ids,
        "mark": shown.marks,
        "parts": [topics[shown.of == group].tolist() for group in range(len(shown.ids))],
        "given": [entry.name for entry in entries],
        "hidden": shown.hidden,
        "empty": [not n and not one.name for n, one in zip(tokens, entries, strict=True)],
    }


def places(apart: FloatArray) -> FloatArray:
    """Return points whose distances are as near as possible to the given ones, float64[T, 2].

    Args:
        apart: float64[T, T], symmetric, 0 on the diagonal.
    """
    points = _classical(apart)
    topics = len(apart)
    if topics < 3:
        return np.round(points, DIGITS)
    for _ in range(_STEPS):
        across = points.T[:, :, None] - points.T[:, None]
        between = np.sqrt((across * across).sum(axis=0))
        ratio = np.divide(apart, between, out=np.zeros_like(apart), where=between > 0)
        # The Guttman transform.
        points = (points * ratio.sum(axis=1, keepdims=True) - ratio @ points) / topics
    return np.round(points - points.mean(axis=0), DIGITS)


def _classical(apart: FloatArray) -> FloatArray:
    """Return the places of classical scaling, float64[T, 2]."""
    topics = len(apart)
    centring = np.eye(topics) - 1 / topics
    values, vectors = np.linalg.eigh(-0.5 * centring @ apart**2 @ centring)
    found = np.zeros((topics, 2))
    for axis in range(min(2, topics)):
        vector = vectors[:, topics - 1 - axis]
        largest = vector[np.argmax(np.round(np.abs(vector), DIGITS))]
        length = np.sqrt(max(0.0, values[topics - 1 - axis]))
        found[:, axis] = vector * length * (1 if largest >= 0 else -1)
    return found


def nearest(apart: FloatArray, topic: int, count: int, among: LongArray) -> list[tuple[int, float]]:
    """Return those of some topics nearest to one, with distances; equals are in their order."""
    order = among[np.argsort(apart[topic, among], kind="stable")]
    return [(int(z), float(apart[topic, z])) for z in order if z != topic][:count]


def tree(apart: FloatArray) -> list[tuple[int, int, float]]:
    """Return a tree by the mean distances between its parts (UPGMA).

    Args:
        apart: float64[n, n], symmetric, 0 on the diagonal.

    Returns:
        The n - 1 pairs that are joined, the nearest first, with their distances. Leaves are
        numbered from 0, and the pair in place k is number n + k.
    """
    # Imported here, because nothing else needs it.
    from scipy.cluster.hierarchy import average
    from scipy.spatial.distance import squareform

    if len(apart) < 2:
        return []
    joined = average(squareform(apart, checks=False))[:, :3].tolist()
    return [(int(a), int(b), round(far, DIGITS)) for a, b, far in joined]


class WordColumns:
    """Words that are listed in some topic, numbered from 0.

    Attributes:
        terms: For each topic, columns of its words: the number of the word, ln P(w | z), ln of the
            lift, FREX, and n_wz. They are in the order of n_wz.
    """

    def __init__(self, snapshot: Snapshot, statistics: WordStatistics, limits: Limits) -> None:
        self._snapshot = snapshot
        self._limits = limits
        self._rows: list[int] = []
        self._numbers: dict[int, int] = {}
        self.terms = [self._terms(statistics, z) for z in range(snapshot.topic_count)]

    def _terms(self, statistics: WordStatistics, topic: int) -> dict[str, Any]:
        first = statistics.starts[topic] + np.arange(self._limits.words)
        found = statistics.candidates(topic, LAMBDAS, self._limits.words)
        at = np.union1d(found, first[first < statistics.starts[topic + 1]])
        return {
            "word": [self._number(row) for row in statistics.words[at].tolist()],
            "probability": _logarithms(statistics.probability[at]),
            "lift": _logarithms(statistics.lift[at]),
            "frex": [round(value, 9) for value in statistics.frex[at].tolist()],
            "count": statistics.counts[at].tolist(),
        }

    def _number(self, row: int) -> int:
        if row not in self._numbers:
            self._numbers[row] = len(self._rows)
            self._rows.append(row)
        return self._numbers[row]

    def words(self) -> dict[str, Any]:
        """Return columns: the word, its tokens, and its topics with their shares of the tokens."""
        rows = np.array(self._rows, np.int64)
        counts = self._snapshot.rows(rows)
        totals = counts.sum(axis=1)
        order = np.argsort(-counts, axis=1, kind="stable")[:, :_TOPICS]
        return {
            "text": [shortened(self._snapshot.words[r], self._limits.name) for r in self._rows],
            "count": totals.tolist(),
            "topics": [
                [[int(z), float(counts[n, z] / totals[n])] for z in order[n] if counts[n, z] > 0]
                for n in range(len(rows))
            ],
        }

    def strings(self) -> list[str]:
        """Return the words as the model has them."""
        return [self._snapshot.words[row] for row in self._rows]


def _logarithms(values: FloatArray) -> list[float]:
    """Return natural logarithms, rounded so that their last bits do not depend on a library."""
    return [round(value, 10) for value in np.log(values).tolist()]


@dataclass
class Followed:
    """Words over the versions whose models were read.

    Attributes:
        versions: The numbers of these versions in the history.
        ranks: For each topic and each of its words, the rank in each of these versions.
        since: The first of these versions that has each word, as its number in the history; None
            where none has it.
    """

    versions: list[int] = field(default_factory=list)
    ranks: list[list[list[int | None]]] = field(default_factory=list)
    since: list[int | None] = field(default_factory=list)


def follow(
    history: Sequence[Manifest],
    model_of: Callable[[Manifest], Snapshot | None],
    by_topic: Sequence[Sequence[str]],
    words: Sequence[str],
    most: int,
) -> Followed:
    """Follow words over at most ``most`` versions, evenly spread, with the first and the last.

    ``model_of`` returns None for a version that was removed. ``by_topic`` has the words of each
    topic whose ranks are wanted, and ``words`` those whose first version is wanted.
    """
    found = Followed(ranks=[[[] for _ in wanted] for wanted in by_topic], since=[None] * len(words))
    for number in spread(len(history), most):
        snapshot = model_of(history[number])
        if snapshot is None:
            continue
        found.versions.append(number)
        now = ranks_in(snapshot, by_topic)
        for topic, ranks in enumerate(now):
            for place, rank in enumerate(ranks):
                found.ranks[topic][place].append(rank)
        for place, word in enumerate(words):
            if found.since[place] is None and word in snapshot.numbers:
                found.since[place] = number
    return found


def spread(count: int, most: int) -> list[int]:
    """Return at most ``most`` of the numbers below ``count``, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int)).tolist()


def ranks_in(snapshot: Snapshot, by_topic: Sequence[Sequence[str]]) -> list[list[int | None]]:
    """Return the rank of each word in its topic; None where the topic does not have it."""
    offsets, rows, counts = snapshot.by_topic
    found: list[list[int | None]] = []
    for topic, wanted in enumerate(by_topic):
        own = slice(offsets[topic], offsets[topic + 1])
        found.append([_rank(rows[own], counts[own], snapshot.row_of(word)) for word in wanted])
    return found


def _rank(rows: LongArray, counts: FloatArray, row: int) -> int | None:
    """Return the rank of a word among the words of a topic, given by row; equals are in order."""
    at = int(np.searchsorted(rows, row))
    if at == len(rows) or rows[at] != row:
        return None
    more = np.count_nonzero(counts > counts[at])
    return 1 + int(more + np.count_nonzero(counts[:at] == counts[at]))


def _periods(
    sources: Sources,
    came: Sequence[Came | None],
    since: Mapping[str, int | None],
    limits: Limits,
) -> dict[str, Any]:
    """Return what came in each period, and which words were new."""
    history, shown = sources.history, sources.shown
    found, unit = periods(history, came, len(shown.ids)), calendar_unit(history)
    slack = HOUR if unit == "day" else DAY
    return {
        "unit": unit,
        "name": [period.name for period in found],
        "versions": [len(period.versions) for period in found],
        "time": [period.until // _MILLISECOND for period in found],
        # An hour later a day would be over, and a day later a longer period.
        "unfinished": period_of(history[-1].until + slack, unit) == found[-1].name,
        "tokens": [float(period.tokens.sum()) + period.elsewhere for period in found],
        "shares": [period.shares for period in found],
        "new": [_new_words(sources, period.versions, since, limits) for period in found],
    }


def _new_words(
    sources: Sources, versions: Sequence[int], since: Mapping[str, int | None], limits: Limits
) -> list[list[Any]]:
    """Return the words that are new in some versions, each once, those first of which most came.

    ``since`` has the number of the first version that has each word.

    Returns:
        For each word: its group, the word, the tokens that came with the version in which it is new
        and those before, the time of that version, and that of the first one that has the word.
    """
    found: dict[str, list[Any]] = {}
    of_topic: Counter[int] = Counter()
    new = [(*one, n) for n in versions for one in sources.shown.new_words(sources.history[n])]
    for group, word, came, had, n in sorted(new, key=lambda one: (-one[2], one[1], one[4])):
        if word not in found and of_topic[group] < limits.changed:
            of_topic[group] += 1
            first = since.get(word) if had else n
            times = _times(sources.history, [n, n if first is None else min(first, n)])
            found[word] = [group, shortened(word, limits.name), came, had, *times]
    return list(found.values())


def _labelled(sources: Sources) -> dict[str, Any] | None:
    """Return what the mixtures say of each period; documents and shares are exact sums."""
    if (labelled := sources.labelled) is None:
        return None
    unit = calendar_unit(sources.history)
    starts = [start for start, _ in sorted(labelled.periods.cells)]
    cells = [labelled.periods.cells[start, ""] for start in starts]
    again = labelled.again and [labelled.again.cells.get((start, "")) for start in starts]
    documents, shares = [cell.documents for cell in cells], [cell.mean_shares() for cell in cells]
    table = np.reshape(shares, (len(starts), len(sources.shown.ids)))
    return {
        "name": [period_of(start, unit) for start in starts],
        "documents": documents,
        "tokens": [cell.tokens for cell in cells],
        "known": [cell.words_known for cell in cells],
        "shares": shares,
        "again": again
        and {
            "documents": [cell.documents if cell else 0 for cell in again],
            "shares": [cell and cell.mean_shares() for cell in again],
        },
        "repeated": labelled.repeated,
        "foreign": labelled.foreign,
        "without": sum(cell.none for cell in cells),
        "judged": labelled.judged,
        "unexplained": labelled.unexplained,
        "bursts": bursts_of_periods(starts, documents, table),
        "versions": sorted(labelled.versions.items()),
    }


def bursts_of_periods(
    starts: Sequence[int], documents: Sequence[int], shares: FloatArray
) -> list[list[Any]]:
    """Return the newest bursts: period, topic, documents of the topic, expected ones, and p."""
    sizes = np.array(documents, np.float64)[:, None]
    found = bursts_in(sizes * shares, sizes, starts)[-_MOST_BURSTS:]
    return [[w, z, float(documents[w] * shares[w, z]), e, p] for w, z, e, p in found]


def _events(history: Sequence[Manifest], shown: Shown, limits: Limits) -> list[dict[str, Any]]:
    return [
        {
            "time": min(event.time, manifest.until) // _MILLISECOND,
            "kind": event.kind,
            "version": manifest.version,
            "topics": shown.groups_of(event.topics),
            "line": shortened(line_of(manifest, event), 2000),
        }
        for manifest, event in newest_events(history, limits.events)
    ]


def _stories(sources: Sources, limits: Limits) -> list[dict[str, Any]] | None:
    """Return the largest stories of the last window."""
    if sources.told.stories is None:
        return None
    return [
        {
            "id": shortened(row["story"], limits.name),
            "first": row["first"] // _MILLISECOND,
            "end": row["window_end"] // _MILLISECOND,
            "documents": row["documents"],
            "came": row["came"],
            "ids": [shortened(id, limits.name) for id in row["document_ids"]],
            "words": [shortened(word, limits.name) for word in row["words"]],
            "topics": sources.shown.groups_of([one["topic"] for one in row["topics"]]),
        }
        for row in sources.told.stories[:_MOST_STORIES]
    ]


def _times(history: Sequence[Manifest], numbers: Sequence[int | None]) -> list[int | None]:
    return [None if n is None else history[n].until // _MILLISECOND for n in numbers]
