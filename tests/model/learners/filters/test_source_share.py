"""The share of one source: what is learned, what is counted and told, and what is restored."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from corpora import document_of, minibatches_of
from learner_options import made

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.filters import floods
from beam_topics.model.learners.filters.floods import BLOCK, Flood, Sources, hash_of
from beam_topics.model.publishing.events import FLOOD


@pytest.fixture(autouse=True)
def of_fifty(monkeypatch):
    monkeypatch.setattr(floods, "SHARE_OF", 50)


def learned(sources, size=10, reload=False, share=0.1, **others):
    settings = made(
        {"topics": 3, "initial": "none", "max_source_share": share},
        **others,
    )
    documents = [
        replace(document_of([f"w{d % 9}", f"x{d}"] * 5, d), sources=(source,))
        for d, source in enumerate(sources)
    ]
    learner, infos = learner_for(settings), []
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(documents, size):
        infos.append(learner.step(state, minibatch))
        if reload:
            state = learner.load(settings, "", 0, learner.save(state))
    return learner, state, infos


def flood_of(count, seed=1, share=0.8):
    """Sources of a stream of which one source has this share."""
    generator = np.random.default_rng(seed)
    drawn = generator.random(count) < share
    return ["flood" if one else f"s{generator.integers(60)}" for one in drawn]


@pytest.mark.parametrize(("most", "share"), [(50, 0.1), (7, 0.3), (200, 0.02)])
def test_no_source_has_more_than_its_share_of_the_last_documents(most, share):
    sources, taken = Sources(most, share), []
    for source in [*flood_of(1500), *flood_of(1500, 2, 0.1)]:
        if sources.takes(hash_of(source)):
            taken.append(source)
            last = taken[-most:]
            bound = math.ceil(share * len(last))
            assert max(Counter(last).values()) <= bound
            assert Counter(map(hash_of, last)) == sources.counts
    # The bound is used: the flood has its share.
    assert Counter(taken[:most])["flood"] >= 0.5 * share * most
    assert len(taken) > most


def test_documents_without_a_source_are_all_learned():
    sources = Sources(10, 0.1)
    assert all(sources.takes(hash_of(None)) for _ in range(50))
    assert len(sources.last) == 10


def test_what_is_above_the_share_is_counted_and_not_learned():
    learner, state, infos = learned(flood_of(300))
    over = sum(info.over_share for info in infos)
    assert 150 < over < 250
    assert sum(info.documents for info in infos) == learner.summary(state).documents == 300 - over


def test_a_flood_is_told_once_with_three_of_its_documents():
    infos = learned([f"s{d % 60}" for d in range(100)] + flood_of(300))[2]
    told = [event for info in infos for event in info.events if event.kind == FLOOD]
    assert len(told) == 1
    (event,) = told
    assert event.by == "over_share" and event.documents == round(100 * event.figures["share"]) > 50
    assert len(event.ids) == 3 and event.ids[0] >= "100"


def test_a_flood_that_comes_again_is_told_again():
    flood, none = Flood(), np.zeros(BLOCK, bool)
    minibatch = minibatches_of([document_of(["a"], d) for d in range(BLOCK)], BLOCK)[0]
    told = [len(flood.count(minibatch, left, "near_copies")) for left in (none, ~none, ~none)]
    told += [len(flood.count(minibatch, left, "near_copies")) for left in (none, ~none)]
    assert told == [0, 1, 0, 0, 1]


@pytest.mark.parametrize("others", [{}, {"duplicates": "drop"}])
def test_a_restored_learner_leaves_out_what_the_other_one_does(others):
    plain, restored = (
        learned(flood_of(200), **others),
        learned(flood_of(200), reload=True, **others),
    )
    assert plain[2] == restored[2]
    assert plain[0].save(plain[1]) == restored[0].save(restored[1])


def test_more_sources_than_the_window_are_refused(monkeypatch):
    learner, state, _ = learned(flood_of(200))
    settings = state.state.settings
    monkeypatch.setattr(floods, "SHARE_OF", 20)
    with pytest.raises(DamagedDataError, match="sources of a state"):
        learner.load(settings, "", 0, learner.save(state))
