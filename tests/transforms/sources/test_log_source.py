"""The splittable DoFn of all logs, over a log in memory."""

import itertools

import driving
import pytest
from apache_beam.transforms.window import TimestampedValue
from log_battery import check_laws

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.reading.parsing import NUL, dead_letter
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.transforms.sources import log_source
from beam_topics.transforms.sources.log_source import (
    READER_CACHE,
    Entry,
    LogRange,
    LogSourceDoFn,
    Pause,
    ReaderCache,
    after,
)


class Fake:
    """A log in memory; a number among its entries is a pause of so many seconds."""

    opened = 0
    closed = 0

    def __init__(self, log, start):
        type(self).opened += 1
        self._log, self.position = log, start
        self._paused = False

    def take(self):
        if self.position[0] >= len(self._log):
            return None
        found = self._log[self.position[0]]
        if isinstance(found, float) and not self._paused:
            self._paused = True
            return Pause(found)
        self._paused = False
        position, self.position = self.position, after(self.position)
        if isinstance(found, float):
            return self.take()
        return Entry(position, found, found.timestamp if isinstance(found, Document) else None)

    def close(self):
        type(self).closed += 1


class FakeDoFn(LogSourceDoFn):
    numbers = itertools.count()

    def __init__(self, log, tokeniser=None):
        super().__init__(tokeniser)
        self.log = log
        self.number = next(self.numbers)

    def range_of(self, element):
        return LogRange((0,), (len(self.log),))

    def name_of(self, element):
        return self.number, element

    def open(self, element, start):
        return Fake(self.log, start)


LETTER = dead_letter("a:3", NUL, "a NUL", b"x")
LOG = [
    *(Document(f"d{n}", 1000 * n, "text") for n in range(7)),
    LETTER,
    0.25,
    Document("late", 500, "text"),
    Document("end", 9000, "text"),
]
IDS = [f"d{n}" for n in range(7)] + [None, "late", "end"]


@pytest.fixture(autouse=True)
def counted():
    Fake.opened = Fake.closed = 0


def test_the_laws_of_a_log():
    # A reader that is opened at the pause would pause again, so that another process never ends.
    log = [item for item in LOG if not isinstance(item, float)]
    check_laws(lambda: FakeDoFn(log), b"log", IDS)


class Forgetful(Fake):
    """A log with a planted fault: an entry is lost."""

    def take(self):
        if self.position == (4,):
            self.position = (5,)
        return super().take()


class ForgetfulDoFn(FakeDoFn):
    def open(self, element, start):
        return Forgetful(self.log, start)


class RenamedDoFn(FakeDoFn):
    """A log with a planted fault: its reader is never found again."""

    def name_of(self, element):
        return next(self.numbers)


@pytest.mark.parametrize(
    ("faulty", "law"),
    [
        (ForgetfulDoFn, "entries come in order"),
        (RenamedDoFn, "a reader stands where the rest of the range begins"),
    ],
)
def test_a_planted_fault_breaks_a_law(faulty, law):
    log = [item for item in LOG if not isinstance(item, float)]
    with pytest.raises(AssertionError, match=law):
        check_laws(lambda: faulty(log), b"log", IDS)


def test_a_log_comes_out_in_its_order():
    bundles = driving.to_the_end(FakeDoFn(LOG), b"log")
    assert driving.ids(bundles) == IDS
    assert [done.seconds for done in bundles] == [pytest.approx(0.25, abs=0.05), 0.0]
    # What was open at the pause went on; at the end it is closed.
    assert (Fake.opened, Fake.closed) == (1, 1)


def test_a_bundle_is_bounded_by_bytes_and_by_time(monkeypatch):
    monkeypatch.setattr(log_source, "BUNDLE_BYTES", 8)
    assert max(len(done.outputs) for done in driving.to_the_end(FakeDoFn(LOG), b"log")) == 2
    monkeypatch.setattr(log_source, "BUNDLE_SECONDS", 0.0)
    assert max(len(done.outputs) for done in driving.to_the_end(FakeDoFn(LOG), b"log")) == 1


def test_a_reader_that_has_gone_on_is_not_used_behind_a_rest_that_was_taken_away():
    for cut in range(1, len(IDS)):
        assert driving.ids(driving.to_the_end(FakeDoFn(LOG), b"log", stop_after=cut)) == IDS
        assert Fake.closed == Fake.opened


def test_the_watermark_is_the_largest_time_and_survives_checkpoints(monkeypatch):
    monkeypatch.setattr(log_source, "BUNDLE_ENTRIES", 3)
    bundles = driving.to_the_end(FakeDoFn(LOG), b"log")
    # d6 and the dead letter, then a pause; "late" does not take the time back.
    assert [done.watermark for done in bundles] == [2000, 5000, 6000, None]


