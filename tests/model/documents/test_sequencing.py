import hashlib
import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from blocks import joined
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import SECOND, SEQUENCE, TOKENISER, document, documents, links_of, shuffled

from beam_topics.model.documents import sequencing
from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.pending import ListBag, Mirror, PendingHead
from beam_topics.model.documents.sequencing import (
    SequenceHead,
    add_documents,
    chain_start,
    close_windows,
    cut_minibatches,
    sequence_documents,
    window_ends,
)
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.time_forms import read_time
from beam_topics.model.times import parse_time
from beam_topics.model.words.settings import TokeniserSettings


def sized(name, tokens, seconds=0):
    return Block.of_words([Document(name, seconds * SECOND, "")], [["w"] * tokens])


HOUR = 3600 * SECOND


def minibatches(items, **others):
    return [link.minibatch() for link in links_of(items, settings=replace(SEQUENCE, **others))]


class Sender:
    """A sequence with its state, by hand."""

    def __init__(self, **others):
        self.settings = replace(SEQUENCE, **others)
        self.head, self.mirror, self.bag = SequenceHead(0, bytes(32)), Mirror(), ListBag()

    def send(self, *items):
        self.head, ends, late = add_documents(
            self.head,
            self.mirror,
            self.bag,
            Block.joined(items).to_bytes(),
            self.settings,
        )
        assert ends
        return late

    def close_windows(self, seconds, **others):
        found = []
        for closed in close_windows(
            self.head,
            self.mirror,
            self.bag,
            time=seconds * SECOND,
            settings=self.settings,
            **others,
        ):
            self.head = closed.head
            found += [link.minibatch() for link in closed.links]
            assert all(
                minibatch.window_end == closed.end for minibatch in found[-len(closed.links) :]
            )
        return found


@pytest.mark.parametrize(
    ("time", "end"), [(0, 10), (9, 10), (10, 20), (-1, 0), (-10, 0), (-11, -10)]
)
def test_windows_are_aligned_and_hold_their_start(time, end):
    assert SequenceSettings(window=10).window_end(time) == end


DAYS = SequenceSettings(window=24 * HOUR, minibatch_size=3, time_zone="Europe/Berlin")


@pytest.mark.parametrize(
    ("day", "hours"), [("2024-03-31", 23), ("2024-10-27", 25), ("2024-07-01", 24)]
)
def test_a_window_of_a_day_is_a_day_of_the_zone(day, hours):
    start = read_time(day, zone="Europe/Berlin")
    end = start + hours * HOUR
    for time in (start, start + HOUR, end - 1):
        assert DAYS.window_end(time) == end and DAYS.window_start(end) == start
    assert DAYS.window_end(start - 1) == start and DAYS.window_end(end) > end


@given(
    st.integers(parse_time("1900-01-01"), parse_time("2100-01-01")),
    st.sampled_from(["Europe/Berlin", "America/Sao_Paulo", "America/Havana", "Asia/Kathmandu"]),
    st.sampled_from([24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR, HOUR, 25 * HOUR]),
)
def test_windows_of_a_zone_follow_each_other_without_a_gap(time, zone, length):
    how = SequenceSettings(window=length, time_zone=zone)
    end = how.window_end(time)
    start = how.window_start(end)
    assert (
        start <= time < end and how.window_end(start) == end and how.window_end(start - 1) == start
    )
    if length % (24 * HOUR):
        assert end == SequenceSettings(window=length).window_end(time)
    else:
        # A change of clocks, and one of the meridian of Kathmandu, are below three hours.
        assert abs(end - start - length) < 3 * HOUR


def test_late_documents_join_the_next_day_of_the_zone():
    times = ("2024-10-26T21:59Z", "2024-10-26T22:00Z", "2024-10-27T22:59Z", "2024-10-27T23:00Z")
    items = [document(str(n), parse_time(time) // SECOND) for n, time in enumerate(times)]
    found = [link.minibatch() for link in links_of(items, settings=DAYS)]
    assert [m.ids for m in found] == [("0",), ("1", "2"), ("3",)]
    head = SequenceHead(1, bytes(32), closed=found[0].window_end)
    added = add_documents(head, Mirror(), ListBag(), document("late", 0).to_bytes(), DAYS)
    assert (added.ends, added.late) == ((found[1].window_end,), 1)


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=40),
    st.sampled_from(["UTC", "Europe/Berlin"]),
    st.integers(1, 30),
)
def test_the_ends_of_many_windows_are_those_of_each_time(hours, zone, length):
    how = SequenceSettings(window=length * HOUR, time_zone=zone)
    times = np.array(hours, np.int64) * HOUR + parse_time("2024-03-30T22:00Z")
    assert window_ends(times, how).tolist() == [how.window_end(time) for time in times.tolist()]


