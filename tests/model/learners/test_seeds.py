"""Seeded topics: prior tokens that no draw takes out, for a stream and an archive."""

from dataclasses import replace

import numpy as np
import pytest
from corpora import document_of, learned, minibatches_of
from learner_options import made

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.learners import Gibbs, learner_for
from beam_topics.model.learners.engine import learner as engine_learner
from beam_topics.model.learners.seeds import prior_tokens, words_of

SEEDS = ("sea: ship harbour", "land: horse road harbour")
S = 40
SEA, LAND = ("ship", "harbour", "sail", "wave"), ("horse", "road", "field", "cart")
DOCUMENTS = [
    document_of([(SEA if d % 2 else LAND)[(d * 3 + i) % 4] for i in range(8)], d) for d in range(60)
]
TOKENS = sum(len(document.tokens) for document in DOCUMENTS)
STREAM = minibatches_of(DOCUMENTS, 6)
EASY = {"learner": "gibbs", "topics": 4, "seeds": SEEDS, "seed_strength": S}
VARIANTS = {
    "births": {"moves": 5},
    "stream": {"moves": 5, "births": "off"},
    "sample": {"moves": 5, "births": "off", "reservoir": 7},
    "given": {"births": "off", "vocabulary": "given", "vocabulary_file": (*LAND, *SEA)},
    "archive": {"schedule": "archive", "sweeps": 5},
}


def settings_of(name, **others):
    return made(**{**EASY, **VARIANTS[name], **others})


@pytest.mark.parametrize("name", VARIANTS)
def test_the_prior_tokens_stay_and_the_words_are_first(name):
    settings = settings_of(name)
    state = learned(settings, STREAM)
    live, rows, _ = state.current()
    words, tokens = state.prior
    assert (live.rows[rows[words], :2] >= tokens).all()
    assert live.totals.sum() == live.rows.sum() == TOKENS + 5 * S
    first = learner_for(settings).snapshot(state).top_words(4)
    assert {"ship", "harbour"} <= set(first[0]) and {"horse", "road"} <= set(first[1])
    assert settings.topic_names == ("sea", "land")


@pytest.mark.parametrize("name", VARIANTS)
def test_a_saved_state_continues_with_the_same_bits(name):
    settings, learner = settings_of(name), learner_for(settings_of(name))
    state = learned(settings, STREAM[:5])
    other = learner.load(settings, "", 0, learner.save(state))
    for minibatch in STREAM[5:]:
        learner.step(state, minibatch)
        learner.step(other, minibatch)
    assert learner.save(other) == learner.save(state)
    assert learner.summary(other) == learner.summary(state)


def test_a_new_topic_has_the_dirichlet_prior_of_its_seed():
    """Before any document P(w | z) is (a / W + s) / (a + s V_z)."""
    settings = settings_of("given")
    learner = learner_for(settings)
    snapshot = learner.snapshot(learner.init(settings, "", 0))
    rows = snapshot.rows(np.arange(8)) + snapshot.prior.shares(np.arange(8))
    found = dict(zip(snapshot.words, rows / snapshot.normalisers, strict=True))
    a = 0.8
    assert found["ship"][0] == pytest.approx((a / 8 + S) / (a + 2 * S), rel=1e-12)
    assert found["horse"][0] == pytest.approx(a / 8 / (a + 2 * S), rel=1e-12)
    assert found["horse"][1] == pytest.approx((a / 8 + S) / (a + 3 * S), rel=1e-12)
    assert found["horse"][2] == pytest.approx(1 / 8, rel=1e-12)


