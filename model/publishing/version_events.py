"""The events of a version, as records for others and as lines for people.

A manifest holds what its learner noted, births and deaths (``events``). A replaced chain follows
from the field ``replaced``, and new words from ``new_words``. A birth, noted by a version, of a
topic that fewer than :data:`~beam_topics.model.publishing.events.LEAST_DOCUMENTS` documents are
mostly about is left out. So all events follow from the manifest, and a version that is made again
gives the same events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from beam_topics.model.errors import counted
from beam_topics.model.publishing.events import (
    BIRTH,
    BURST,
    CHAIN_REPLACED,
    DEATH,
    FLOOD,
    LEAST_DOCUMENTS,
    OMITTED,
    SILENCE,
    SIMILARITY,
    SUPERSEDED,
    WORDS_CHANGED,
    Event,
    events_from_json,
)
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.stored import wire
from beam_topics.model.times import to_iso

_SHOWN_TOPICS, _SHOWN_WORDS = 5, 3
_FLOODS = {
    "near_copies": "they are near copies of others",
    "over_share": "their sources have their share already",
}


def events_of(manifest: Manifest) -> list[Event]:
    """Return all events of a version: those of its learner first, in the order of time."""
    name = f"field events of version {manifest.version}"
    noted = events_from_json(manifest.events, name, ignore_unknown=True)
    found = [some for event in noted if (some := _with_documents(manifest, event))]
    at, time = manifest.sequence, manifest.event_time
    about = Event("", particle=manifest.particle, sequence=at, time=time)
    documents, tokens = manifest.topic_documents, manifest.topic_tokens
    if (before := manifest.replaced) is not None:
        figures = {name: before[name] for name in ("island", "particle", "versions", "since")}
        counts = {"documents": _sum(documents), "tokens": _sum(tokens)}
        found.append(replace(about, kind=CHAIN_REPLACED, figures=figures, **counts))
    if manifest.new_words:
        topics = [one["topic"] for one in manifest.new_words]
        words = [list(one["words"]) for one in manifest.new_words]
        counts = {"documents": _sum(documents, topics), "tokens": _sum(tokens, topics)}
        found.append(replace(about, kind=WORDS_CHANGED, topics=topics, words=words, **counts))
    return found


def newest_events(history: Sequence[Manifest], most: int) -> list[tuple[Manifest, Event]]:
    """Return the last events of versions, in their order; those of new words are left out first."""
    found = [(manifest, event) for manifest in history for event in events_of(manifest)]
    order = sorted(range(len(found)), key=lambda n: (found[n][1].kind != WORDS_CHANGED, n))
    return [found[n] for n in sorted(order[-most:])]


def _with_documents(manifest: Manifest, event: Event) -> Event | None:
    """Return an event; of births those of topics that enough documents hold, or None."""
    counts = manifest.topic_documents
    if event.kind != BIRTH or event.by != SIMILARITY or counts is None:
        return event
    kept = [
        at
        for at, topic in enumerate(event.topics)
        if counts[topic % len(counts)] >= LEAST_DOCUMENTS
    ]
    words, before = (
        [some[at] for at in kept if some] for some in (event.words, event.words_before)
    )
    topics = [event.topics[at] for at in kept]
    return replace(event, topics=topics, words=words, words_before=before) if kept else None


def _sum(counts: list[Any] | None, topics: list[int] | None = None) -> Any:
    """Return the sum of the counts of some ids, or of all; None where they are not known."""
    if counts is None or (topics and not counts):
        return None
    return sum(counts if topics is None else [counts[topic % len(counts)] for topic in topics])


def superseding(manifest: Manifest, names: Sequence[str]) -> Event:
    """Return the event of a version that supersedes others; the manifest does not hold it."""
    return Event(
        SUPERSEDED,
        figures={"versions": len(names)},
        sequence=manifest.sequence,
        time=manifest.event_time,
    )


def records_of(manifest: Manifest, more: Sequence[Event] = ()) -> list[bytes]:
    """Return one JSON object for each event; ``version`` and ``number`` name the event."""
    return [
        record_of(manifest.key, manifest.version, number, event)
        for number, event in enumerate([*events_of(manifest), *more])
    ]


def record_of(
    key: str,
    version: str,
    number: int,
    event: Event,
    names: Sequence[str] = (),
    stories: Sequence[Mapping[str, Any]] = (),
    watch: Mapping[str, Any] = MappingProxyType({}),
) -> bytes:
    """Return the JSON object of an event.

    It has the names of its topics, its stories, and what was watched by a rule, where known.
    """
    return wire.canonical_json(
        {
            **watch,
            "key": key,
            "version": version,
            "number": number,
            "kind": event.kind,
            "time": to_iso(event.time),
            "sequence": event.sequence,
            "topics": event.topics,
            "names": list(names),
            "words": event.words,
            "words_before": event.words_before,
            "documents": event.documents,
            "tokens": event.tokens,
            "by": event.by,
            "figures": event.figures,
            "document_ids": event.ids,
            "stories": list(stories),
        }
    ).encode()


def line_of(manifest: Manifest, event: Event) -> str:
    """Return what an event of a version says."""
    if event.kind == WORDS_CHANGED:
        return f"new words: {_counted(manifest)}"
    return manifest.replacement() if event.kind == CHAIN_REPLACED else _described(event)


def _counted(manifest: Manifest) -> str:
    """Return the new words of which most came, with their counts and topics."""
    found = [
        (-came, word, f"{word} {came:,.0f} ({had:,.0f} before, topic {one['topic']})")
        for one in manifest.new_words
        for word, came, had in zip(one["words"], one["came"], one["had"], strict=True)
    ]
    rest = len(found) - _SHOWN_TOPICS
    shown = [line for _, _, line in sorted(found)[:_SHOWN_TOPICS]]
    return ", ".join(shown + [f"{rest} more"] * (rest > 0))


def text_of(record: Mapping[str, Any]) -> str:
    """Return what a record of :func:`records_of` says, in one line."""
    names = ("kind", "documents", "topics", "by", "figures", "words", "words_before")
    words = [[name] for name in record["names"]] or record["words"]
    text = _described(Event(**{name: record[name] for name in names} | {"words": words}))
    for one in record["stories"]:
        text += f"; story of {one['documents']:,}: {' '.join(one['words'][:_SHOWN_WORDS])}"
    watched = [record[name] for name in ("rule", "group") if record.get(name)]
    about = ": ".join([", ".join(watched), text] if watched else [text])
    return f"{record['key']} {record['time'][:19]}: {about}".lstrip()


def summary_of(manifest: Manifest, more: Sequence[Event] = ()) -> str:
    """Return all events of a version in one line; "" if there is none."""
    lines = "; ".join(line_of(manifest, event) for event in (*events_of(manifest), *more))
    begin = f"{to_iso(manifest.until)[:10]}, {_number(manifest.documents, 'document')}"
    return f"{begin}: {lines}" if lines else ""


def _described(event: Event) -> str:
    figures, documents = event.figures, _number(event.documents, "document")
    if event.kind == FLOOD:
        return (
            f"a flood. {documents} of a block were not learned, {figures.get('share', 0):.0%}:"
            f" {_FLOODS.get(event.by, event.by)}"
        )
    if event.kind in (BURST, SILENCE):
        seen = f"{documents}, {figures['expected']:,.1f} expected"
        return f"a {event.kind}. {seen}: {_topics(event)}"
    if event.kind == BIRTH:
        topics = _number(len(event.topics), "topic")
        return f"{topics} born, with {documents}: {_topics(event)}"
    if event.kind == DEATH:
        topics = _number(len(event.topics), "topic")
        return f"{topics} died: {_topics(replace(event, words=event.words_before))}"
    if event.kind == SUPERSEDED:
        versions = _number(figures.get("versions"), "version")
        return f"supersedes {versions} that the job does not come to again after a restore"
    if event.kind == OMITTED:
        return f"{figures.get('events', 0):,.0f} more events are not listed"
    return f"{event.kind}: {_topics(event)}"


def _number(count: float | None, noun: str) -> str:
    if count is None:
        return f"an unknown number of {noun}s"
    return counted(count, noun)


def _topics(event: Event) -> str:
    """Return topics with their first words; those after the first few are counted.

    Of an event without a topic it returns the words.
    """
    if not event.topics:
        return " ".join(word for some in event.words for word in some) or "none"
    words = event.words or [[]] * len(event.topics)
    named = [
        f"{topic} ({' '.join(first[:_SHOWN_WORDS])})" if first else str(topic)
        for topic, first in list(zip(event.topics, words, strict=True))[:_SHOWN_TOPICS]
    ]
    rest = len(event.topics) - len(named)
    return ", ".join(named + [f"{rest} more"] * (rest > 0))