def test_the_zone_is_part_of_the_chain():
    plain = replace(DAYS, time_zone="UTC")
    assert "time_zone" not in plain.canonical() and "Europe/Berlin" in DAYS.canonical()
    assert sequencing.chain_start("", TOKENISER, plain) != sequencing.chain_start(
        "", TOKENISER, DAYS
    )


ARRIVALS = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 60)), min_size=1, max_size=9),
        st.sampled_from([None, 15, 40]),
    ),
    max_size=8,
)


@given(ARRIVALS, st.integers(1, 9), st.sampled_from(["first", "last"]))
def test_blocks_of_many_windows_come_to_what_their_documents_alone_come_to(
    arrivals, together, on_repeat
):
    alone, whole = (Sender(on_repeat=on_repeat) for _ in range(2))
    late, found, places = [0, 0], [[], []], itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequencing, "_TOGETHER", together)
        for items, time in [*arrivals, ([], 1000)]:
            texts = [Document(name, at * SECOND, "", arrived=next(places)) for name, at in items]
            words = [[f"{name}{at % 7}", "w"] for name, at in items]
            made = [Block.of_words([text], [word]) for text, word in zip(texts, words, strict=True)]
            late[0] += sum(alone.send(one) for one in made)
            if made:
                late[1] += whole.send(Block.of_words(texts, words))
            for sender, minibatches in zip((alone, whole), found, strict=True):
                if time is not None:
                    minibatches += sender.close_windows(time)
                    sender.mirror = Mirror()
    assert late[0] == late[1]
    assert [one.to_bytes() for one in found[0]] == [one.to_bytes() for one in found[1]]
    assert alone.head.chain == whole.head.chain and whole.head.pending.live == 0


def test_a_block_that_comes_twice_is_two_blocks():
    sender = Sender()
    block = Block.joined([document("a", 1), document("b", 70)])
    sender.send(block), sender.send(block)
    letters = []
    for closed in close_windows(
        sender.head, sender.mirror, sender.bag, time=10**12, settings=sender.settings
    ):
        letters += [letter.reason for letter in closed.dead_letters]
    assert letters == ["copy", "copy"]


def test_the_result_does_not_depend_on_the_order_of_arrival():
    items = documents(80)
    assert links_of(items) == links_of(shuffled(items, "a")) == links_of(shuffled(items, "b"))


def test_every_document_is_in_one_minibatch_of_its_window_in_order_of_time():
    items = documents(80)
    found = minibatches(items)
    assert sorted(id for m in found for id in m.ids) == sorted(item.ids[0] for item in items)
    times = [int(t) for m in found for t in m.timestamps]
    assert times == sorted(times)
    assert all(m.window_end == SEQUENCE.window_end(int(t)) for m in found for t in m.timestamps)
    assert [m.sequence for m in found] == list(range(1, len(found) + 1))


def test_the_last_minibatch_of_a_window_closes_it():
    found = minibatches(documents(80))
    for this, following in zip(found, found[1:], strict=False):
        assert this.closes_window == (this.window_end != following.window_end)
    assert found[-1].closes_window


def test_ties_of_time_are_broken_by_id_then_by_content():
    names = "abcdefghijkl"
    found = minibatches(shuffled([document(name, 3) for name in names], "ties"), minibatch_size=20)[
        0
    ].ids
    assert found == tuple(names)


def test_equal_times_and_ids_are_told_apart_by_content_and_not_by_arrival():
    def same(word):
        return Block.of_words([Document("a", 3 * SECOND, "")], [[word]])

    items = [same(word) for word in ("tax", "law", "ship", "sea")]
    ordered = sorted(items, key=lambda item: hashlib.sha256(item.content(0)).digest())
    for order in itertools.permutations(items):
        letters = []
        (link,) = sequence_documents(joined(order), SEQUENCE, bytes(32), letters.append)
        assert link.minibatch().words == ordered[0].words
        assert [json.loads(letter.record)["words"] for letter in letters] == [
            item.words[0] for item in ordered[1:]
        ]


