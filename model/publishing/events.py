"""Events: what a stream did, as data.

A learner notes an event in the step that reports it (``StepInfo.events``). The head of the learner
collects the events since the last candidate, and the manifest of the next version holds them with
the ids of the published topics. The step that publishes adds births and deaths that no learner
noted. Two more kinds follow from a manifest alone
(:mod:`beam_topics.model.publishing.version_events`).

* ``birth``: topics are new; noted by the learner, or by a version.
* ``death``: topics have ended; noted by the learner, or by a version whose parent has them.
* ``chain_replaced``: a version comes from another particle or island than its parent.
* ``words_changed``: words of topics are new, by a test; noted by a version.
* ``flood``: near copies, or documents above a source's share, are not learned; by the learner.
* ``superseded``: a restored job does not make some versions again; noted by the publisher.
* ``burst`` and ``silence``: a topic has more, or fewer, documents in a window than expected; noted
  apart from the versions (:mod:`beam_topics.model.reporting.alarms`).
* ``omitted``: more events than a version holds; noted by the head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from beam_topics.model.stored import checks

CHAIN_REPLACED, WORDS_CHANGED = "chain_replaced", "words_changed"
FLOOD, OMITTED, SUPERSEDED, BURST = "flood", "omitted", "superseded", "burst"
BIRTH, DEATH, SILENCE = "birth", "death", "silence"
# What learners and versions note, and rules of alarms may ask for.
NOTED = BIRTH, DEATH, WORDS_CHANGED, FLOOD
# What decides that a version notes a birth or a death.
SIMILARITY = "similarity"
# The head is written at every minibatch, so it holds no more events than this.
MOST = 100
# No birth or death is reported of a topic that fewer documents hold.
LEAST_DOCUMENTS = 10
# How many documents and first words an event names.
DOCUMENT_IDS, FIRST_WORDS = 3, 10


@dataclass(frozen=True)
class Event:
    """Something that a stream did.

    Attributes:
        kind: What happened, see the module's docstring.
        documents: The number of documents concerned. None if it is not known.
        tokens: The number of tokens concerned. None if it is not known.
        topics: The topics concerned. A learner gives its own numbers; in a manifest they are ids
            (:mod:`beam_topics.model.publishing.succession`).
        by: What decided: ``near_copies`` or ``over_share`` for a flood, ``similarity`` for births
            and deaths that a version notes, ``wagers`` or ``evidence`` for those that a learner
            notes.
        figures: The figures that decided, by name.
        ids: Up to three of the documents.
        particle: The particle whose topic numbers a learner gives.
        sequence: The minibatch in which it was noted.
        time: The end of the window of that minibatch, in microseconds.
        words: The first words of each of ``topics`` in the version; empty within a learner, and
            for deaths.
        words_before: The first words of the topics in the same places of the parent; empty without
            a parent.
    """

    kind: str
    documents: int | None = None
    tokens: float | None = None
    topics: list[int] = field(default_factory=list)
    by: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    particle: int = 0
    sequence: int = 0
    time: int = 0
    words: list[list[str]] = field(default_factory=list)
    words_before: list[list[str]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: object, name: str, ignore_unknown: bool = False) -> Event:
        """Read what :meth:`to_json` returned."""
        found = cls(**checks.record(cls, values, name, ignore_unknown=ignore_unknown))
        for what in ("particle", "sequence"):
            checks.whole(f"{what} in {name}", getattr(found, what))
        for what in ("documents", "tokens"):
            if (size := getattr(found, what)) is not None:
                checks.number(f"{what} in {name}", size, 0, checks.HUGE)
        for topic in found.topics:
            checks.whole(f"topics in {name}", topic)
        for what in ("words", "words_before"):
            if words := getattr(found, what):
                checks.sized(f"{what} in {name}", words, len(found.topics))
        return found


def events_from_json(
    values: Sequence[object], name: str, ignore_unknown: bool = False
) -> list[Event]:
    """Read a list of events.

    Raises:
        DamagedDataError: An event is damaged, or there are more than a head collects.
    """
    if len(values) > MOST + 1:
        checks.refuse(name, f"{len(values)} events", f"at most {MOST + 1}")
    return [Event.from_json(one, name, ignore_unknown) for one in values]


def renumbered(event: Event, numbers: Sequence[int]) -> Event:
    """Return an event under other topic numbers: ``numbers[z]`` in place of z.

    Raises:
        DamagedDataError: The event has a topic that does not exist.
    """
    for topic in event.topics:
        checks.whole("topics of an event", topic, 0, len(numbers))
    return replace(event, topics=[numbers[topic] for topic in event.topics])


def collected(before: Sequence[dict[str, Any]], new: Sequence[Event]) -> tuple[dict[str, Any], ...]:
    """Return events with further ones; after the first :data:`MOST` they are counted only.

    The last one is then of the kind ``omitted``, and its figure ``events`` is how many there were.
    """
    found = list(before)
    for event in new:
        if len(found) < MOST:
            found.append(event.to_json())
            continue
        omitted = found[MOST]["figures"]["events"] if len(found) > MOST else 0
        last = Event(OMITTED, figures={"events": omitted + 1}, sequence=event.sequence)
        found[MOST:] = [{**last.to_json(), "time": event.time}]
    return tuple(found)
