"""Stories: documents of a stream that tell of one thing, by their rare words and their time.

The documents of a window are taken by (time, id), so the order in which they came changes nothing.
A document has the :data:`WORDS` words of the largest weight, and a vector of length 1 of them:

    weight of a word = bits(n in the document) * bits(N // documents that hold it)

bits(x) is the number of binary digits of x, a logarithm that is the same on every processor. N and
the counts of documents are those of the past and of the window. A document joins the story with
the largest cosine between its vector and the sum of the story's vectors, if this is at least
:data:`LEAST_COSINE` and the last document of the story is at most :data:`SILENCE` older. Otherwise
it begins a story, which has its id for a name. ``docs/results/stories.md`` has the measurements.

What is kept has bounds. A window has :data:`MOST_DOCUMENTS` documents, those whose ids have the
smallest digests. Of more than :data:`MOST_STORIES` stories, those whose last documents are the
oldest leave. The vector of a story fades by :data:`FADING` with each document, and has
:data:`STORY_WORDS` words. Where more than :data:`MOST_COUNTED` words are counted, all counts are
halved until they are few enough, and words without a count leave.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, NamedTuple

from beam_topics.model.reporting.trends import read_rows
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import parse_time, to_iso

WORDS, STORY_WORDS, FADING = 30, 60, 0.8
LEAST_COSINE, SILENCE = 0.3, 3 * 86_400_000_000
MOST_STORIES, MOST_COUNTED, MOST_DOCUMENTS = 2000, 50_000, 10_000
# Stories of a window that are reported, and the words, documents and topics that each names.
TOLD, TOLD_WORDS, TOLD_IDS, TOLD_TOPICS = 100, 10, 3, 3
_LARGEST = 2**62
# No word of a story has this weight: vectors have length 1, and fade.
_MOST_WEIGHT = 2 / (1 - FADING)
_SKETCHES = b"BTj1"


class Sketch(NamedTuple):
    """What is known of a document: time in microseconds, id, topic (or None), words with counts."""

    time: int
    id: str
    topic: int | None
    words: Mapping[str, int]


def sketches_to_bytes(sketches: Iterable[Sketch]) -> bytes:
    """Return the sketches of a window: at most :data:`MOST_DOCUMENTS`, each document once."""
    by_name = {(one.time, one.id): one for one in sketches}
    kept = sorted(by_name.values(), key=lambda one: (wire.digest(one.id.encode()), one.time))
    return wire.pack(_SKETCHES, {"sketches": sorted(kept[:MOST_DOCUMENTS], key=_place)})


def sketches_from_bytes(data: bytes) -> Iterator[Sketch]:
    """Yield what :func:`sketches_to_bytes` was given.

    Raises:
        DamagedDataError: The bytes are damaged.
    """
    listed = checks.field(wire.unpack(_SKETCHES, data, 0)[0], "sketches")
    for values in checks.of_type("sketches", listed, list[list[Any]]):
        checks.sized("fields of a sketch", values, len(Sketch._fields))
        found = Sketch(*values)
        checks.whole("time of a sketch", found.time, -_LARGEST, _LARGEST)
        checks.of_type("id of a sketch", found.id, str)
        checks.whole("topic of a sketch", 0 if found.topic is None else found.topic)
        _check_counts("words of a sketch", found.words)
        yield found


@dataclass(slots=True)
class Story:
    """A story.

    Attributes:
        first: The id of its first document, its name.
        begin, last: The times of its first and its last document in microseconds.
        documents: The number of its documents.
        words: The weights of its words, which fade.
    """

    first: str
    begin: int
    last: int
    documents: int = 0
    words: dict[str, float] = field(default_factory=dict)

    def add(self, time: int, vector: Mapping[str, float]) -> None:
        """Add a document."""
        self.last, self.documents = max(self.last, time), self.documents + 1
        for word in self.words:
            self.words[word] *= FADING
        for word, weight in vector.items():
            self.words[word] = self.words.get(word, 0.0) + weight
        if len(self.words) > STORY_WORDS:
            self.words = dict(_largest(self.words, STORY_WORDS))

    def began(self) -> tuple[int, str]:
        """Return the time and the id of the first document, which differ for any two stories."""
        return self.begin, self.first


class Stories:
    """The stories of a model key.

    Attributes:
        documents: N.
        counts: For each word the documents that hold it.
        stories: The stories by number, the one with the oldest last document first.
    """

    MAGIC = b"BTa1"

    def __init__(self) -> None:
        self.documents = 0
        self.counts: Counter[str] = Counter()
        self.stories: dict[int, Story] = {}
        self._next = 0
        # For each word the stories that have it, with their weights divided by their lengths.
        self._holders: dict[str, dict[int, float]] = defaultdict(dict)

    def to_bytes(self) -> bytes:
        """Return equal bytes for equal stories."""
        stories = [asdict(story) for story in self.stories.values()]
        facts = {"documents": self.documents, "counts": self.counts, "stories": stories}
        return wire.pack(self.MAGIC, facts)

    @classmethod
    def from_bytes(cls, data: bytes) -> Stories:
        """Read what :meth:`to_bytes` returned.

        Raises:
            DamagedDataError: The bytes are damaged.
        """
        header, _ = wire.unpack(cls.MAGIC, data, 0)
        found = cls()
        found.documents = checks.whole("documents of stories", checks.field(header, "documents"))
        found.counts.update(_check_counts("counts of stories", checks.field(header, "counts")))
        listed = checks.of_type("stories", checks.field(header, "stories"), list[Any])
        for number, values in enumerate(listed):
            found._put(number, _story(values))
        return found

    def closed(self, sketches: Iterable[Sketch]) -> list[dict[str, Any]]:
        """Take the documents of a window that has closed, and return the stories that they are in.

        Returns:
            The stories of at least two documents, those with most documents in the window first:
            ``story``, ``first`` (its time), ``documents``, ``came`` (in the window), ``topics``
            (the most frequent ones with their documents in the window), ``words`` and
            ``document_ids`` (the first ones of the window).
        """
        window = sorted(sketches, key=_place)
        self.documents += len(window)
        self.counts.update(word for one in window for word in one.words)
        came: dict[int, tuple[Story, list[Sketch]]] = {}
        for one in window:
            number = self._joined(one)
            came.setdefault(number, (self.stories[number], []))[1].append(one)
        while len(self.counts) > MOST_COUNTED:
            self.documents //= 2
            self.counts = Counter({word: n // 2 for word, n in self.counts.items() if n > 1})
        rows = [both for both in came.values() if both[0].documents > 1]
        rows.sort(key=lambda both: (-len(both[1]), -both[0].documents, *both[0].began()))
        return [_row(story, some) for story, some in rows[:TOLD]]

    def _joined(self, one: Sketch) -> int:
        """Add a document to a story, and return the number of the story."""
        vector = self._vector(one.words)
        while self.stories:
            oldest = next(iter(self.stories))
            if self.stories[oldest].last >= one.time - SILENCE and len(self.stories) < MOST_STORIES:
                break
            self._take(oldest)
        scores: dict[int, float] = defaultdict(float)
        for word, weight in vector.items():
            for number, part in self._holders.get(word, {}).items():
                scores[number] += weight * part
        number, story = self._next, Story(one.id, one.time, one.time)
        near = [at for at, score in scores.items() if score >= LEAST_COSINE]
        if near:
            number = min(near, key=lambda at: (-scores[at], *self.stories[at].began()))
            story = self._take(number)
        story.add(one.time, vector)
        self._put(number, story)
        return number

    def _vector(self, words: Mapping[str, int]) -> dict[str, float]:
        """Return the vector of a document, of length 1."""
        weights = {
            word: float(n.bit_length() * (self.documents // self.counts[word]).bit_length())
            for word, n in words.items()
        }
        found = _largest(weights, WORDS)
        length = math.sqrt(sum(weight * weight for _, weight in found)) or 1.0
        return {word: weight / length for word, weight in found}

    def _put(self, number: int, story: Story) -> None:
        # The exact sum is the same in any order.
        length = math.sqrt(math.fsum(weight * weight for weight in story.words.values())) or 1.0
        self.stories[number] = story
        self._next = max(self._next, number + 1)
        for word, weight in story.words.items():
            self._holders[word][number] = weight / length

    def _take(self, number: int) -> Story:
        story = self.stories.pop(number)
        for word in story.words:
            del self._holders[word][number]
            if not self._holders[word]:
                del self._holders[word]
        return story


def _place(one: Sketch) -> tuple[int, str]:
    return one.time, one.id


def rows_of_stories(stream: BinaryIO, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, with times in microseconds.

    Raises:
        DamagedDataError: The file cannot be read as stories.
    """
    wrong, takes = f"{name} cannot be read as stories", "--rows takes what stream wrote."
    return read_rows(stream, _read_row, wrong, takes)


