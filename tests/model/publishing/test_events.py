"""Events as records: what is read back, renumbered and left out."""

from dataclasses import replace

import pytest

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.publishing.events import (
    FLOOD,
    MOST,
    OMITTED,
    Event,
    collected,
    events_from_json,
    renumbered,
)

EVENT = Event(
    FLOOD, 100, 900, [2, 0], "shares", {"found": 0.5}, ["a"], 1, 7, -5, [["x"], []], [["y"], ["z"]]
)


def test_there_and_back():
    assert Event.from_json(EVENT.to_json(), "an event") == EVENT
    assert Event.from_json({"kind": "later"}, "an event") == Event("later")
    later = {**EVENT.to_json(), "new": 3}
    assert events_from_json([later], "events", ignore_unknown=True) == [EVENT]
    with pytest.raises(DamagedDataError, match="has a field 'new'"):
        events_from_json([later], "events")


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("kind", 3),
        ("documents", -1),
        ("tokens", "x"),
        ("topics", [-1]),
        ("topics", ["a"]),
        ("figures", {"found": "x"}),
        ("ids", [3]),
        ("particle", -1),
        ("sequence", -1),
        ("words", [["x"]]),
        ("words_before", [["x"], [3]]),
    ],
)
def test_wrong_values_are_refused(field, wrong):
    with pytest.raises(DamagedDataError, match=f"{field} (in|of) events"):
        events_from_json([{**EVENT.to_json(), field: wrong}], "events")


def test_topics_get_other_numbers():
    assert renumbered(EVENT, [5, 3, 4]) == replace(EVENT, topics=[4, 5])
    with pytest.raises(DamagedDataError, match="topics of an event: found 2, allowed is a whole"):
        renumbered(EVENT, [5, 3])


def test_events_above_the_bound_are_counted():
    found = collected((), [EVENT] * MOST)
    assert found == (EVENT.to_json(),) * MOST
    for step in range(1, 4):
        found = collected(found, [replace(EVENT, sequence=step, time=step)])
        assert len(found) == MOST + 1
        last = Event.from_json(found[-1], "the last one")
        assert last == Event(OMITTED, figures={"events": step}, sequence=step, time=step)
    assert len(events_from_json(found, "events")) == MOST + 1
    with pytest.raises(DamagedDataError, match="events: found 102 events, allowed is at most 101"):
        events_from_json([*found, found[0]], "events")