def test_a_number_behind_a_word_is_that_of_its_prior_tokens():
    seeds = ("sea: ship^7 harbour", "land: horse^1 horse^9")
    assert words_of(seeds) == ("ship", "harbour", "horse")
    assert prior_tokens(seeds, S).tolist() == [[7, 0], [S, 0], [0, 1]]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_topic_with_many_prior_tokens_is_frozen(name):
    """P(w | z) moves by at most n_z / (n_z + s_z) in total variation."""
    many = 10**6
    settings = settings_of(name, seeds=(f"sea: ship^{3 * many} harbour^{many}",))
    snapshot = learner_for(settings).snapshot(learned(settings, STREAM))
    rows = np.arange(len(snapshot.words))
    found = (snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers
    moved = {word: found[row, 0] for row, word in enumerate(snapshot.words)}
    wanted = {"ship": 0.75, "harbour": 0.25}
    distance = sum(abs(moved[word] - wanted.get(word, 0.0)) for word in moved) / 2
    # The prior has some thousand pseudo-counts beside the tokens.
    assert distance < (TOKENS + 5000) / (4 * many)
    assert max(found[:, 1]) < 0.95


@pytest.mark.parametrize("name", VARIANTS)
def test_the_size_of_a_topic_is_that_of_its_tokens(name, monkeypatch):
    settings = settings_of(name)
    state, learner = learned(settings, STREAM), learner_for(settings)
    assert learner.snapshot(state).totals.sum() == pytest.approx(TOKENS, abs=2.0)
    # A topic as large as its seed would fail.
    monkeypatch.setattr(engine_learner, "_without_prior_tokens", lambda *_: np.ones(4))
    assert learner.snapshot(state).totals.sum() == pytest.approx(TOKENS + 5 * S)


def test_words_of_seeds_never_leave_the_vocabulary():
    others = [document_of([f"w{d}-{i}" for i in range(5)], d) for d in range(40)]
    state = learned(settings_of("births", max_words=30), minibatches_of(others, 4))
    assert tuple(state.vocabulary.words[:4]) == ("ship", "harbour", "horse", "road")
    assert len(state.vocabulary) <= 30
    assert (state.live.rows[:4, :2] >= state.prior[1]).all()


def test_without_seeds_the_strength_is_not_stored():
    assert not {"seeds", "seed_strength"} & set(Gibbs().to_json())
    assert Gibbs(topics=4, seeds=SEEDS).canonical() != Gibbs(topics=4).canonical()


@pytest.mark.parametrize("name", ["stream", "archive"])
def test_a_state_without_the_prior_tokens_is_refused(name):
    settings, learner = settings_of(name), learner_for(settings_of(name))
    state = learned(settings, STREAM)
    state.live.rows[0, 0] = S - 1
    with pytest.raises(DamagedDataError, match="fewer tokens of a seed than its prior tokens"):
        learner.load(settings, "", 0, learner.save(state))
    state.vocabulary = replace(settings, seeds=()).vocabulary.new()
    state.vocabulary.extend(("another", *SEA, *LAND[1:]))
    with pytest.raises(DamagedDataError, match="first words are not those of the seeds"):
        learner.load(settings, "", 0, learner.save(state))


def test_prior_tokens_are_none_of_documents():
    settings, learner = settings_of("stream"), learner_for(settings_of("stream"))
    state = learned(settings, STREAM)
    live = state.live
    z, words = live.z[: live.tokens], live.words[: live.tokens]
    own = int(((z == 0) & (words == 0)).sum())
    assert own and live.rows[0, 0] == S + own
    live.rows[0, 0] = max(S, own)
    with pytest.raises(DamagedDataError, match="without its documents"):
        learner.load(settings, "", 0, learner.save(state))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"topics": 1}, "at most as many as --topics .1.. Give --topics=2 or more"),
        ({"seeds": ("sea ship",)}, "a name, a colon and words"),
        ({"seeds": ("sea: ship", "sea: sail")}, "each name once"),
        ({"seed_strength": 10**9}, "5000000000 prior tokens.*lower --seed_strength, or lower"),
        ({"seeds": ("sea: ship^0",)}, r"'ship\^0' was given; allowed is 1 to 1073741824 prior"),
        ({"seeds": (f"sea: ship^{2**31}",)}, "for a word. Correct the number."),
        ({"seeds": ("sea: ship^" + "9" * 5000,)}, "for a word. Correct the number."),
        ({"max_words": 6}, "at most half of --max_words"),
        (
            {"vocabulary": "given", "vocabulary_file": ("ship", "harbour", "road")},
            "words of the given vocabulary",
        ),
    ],
)
def test_seeds_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(OptionError, match=message):
        made(**{**EASY, **fields})
