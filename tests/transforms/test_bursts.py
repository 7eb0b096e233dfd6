"""Bursts of rows are the same on a job that streams and on one that does not."""

import json
from collections import Counter

import apache_beam as beam
import numpy as np
import pytest
from blocks import count_in
from collecting import run
from reported import published

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.publishing.catalogue import Catalogue, CatalogueStore
from beam_topics.model.publishing.events import BURST, Event
from beam_topics.model.publishing.version_events import text_of
from beam_topics.model.reporting.alarms import Rule, Watched
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.reporting.trends import Trends
from beam_topics.model.times import to_iso
from beam_topics.pipelines.graphs.judging import known_of
from beam_topics.transforms.bursts import FindBursts, FindBurstsDoFn, Watch, records_of_bursts
from beam_topics.transforms.send import EVENT_KEY, row_message
from beam_topics.transforms.trends import rows_of

DAY = 86_400_000_000
FIRST = 40


def rows_with_a_burst(key):
    """(time in seconds, row) of 40 days; topic 1 has five times as many documents on two."""
    generator, found = np.random.default_rng(2), []
    for day in range(FIRST, FIRST + 40):
        table = Trends(5)
        for topic in range(5):
            many = 5 if topic == 1 and day - FIRST in (20, 21) else 1
            for number in range(generator.poisson(15 * many)):
                mixture = np.full(5, 0.05)
                mixture[topic] = 0.8
                named = (day * DAY + number, f"{key}-{day}-{topic}-{number}")
                count_in(table, day * DAY, "", mixture, tokens=9, words_known=9, named=named)
        end = (day + 1) * DAY
        found += [(end / 1e6, row) for row in rows_of(table, key, end, DAY)]
    return found


ROWS = [*rows_with_a_burst(""), *rows_with_a_burst("other")]


def bursts(root, *flags, rows=ROWS, known=(), streams=False, **given):
    def build(pipeline):
        stamped = (
            pipeline
            | beam.Create(rows)
            | beam.MapTuple(
                lambda time, row: beam.window.TimestampedValue(row, time)
            ).with_output_types(bytes)
        )
        return {
            "events": stamped | FindBursts(str(root), DAY, dict(known), streams=streams, **given)
        }

    held, _ = run(build, *flags)
    found = [json.loads(data) for _, data in held["events"]]
    return sorted(found, key=lambda event: (event["key"], event.get("rule"), event["number"]))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return published(tmp_path_factory.mktemp("store"), versions=3)


def by_hand(store):
    found = []
    for key in ("", "other"):
        rows = [row for _, row in ROWS if json.loads(row)["key"] == key]
        _, events = Watched().closed(DAY, rows)
        found += [json.loads(data) for data in records_of_bursts(store, Watch(key), events)]
    return sorted(found, key=lambda event: (event["key"], event["number"]))


def test_a_burst_is_told_once_with_the_words_of_the_version_before_its_end(store):
    found = bursts(store.root)
    told = [event for event in found if event["key"] == "" and event["topics"] == [1]]
    assert [event["time"] for event in told] == [to_iso((FIRST + 21) * DAY)]
    (event,) = told
    # Versions are 30 days apart; the one of day 60 is before the end of day 60.
    second = store.manifests("")[1]
    assert (event["version"], event["sequence"]) == (second.version, second.sequence)
    assert event["words"] == [store.get_snapshot(second).top_words(10)[1]]
    assert event["kind"] == BURST and event["by"] == "trends" and event["documents"] > 40
    assert all(name.startswith(f"-{FIRST + 20}-1-") for name in event["document_ids"])
    assert len(event["document_ids"]) == 3
    name = Shown.stored(store, second).names[1]
    assert event["names"] == [name]
    told = f"a burst. 48 documents, 23.5 expected: 1 ({name})"
    assert text_of(event) == f"1970-03-03T00:00:00: {told}"
    # A key without a version has bursts without words.
    other = [event for event in found if event["key"] == "other"]
    assert other and all(event["version"] == "" for event in other)
    assert not any(event["words"] or event["names"] for event in other)


def story(name, day, topics, **others):
    """A row of a story of a day."""
    return {
        "key": "",
        "window_end": to_iso((day + 1) * DAY),
        "story": name,
        "first": to_iso(day * DAY),
        "documents": 30,
        "topics": [{"topic": topic, "documents": n} for topic, n in topics.items()],
        "words": ["dam", "flood"],
        **others,
    }


@pytest.mark.parametrize("streams", [True, False])
def test_a_burst_names_the_stories_to_which_most_documents_of_the_topic_came(store, streams):
    day = FIRST + 20
    told = [story("a", day, {1: 2, 3: 9}), story("b", day, {1: 9}), story("c", day, {3: 9})]
    told += [story("d", day - 1, {1: 9}), story("e", day, {1: 1}), story("f", day, {1: 1})]
    rows = [((day + 1) * DAY / 1e6, json.dumps(one).encode()) for one in told]
    found = bursts(store.root, rows=[*rows, *ROWS], streams=streams)
    (event,) = [one for one in found if one["key"] == "" and one["topics"] == [1]]
    assert [(one["story"], one["came"]) for one in event["stories"]] == [
        ("b", 9),
        ("a", 2),
        ("e", 1),
    ]
    wanted = {"documents": 30, "first": to_iso(day * DAY), "words": ["dam", "flood"]}
    assert event["stories"][0] == {"story": "b", "came": 9, **wanted}
    assert "; story of 30: dam flood; story of 30: dam" in text_of(event)
    assert not any(one["stories"] for one in found if one is not event)


