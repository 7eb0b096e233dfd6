import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents import pending
from beam_topics.model.documents.pending import Entry, ListBag, Mirror, PendingHead
from beam_topics.model.errors import DamagedDataError

TIMES = st.sets(st.integers(-50, 50), min_size=1, max_size=3)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), TIMES, st.binary(max_size=3)),
        st.tuples(st.just("spend"), TIMES, st.just(b"")),
        st.tuples(st.just("fail"), TIMES, st.binary(max_size=3)),
        st.tuples(st.just("fail to spend"), TIMES, st.just(b"")),
        st.tuples(st.just("forget"), TIMES, st.just(b"")),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(ACTIONS)
def test_behaves_like_a_sorted_list_whatever_happens_to_the_mirror(actions):
    head, mirror, bag, truth = PendingHead(), Mirror(), ListBag(), []
    for action, times, payload in actions:
        open_from, time = -100 if head.done is None else head.done + 1, min(times)
        dues = sorted({max(one, open_from) for one in times})
        if action == "add":
            head = pending.add(head, mirror, bag, dues, payload)
            truth.append((dues, payload))
        elif action == "fail":
            # A bundle that is rolled back: its writes are gone, what it did to the mirror is not.
            pending.add(head, mirror, ListBag(), dues, payload)
        elif action == "fail to spend":
            again = ListBag(bag.elements)
            pending.spend(head, pending.matched(head, mirror, again), again, time)
        elif action == "forget":
            mirror = Mirror()
        else:
            mirror = pending.matched(head, mirror, bag)
            taken = [(due, payload) for due in mirror.due_by(time) for payload in mirror.at(due)]
            assert sorted(taken) == sorted(
                (due, one) for dues, one in truth for due in dues if open_from <= due <= time
            )
            head = pending.spend(head, mirror, bag, time)
            truth = [entry for entry in truth if entry[0][-1] > time]
            assert len(bag.elements) == head.stored <= 2 * head.live
        assert head.size == sum(len(payload) for _, payload in truth)
        done = -100 if head.done is None else head.done
        still = [due for dues, _ in truth for due in dues if due > done]
        assert (head.live, head.due) == (len(truth), min(still, default=None))


def test_a_mirror_with_the_right_count_and_wrong_contents_is_not_trusted():
    bag, mirror = ListBag(), Mirror()
    head = pending.add(PendingHead(), mirror, bag, [1], b"kept")
    wrong = Mirror()
    wrong.put(Entry((1,), b"lost"))
    assert wrong.count == head.live
    assert pending.matched(head, wrong, bag).at(1) == [b"kept"]


def test_entries_that_are_spent_stay_spent_when_the_bag_is_read():
    head, mirror, bag = PendingHead(), Mirror(), ListBag()
    for due, payload in ((10, b"spent"), (20, b"a"), (20, b"b")):
        head = pending.add(head, mirror, bag, [due], payload)
    head = pending.spend(head, mirror, bag, 10)
    assert len(bag.elements) == head.stored == 3
    again = pending.matched(head, Mirror(), bag)
    assert again.due_by(100) == [20] and again.at(20) == [b"a", b"b"]


def test_a_timer_that_fires_late_for_an_earlier_time_brings_nothing_back():
    head, mirror, bag = PendingHead(), Mirror(), ListBag()
    for due in (10, 20, 30, 30, 30):
        head = pending.add(head, mirror, bag, [due], b"x")
    head = pending.spend(head, mirror, bag, 20)
    head = pending.spend(head, mirror, bag, 5)
    assert (head.done, head.stored) == (20, 5)
    assert pending.matched(head, Mirror(), bag).due_by(100) == [30]


@pytest.mark.parametrize(
    "change",
    [lambda bag: bag.elements.pop(), lambda bag: bag.add(bag.elements[0]), lambda bag: bag.clear()],
)
def test_a_changed_bag_is_noticed(change):
    bag = ListBag()
    head = pending.add(PendingHead(), Mirror(), bag, [1], b"a")
    change(bag)
    with pytest.raises(DamagedDataError, match="buffer holds"):
        pending.matched(head, Mirror(), bag)


@pytest.mark.parametrize(
    "element", [b"", b"\x01\0\0", bytes(4), b"\x02\0\0\0" + bytes(15), b"\xff\xff\xff\xff"]
)
def test_an_element_without_its_due_times_is_refused(element):
    head = PendingHead(live=1, stored=1)
    with pytest.raises(DamagedDataError, match="due times of a waiting entry"):
        pending.matched(head, Mirror(), ListBag([element]))


def test_reading_the_bag_is_rare():
    class Counting(ListBag):
        reads = 0

        def read(self):
            self.reads += 1
            return super().read()

    head, mirror, bag = PendingHead(), Mirror(), Counting()
    for time in range(200):
        head = pending.add(head, mirror, bag, [time], b"x")
    for time in range(200):
        head = pending.spend(head, pending.matched(head, mirror, bag), bag, time)
    assert (bag.reads, head.live) == (0, 0)


@pytest.mark.parametrize(
    ("due", "done"), [(None, None), (-4, None), (None, -9), (0, 0), (5, -(2**62))]
)
def test_head_round_trip(due, done):
    head = PendingHead(3, 2**127 + 5, 7, due, done, 40)
    assert PendingHead.from_bytes(head.to_bytes()) == head
    assert len(head.to_bytes()) == pending.PENDING_BYTES