def test_links_are_a_chain_that_begins_with_key_and_settings():
    links = links_of(documents(30))
    assert links[0].previous == chain_start("", TOKENISER, SEQUENCE)
    assert all(a.fingerprint == b.previous for a, b in zip(links, links[1:], strict=False))
    starts = {
        chain_start("", TOKENISER, SEQUENCE),
        chain_start("k", TOKENISER, SEQUENCE),
        chain_start("", TokeniserSettings(word_forms=("numbers",)), SEQUENCE),
        chain_start("", TOKENISER, SequenceSettings()),
    }
    assert len(starts) == 4


def test_a_changed_minibatch_is_noticed():
    link = links_of(documents(30))[3]
    with pytest.raises(DamagedDataError, match="minibatch 4"):
        NumberedMinibatch(
            link.sequence, link.previous, link.fingerprint, link.payload[:-1] + b"\1"
        ).minibatch()


def test_a_repeated_id_is_a_dead_letter_and_the_first_is_kept():
    letters = []
    items = [
        document("a", 5),
        document("a", 2),
        document("b", 3),
        document("a", 15),
        document("b", 3),
    ]
    links = list(sequence_documents(joined(items), SEQUENCE, bytes(32), letters.append))
    assert [link.minibatch().ids for link in links] == [("a", "b"), ("a",)]
    assert int(links[0].minibatch().timestamps[0]) == 2 * SECOND
    assert [letter.reason for letter in letters] == ["copy", "copy"]
    assert (
        "'a'" in letters[0].detail
        and '"timestamp":"1970-01-01T00:00:05.000000Z"' in letters[0].record
    )
    assert "1970-01-01T00:00:10" in letters[0].source


@pytest.mark.parametrize(("rule", "reasons"), [("first", ["repeated_id"]), ("last", ["replaced"])])
def test_of_one_id_the_first_or_the_last_that_arrived_stays(rule, reasons):
    letters = []
    asked = replace(SEQUENCE, on_repeat=rule)
    # Its time is the earlier one, and it came later.
    items = [
        replace(document("a", 5), arrived=np.array([7])),
        replace(document("a", 2), arrived=np.array([8])),
    ]
    other = Block.of_words([Document("a", 2 * SECOND, "", arrived=8)], [["new"]])
    for both in ([items[0], other], [other, items[0]]):
        letters.clear()
        (link,) = sequence_documents(joined(both), asked, bytes(32), letters.append)
        kept = items[0] if rule == "first" else other
        assert link.minibatch().timestamps.tolist() == kept.timestamps.tolist()
        assert [letter.reason for letter in letters] == reasons
        assert f"the {rule} one (--on_repeat)" in letters[0].detail
    letters.clear()
    (link,) = sequence_documents(joined(items), asked, bytes(32), letters.append)
    assert [letter.reason for letter in letters] == ["copy"]
    assert link.minibatch().timestamps.tolist() == [(5 if rule == "first" else 2) * SECOND]


def cut(sizes, bounds):
    rest = iter(sizes)
    parts = [list(itertools.islice(rest, count)) for count in cut_minibatches(sizes, bounds)]
    return parts + [[size] for size in rest]


def test_cut_by_documents_and_by_tokens(monkeypatch):
    monkeypatch.setattr(SequenceSettings, "minibatch_tokens", 10)
    bounds = SequenceSettings(minibatch_size=3)
    sizes = [4, 4, 4, 11, 1, 0, 0, 0, 10, 10]
    parts = cut(sizes, bounds)
    assert parts == [
        [4, 4],
        [4],
        [11],
        [1, 0, 0],
        [0, 10],
        [10],
    ]


@settings(max_examples=100)
@given(st.lists(st.integers(0, 12), max_size=30), st.integers(1, 5), st.integers(1, 12))
def test_cut_keeps_all_in_order_and_within_bounds(sizes, most, tokens):
    bounds = SequenceSettings(minibatch_size=most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SequenceSettings, "minibatch_tokens", tokens)
        parts = cut(sizes, bounds)
    assert [size for part in parts for size in part] == sizes
    assert all(
        len(part) <= most and (len(part) == 1 or 0 < sum(part) <= tokens or not sum(part))
        for part in parts
    )


