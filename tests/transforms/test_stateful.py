"""Records that wait for the end of their period, against a slow model and at its end."""

import pytest
import stream_twin as twin
from apache_beam.utils.timestamp import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.pending import ListBag, PendingHead
from beam_topics.transforms.shared import LAST_TIME, PeriodDoFn, due_of

MS = 1000
PERIOD = 10 * MS


class Closing(PeriodDoFn):
    """Gives (end, records) of each period; more than ``most`` records are given at once."""

    def __init__(self, most=10**6, streams=True):
        super().__init__(PERIOD, streams)
        self.most = most

    def close_period(self, key, end, records):
        yield end, sorted(records)

    def is_full(self, key, head, bag, due):
        return head.live > self.most

    def compact(self, key, head, bag):
        waiting, head = self.take_all(key, head, bag)
        return [(end, sorted(records)) for end, records in waiting], head


class Cell:
    """A state cell."""

    def __init__(self, data=b""):
        self.data = data

    def read(self):
        return self.data

    def write(self, data):
        self.data = data


class Timers(dict):
    """The timers of a key by their tags."""

    def set(self, time, dynamic_timer_tag):
        self[dynamic_timer_tag] = time.micros


class Worker:
    """One key of the step under a runner: bundles may be rolled back, and processes be lost."""

    def __init__(self, **others):
        self.others, self.head, self.bag, self.found = others, b"", [], []
        self.timers = Timers()
        self.lose()

    def lose(self):
        self.step = Closing(**self.others)
        self.step.setup()

    def bundle(self, call, commit):
        head, bag, timers = Cell(self.head), ListBag(self.bag), Timers(self.timers)
        self.step.start_bundle()
        found = [getattr(output, "value", output) for output in call(head, bag, timers)]
        if commit:
            self.head, self.bag, self.found = head.data, bag.elements, self.found + found
            self.timers = timers

    def arrive(self, time, record, commit=True):
        self.bundle(
            lambda *state: self.step.process((b"k", record), Timestamp(micros=time), *state), commit
        )

    def pass_time(self, time, commit=True):
        """As a runner: all timers whose time has come fire in one bundle, in any order."""
        due = [tag for tag, at in self.timers.items() if at <= time]

        def fire(head, bag, timers):
            for tag in due[::-1]:
                del timers[tag]
                yield from self.step.close(b"k", Timestamp(micros=time), head, bag)

        if due:
            self.bundle(fire, commit)


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.booleans(), st.integers(-30, 60), st.sampled_from(["", "", "", "again", "lost"])
        ),
        max_size=40,
    )
)
def test_each_record_is_given_once_with_its_period_whatever_fails(moves):
    worker, events, passed = Worker(), [], -(10**6)
    for number, (arrives, at, trouble) in enumerate(moves):
        if trouble == "lost":
            worker.lose()
        if arrives:
            record = b"%03d" % number
            if trouble == "again":
                worker.arrive(at * MS, record, commit=False)
            worker.arrive(at * MS, record)
            events.append((at * MS, record))
        else:
            passed = max(passed, at)
            if trouble == "again":
                worker.pass_time(passed * MS, commit=False)
            worker.pass_time(passed * MS)
            events.append(passed * MS)
    worker.pass_time(LAST_TIME)
    assert worker.found == twin.by_period(events, PERIOD)
    assert worker.bag == []


@pytest.mark.parametrize("late", [0, 9, 10, 11])
def test_a_late_record_of_the_period_just_closed_is_given_after_a_restore(late):
    worker = Worker()
    worker.arrive(5 * MS, b"in time")
    worker.pass_time(PERIOD)
    worker.arrive(late * MS, b"late")
    worker.lose()
    worker.pass_time(2 * PERIOD)
    assert worker.found == [(PERIOD, [b"in time"]), (2 * PERIOD, [b"late"])]


def test_a_job_that_does_not_stream_closes_all_periods_in_order_at_its_end():
    worker = Worker(streams=False)
    for time in (25, 5, 15, 6):
        worker.arrive(time * MS, b"%d" % time)
    assert list(worker.timers.values()) == [LAST_TIME]
    worker.pass_time(LAST_TIME)
    assert worker.found == [(10 * MS, [b"5", b"6"]), (20 * MS, [b"15"]), (30 * MS, [b"25"])]


def test_each_period_has_a_timer():
    worker = Worker()
    worker.arrive(25 * MS, b"later")
    worker.arrive(5 * MS, b"earlier")
    assert list(worker.timers.values()) == [3 * PERIOD, PERIOD]
    worker.pass_time(PERIOD)
    assert worker.found == [(PERIOD, [b"earlier"])]
    assert list(worker.timers.values()) == [3 * PERIOD]


def test_each_period_of_a_bundle_has_a_timer():
    worker = Worker()

    def both(*state):
        for time in (25, 5, 26):
            yield from worker.step.process(
                (b"k", b"%d" % time), Timestamp(micros=time * MS), *state
            )

    worker.bundle(both, commit=True)
    assert list(worker.timers.values()) == [3 * PERIOD, PERIOD]


def test_periods_that_are_due_together_are_closed_in_order():
    worker = Worker()
    for time in (5, 15, 25):
        worker.arrive(time * MS, b"%d" % time)
    worker.pass_time(3 * PERIOD)
    assert [end for end, _ in worker.found] == [PERIOD, 2 * PERIOD, 3 * PERIOD]


def test_a_period_that_was_closed_stays_closed_when_too_many_records_wait():
    worker = Worker(most=2)
    worker.arrive(5 * MS, b"first")
    worker.pass_time(PERIOD)
    for record in (b"a", b"b", b"c"):
        worker.arrive(15 * MS, record)
    assert worker.found[1:] == [(2 * PERIOD, [b"a", b"b", b"c"])]
    worker.arrive(5 * MS, b"late")
    worker.pass_time(2 * PERIOD)
    assert worker.found[2:] == [(2 * PERIOD, [b"late"])]


def test_when_a_record_is_due():
    assert due_of(PendingHead(), 5, 10) == 10
    assert due_of(PendingHead(), 10, 10) == 20
    assert due_of(PendingHead(done=40), 5, 10) == 50
    assert due_of(PendingHead(done=40), 35, 10) == 50
    assert due_of(PendingHead(done=45), 40, 10) == 50
    assert due_of(PendingHead(), LAST_TIME + 5, 10) == LAST_TIME
