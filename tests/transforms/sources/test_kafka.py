"""The Kafka source and sink over a client in memory; tests/runners/ has a real broker."""

import json
from dataclasses import asdict
from functools import partial
from types import SimpleNamespace

import apache_beam as beam
import driving
import numpy as np
import pytest
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import MAX_TIMESTAMP
from collecting import run
from log_battery import check_laws

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import ranges_of, reads_on
from beam_topics.model.errors import DamagedDataError, OptionError, SourceError
from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.reading.parsing import place_id
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.stored import wire
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.transforms import send as kafka_sink
from beam_topics.transforms.send import (
    KafkaSinkDoFn,
    WriteToKafka,
)
from beam_topics.transforms.sources import kafka, kafka_client, log_source
from beam_topics.transforms.sources.kafka import (
    PARTITION_WATERMARKS,
    KafkaDoFn,
    ListPartitions,
    Partition,
    PartitionReader,
    PartitionWatermarks,
    ReadKafka,
    partitions_of,
)
from beam_topics.transforms.sources.kafka_client import (
    KafkaClientSettings,
    KafkaSettings,
    TopicSettings,
    properties,
)
from beam_topics.transforms.sources.log_source import READER_CACHE, LogRange, Pause

SECOND = 1_000_000


def kafka_settings(topic="posts", **facts):
    facts = {"max_future": 10**18, **facts}
    return KafkaSettings(KafkaClientSettings("b:9"), TopicSettings(topic, **facts))


SETTINGS = kafka_settings(until="end", idle_after=60 * SECOND)
TOKENISER = TokeniserSettings()
EOF, RESET, BROKEN, DOWN = -191, -140, 17, -187


class Message:
    def __init__(self, offset, value=None, millis=10**12, code=None):
        self._offset, self._value, self._millis, self._code = offset, value, millis, code

    def offset(self):
        return self._offset

    def value(self):
        return self._value

    def timestamp(self):
        return (0 if self._millis is None else 1), self._millis or -1

    def error(self):
        if self._code is None:
            return None
        return SimpleNamespace(
            code=lambda: self._code, str=lambda: f"code {self._code}", retriable=lambda: False
        )


def message(offset, seconds=None, **others):
    return Message(
        offset,
        json.dumps(
            {
                "id": f"d{offset}",
                "timestamp": offset if seconds is None else seconds,
                "text": "a text",
            }
        ).encode(),
        **others,
    )


class Broker:
    """Topics in memory: partition -> messages; it stands in for the module confluent_kafka too."""

    KafkaException = type("KafkaException", (Exception,), {})
    KafkaError = SimpleNamespace(
        _PARTITION_EOF=EOF, _AUTO_OFFSET_RESET=RESET, _ALL_BROKERS_DOWN=DOWN, _TRANSPORT=-195
    )
    TIMESTAMP_NOT_AVAILABLE = 0

    def __init__(self, partitions):
        self.partitions, self.open, self.opened = partitions, 0, 0
        self.sent, self.refuse, self.largest, self.silent = [], 0, 10**6, False

    def TopicPartition(self, topic, partition, offset=None):
        return SimpleNamespace(topic=topic, partition=partition, offset=offset)

    def Consumer(self, settings):
        assert settings["auto.offset.reset"] == "error"
        return Consumer(self)

    def Producer(self, settings):
        assert settings["enable.idempotence"]
        return Producer(self)


class Consumer:
    def __init__(self, broker):
        self._broker, self._at = broker, None
        broker.open += 1
        broker.opened += 1

    def list_topics(self, topic, timeout):
        error = None if topic == "posts" else SimpleNamespace(str=lambda: "unknown topic")
        return SimpleNamespace(
            topics={topic: SimpleNamespace(error=error, partitions=self._broker.partitions)}
        )

    def get_watermark_offsets(self, which, timeout):
        # The partition's end is told as an offset behind the last one.
        ends = [m.offset() + (m.error() is None) for m in self._broker.partitions[which.partition]]
        return (self._broker.partitions[which.partition][0].offset(), ends[-1]) if ends else (0, 0)

    def offsets_for_times(self, asked, timeout):
        (which,) = asked
        later = [
            m.offset()
            for m in self._broker.partitions[which.partition]
            if m.timestamp()[1] >= which.offset
        ]
        return [SimpleNamespace(offset=later[0] if later else -1)]

    def assign(self, which):
        (self._which,) = which
        self._at = self._which.offset

    def consume(self, most, timeout):
        found = [
            m for m in self._broker.partitions[self._which.partition] if m.offset() >= self._at
        ][:3]
        self._at = found[-1].offset() + 1 if found else self._at
        return found

    def close(self):
        self._broker.open -= 1