def test_a_late_document_joins_the_window_that_is_open_now():
    sender = Sender()
    assert not sender.send(document("a", 5))
    assert not sender.send(document("b", 25))
    assert [m.ids for m in sender.close_windows(10)] == [("a",)]
    assert sender.send(document("late", 7))
    # Nothing was closed between 10 and 20, so this one is not late however far the watermark is.
    assert not sender.send(document("own", 14))
    found = sender.close_windows(20)
    assert [(m.ids, m.window_end) for m in found] == [(("late", "own"), 20 * SECOND)]
    assert [m.ids for m in sender.close_windows(30)] == [("b",)]


def test_a_block_of_several_windows_waits_whole_and_its_late_documents_are_counted():
    sender = Sender()
    assert not sender.send(document("a", 5), document("b", 25), document("c", 6))
    assert sender.head.pending.live == 1
    assert [m.ids for m in sender.close_windows(10)] == [("a", "c")]
    late = [document("late", 7), document("own", 14), document("later", 8)]
    assert sender.send(*late, document("d", 26)) == 2
    assert [m.ids for m in sender.close_windows(20)] == [("late", "later", "own")]
    assert [m.ids for m in sender.close_windows(30)] == [("b", "d")]


@pytest.mark.parametrize("times", [(7, 14), (14, 7)])
def test_late_documents_of_a_block_are_counted_apart_from_those_of_the_window_they_join(times):
    sender = Sender()
    sender.send(document("a", 1), document("b", 9))
    sender.close_windows(10)
    assert sender.send(*(document(str(time), time) for time in times)) == 1
    assert [m.ids for m in sender.close_windows(20)] == [("7", "14")]


def test_a_block_of_one_window_stays_whole():
    sender = Sender()
    items = [document(f"d{i}", i) for i in range(9)]
    sender.send(*items)
    assert [data[12:] for data in sender.bag.elements] == [Block.joined(items).to_bytes()]


def test_windows_that_are_due_together_close_in_their_order():
    sender = Sender()
    for item in (document("c", 25), document("a", 5), document("b", 15)):
        sender.send(item)
    assert [m.ids for m in sender.close_windows(100)] == [("a",), ("b",), ("c",)]
    assert sender.head.pending == PendingHead(done=30 * SECOND)


def test_a_firing_that_is_cut_by_its_budget_goes_on_with_the_same_minibatches():
    items = [document(f"d{i}", i / 10) for i in range(90)] + [document("d3", 1)]
    whole = Sender()
    sender = Sender()
    for item in items:
        whole.send(item)
        sender.send(item)
    want = whole.close_windows(10)
    found = sender.close_windows(10, budget=1)
    assert len(found) == 1
    # The window takes nobody in any more, and its documents stay in the buffer until all are sent.
    assert sender.send(document("late", 3))
    while sender.head.taken:
        # As after a restart: nothing in memory.
        sender.mirror = Mirror()
        found += sender.close_windows(10, budget=2000)
    assert [m.to_bytes() for m in found] == [m.to_bytes() for m in want]
    assert [m.ids for m in sender.close_windows(20)] == [("late",)]


def test_repeated_ids_are_told_once_however_often_a_window_is_cut():
    sender = Sender()
    for i in range(10):
        sender.send(document(f"d{i}", i / 10))
        sender.send(document(f"d{i}", 5))
    letters = []
    while sender.head.pending.live:
        (closed,) = close_windows(
            sender.head,
            sender.mirror,
            sender.bag,
            time=10 * SECOND,
            settings=sender.settings,
            budget=1,
        )
        letters += closed.dead_letters
        sender.head = closed.head
    assert len(letters) == 10


def test_a_window_of_very_many_documents():
    items = [sized(f"d{i:05}", i % 3, 1) for i in range(20_000)]
    found = minibatches(items, minibatch_size=200)
    assert len(found) == 100
    assert sum(len(m) for m in found) == 20_000


@pytest.mark.parametrize("closed", [None, -10, 20])
def test_head_round_trip(closed):
    head = SequenceHead(4, b"\xff" * 32, closed, 3, PendingHead(2, 9, 5, 1, None))
    assert SequenceHead.from_bytes(head.to_bytes()) == head


def test_a_head_of_another_release_is_refused():
    with pytest.raises(DamagedDataError, match="another release"):
        SequenceHead.from_bytes(b"BTs0" + SequenceHead(0, b"").to_bytes()[4:])


def test_the_reason_is_a_counter_name():
    assert all(reason.isidentifier() for reason in sequencing.REPEATS)
