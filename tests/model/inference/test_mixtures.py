import json
from dataclasses import replace

import numpy as np
import pytest
from blocks import mixture_block
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference import mixtures
from beam_topics.model.inference.mixtures import MixtureBlock, TopicMixture, words_of
from beam_topics.model.reporting.encoding import mixtures_to_json_lines, record_count

WHOLE = st.integers(-(2**62), 2**62)


def mixture(name, time=5, shares=(0.25, 0.75), known=2, tokens=3):
    return TopicMixture("k", name, time, "7-ab", "gibbs3", np.array(shares), known, tokens)


@given(
    st.lists(st.tuples(st.text(max_size=5), WHOLE, WHOLE, st.floats(0, 1)), min_size=1, max_size=6)
)
def test_a_block_gives_its_mixtures_back(rows):
    mixtures = [mixture(name, time, (share, 1 - share)) for name, time, _, share in rows]
    block = mixture_block(mixtures, [time for _, _, time, _ in rows])
    again = MixtureBlock.from_bytes(block.to_bytes())
    assert [one.to_bytes() for one in again.mixtures()] == [one.to_bytes() for one in mixtures]
    assert again.times.tolist() == [time for _, _, time, _ in rows]
    assert again.to_bytes() == block.to_bytes()


def test_files_are_the_same_of_blocks_and_of_mixtures():
    mixtures = [mixture(f"d{n}", n % 2) for n in range(7)]
    blocks = [
        mixture_block(mixtures[at : at + 3], [0] * len(mixtures[at : at + 3])).to_bytes()
        for at in (0, 3, 6)
    ]
    singles = [one.to_bytes() for one in mixtures]
    assert mixtures_to_json_lines(blocks[::-1]) == mixtures_to_json_lines(singles)
    assert [record_count(block) for block in blocks] == [3, 3, 1]
    assert {record_count(one) for one in singles} == {1}
    assert json.loads(mixtures_to_json_lines(blocks).splitlines()[0])["id"] == "d0"


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("ids", (), "mixtures of a block"),
        ("times", np.zeros(3, np.int64), "times of a block of mixtures: found 3 values"),
        ("proportions", np.zeros(3), "proportions of a block of mixtures: found 3 values"),
        ("proportions", np.array([0.5, np.nan, 1, 0]), "proportions of a mixture: found nan"),
        ("proportions", np.array([0.5, 2, 1, 0]), "proportions of a mixture: found 2.0"),
    ],
)
def test_a_damaged_block_is_refused(part, value, message):
    block = mixture_block([mixture("a"), mixture("b")], [0, 0])
    fields = {name: getattr(block, name) for name in MixtureBlock.__slots__}
    with pytest.raises(DamagedDataError) as error:
        MixtureBlock.from_bytes(MixtureBlock(**{**fields, part: value}).to_bytes())
    assert message in str(error.value)


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_parts_of_a_block_have_its_mixtures(most):
    block = mixture_block([mixture(f"d{n}", n) for n in range(5)], range(5), list("abcde"))
    parts = list(block.parts(most))
    assert [len(part.ids) for part in parts] == [min(most, 5 - at) for at in range(0, 5, most)]
    assert [one.to_bytes() for part in parts for one in part.mixtures()] == [
        one.to_bytes() for one in block.mixtures()
    ]
    assert "".join(label for part in parts for label in part.labels) == "abcde"
    assert [time for part in parts for time in part.times.tolist()] == list(range(5))


def test_words_of_a_block_are_its_first_distinct_ones(monkeypatch):
    monkeypatch.setattr(mixtures, "MOST_DISTINCT", 2)
    texts = Document("a", 0, ""), Document("b", 0, ""), Document("c", 0, "")
    block = Block.of_words(texts, [["sea", "ship", "sea", "far"], [], ["ship"]])
    assert words_of(block) == ({"sea": 2, "ship": 1}, {}, {"ship": 1})


def test_words_are_kept_by_parts_and_bytes():
    block = mixture_block([mixture("a"), mixture("b")], [1, 2])
    block = replace(block, words=({"sea": 2}, {}))
    again = MixtureBlock.from_bytes(block.to_bytes())
    assert again.words == block.words
    assert [part.words for part in again.parts(1)] == [({"sea": 2},), ({},)]
    with pytest.raises(DamagedDataError, match="words of a block of mixtures"):
        MixtureBlock.from_bytes(replace(block, words=({},)).to_bytes())