class Producer:
    def __init__(self, broker):
        self._broker, self._waiting = broker, []

    def produce(self, topic, value, key, on_delivery):
        if "\0" in topic:
            raise ValueError("embedded null character")
        if len(value) > self._broker.largest:
            raise Broker.KafkaException("Message size too large")
        if len(self._waiting) >= 5:
            raise BufferError
        self._waiting.append((key, value, on_delivery))

    def poll(self, seconds):
        if seconds:
            self.flush(seconds)

    def flush(self, timeout):
        if self._broker.silent:
            return len(self._waiting)
        for key, value, on_delivery in self._waiting:
            if self._broker.refuse:
                self._broker.refuse -= 1
                on_delivery(SimpleNamespace(str=lambda: "too large"), None)
            else:
                self._broker.sent.append((key, value))
                on_delivery(None, None)
        self._waiting = []
        return 0


@pytest.fixture
def broker(monkeypatch):
    made = Broker(
        {0: [message(n) for n in range(5, 15)], 1: [], 2: [message(n, n) for n in range(8)]}
    )
    for module in (kafka, kafka_client, kafka_sink):
        monkeypatch.setattr(module, "client_library", lambda: made)
    PARTITION_WATERMARKS.__init__()
    yield made
    READER_CACHE.__init__()


def partitions(settings=SETTINGS):
    return [asdict(found) for found in partitions_of(settings)]


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"[" * 1000,
        b'{"topic": "t", "partition": 0, "start": 0}',
        b'{"topic": "t", "partition": "0", "start": 0, "stop": null}',
        b'{"topic": "t", "partition": 0, "start": NaN, "stop": null}',
    ],
)
def test_a_damaged_partition_is_refused(data):
    with pytest.raises(DamagedDataError, match="a partition of Kafka"):
        dofn().range_of(data)


def dofn(settings=SETTINGS):
    return KafkaDoFn(settings, ParseSettings(), TOKENISER)


def element(partition, start, stop):
    return json.dumps(
        {"topic": "posts", "partition": partition, "start": start, "stop": stop}
    ).encode()


@pytest.mark.parametrize(
    ("changes", "ranges"),
    [
        ({}, [(5, 15), (0, 0), (0, 8)]),
        ({"until": "forever"}, [(5, None), (0, None), (0, None)]),
        ({"start": "latest"}, [(15, 15), (0, 0), (8, 8)]),
        ({"start": "2001-09-09T01:46:40", "until": "forever"}, [(5, None), (0, None), (0, None)]),
        ({"start": "2030-01-01", "until": "forever"}, [(15, None), (0, None), (8, None)]),
    ],
)
def test_what_is_read_of_each_partition(broker, changes, ranges):
    found = partitions(kafka_settings(**{"until": "end", **changes}))
    assert [(p["partition"], p["start"], p["stop"]) for p in found] == [
        (n, *pair) for n, pair in enumerate(ranges)
    ]
    assert broker.open == 0


def test_a_topic_that_is_not_there(broker):
    with pytest.raises(
        SourceError, match=r"topic 'wrong' at b:9: unknown topic\. Check --kafka_topic\."
    ):
        list(partitions_of(kafka_settings("wrong")))


def look(settings, before=None):
    """A look for partitions after another one: (number, start, stop) of each, and the bundle."""
    left = (before.rest, before.watermark) if before else ()
    done = driving.bundle(ListPartitions(settings), b"", *left)
    found = [Partition.from_bytes(data) for data in done.outputs]
    return [(one.partition, one.start, one.stop) for one in found], done


