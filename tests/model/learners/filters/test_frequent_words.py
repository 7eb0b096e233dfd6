"""Words that are left out by their share of documents: which, from when on, and their state."""

import pytest
from corpora import document_of, minibatches_of
from learner_options import made

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.filters.frequent_words import LEAST, FrequentWords


def settings_of(max_df=0.5, **others):
    return made({"topics": 3, "learner": "o-lda", "max_df": max_df, **others})


def stream(count, share, first=0):
    """Documents of which this share, in tenths, have the word ``common``."""
    return [
        document_of(["common"] * (d % 10 < share) + [f"w{d % 17}", f"v{d % 23}"], first + d)
        for d in range(count)
    ]


def remembered(documents, max_df=0.5):
    memory, found = FrequentWords.new(settings_of(max_df)), []
    for minibatch in minibatches_of(documents, 100):
        found.append(memory.take(minibatch))
    return memory, found


def test_a_frequent_word_is_left_out_from_the_minibatch_after():
    memory, found = remembered(stream(LEAST + 200, 6))
    assert memory.out == {"common"}
    has = ["common" in minibatch.words for minibatch in found]
    assert has == [True] * (LEAST // 100) + [False] * 2
    last = found[-1]
    assert len(last.tokens) == 200
    assert [len(document.words) for document in last.documents()] == [2] * 100


@pytest.mark.parametrize("share", [3, 5])
def test_a_word_up_to_the_share_stays(share):
    memory, _ = remembered(stream(2000, share))
    assert memory.out == set()


def test_a_word_comes_back_below_nine_tenths_of_the_share():
    memory, _ = remembered(stream(1000, 10) + stream(1210, 0, 1000))
    # 1,000 of 2,200 are .4545; 1,000 of 2,300 would be less than .45.
    assert memory.out == {"common"}
    memory, _ = remembered(stream(1000, 10) + stream(1300, 0, 1000))
    assert memory.out == set()


def test_a_version_does_not_have_the_word():
    settings = settings_of()
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(stream(LEAST, 9), 100):
        learner.step(state, minibatch)
    snapshot = learner.snapshot(state)
    assert "common" not in snapshot.words
    assert set(snapshot.words) == {*(f"w{n}" for n in range(17)), *(f"v{n}" for n in range(23))}
    assert len(snapshot.prior.base) == len(snapshot.words)


def test_the_memory_is_restored():
    memory, _ = remembered(stream(1000, 6))
    data = memory.to_bytes()
    again = FrequentWords.from_bytes(settings_of(), data)
    assert again == memory
    assert again.to_bytes() == data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: setattr(m, "documents", -1), "documents of frequent words: found -1"),
        (lambda m: setattr(m.counts, "short", -1), "short of documents of frequent words"),
        (lambda m: m.counts.counts.update(x=0), "documents of frequent words: found 0"),
        (lambda m: m.counts.counts.update(x=2**40), "documents of frequent words: found"),
        (
            lambda m: m.counts.counts.update((f"x{n}", 1) for n in range(40_002)),
            "number of frequent words",
        ),
    ],
)
def test_a_hostile_state_is_refused(change, message):
    memory, _ = remembered(stream(600, 6))
    change(memory)
    with pytest.raises(DamagedDataError) as error:
        FrequentWords.from_bytes(settings_of(), memory.to_bytes())
    assert message in str(error.value)