@pytest.mark.parametrize("streams", [True, False])
def test_bundles_repeats_and_order_change_nothing(store, streams):
    wanted = by_hand(store)
    assert wanted and bursts(store.root, streams=streams, rows=ROWS[::-1]) == wanted
    repeated = bursts(store.root, "--direct_runner_bundle_repeat=2", streams=streams)
    assert [e for at, e in enumerate(repeated) if e not in repeated[:at]] == wanted


def test_windows_are_judged_by_the_trends_of_earlier_runs(store, tmp_path):
    def between(first, last):
        return [(at, row) for at, row in ROWS if first < at * 1e6 / DAY - FIRST <= last]

    path = tmp_path / "trends-1.jsonl"
    path.write_bytes(b"".join(row + b"\n" for _, row in between(0, 20)))
    known, today = known_of(str(tmp_path), DAY), between(20, 21)
    assert sorted(known) == [Watch("").to_bytes(), Watch("other").to_bytes()]
    wanted = [one for one in by_hand(store) if one["time"] == to_iso((FIRST + 21) * DAY)]
    assert [one["topics"] for one in wanted] == [[1], [1]]
    assert bursts(store.root, rows=today, known=known) == wanted
    assert bursts(store.root, rows=today) == []
    assert known_of(str(tmp_path), DAY // 24) == {}
    path.write_text("{}\n")
    with pytest.raises(DamagedDataError, match=rf"^{path} cannot be read as trends: KeyError"):
        known_of(str(tmp_path), DAY)


def test_no_two_events_have_one_name(store):
    events = [
        Event(BURST, 1, 1.0, topics, time=day * DAY, figures={"expected": 1.0})
        for day in (-2, 1, 2)
        for topics in ([], [0], [1], [2])
    ]
    found = [json.loads(data) for data in records_of_bursts(store, Watch(""), events)]
    assert len({(one["version"], one["number"]) for one in found}) == len(events)


def by_region(rows, region):
    """The rows of documents that have a region, beside those of others."""
    return [(at, json.dumps(json.loads(row) | {"group": region}).encode()) for at, row in rows]


def test_rules_watch_topics_by_id_and_by_name_with_what_is_merged_into_them(store, tmp_path):
    catalogue = CatalogueStore(str(tmp_path))
    named = Catalogue().with_entries([4], name="Power out").merged([1], into=4)
    catalogue.put("", named)
    rules = (Rule("id", ("1",)), Rule("name", ("Power out",)), Rule("other", ("0", "none")))
    found = bursts(tmp_path, rules=rules)
    assert [(one["key"], one["rule"], one["topics"]) for one in found] == [
        ("", "id", [1]),
        ("", "name", [1]),
        ("other", "id", [1]),
    ]
    assert len({one["number"] for one in found if one["key"] == ""}) == 1
    names = {tuple(json.loads(row_message(EVENT_KEY, json.dumps(e).encode())[0])) for e in found}
    assert len(names) == 3 and "a burst. 48 documents, 23.5 expected: 1" in text_of(found[0])
    assert text_of(found[0]).startswith("1970-03-03T00:00:00: id: a burst")


def test_each_group_is_judged_by_itself(tmp_path):
    quiet = [(at, row) for at, row in ROWS if json.loads(row)["topic"] in (None, 0)]
    rows = [*by_region(ROWS, "north"), *by_region(quiet, "south")]
    rules = (Rule("regions", groups=("north", "south", "east")),)
    found = bursts(tmp_path, rows=rows, rules=rules)
    told = {(one["rule"], one["group"], one["word"], *one["topics"]) for one in found}
    assert told == {("regions", "north", None, 1)}
    assert "regions, north: a burst" in text_of(found[0])


def test_a_silence_is_told_as_a_burst_is(tmp_path):
    quiet = {str(to_iso((FIRST + at) * DAY)) for at in (20, 21, 30)}

    def less(row):
        return row["topic"] == 1 and row["window_start"] in quiet

    rows = [(at, json.loads(row)) for at, row in ROWS if json.loads(row)["key"] == ""]
    rows = [
        (at, {**row, "mean_share": row["mean_share"] / (20 if less(row) else 1)})
        for at, row in rows
    ]
    found = bursts(
        tmp_path,
        rows=[(at, json.dumps(row).encode()) for at, row in rows],
        rules=(Rule("quiet", tells="silence", topics=("1",)), Rule("loud", topics=("1",))),
    )
    assert [(one["rule"], one["kind"], one["topics"]) for one in found] == [
        ("quiet", "silence", [1])
    ] * 2
    assert found[0]["figures"]["seen"] < 0.3 * found[0]["figures"]["expected"]
    assert "quiet: a silence. " in text_of(found[0])


def test_a_rule_that_a_restored_job_does_not_have_tells_nothing(tmp_path):
    fn = FindBurstsDoFn(str(tmp_path), DAY, {}, (Rule("new"),), False, "")
    fn.take_due = lambda *_: [(0, [b"{}"])]
    assert list(fn.close(Watch("", "old").to_bytes(), 0, None, None, None)) == []


def test_limits_are_those_of_the_rule(tmp_path):
    rules = (Rule("few", false_discoveries=1.0, false_alarms=1e-6), Rule("usual"))
    rules += (Rule("many", false_discoveries=1.0, false_alarms=20.0),)
    count = Counter(one["rule"] for one in bursts(tmp_path, rules=rules))
    assert 0 == count["few"] < count["usual"] < count["many"]
