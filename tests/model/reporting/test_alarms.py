"""Bursts that are told window by window are those of all windows at once."""

import io
import json

import numpy as np
import pytest
from blocks import count_in

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reporting import alarms, course
from beam_topics.model.reporting.alarms import Rule, Watched
from beam_topics.model.reporting.course import adjusted, bursts_of, discovered
from beam_topics.model.reporting.trends import Trends, rows_of_file, whole_rows
from beam_topics.model.times import parse_time, to_iso
from beam_topics.transforms.trends import rows_of

DAY, HOUR = course.DAY, course.HOUR
TOPICS = 6


def rows_in(window, windows, planted, seed=1, born=0):
    """Rows of windows; ``planted`` (window, topic) have four times as many documents."""
    generator, found = np.random.default_rng(seed), []
    for at in range(windows):
        ids = tuple(range(TOPICS)) if at >= born else tuple(range(TOPICS - 1))
        table = Trends(len(ids), ids=ids)
        for topic in ids:
            size = generator.poisson(12 * (4 if (at, topic) in planted else 1))
            for number in range(size):
                mixture = np.full(len(ids), 0.02)
                mixture[topic] = 1 - 0.02 * (len(ids) - 1)
                start = at * window
                named = (start + number, f"{at}-{topic}-{number}")
                count_in(
                    table, start, "ab"[number % 2], mixture, tokens=9, words_known=9, named=named
                )
        found.append(list(rows_of(table, "k", (at + 1) * window, window)))
    return found


def told(window, parts, through=True):
    """The bursts of parts that close one after the other; the state passes through bytes."""
    state, found = Watched(), []
    for rows in parts:
        state, events = state.closed(window, rows)
        if through:
            state = Watched.from_bytes(state.to_bytes())
        found += events
    return found, state


def joined(parts):
    return [row for rows in parts for row in rows]


def wanted(parts):
    """{(start, topic): burst} of all windows at once, with groups together."""
    lines = b"\n".join(joined(parts))
    summed = {}
    for row in whole_rows(rows_of_file(io.BytesIO(lines), "trends-1.jsonl")):
        place = row["window_start"], -1 if row["topic"] is None else row["topic"]
        one = summed.setdefault(
            place, {**row, "topic": place[1], "documents": 0, "mean_share": 0.0}
        )
        one["mean_share"] += row["mean_share"] * row["documents"]
        one["documents"] += row["documents"]
    for one in summed.values():
        one["mean_share"] /= one["documents"]
    return {(one.start, one.topic): one for one in bursts_of(list(summed.values()))}


PLANTED = {(30, 2), (31, 2), (32, 2), (50, 2), (70, 4)}


@pytest.mark.parametrize("window", [DAY, 6 * HOUR, 5 * DAY])
def test_windows_one_after_the_other_have_the_bursts_of_all_at_once(window):
    parts = rows_in(window, 100, PLANTED, born=40)
    all_at_once = wanted(parts)
    firsts = {
        (start, topic): one
        for (start, topic), one in all_at_once.items()
        if (start - window, topic) not in all_at_once
    }
    assert {(30 * window, 2), (50 * window, 2), (70 * window, 4)} <= set(firsts)
    found, state = told(window, parts)
    assert {(int(e.figures["since"]), e.topics[0]) for e in found} == set(firsts)
    for event in found:
        one = firsts[int(event.figures["since"]), event.topics[0]]
        figures = one.documents, one.expected, one.probability
        assert [event.figures[name] for name in ("seen", "expected", "p")] == pytest.approx(figures)
        assert event.figures["p"] <= event.figures["q"] <= course.FALSE_SHARE
        assert event.time == one.start + window and len(event.ids) == 3
    # Bit for bit, however many windows close at once.
    for size in (7, 100):
        together = [joined(parts[at : at + size]) for at in range(0, 100, size)]
        again, last = told(window, [rows[::-1] for rows in together], through=False)
        assert again == found and last.to_bytes() == state.to_bytes()


