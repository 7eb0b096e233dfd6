from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from corpora import document_of, learned, minibatches_of, topical
from learner_options import made
from variational_twin import InfvocTwin

from beam_topics.model.evaluation.held_out import Score, first_moment
from beam_topics.model.learners import learner_for
from beam_topics.model.words.character_model import CharacterModel

SMALL = {
    "learner": "infvoc",
    "topics": 3,
    "stick_concentration": 30.0,
    "alpha": 0.3,
    "tau0": 2.0,
}
EVERYTHING = {**SMALL, "reorder_every": 2, "truncation": 12, "kappa": 0.6}
BATCH = {**SMALL, "kappa": 0.0, "stream_documents": 20, "truncation": 10**6, "reorder_every": 1}


def stream(size=5, count=20):
    """Words of very different spelling, so that G0 matters, and new ones to the end."""
    spelled = [
        "on",
        "sea",
        "ant",
        "the",
        "xylophone",
        "qvzzk",
        "internationalisation",
        "a",
        "rhythm",
        "tea",
        "seat",
        "teas",
    ]
    late = topical(count, words=30, length=8, seed=7, first=5)
    words = [np.array(d.words)[d.tokens].tolist() for d in topical(count, words=12, length=8)]
    named = [[spelled[int(word[1:])] for word in text] for text in words]
    both = [
        text + (np.array(late[d].words)[late[d].tokens].tolist() if d > count // 2 else [])
        for d, text in enumerate(named)
    ]
    return minibatches_of([document_of(text, d) for d, text in enumerate(both)], size)


def twin_of(settings, minibatches, bug=None):
    uses = dict(zip(minibatches[0].words, np.bincount(minibatches[0].tokens).tolist(), strict=True))
    twin = InfvocTwin(settings, CharacterModel.fit(settings.word_list or uses), bug)
    for minibatch in minibatches:
        twin.step(minibatch)
    return twin


def agrees(state, twin):
    sticks, words = state.sticks, state.vocabulary.words
    for k, size in enumerate(sticks.size):
        order = [words[w] for w in sticks.words[k, :size]]
        if order != twin.order[k]:
            return False
        ours = np.array([1 + sticks.use[k, :size], sticks.rest[k, :size]])
        theirs = np.array([[nu[k][word] for word in order] for nu in (twin.nu1, twin.nu2)])
        if not np.allclose(ours, theirs, rtol=1e-9):
            return False
    return sorted(words) == sorted({word for k in twin.order for word in twin.order[k]})


@pytest.mark.parametrize(
    "settings",
    [
        EVERYTHING,
        {**EVERYTHING, "remainder": "printed"},
        {**EVERYTHING, "word_list": ("anthem", "sea", "theatre")},
        {**EVERYTHING, "stream_documents": 1000, "kappa": 0.9},
        {**SMALL, "truncation": 10**6},
        {**SMALL, "truncation": 10**6, "remainder": "printed"},
    ],
)
def test_the_same_as_the_paper_read_slowly(settings):
    settings, minibatches = made(**settings), stream()
    assert agrees(learned(settings, minibatches), twin_of(settings, minibatches))


def test_the_batch_algorithm_with_all_words_known():
    """D = |S|, kappa = 0, no truncation: the same documents again and again."""
    settings, (documents,) = made(BATCH), stream(size=20)
    again = [documents] + [type(documents).from_bytes(documents.to_bytes()) for _ in range(4)]
    assert agrees(learned(settings, again), twin_of(settings, again))


@pytest.mark.parametrize("bug", ["inclusive", "earlier", "no G0", "no order", "no contraction"])
def test_a_planted_error_is_found(bug):
    settings, minibatches = made(EVERYTHING), stream()
    assert not agrees(learned(settings, minibatches), twin_of(settings, minibatches, bug))


CHANGES = (
    {"reorder_every": 100},
    {"truncation": 10**6},
    {"remainder": "printed"},
    {"word_list": ("qvzzk", "zzz")},
)


@pytest.mark.parametrize("change", CHANGES)
def test_every_part_changes_the_topics(change):
    """Two published implementations switch off the order or the character model by mistake."""
    found = []
    for others in ({}, change):
        settings = made(**{**EVERYTHING, "word_list": ("on", "sea", "ant", "the"), **others})
        state = learned(settings, stream())
        snapshot = learner_for(settings).snapshot(state)
        found.append(
            [snapshot.top_words(8), snapshot.rows(np.arange(len(snapshot.words))).tolist()]
        )
    assert found[0] != found[1]


def test_a_published_model_says_what_the_learner_scores_by():
    settings = made(EVERYTHING)
    *before, last = stream()
    state = learned(settings, before)
    learner = learner_for(settings)
    snapshot = learner.snapshot(state)
    info = learner.step(state, last)
    scored = sum((first_moment(snapshot, document) for document in last.documents()), Score())
    assert info.scored_tokens == scored.tokens == len(last.tokens)
    assert info.log_evidence == pytest.approx(scored.log_probability, rel=1e-9)
    inside = snapshot.prior.base.sum() + snapshot.prior.unseen * (
        1 - state.character_model.probabilities(snapshot.words).sum()
    )
    assert inside == pytest.approx(1)


def test_a_word_that_was_dropped_and_comes_back_is_new():
    settings = made(
        **{**EVERYTHING, "truncation": 1, "reorder_every": 2, "topics": 1, "word_list": ("often",)}
    )
    texts = [["rare"], ["often"] * 9, ["rare", "rare"]]
    first, second, third = minibatches_of([document_of(text, d) for d, text in enumerate(texts)], 1)
    state = learned(settings, [first, second])
    assert list(state.vocabulary.words) == ["often"]
    learner_for(settings).step(state, third)
    assert list(state.vocabulary.words) == ["often", "rare"]
    step = (settings.tau0 + 3) ** -settings.kappa
    assert state.sticks.use[0, 1] == pytest.approx(step * 3 * 2)
    assert state.sticks.rest[0, 1] == pytest.approx(settings.stick_concentration)


def test_the_vocabulary_is_bounded_where_every_word_is_new():
    settings = made(**{**EVERYTHING, "truncation": 10, "reorder_every": 3})
    sizes = []
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(
        [document_of([f"n{d}x{i}" for i in range(5)], d) for d in range(200)], 2
    ):
        learner.step(state, minibatch)
        sizes.append(learner.nbytes(state))
        assert len(state.vocabulary) <= 3 * 10 + 3 * 10
    assert max(sizes[20:]) <= 1.2 * max(sizes[:20])


ODD = [
    "x" * 10_000,
    "\N{GRINNING FACE}",
    "e\N{COMBINING ACUTE ACCENT}",
    "שלום",
    "\N{LATIN SMALL LETTER E WITH ACUTE}",
]


def test_the_words_that_are_used_least_leave():
    settings = made(**{**EVERYTHING, "truncation": 10**6, "max_words": 9, "reorder_every": 4})
    *before, last = stream()
    learner, state = learner_for(settings), learned(settings, before)
    everything = learned(replace(settings, max_words=10**6), [*before, last])
    learner.step(state, last)
    use = Counter()
    for k, size in enumerate(everything.sticks.size):
        for t in range(size):
            use[everything.vocabulary.words[everything.sticks.words[k, t]]] += (
                everything.sticks.use[k, t]
            )
    assert len(before) == 3 and len(use) > 12
    assert sorted(state.vocabulary.words) == sorted(word for word, _ in use.most_common(9))
    assert all(
        k in range(9)
        for k in state.sticks.words[
            np.arange(state.sticks.use.shape[1]) < state.sticks.size[:, None]
        ]
    )
    for w in range(9):
        for k in range(3):
            t = state.sticks.position[w, k]
            assert t < 0 or (state.sticks.words[k, t] == w and t < state.sticks.size[k])
    assert learner.save(learner.load(settings, "", 0, learner.save(state))) == learner.save(state)


@pytest.mark.parametrize(
    "word", ODD, ids=[f"U+{ord(word[0]):04X}, {len(word)} characters" for word in ODD]
)
def test_odd_words_are_learned(word):
    settings = made(EVERYTHING)
    state = learned(settings, [*stream(), *minibatches_of([document_of([word] * 30, 99)], 1)])
    snapshot = learner_for(settings).snapshot(state)
    assert word in snapshot.words
    assert np.isfinite(snapshot.counts).all() and (snapshot.prior.base > 0).all()
