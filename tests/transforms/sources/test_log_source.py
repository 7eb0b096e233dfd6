"""The battery of every log: each entry comes out once, in order, whatever is cut or lost."""

import itertools

import driving
import pytest

from model.reading.parsing import NUL, dead_letter
from model.records import Document
from transforms.sources import log_source
from transforms.sources.log_source import READER_CACHE, Entry, LogSourceDoFn, Pause, ReaderCache
from transforms.sources.ranges import LogRange, after


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

    def __init__(self, log):
        super().__init__(None)
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


def test_a_log_comes_out_in_its_order():
    bundles = driving.to_the_end(FakeDoFn(LOG), b"log")
    assert driving.ids(bundles) == IDS
    assert [done.seconds for done in bundles] == [pytest.approx(0.25, abs=0.05), 0.0]
    # What was open at the pause went on; at the end it is closed.
    assert (Fake.opened, Fake.closed) == (1, 1)


@pytest.mark.parametrize("entries", [1, 2, 3])
def test_small_bundles_change_nothing(monkeypatch, entries):
    monkeypatch.setattr(log_source, "BUNDLE_ENTRIES", entries)
    bundles = driving.to_the_end(FakeDoFn(LOG), b"log")
    assert driving.ids(bundles) == IDS
    assert max(len(done.outputs) for done in bundles) == entries
    assert Fake.opened == 1


def test_a_bundle_is_bounded_by_bytes_and_by_time(monkeypatch):
    monkeypatch.setattr(log_source, "BUNDLE_BYTES", 8)
    assert max(len(done.outputs) for done in driving.to_the_end(FakeDoFn(LOG), b"log")) == 2
    monkeypatch.setattr(log_source, "BUNDLE_SECONDS", 0.0)
    assert max(len(done.outputs) for done in driving.to_the_end(FakeDoFn(LOG), b"log")) == 1


@pytest.mark.parametrize("cut", range(1, len(IDS)))
def test_a_runner_may_take_the_rest_away_at_any_entry(cut):
    bundles = driving.to_the_end(FakeDoFn(LOG), b"log", stop_after=cut)
    assert driving.ids(bundles) == IDS
    # The reader that had gone on was not used again.
    assert Fake.closed == Fake.opened


@pytest.mark.parametrize("failing", range(1, 9))
def test_a_bundle_that_failed_is_done_again_from_its_checkpoint(monkeypatch, failing):
    monkeypatch.setattr(log_source, "BUNDLE_ENTRIES", 2)
    fn, good, attempt = FakeDoFn(LOG), [], 0
    rest, watermark = None, None
    while not good or good[-1].rest is not None:
        attempt += 1
        done = driving.bundle(fn, b"log", rest, watermark)
        # A failed bundle leaves nothing but a reader that has gone on.
        if attempt != failing:
            good.append(done)
            rest, watermark = done.rest, done.watermark
    assert driving.ids(good) == IDS


def test_another_process_goes_on_from_the_rest(monkeypatch):
    monkeypatch.setattr(log_source, "BUNDLE_ENTRIES", 4)
    # Without the pause, which a reader that is opened there makes again.
    log = [item for item in LOG if not isinstance(item, float)]
    first = driving.bundle(FakeDoFn(log), b"log")
    rest, watermark, bundles = first.rest, first.watermark, [first]
    while rest is not None:
        bundles.append(driving.bundle(FakeDoFn(log), b"log", rest, watermark))
        rest, watermark = bundles[-1].rest, bundles[-1].watermark
    assert driving.ids(bundles) == IDS
    assert Fake.opened == len(bundles)


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
