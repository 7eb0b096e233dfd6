"""Tables of parts add up to the table of the whole, whatever the parts and their order."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.trends import Trends

DOCUMENTS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["", "a"]),
        st.lists(st.floats(0, 1), min_size=3, max_size=3),
        st.integers(0, 2**20),
    ),
    max_size=20,
)


def table_of(documents):
    found = Trends(3)
    for start, group, proportions, known in documents:
        found.add(start, group, proportions, tokens=known + 1, words_known=known)
    return found


@given(DOCUMENTS, st.randoms(use_true_random=False), st.integers(1, 4))
def test_parts_in_any_order_add_up_to_the_whole(documents, random, count):
    shuffled = list(documents)
    random.shuffle(shuffled)
    merged = Trends(3)
    for part in range(count):
        merged.merge(table_of(shuffled[part::count]))
    assert merged == table_of(documents)


@given(DOCUMENTS)
def test_means_and_tokens_are_those_of_the_documents(documents):
    for (start, group), cell in table_of(documents).cells.items():
        mine = [(p, known) for s, g, p, known in documents if (s, g) == (start, group)]
        assert cell.documents == len(mine)
        assert cell.words_known == sum(known for _, known in mine) == cell.tokens - len(mine)
        for topic in range(3):
            mean = sum(Fraction(p[topic]) for p, _ in mine) / len(mine)
            assert abs(Fraction(cell.mean_shares()[topic]) - mean) < Fraction(1, 10**12)
            tokens = float(sum(Fraction(p[topic]) * known for p, known in mine))
            assert cell.expected_tokens()[topic] == pytest.approx(tokens, rel=1e-9, abs=1e-4)


def test_floating_point_sums_would_depend_on_the_order():
    values = [0.1, 0.2, 0.3]
    assert sum(values) != sum(values[::-1])
    one, other = Trends(1), Trends(1)
    for value in values:
        one.add(0, "", [value], tokens=1, words_known=1)
    for value in values[::-1]:
        other.add(0, "", [value], tokens=1, words_known=1)
    assert one == other