def _read_row(row: dict[str, Any]) -> dict[str, Any]:
    row |= {what: parse_time(row[what]) for what in ("window_end", "first")}
    _ = row["key"] + row["story"] + "".join([*row["words"], *row["document_ids"]])
    for what in ("documents", "came"):
        checks.number(what, row[what], 0, checks.HUGE)
    _ = [checks.whole("topic", one["topic"]) for one in row["topics"]]
    return row


def of_last_window(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the stories of the last window, each once, those with most documents in it first."""
    last = max((row["window_end"] for row in rows), default=0)
    found = {row["story"]: row for row in rows if row["window_end"] == last}
    return sorted(found.values(), key=lambda row: (-row["came"], row["first"], row["story"]))


def _largest(weights: Mapping[str, float], most: int) -> list[tuple[str, float]]:
    """Return the words of the largest weights, of equal ones by the word."""
    return sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:most]


def _row(story: Story, some: Sequence[Sketch]) -> dict[str, Any]:
    topics = Counter(one.topic for one in some if one.topic is not None)
    ordered = sorted(topics.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "story": story.first,
        "first": to_iso(story.begin),
        "documents": story.documents,
        "came": len(some),
        "topics": [{"topic": topic, "documents": n} for topic, n in ordered[:TOLD_TOPICS]],
        "words": [word for word, _ in _largest(story.words, TOLD_WORDS)],
        "document_ids": [one.id for one in some[:TOLD_IDS]],
    }


def _story(values: object) -> Story:
    """Check the fields of a story and return it."""
    found = Story(**checks.record(Story, values, "a story"))
    for time in (found.begin, found.last):
        checks.whole("times of a story", time, -_LARGEST, _LARGEST)
    checks.whole("documents of a story", found.documents, 1)
    for weight in found.words.values():
        checks.number("words of a story", weight, 0.0, _MOST_WEIGHT)
    return found


def _check_counts(name: str, counts: Any) -> dict[str, int]:
    for count in checks.of_type(name, counts, dict[str, int]).values():
        checks.whole(name, count, 1)
    found: dict[str, int] = counts
    return found
