"""Stories are found by rare words and time, in any order of arrival, within bounds."""

import random

import pytest

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reporting import stories
from beam_topics.model.reporting.stories import (
    Sketch,
    Stories,
    sketches_from_bytes,
    sketches_to_bytes,
)
from beam_topics.model.stored import wire
from beam_topics.model.times import to_iso

DAY = 86_400_000_000
HOUR = DAY // 24


def windows(days=6, seed=3):
    """Days of 60 documents of common words, and a story a day of five short copies."""
    draw, found = random.Random(seed), []
    for day in range(days):
        some = [
            Sketch(
                day * DAY + draw.randrange(20 * HOUR),
                f"{day}-{n}",
                n % 4,
                {f"common{draw.randrange(300)}": 1 for _ in range(12)},
            )
            for n in range(60)
        ]
        rare = [f"event{day}-{n}" for n in range(4)]
        for copy in range(5):
            words = draw.sample(rare, 3) + [f"common{draw.randrange(300)}" for _ in range(2)]
            time = day * DAY + (copy + 10) * HOUR
            some.append(Sketch(time, f"{day}-wire{copy}", 7, dict.fromkeys(words, 1)))
        found.append(some)
    return found


def told(parts, *, through=False, shuffled=0):
    known, found = Stories(), []
    for part in parts:
        if shuffled:
            part = random.Random(shuffled).sample(part, len(part))
        found.append(known.closed(part))
        if through:
            known = Stories.from_bytes(known.to_bytes())
    return found, known.to_bytes()


def test_copies_of_a_day_are_one_story_with_its_first_document():
    for day, rows in enumerate(told(windows())[0]):
        first = rows[0]
        assert (first["story"], first["documents"], first["came"]) == (f"{day}-wire0", 5, 5)
        assert first["first"] == to_iso(day * DAY + 10 * HOUR)
        assert first["topics"] == [{"topic": 7, "documents": 5}]
        assert {f"event{day}-{n}" for n in range(4)} <= set(first["words"])
        assert first["document_ids"] == [f"{day}-wire{n}" for n in range(3)]


@pytest.mark.parametrize("seed", [1, 2])
def test_neither_order_nor_bytes_change_anything(seed):
    wanted = told(windows())
    assert told(windows(), shuffled=seed) == wanted
    assert told(windows(), through=True) == wanted
    # The order of windows does.
    assert told(windows()[::-1]) != wanted


def test_a_story_goes_on_in_a_later_window_and_ends_in_silence():
    words = {"flood": 1, "harbour": 1, "dam": 2}
    other = [Sketch(n, f"o{n}", 0, {f"w{n}": 1}) for n in range(20)]
    gaps = (stories.SILENCE, stories.SILENCE + 1)
    for gap, wanted in zip(gaps, (2, None), strict=True):
        known = Stories()
        assert known.closed([*other, Sketch(30, "a", 1, words)]) == []
        rows = known.closed([Sketch(30 + gap, "b", 1, words)])
        assert [(row["story"], row["documents"], row["came"]) for row in rows] == (
            [("a", wanted, 1)] if wanted else []
        )


def test_words_that_all_documents_have_make_no_story():
    common = {f"c{n}": 1 for n in range(5)}
    part = [Sketch(n, str(n), 0, common | {f"own{n}-{m}": 1 for m in range(5)}) for n in range(200)]
    assert told([part])[0] == [[]]


def test_what_is_kept_has_bounds(monkeypatch):
    for name, most in (("MOST_STORIES", 20), ("MOST_COUNTED", 100), ("MOST_DOCUMENTS", 40)):
        monkeypatch.setattr(stories, name, most)
    known = Stories()
    for part in windows():
        known.closed(sketches_from_bytes(sketches_to_bytes(part)))
        assert len(known.stories) <= 20 and len(known.counts) <= 100
        assert all(len(one.words) <= stories.STORY_WORDS for one in known.stories.values())
    # The sample of parts is that of the whole.
    part = windows()[0]
    halves = [sketches_to_bytes(part[at::2]) for at in range(2)]
    joined = sketches_to_bytes(one for half in halves for one in sketches_from_bytes(half))
    assert joined == sketches_to_bytes(part + part)
    assert len(list(sketches_from_bytes(joined))) == 40


def test_damage_is_refused():
    good = {"documents": 1, "counts": {"a": 1}, "stories": []}
    story = {"first": "a", "begin": 0, "last": 0, "documents": 1, "words": {"a": 1.0}}
    assert Stories.from_bytes(wire.pack(Stories.MAGIC, {**good, "stories": [story]})).stories
    bad = [{"documents": -1}, {"counts": {"a": 0}}, {"counts": {"a": "b"}}, {"counts": [1]}]
    bad += [{"stories": {}}, {"stories": [3]}, {"stories": [{**story, "words": {"a": "b"}}]}]
    bad += [{"stories": [{**story, "words": {"a": 1e200}}]}]
    bad += [{"stories": [{**story, "words": [1]}]}, {"stories": [{**story, "last": 0.5}]}]
    for change in bad:
        with pytest.raises(DamagedDataError):
            Stories.from_bytes(wire.pack(Stories.MAGIC, good | change))
    for sketch in ([0, "a", 1], [0, 1, 1, {}], ["0", "a", 1, {}], [0, "a", 1, {"a": 0}], 3):
        with pytest.raises(DamagedDataError):
            list(sketches_from_bytes(wire.pack(b"BTj1", {"sketches": [sketch]})))