def test_the_comparison_finds_a_state_that_forgets(monkeypatch):
    parts = rows_in(DAY, 60, {(30, 2), (31, 2), (32, 2)})
    found, state = told(DAY, parts)
    right = alarms.judged_after

    def forgets(known, *given):
        known = known.copy()
        known[: len(known) // 2] = 0
        return right(known, *given)

    monkeypatch.setattr(alarms, "judged_after", forgets)
    again, other = told(DAY, parts)
    assert again != found and other.to_bytes() != state.to_bytes()


def test_a_topic_is_told_again_after_the_time_of_the_rule():
    parts = rows_in(DAY, 70, {(30, 2), (33, 2), (36, 2), (50, 2)})

    def days(again_after):
        state, found = Watched(), []
        for rows in parts:
            state, events = state.closed(DAY, rows, Rule(again_after=again_after))
            state = Watched.from_bytes(state.to_bytes())
            found += [int(e.figures["since"]) // DAY for e in events if e.topics == [2]]
        return found

    assert [day for day in days(0) if day >= 30] == [30, 33, 36, 50]
    # The burst of day 36 is 3 days after another one, which was not told.
    assert [day for day in days(4 * DAY) if day >= 30] == [30, 50]
    assert [day for day in days(15 * DAY) if day >= 30] == [30]


def test_the_state_is_bounded():
    parts = rows_in(DAY, 80, set())
    _, state = told(DAY, parts)
    most = course.CYCLES * 7
    assert len(state.starts) == most and state.table.shape == (3 * most + 1 + 4 * 7, TOPICS + 1)
    gone = [
        [row for row in rows if json.loads(row)["topic"] != 5] for rows in rows_in(DAY, 150, ())
    ]
    _, state = told(DAY, parts + gone[80:])
    assert state.topics == (-1, 0, 1, 2, 3, 4)


def test_what_comes_after_its_window_and_what_comes_twice_does_not_count():
    parts = rows_in(DAY, 40, {(30, 2)})
    found, state = told(DAY, parts)
    late = [json.loads(row) | {"part": to_iso(41 * DAY)} for row in parts[20]]
    more = [json.dumps(row).encode() for row in late]
    again, same = told(DAY, [*parts, more, parts[30]])
    assert again == found and same.to_bytes() == state.to_bytes()
    assert parse_time(late[0]["window_end"]) == 21 * DAY


def test_windows_of_another_length_begin_anew():
    _, state = told(DAY, rows_in(DAY, 10, set()))
    after, _ = state.closed(HOUR, rows_in(HOUR, 3, set())[2])
    assert after.window == HOUR and after.starts == (2 * HOUR,)


def test_damaged_states_are_refused():
    _, state = told(DAY, rows_in(DAY, 5, set()))
    names = ("window", "starts", "topics", "last", "table")
    good = {name: getattr(state, name) for name in names}
    for name, value in [
        ("starts", state.starts[::-1]),
        ("starts", state.starts[:-1]),
        ("topics", state.topics[:-1]),
        ("topics", ("a",)),
        ("last", state.last[:-1]),
        ("last", ("a",) * len(state.topics)),
        ("table", state.table[:-1]),
        ("table", state.table * np.nan),
    ]:
        with pytest.raises(DamagedDataError):
            Watched.from_bytes(Watched(**{**good, name: value}).to_bytes())


def test_adjusted_rates_say_what_is_discovered():
    p = np.array([0.001, np.nan, 0.2, 0.004, 0.03, 0.9])
    rates = adjusted(p)
    assert rates[~np.isnan(p)] == pytest.approx([0.005, 0.25, 0.01, 0.05, 0.9])
    assert np.isnan(rates[1])
    found = (rates <= course.FALSE_SHARE) & (p <= course.LEVEL)
    assert found.tolist() == discovered(p).tolist()
