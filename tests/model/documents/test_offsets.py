"""Offsets that were learned: a new job reads on where the first one was not."""

import numpy as np
import pytest

from beam_topics.model.documents import minibatch
from beam_topics.model.documents.minibatch import joined, offsets_in, place, ranges_of, reads_on
from beam_topics.model.errors import DamagedDataError


def test_whatever_the_order_nothing_below_the_offset_is_missing():
    draws = np.random.default_rng(1)
    for _ in range(200):
        ends = 10 + np.cumsum(draws.integers(1, 4, 12))
        begins = [10, *ends[:-1].tolist()]
        places = [place("a b/0", 10, *pair) for pair in zip(begins, ends.tolist(), strict=True)]
        learned = draws.permutation(12)[: draws.integers(1, 13)].tolist()
        seen = {}
        for one in learned:
            seen = joined(seen, ranges_of([places[one]]))
        missing = [begins[one] for one in range(12) if one not in learned]
        assert reads_on(seen) == {"a b/0": min(missing, default=int(ends[-1]))}


def test_a_document_without_a_place_makes_its_minibatch_unknown():
    assert ranges_of([place("p/0", 0, 0, 1), None]) == {}
    assert ranges_of([]) == {}


def test_too_many_gaps_are_read_again(monkeypatch):
    monkeypatch.setattr(minibatch, "MOST_RANGES", 2)
    seen = joined(ranges_of(place("p/0", 0, at, at + 1) for at in (8, 2, 4, 6)))
    assert seen == {"p/0": [[0, 0], [2, 3]]} and reads_on(seen) == {"p/0": 0}


@pytest.mark.parametrize("text", ["", "1 2 p/0", "1 2 -3 p/0", "a 2 3 p/0"])
def test_a_damaged_place_is_refused(text):
    with pytest.raises(DamagedDataError, match="place of a document"):
        ranges_of([text])


@pytest.mark.parametrize(
    "ranges",
    [
        [],
        {"p": []},
        {"p": [[1]]},
        {"p": [[2, 1]]},
        {"p": [[0, 2], [2, 3]]},
        {"p": [[-1, 2]]},
        {"p": [[0, 2], [5, 5]]},
        {"p": [[0, 2, 4]]},
        {"p": [[0, "2"]]},
    ],
)
def test_damaged_ranges_are_refused(ranges):
    with pytest.raises(DamagedDataError, match="offsets of it"):
        offsets_in({"offsets": ranges}, "it")
    assert offsets_in({"offsets": {"p": [[0, 0], [2, 3]]}}, "it") == {"p": [[0, 0], [2, 3]]}