@pytest.mark.parametrize(
    ("start", "old", "new"),
    [
        ("earliest", (5, 0, 0), 7),
        ("latest", (15, 0, 8), 7),
        ("2001-09-09T01:46:40", (5, 0, 0), 9),
    ],
)
def test_a_partition_that_is_added_is_given_once(broker, start, old, new):
    settings = kafka_settings(start=start)
    found, first = look(settings)
    assert found == [(number, offset, None) for number, offset in enumerate(old)]
    assert look(settings, first)[0] == []
    _, second = look(settings, first)
    broker.partitions[3] = [message(7, millis=1), message(8, millis=1), message(9)]
    found, third = look(settings, second)
    assert found == [(3, new, None)]
    assert look(settings, third)[0] == []
    # A restored job looks behind what its checkpoint says was given.
    assert look(settings, first)[0] == [(3, new, None)]
    # It looks again in ten seconds, and neither holds the watermark nor ends the stream.
    for done in (first, second, third):
        assert 9 < done.seconds <= 10
        assert MAX_TIMESTAMP.micros > done.watermark >= GlobalWindow().max_timestamp().micros
    assert broker.open == 0


def test_a_look_for_what_the_topic_holds_now_is_the_only_one(broker):
    found, done = look(SETTINGS)
    assert found == [(0, 5, 15), (1, 0, 0), (2, 0, 8)]
    assert done.rest is None


def test_brokers_that_do_not_answer_are_asked_again_once_partitions_are_read(broker, monkeypatch):
    settings, end = kafka_settings(), Consumer.get_watermark_offsets

    def silent_for_the_fourth(consumer, which, timeout):
        if which.partition == 4:
            raise Broker.KafkaException("no leader")
        return end(consumer, which, timeout)

    _, done = look(settings)
    broker.partitions.update({3: [message(0)], 4: [message(0)]})
    with monkeypatch.context() as patched:
        patched.setattr(Consumer, "get_watermark_offsets", silent_for_the_fourth)
        found, done = look(settings, done)
        assert found == [(3, 0, None)]
        with pytest.raises(SourceError, match=r"brokers b:9 do not answer: no leader\. Check"):
            look(settings)
    assert look(settings, done)[0] == [(4, 0, None)]
    assert broker.open == 0


@pytest.mark.parametrize("entries", [1, 4, 1000])
def test_a_partition_is_read_to_its_end_in_order(broker, monkeypatch, entries):
    monkeypatch.setattr(log_source, "BUNDLE_ENTRIES", entries)
    bundles = driving.to_the_end(dofn(), element(0, 5, 15))
    assert driving.ids(bundles) == [f"d{n}" for n in range(5, 15)]
    assert broker.open == 0


def test_the_laws_of_a_log(broker):
    check_laws(dofn, element(0, 5, 15), [f"d{n}" for n in range(5, 15)])


@pytest.mark.parametrize("cut", range(1, 10))
def test_a_restored_partition_goes_on_at_its_offset(broker, cut):
    bundles = [driving.bundle(dofn(), element(0, 5, 15), stop_after=cut)]
    assert LogRange.from_bytes(bundles[0].rest) == LogRange((5 + cut,), (15,))
    bundles += [driving.bundle(dofn(), element(0, 5, 15), bundles[0].rest, bundles[0].watermark)]
    assert driving.ids(bundles) == [f"d{n}" for n in range(5, 15)]


def test_messages_that_are_sent_later_are_not_part_of_the_end(broker):
    broker.partitions[0].append(message(15))
    assert driving.ids(driving.to_the_end(dofn(), element(0, 5, 15))) == [
        f"d{n}" for n in range(5, 15)
    ]


def test_markers_at_the_end_are_passed(broker):
    # A transaction leaves an offset behind that nobody can read; the client tells that the
    # partition has ended.
    broker.partitions[0].append(Message(16, code=EOF))
    assert driving.ids(driving.to_the_end(dofn(), element(0, 5, 16))) == [
        f"d{n}" for n in range(5, 15)
    ]


