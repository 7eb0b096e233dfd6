import pytest
from apache_beam.utils.timestamp import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import wire
from beam_topics.transforms.sources.log_source import LogRange, LogWatermark, RangeTracker, after

WHOLE = LogRange((3,), (10,))


def tracker(log_range=WHOLE):
    return RangeTracker(log_range.to_bytes())


def parts(split):
    return [LogRange.from_bytes(part) for part in split]


@pytest.mark.parametrize("stop", [None, (2, 0)])
def test_a_range_survives_its_bytes(stop):
    assert LogRange.from_bytes(LogRange((1, -2), stop).to_bytes()) == LogRange((1, -2), stop)


def test_damaged_bytes_are_refused():
    with pytest.raises(DamagedDataError):
        LogRange.from_bytes(b"BTr2")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"start": [0]}, "a range of a log .* has no field 'stop'"),
        ({"start": "0", "stop": None}, "field start of a range of a log"),
        ({"start": [0.5], "stop": None}, "field start of a range of a log"),
        ({"start": [0], "stop": [None]}, "field stop of a range of a log"),
    ],
)
def test_a_range_of_wrong_types_is_refused(values, told):
    with pytest.raises(DamagedDataError, match=told):
        LogRange.from_bytes(wire.pack(LogRange.MAGIC, values))


def test_positions_are_claimed_up_to_the_end():
    of = tracker()
    assert [of.try_claim((n,)) for n in (3, 5, 9)] == [True] * 3
    assert not of.try_claim((10,))
    of.check_done()


def test_a_position_is_claimed_once():
    of = tracker()
    assert of.try_claim((5,))
    with pytest.raises(ValueError, match="claimed after everything before"):
        of.try_claim((5,))


def test_what_was_neither_claimed_nor_split_off_is_not_done():
    of = tracker()
    of.try_claim((3,))
    with pytest.raises(ValueError, match="read up to"):
        of.check_done()


def test_an_empty_range_is_done():
    tracker(LogRange((4,), (4,))).check_done()


def test_a_checkpoint_leaves_the_rest_and_ends_the_claims():
    of = tracker()
    of.try_claim((5,))
    assert parts(of.try_split(0)) == [LogRange((3,), (6,)), LogRange((6,), (10,))]
    assert not of.is_bounded()
    of.check_done()
    assert not of.try_claim((6,))
    assert of.try_split(0) is None


def test_a_checkpoint_before_the_first_claim():
    of = tracker(LogRange((3,), None))
    assert parts(of.try_split(0)) == [LogRange((3,), (3,)), LogRange((3,), None)]
    of.check_done()
    assert not of.try_claim((3,))


def test_the_order_is_not_shared_out():
    of = tracker()
    of.try_claim((3,))
    assert of.try_split(0.5) is None
    assert of.try_claim((4,))


@given(
    positions=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 50)), min_size=1, max_size=30, unique=True
    ).map(sorted),
    cuts=st.sets(st.integers(0, 30)),
)
def test_any_checkpoints_together_claim_every_position_once(positions, cuts):
    rest, claimed, number = LogRange((0, 0), (4, 0)), [], 0
    while rest is not None:
        of, rest_bytes = RangeTracker(rest.to_bytes()), None
        for position in [p for p in positions if p >= rest.start] + [(4, 0)]:
            if number in cuts:
                cuts = cuts - {number}
                _, rest_bytes = of.try_split(0)
            number += 1
            if not of.try_claim(position):
                break
            claimed.append(position)
        of.check_done()
        rest = LogRange.from_bytes(rest_bytes) if rest_bytes else None
    assert claimed == positions


def test_the_next_position():
    assert after((1, 2)) == (1, 3)
    assert (1, 2) < after((1, 2)) < (2, 0)


def test_a_watermark_never_moves_back_and_is_whole_milliseconds():
    of = LogWatermark(0)
    of.advance(1_234_567)
    assert of.current_watermark() == Timestamp(micros=1_234_000)
    of.advance(1_000)
    of.observe_timestamp(Timestamp(99))
    assert of.get_estimator_state() == 1_234_000
    of.advance(-5)
    assert LogWatermark(of.get_estimator_state()).current_watermark() == Timestamp(micros=1_234_000)


def test_a_watermark_before_1970_is_rounded_down():
    of = LogWatermark(-(10**15))
    of.advance(-1)
    assert of.get_estimator_state() == -1000