def test_a_dead_letter_has_the_time_of_the_watermark():
    (letter,) = [
        output
        for done in driving.to_the_end(FakeDoFn(LOG), b"log")
        for output in done.outputs
        if hasattr(output, "tag")
    ]
    assert letter.value.timestamp.micros == 6000


def test_a_reader_is_closed_when_its_bundle_breaks(monkeypatch):
    fn = FakeDoFn([*LOG[:2], None])
    with pytest.raises(AttributeError):
        driving.bundle(fn, b"log")
    assert (Fake.opened, Fake.closed) == (1, 1)
    assert READER_CACHE.take(fn.name_of(b"log"), (2,)) is None


def test_a_drained_stream_reads_no_further():
    fn = FakeDoFn(LOG)
    assert fn.truncate(b"log", fn.initial_restriction(b"log")) is None


def test_parked_readers_are_found_only_where_they_stand():
    cache = ReaderCache()
    for name in "bc":
        cache.put(name, Fake(LOG, (ord(name),)))
    assert cache.take("a", (97,)) is None
    assert cache.take("b", (0,)) is None
    assert Fake.closed == 1
    reader = cache.take("c", (99,))
    assert reader.position == (99,)
    assert cache.take("c", (99,)) is None


def test_as_many_logs_as_a_process_reads_keep_their_readers(monkeypatch):
    monkeypatch.setattr(log_source, "BUNDLE_ENTRIES", 1)
    fn = FakeDoFn(LOG[:4])
    logs = {b"%d" % number: None for number in range(200)}
    for _ in range(5):
        logs = {log: driving.bundle(fn, log, rest).rest for log, rest in logs.items()}
    assert (Fake.opened, Fake.closed) == (200, 200)


def test_readers_that_nobody_takes_are_closed_in_the_end():
    clock = [0.0]
    cache = ReaderCache(lambda: clock[0])
    for name, clock[0] in (("moved", 0.0), ("here", 1.0), ("here", 599.0)):
        cache.take("here", (0,))
        cache.put(name, Fake(LOG, (0,)))
    assert Fake.closed == 0
    clock[0] = 600.0
    cache.put("there", Fake(LOG, (0,)))
    assert Fake.closed == 1
    assert cache.take("moved", (0,)) is None
    assert cache.take("here", (0,)) is not None


def parts(bundles):
    """The ids and the event time of each output of documents."""
    outputs = [output for done in bundles for output in done.outputs]
    return [
        (
            "".join(Block.from_bytes(output.value).ids),
            output.timestamp.micros,
        )
        for output in outputs
        if isinstance(output, TimestampedValue)
    ]


def log_of(*entries):
    """A log of documents of one letter, whose watermark follows them."""
    return [
        entry
        if isinstance(entry, float)
        else Document(entry[0], entry[1] * 1000, "text", None, key)
        for entry in entries
        for key in ["" if isinstance(entry, float) or len(entry) < 3 else entry[2]]
    ]


def blocks_of(log, **others):
    fn = FakeDoFn(log, TokeniserSettings())
    fn.setup()
    return driving.to_the_end(fn, b"", **others)


def test_documents_of_a_key_share_a_block_within_a_bundle():
    log = log_of(("a", 1), ("b", 12, "k"), ("c", 3), ("d", 13), 0.25, ("e", 14), ("f", 14, "k"))
    first, second = blocks_of(log)
    assert parts([first]) == [("acd", 1000), ("b", 12_000)]
    assert parts([second]) == [("e", 14_000), ("f", 14_000)]


def test_what_is_late_shares_no_block_with_what_holds_the_watermark():
    log = log_of(("a", 5), 0.25, ("b", 6), ("c", 1), ("d", 2), ("e", 7))
    # Within a bundle the runner does not see the watermark, so b does not make c late: a does.
    first, second = blocks_of(log)
    assert parts([first]) == [("a", 5000)]
    assert parts([second]) == [("c", 1000), ("d", 2000), ("be", 6000)]


def test_a_bundle_that_is_split_emits_what_it_claimed():
    log = log_of(("a", 1), ("b", 12), ("late", 0), ("c", 13), ("d", 14))
    log.insert(2, LETTER)
    bundles = blocks_of(log, stop_after=1)
    # The runner takes the rest away behind the dead letter.
    assert parts(bundles[:1]) == [("ab", 1000)]
    assert [len(done.outputs) for done in bundles[:1]] == [2]
    found = sorted(name for names, _ in parts(bundles[1:]) for name in names)
    assert found == sorted("latecd")
