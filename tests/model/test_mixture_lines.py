import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model import mixture_lines as tested
from model.encoding import mixture_fields, mixture_to_json
from model.groups import Groups, as_they_are
from model.mixture_lines import largest_topics, mixture_lines
from model.records import TopicMixture
from model.times import MAX_TIME, MIN_TIME, to_iso

# Where Python and Arrow may spell numbers in different ways, and their neighbours.
EDGES = (0.0, 1.0, 1e-4, np.nextafter(1e-4, 0), np.nextafter(1, 0), 5e-324, 1e-300, 1e-5, 0.1, 1e-7)
NUMBERS = st.floats(0, 1) | st.sampled_from(EDGES) | st.floats(1e-6, 1e-3)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def line_twin(mixture, top_topics):
    """The line by the encoder of JSON, one field after the other."""
    ids = mixture.topic_ids or tuple(range(len(mixture.proportions)))
    groups = mixture.groups or as_they_are(ids)
    largest = groups.largest(mixture.proportions, top_topics)
    fields = {
        "id": mixture.id,
        "key": mixture.key,
        "method": mixture.method,
        "model_version": mixture.model_version,
        "proportions": [float(value) for value in mixture.proportions],
        "timestamp": to_iso(mixture.timestamp),
        "tokens": mixture.tokens,
        "top_topics": [groups.ids[group] for group, _ in largest],
        "words_known": mixture.words_known,
    }
    if mixture.none is not None:
        fields["none"] = mixture.none
    if mixture.names:
        fields["topic_names"] = [mixture.names[group] for group, _ in largest]
        fields["top_shares"] = [share for _, share in largest]
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@st.composite
def mixtures(draw):
    values = np.array(draw(st.lists(NUMBERS, min_size=1, max_size=6)))
    count = len(values)
    named = draw(st.sampled_from(["no", "topics", "groups"]))
    return TopicMixture(
        draw(TEXTS),
        draw(TEXTS),
        draw(st.integers(MIN_TIME, MAX_TIME)),
        draw(TEXTS),
        "gibbs3",
        values,
        draw(st.integers(0, 9)),
        draw(st.integers(0, 99)),
        draw(st.none() | NUMBERS),
        () if named == "no" else tuple(draw(TEXTS) for _ in range(count)),
        tuple(range(count, 2 * count)) if draw(st.booleans()) else (),
        Groups(tuple(range(count)), tuple(range(count))[::-1], hidden=(0,))
        if named == "groups"
        else None,
    )


@given(st.lists(mixtures(), max_size=8), st.integers(1, 7), st.booleans())
@settings(max_examples=200)
def test_lines_are_those_of_the_encoder(given_mixtures, top_topics, by_arrow):
    few = tested._FEW_NUMBERS
    tested._FEW_NUMBERS = 0 if by_arrow else few
    try:
        found = list(mixture_lines(given_mixtures, top_topics))
    finally:
        tested._FEW_NUMBERS = few
    assert found == [line_twin(one, top_topics) for one in given_mixtures]
    assert [mixture_to_json(one, top_topics).decode() for one in given_mixtures] == found


def even(topics, **facts):
    return TopicMixture("k", "a", 0, "v", "m", np.full(topics, 1 / topics), 1, 1, **facts)


def test_many_numbers_of_all_sizes_are_spelled_as_python_does():
    draws = np.random.default_rng(1)
    values = np.concatenate(
        [draws.random(20_000), 10 ** draws.uniform(-12, 0, 20_000), np.repeat(EDGES, 2)]
    )
    one = replace(even(1), proportions=values)
    assert len(values) > tested._FEW_NUMBERS
    (line,) = mixture_lines([one], 1)
    (text,) = [part.partition("]")[0] for part in line.split('"proportions":[')[1:]]
    assert text == ",".join(map(repr, values.tolist()))


def test_more_mixtures_than_are_written_in_one_call_keep_their_order():
    count = tested._TOGETHER + 2
    several = [
        replace(even(2), id=str(n), timestamp=n, proportions=np.array([n, 1, 2]) / count)
        for n in range(count)
    ]
    assert list(mixture_lines(several, 2)) == [line_twin(one, 2) for one in several]


@pytest.mark.parametrize("most", [1, 3, 20])
@pytest.mark.parametrize("values", [[0.05, 0.1, 0.0, 0.1] * 5, [0.0] * 7 + [1.0] + [0.0] * 12])
def test_equal_topics_are_in_the_order_of_their_places(values, most):
    one = replace(even(20), proportions=np.array(values))
    wanted = as_they_are(range(20)).largest(one.proportions, most)
    before = one.proportions.copy()
    assert list(largest_topics([one, one], most)) == [wanted, wanted]
    assert np.array_equal(one.proportions, before)
    assert mixture_fields(one, most)["top_topics"] == [place for place, _ in wanted]