def test_a_partition_that_ends_in_a_marker_keeps_its_consumer_and_becomes_idle(broker, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(
        kafka,
        "PartitionReader",
        partial(PartitionReader, clock=lambda: clock[0], now=lambda: 10_000.0),
    )
    broker.partitions[0].append(Message(16, code=EOF))
    fn, source = dofn(kafka_settings(idle_after=60 * SECOND)), element(0, 5, None)
    done = driving.bundle(fn, source)
    # The marker belongs to what was read: if it is removed while nothing comes, nothing is lost.
    assert LogRange.from_bytes(done.rest).start == (16,)
    for clock[0] in (30.0, 60.0):
        done = driving.bundle(fn, source, done.rest, done.watermark)
    assert done.watermark == (10_000 - 60) * SECOND
    broker.partitions[0].append(message(17))
    done = driving.bundle(fn, source, done.rest, done.watermark)
    assert (driving.ids([done]), LogRange.from_bytes(done.rest).start) == (["d17"], (18,))
    assert broker.opened == 1


def test_a_marker_is_not_passed_behind_a_rest_that_was_taken_away(broker):
    broker.partitions[0].append(Message(16, code=EOF))
    fn, source = dofn(kafka_settings()), element(0, 5, None)
    first = driving.bundle(fn, source, stop_after=10)
    assert LogRange.from_bytes(first.rest).start == (15,)
    second = driving.bundle(fn, source, first.rest, first.watermark)
    assert LogRange.from_bytes(second.rest).start == (16,)
    assert driving.ids([first, second]) == [f"d{n}" for n in range(5, 15)]


def reader(
    broker,
    settings=SETTINGS,
    start=0,
    stop=None,
    clock=lambda: 0.0,
    now=lambda: 0.0,
    partition=2,
    parse=None,
):
    consumer = Consumer(broker)
    consumer.assign([broker.TopicPartition("posts", partition, start)])
    return PartitionReader(
        consumer,
        Partition("posts", partition, 0, stop),
        (start,),
        settings=settings,
        parse=parse or ParseSettings(),
        clock=clock,
        now=now,
    )


def test_an_id_may_be_the_topic_the_partition_and_the_offset_and_a_time_a_number_of_milliseconds(
    broker,
):
    broker.partitions[2] = [
        Message(0, b'{"timestamp": 5000, "text": "a"}'),
        Message(1, b'{"timestamp": 6000, "text": "a"}'),
    ]
    parse = ParseSettings(id_from="place", timestamp_format="ms")
    one = reader(broker, parse=parse)
    items = [one.take().item, one.take().item]
    assert [item.id for item in items] == [place_id("posts/2/0"), place_id("posts/2/1")]
    assert [item.timestamp for item in items] == [5 * SECOND, 6 * SECOND]


def test_bad_messages_are_dead_letters_with_their_place(broker):
    broker.partitions[2] = [message(0), Message(1, b"no json"), Message(2, b""), message(3)]
    one = reader(broker)
    items = [one.take().item for _ in range(4)]
    assert [(item.source, item.reason) for item in items[1:3]] == [
        ("posts/2/1", "not_json"),
        ("posts/2/2", "not_json"),
    ]
    assert (items[0].id, items[3].id) == ("d0", "d3")
    assert [items[at].arrived for at in (0, 3)] == [0, 3]


def test_tombstones_are_passed_over(broker):
    broker.partitions[2] = [message(0), Message(1, None), message(2), Message(3, None)]
    one = reader(broker)
    assert [one.take().item.id for _ in range(2)] == ["d0", "d2"]
    assert one.take().passed == (3,)
    assert one.position == (4,)


def test_places_cover_what_holds_no_document(broker):
    bad, gone = Message(1, b"not json"), Message(2)
    broker.partitions = {0: [message(0), bad, gone, message(3), message(7), Message(8, b"[")]}
    one = dofn().open(element(0, 0, 9), (0,))
    items = [one.take().item for _ in range(5)]
    places = [item.place for item in items if isinstance(item, Document)]
    assert places == ["0 0 1 posts/0", "0 1 4 posts/0", "0 4 8 posts/0"]
    assert reads_on(ranges_of(places)) == {"posts/0": 8}


def test_a_restored_partition_begins_its_places_at_its_offset(broker):
    reader = dofn().open(element(0, 5, 15), (9,))
    assert reader.take().item.place == "5 9 10 posts/0"
    reader.close()


def test_the_watermark_is_the_time_less_the_delay_and_at_most_the_messages_own(broker):
    future = 4 * 10**9
    broker.partitions[2] = [
        message(0, 100),
        message(1, future, millis=200_000),
        message(2, 150, millis=None),
        Message(3, b"x"),
    ]
    one = reader(broker, kafka_settings(max_delay=10 * SECOND))
    # It never moves back, and a dead letter says nothing.
    assert [one.take().watermark for _ in range(4)] == [
        90 * SECOND,
        190 * SECOND,
        190 * SECOND,
        190 * SECOND,
    ]


def test_a_document_long_after_its_message_is_a_dead_letter_and_holds_nothing_back(broker):
    broker.partitions[2] = [
        message(0, 100, millis=100_000),
        message(1, 171, millis=110_000),
        message(2, 170, millis=110_000),
        # Without a time of the message there is nothing to compare with.
        message(3, 4 * 10**9, millis=None),
    ]
    settings = kafka_settings(max_future=60 * SECOND)
    for _ in range(2):
        one = reader(broker, settings)
        taken = [one.take() for _ in range(4)]
        assert [taken[at].item.id for at in (0, 2, 3)] == ["d0", "d2", "d3"]
        assert (taken[1].item.source, taken[1].item.reason) == ("posts/2/1", "future")
        assert taken[1].item.detail == (
            "the document is of 1970-01-01T00:02:51.000000Z, and its message of"
            " 1970-01-01T00:01:50.000000Z; at most 1min between them is allowed (--max_future)"
        )
        assert taken[1].watermark == taken[0].watermark == 100 * SECOND
        one.close()
    # The advice: a longer bound.
    one = reader(broker, kafka_settings(max_future=61 * SECOND))
    assert [one.take().item.id for _ in range(2)] == ["d0", "d1"]


def test_an_idle_partition_vouches_for_the_clock(broker):
    clock, now = [0.0], [10_000.0]
    one = reader(
        broker,
        kafka_settings(idle_after=60 * SECOND, max_delay=5 * SECOND),
        8,
        None,
        lambda: clock[0],
        lambda: now[0],
    )
    assert one.take().watermark is None
    clock[0] = 59.0
    assert one.take().watermark is None
    clock[0] = 60.0
    pause = one.take()
    assert pause.watermark == (10_000 - 60 - 5) * SECOND
    broker.partitions[2].append(message(8))
    assert one.take().position == (8,)
    # Its idle time starts again, and the time that it has vouched for stays.
    now[0] = 20_000.0
    assert one.take().watermark == pause.watermark


def test_a_partition_whose_brokers_do_not_answer_is_not_idle(broker, monkeypatch):
    one = reader(broker, start=8, clock=lambda: 1000.0)
    one._last_message = 0.0

    def silent(*_, **__):
        raise Broker.KafkaException

    with monkeypatch.context() as patched:
        patched.setattr(Consumer, "get_watermark_offsets", silent)
        assert one.take().watermark is None
    assert one.take().watermark is not None


def test_a_partition_with_messages_that_did_not_come_yet_is_not_idle(broker, monkeypatch):
    one = reader(broker, start=8, clock=lambda: 1000.0)
    one._last_message = 0.0
    broker.partitions[2].append(message(8))
    monkeypatch.setattr(Consumer, "consume", lambda *_: [])
    assert one.take().watermark is None


def test_no_partition_vouches_for_more_than_the_slowest_of_its_process(broker):
    ahead, behind = reader(broker, partition=2), reader(broker, start=5, partition=0)
    assert [ahead.take().watermark for _ in range(8)] == [n * SECOND for n in range(8)]
    assert behind.take().watermark == 5 * SECOND
    assert ahead.take().watermark == 5 * SECOND
    behind.take()
    assert ahead.take().watermark == 6 * SECOND
    behind.close()
    assert ahead.take().watermark == 7 * SECOND


def test_a_partition_that_is_read_elsewhere_is_left_out():
    clock = [0.0]
    watermarks = PartitionWatermarks(lambda: clock[0])
    assert watermarks.report("t", 0, 10) == 10
    assert watermarks.report("t", 1, None) is None
    assert watermarks.report("t", 0, 20) is None
    assert watermarks.report("u", 0, 30) == 30
    clock[0] = 59.0
    assert watermarks.report("t", 0, 15) is None
    clock[0] = 60.0
    assert watermarks.report("t", 0, None) == 20


def test_a_live_partition_pauses_and_goes_on(broker):
    fn, source = dofn(kafka_settings()), element(2, 0, None)
    first = driving.bundle(fn, source)
    assert driving.ids([first]) == [f"d{n}" for n in range(8)]
    # Flink waits for whole seconds.
    assert 1 < first.seconds <= 1.5
    broker.partitions[2].append(message(8))
    second = driving.bundle(fn, source, first.rest, first.watermark)
    assert driving.ids([second]) == ["d8"]
    assert broker.open == 1
    assert first.watermark == 7 * SECOND
    assert second.watermark == 8 * SECOND


@pytest.mark.parametrize(
    ("others", "active", "idle"), [(0, 1.5, 2.5), (2, 3.5, 5.5), (9, 5.5, 5.5)]
)
def test_pauses_grow_with_the_partitions_of_a_process(broker, others, active, idle):
    for number in range(others):
        PARTITION_WATERMARKS.report(SETTINGS, 100 + number, 0)
    reading = reader(broker, SETTINGS)
    for _ in range(8):
        assert not isinstance(reading.take(), Pause)
    assert reading.take().seconds == active
    reading._last_message -= 60
    assert reading.take().seconds == idle


def test_messages_that_are_gone_are_not_passed_over(broker):
    broker.partitions[2] = [Message(0, code=RESET)]
    with pytest.raises(
        SourceError,
        match=(
            r"posts/2 has nothing at offset 0 any more: it was removed before it was read\. Keep"
            r" messages"
        ),
    ):
        reader(broker).take()


def test_trouble_that_passes_is_waited_for_and_other_trouble_is_told(broker):
    broker.partitions[2] = [Message(0, code=DOWN)]
    assert isinstance(reader(broker).take(), Pause)
    broker.partitions[2] = [Message(0, code=BROKEN)]
    with pytest.raises(SourceError, match="posts/2: code 17"):
        reader(broker).take()


@pytest.mark.parametrize("flags", [(), ("--direct_runner_bundle_repeat=2",)])
def test_a_topic_becomes_documents_at_their_times(broker, flags):
    broker.partitions[1] = [Message(0, b"[]")]

    def build(pipeline):
        made = pipeline | ReadKafka(SETTINGS, ParseSettings(), TOKENISER)
        return {"documents": made.documents, "dead": made.dead_letters}

    results, counters = run(build, *flags)
    blocks = [Block.from_bytes(data) for _, data in results["documents"]]
    assert [micros for micros, _ in results["documents"]] == [
        int(one.timestamps.min()) for one in blocks
    ]
    found = {pair for one in blocks for pair in zip(one.timestamps.tolist(), one.ids, strict=True)}
    assert found == {(n * SECOND, f"d{n}") for n in range(15)}
    assert {json.loads(data)["source"] for _, data in results["dead"]} == {"posts/1/0"}
    if not flags:
        # Offsets 5, 6 and 7 are in two partitions.
        assert (counters["records_read"], counters["documents"], counters["dead_wrong_type"]) == (
            19,
            18,
            1,
        )


MIXTURES = [
    TopicMixture("k", f"d{n}", n, "v1", "gibbs3", np.array([0.25, 0.75]), n, n).to_bytes()
    for n in range(20)
]


def sent(topic="out"):
    sink = WriteToKafka("b:9", topic)
    _, counters = run(lambda pipeline: {"none": pipeline | beam.Create(MIXTURES) | sink})
    return counters


@pytest.fixture
def sink(broker, monkeypatch):
    monkeypatch.setattr(
        kafka_sink,
        "producer_of",
        lambda servers, config: broker.Producer({"enable.idempotence": True}),
    )
    return broker


def test_mixtures_are_sent_under_their_names(sink):
    assert sent()["mixtures_written"] == 20
    times = [f"1970-01-01T00:00:00.{n:06}Z" for n in range(20)]
    assert sorted(json.loads(key) for key, _ in sink.sent) == sorted(
        ["k", f"d{n}", time, "v1"] for n, time in enumerate(times)
    )
    value = json.loads(dict(sink.sent)[b'["k","d3","1970-01-01T00:00:00.000003Z","v1"]'])
    assert (value["id"], value["topic"], value["timestamp"]) == (
        "d3",
        1,
        "1970-01-01T00:00:00.000003Z",
    )
    assert value["topics"] == [{"topic": 1, "share": 0.75}, {"topic": 0, "share": 0.25}]


def trend(topic, start="2026-01-01T00:00:00Z"):
    row = {"key": "k", "window_start": start, "group": "", "topic": topic, "part": "p"}
    return json.dumps(row).encode()


def test_rows_of_trends_are_sent_under_their_names(sink):
    rows = [trend(topic) for topic in range(3)]
    into = WriteToKafka("b:9", "out", messages=kafka_sink.TRENDS)
    _, counters = run(lambda pipeline: {"none": pipeline | beam.Create(rows) | into})
    assert counters["trends_written"] == 3
    assert sorted(value for _, value in sink.sent) == rows
    assert sorted(json.loads(key) for key, _ in sink.sent) == [
        ["k", "2026-01-01T00:00:00Z", "", topic, "p"] for topic in range(3)
    ]
    sink.refuse = 1
    with pytest.raises(Exception, match="1 of . trends were not taken: .* Check --trends"):
        run(lambda pipeline: {"none": pipeline | beam.Create(rows) | into})


def test_a_refused_mixture_fails_its_bundle(sink):
    sink.refuse = 2
    with pytest.raises(
        Exception,
        match=(
            r"Kafka topic 'out' at b:9: 2 of \d+ mixtures were not taken: too large\. Check"
            r" --output"
        ),
    ):
        sent()


def test_a_mixture_that_the_client_does_not_take_is_told(sink):
    with pytest.raises(
        SourceError,
        match=r"Kafka topic 'o.*' at b:9: the mixture .* was not taken: embedded null character\.",
    ):
        sent("o\0ut")
    sink.largest = 10
    with pytest.raises(
        SourceError,
        match=(
            r'the mixture \["k","d\d+","1970.*","v1"\] was not taken: Message size too large\.'
            r" Check .*message\.max\.bytes in --kafka"
        ),
    ):
        sent()


def test_a_buffer_that_stays_full_is_told(sink, monkeypatch):
    monkeypatch.setattr(kafka_sink, "_TIMEOUT", 0.0)
    sink.silent = True
    with pytest.raises(
        SourceError,
        match=(
            r"the mixture .* was not taken: the client's buffer is full, and no answer in 60 s\."
            r" Check"
        ),
    ):
        sent()


def test_events_are_sent_under_their_names(sink):
    events = [
        wire.canonical_json({"key": "k", "version": "v1", "number": n, "kind": "change"}).encode()
        for n in range(3)
    ]
    write = WriteToKafka("b:9", "events", messages=kafka_sink.EVENTS)
    _, counters = run(lambda pipeline: {"none": pipeline | beam.Create(events) | write})
    assert counters["events_written"] == 3
    assert sorted(sink.sent) == [(b'["k","v1",%d]' % n, event) for n, event in enumerate(events)]


def test_events_that_are_refused_name_their_option(sink):
    sink.refuse = 1
    write = WriteToKafka("b:9", "events", messages=kafka_sink.EVENTS)
    data = b'{"key":"k","number":0,"version":"v1"}'
    with pytest.raises(Exception, match=r"1 of 1 events were not taken: .*Check --events and"):
        run(lambda pipeline: {"none": pipeline | beam.Create([data]) | write})


def test_late_answers_to_a_bundle_that_failed_are_not_the_next_ones(sink):
    fn = KafkaSinkDoFn("b:9", "out", "", kafka_sink.MIXTURES)
    fn.setup()

    def send(mixtures):
        fn.start_bundle()
        for data in mixtures:
            list(fn.process(data))

    send(MIXTURES[:2])
    # The runner gave it up; its messages are refused while the next bundle waits for its own.
    sink.refuse = 2
    send(MIXTURES[2:4])
    fn.finish_bundle()
    assert len(sink.sent) == 2
    sink.silent = True
    send(MIXTURES[4:7])
    with pytest.raises(SourceError, match=r"3 of 3 mixtures were not taken: no answer in 60 s"):
        fn.finish_bundle()


def test_an_impossible_start():
    with pytest.raises(OptionError) as error:
        kafka_settings(start="yesterday")
    assert (
        "--kafka_start: 'yesterday' was given; allowed is earliest, latest, or a time in ISO 8601"
    ) in str(error.value)


def test_client_properties_come_from_a_file(tmp_path):
    path = tmp_path / "client.properties"
    path.write_text("# mine\nsasl.username = me\n\nsasl.password=a=b\n")
    assert properties(str(path)) == {"sasl.username": "me", "sasl.password": "a=b"}
    assert properties("") == {}
    path.write_text("oops\n")
    with pytest.raises(
        OptionError, match=r"--kafka_config: '.*:1' was given; allowed is name=value in each line"
    ):
        properties(str(path))
    with pytest.raises(
        OptionError,
        match=r"--kafka_config: '/dev/zero' was given; allowed is a regular file\. It is a device",
    ):
        properties("/dev/zero")
    with pytest.raises(OptionError, match=r"--kafka_config: .*It cannot be read"):
        properties(str(tmp_path / "none"))


def test_a_property_that_the_client_does_not_know(monkeypatch, tmp_path):
    broker = Broker({})

    def refusing(settings):
        raise Broker.KafkaException(f'No such configuration property: "{next(reversed(settings))}"')

    broker.Consumer = broker.Producer = refusing
    monkeypatch.setattr(kafka_client, "client_library", lambda: broker)
    (tmp_path / "client").write_text("nonsense=1")
    told = (
        r"--kafka_config: .*client\' was given; allowed is a file of properties .*Correct the file:"
        r' No such .* "nonsense"\.'
    )
    with pytest.raises(OptionError, match=told):
        kafka_client.consumer_of(
            KafkaSettings(
                KafkaClientSettings("here", str(tmp_path / "client")), TopicSettings("topic")
            )
        )
    with pytest.raises(OptionError, match=told):
        kafka_client.producer_of("here", str(tmp_path / "client"))


@pytest.mark.parametrize(
    "name", ["auto.offset.reset", "enable.auto.commit", "enable.partition.eof"]
)
def test_a_property_that_would_lose_messages(tmp_path, name):
    (tmp_path / "client").write_text(f"sasl.username=u\n{name} = earliest\n")
    told = (
        r"--kafka_config: .*client:2' was given; allowed is properties other than"
        r" auto\.offset\.reset, .* Take the line out"
    )
    with pytest.raises(OptionError, match=told):
        kafka_client.properties(str(tmp_path / "client"))


def test_a_file_of_properties_on_a_file_system_that_is_not_installed():
    with pytest.raises(
        OptionError, match=r"--kafka_config: 'ftp://x/client' was given.*It cannot be read"
    ):
        kafka_client.properties("ftp://x/client")


def test_without_the_client(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "confluent_kafka", None)
    with pytest.raises(
        OptionError, match=r"--source: 'kafka' was given.*pip install 'beam-topics\[kafka\]'"
    ):
        kafka_client.client_library()
    with pytest.raises(OptionError, match=r"--output: 'kafka' was given"):
        kafka_client.client_library("--output")
