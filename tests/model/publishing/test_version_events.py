"""The events of versions: what follows from a manifest, records, and the wording of lines."""

import json
from dataclasses import replace

from made import manifest_of

from beam_topics.model.publishing.events import (
    BIRTH,
    FLOOD,
    LEAST_DOCUMENTS,
    OMITTED,
    Event,
)
from beam_topics.model.publishing.version_events import (
    events_of,
    line_of,
    newest_events,
    records_of,
    summary_of,
    text_of,
)

DAY = 86_400_000_000
WORDS = [["ship", "sea", "gold", "war"], ["tax"]]
FIGURES = {"gain": 0.31, "rise": 0.2, "usual": 0.01}
TOLD = Event(
    BIRTH, 100, 9300, [3, 5], "wagers", FIGURES, ["a", "b"], 0, 4, DAY, WORDS, [["x"], ["y"]]
)
REPLACED = {"island": 1, "particle": 1, "versions": 3, "since": DAY}


def new(topic, count):
    words = [f"n{rank}" for rank in range(1, count + 1)]
    came = [30.0 - rank for rank in range(count)]
    return {"topic": topic, "words": words, "came": came, "had": [2.0] * count}


def version(**others):
    values = {"event_time": 2 * DAY, "topic_tokens": [5.5, 1.0, 2.0]}
    return manifest_of(4, **{**values, "topic_documents": [2, 1, 0], **others})


def test_a_version_without_anything_new_has_no_events():
    assert events_of(version()) == [] and records_of(version()) == []
    assert summary_of(version()) == ""


def test_what_follows_from_the_manifest():
    made = version(
        events=[TOLD.to_json()],
        replaced=REPLACED,
        new_words=[new(0, 5), new(2, 1)],
    )
    told, chain, words = events_of(made)
    assert told == TOLD
    assert (chain.kind, chain.documents, chain.tokens, chain.topics) == (
        "chain_replaced",
        3,
        8.5,
        [],
    )
    assert chain.figures == REPLACED and chain.time == 2 * DAY
    assert (words.kind, words.topics) == ("words_changed", [0, 2])
    assert (words.documents, words.tokens) == (2, 7.5)
    assert words.words == [["n1", "n2", "n3", "n4", "n5"], ["n1"]]


def test_new_words_are_left_out_first():
    versions = [version(new_words=[new(0, 1)]), version(events=[TOLD.to_json()])]
    versions += [version(new_words=[new(0, 1)])] * 2
    for most, left in ((4, [0, 1, 2, 3]), (3, [1, 2, 3]), (2, [1, 3]), (1, [1])):
        found = newest_events(versions, most)
        assert [one for one, _ in found] == [versions[at] for at in left]


def test_a_record_is_told_in_a_line():
    (record,) = records_of(version(events=[TOLD.to_json()]))
    (birth,) = events_of(version(events=[TOLD.to_json()]))
    assert line_of(version(), birth) in text_of(json.loads(record))
    assert text_of({**json.loads(record), "key": "posts"}).startswith("posts 1970-01-02T00:00:00: ")


def test_sizes_that_are_not_known_are_none():
    made = version(
        topic_tokens=None, topic_documents=None, new_words=[new(0, 5)], replaced=REPLACED
    )
    assert [(one.documents, one.tokens) for one in events_of(made)] == [(None, None)] * 2


def test_a_topic_is_born_with_documents_enough():
    counts = [LEAST_DOCUMENTS, 0, LEAST_DOCUMENTS - 1]
    birth = Event(BIRTH, 2, 9.0, [3, 5], "similarity", words=WORDS, words_before=[["x"], ["y"]])
    (told,) = events_of(version(events=[birth.to_json()], topic_documents=counts))
    # Topic 3 has place 0, and topic 5 place 2, which has a document too few.
    assert (told.topics, told.words, told.words_before) == ([3], [WORDS[0]], [["x"]])
    few = replace(birth, topics=[5], words=[], words_before=[]).to_json()
    assert events_of(version(events=[few], topic_documents=counts)) == []
    (noted,) = events_of(
        version(events=[replace(birth, by="wagers").to_json()], topic_documents=counts)
    )
    assert noted.topics == [3, 5]
    (unknown,) = events_of(version(events=[birth.to_json()], topic_documents=None))
    assert unknown.topics == [3, 5]


def test_a_record_has_the_version_and_a_number():
    made = version(events=[TOLD.to_json()], new_words=[new(2, 9)])
    first, second = map(json.loads, records_of(made))
    assert (first["version"], first["number"], second["number"]) == (made.version, 0, 1)
    assert (first["kind"], second["kind"]) == ("birth", "words_changed")
    assert first["time"] == "1970-01-02T00:00:00.000000Z" and first["key"] == ""
    assert first["topics"] == [3, 5] and first["words"] == WORDS
    assert first["document_ids"] == ["a", "b"] and first["by"] == "wagers"
    assert first["figures"] == FIGURES
    assert set(first) == set(second)


def line(event, **others):
    made = version(events=[event.to_json()], **others)
    return line_of(made, events_of(made)[0]).replace(made.version, "V")


def test_the_wording_of_lines():
    assert line(TOLD) == "2 topics born, with 100 documents: 3 (ship sea gold), 5 (tax)"
    many = Event(BIRTH, 1, 9, list(range(7)), "wagers", time=DAY)
    assert line(many) == "7 topics born, with 1 document: 0, 1, 2, 3, 4, 2 more"
    flood = Event(FLOOD, 80, by="near_copies", figures={"share": 0.784}, ids=["a"], time=DAY)
    assert line(flood) == (
        "a flood. 80 documents of a block were not learned, 78%: they are near copies of others"
    )
    assert "their sources have their share already" in line(replace(flood, by="over_share"))
    assert line(Event(OMITTED, figures={"events": 1200}, time=DAY)) == (
        "1,200 more events are not listed"
    )
    assert line(Event("later", time=DAY)) == "later: none"


def test_the_wording_of_lines_of_a_version():
    made = version(replaced=REPLACED, new_words=[new(2, 9)])
    chain, words = (line_of(made, event) for event in events_of(made))
    assert chain == made.replacement()
    assert words == (
        "new words: n1 30 (2 before, topic 2), n2 29 (2 before, topic 2), n3 28 (2 before, topic"
        " 2), n4 27 (2 before, topic 2), n5 26 (2 before, topic 2), 4 more"
    )
    assert summary_of(made) == (
        f"1970-01-03, {made.documents} documents: {made.replacement()}; {words}"
    )
