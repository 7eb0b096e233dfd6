import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_twin import probability_of, spelled_by
from scipy.optimize import minimize

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.scaled import Scaled
from beam_topics.model.stored import wire
from beam_topics.model.words.character_model import CHARACTERS, GEOMETRIC, SMALLEST, CharacterModel

FEW = settings(max_examples=60)
# No surrogates, which UTF-8 cannot hold, and no newline, which no word holds.
WORD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1, max_size=9
)
LISTS = st.lists(WORD, min_size=1, max_size=20)
ENGLISH = [
    "sea",
    "seas",
    "seed",
    "seen",
    "the",
    "then",
    "these",
    "otherwise",
    "others",
    "nation",
    "nations",
    "a",
]
AWKWARD = [
    "wolverine",
    "\N{GRINNING FACE}\N{PILE OF POO}",
    "e\N{COMBINING ACUTE ACCENT}" + "\N{COMBINING CEDILLA}" * 40,
    "\N{LATIN SMALL LETTER E WITH ACUTE}",
    "שלום",
    "مرحبا",
    "한국어",
    "\0",
    "\U0010ffff",
    "x" * 10_000,
    "\N{GRINNING FACE}" * 10_000,
]


def value(number: Scaled) -> float:
    return math.ldexp(number.mantissa, number.exponent)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_all_strings_together_have_mass_one(order):
    letters = CharacterModel.fit(["ab", "abba", "b", "bab", "caaa"], order, characters=4)
    longest = 6
    mass = sum(
        value(probability_of(letters, "".join(word)))
        for length in range(1, longest + 1)
        for word in product("abcd", repeat=length)
    )
    beyond = 0.1 * letters.again**longest
    assert mass + beyond == pytest.approx(1, abs=1e-12)


@FEW
@given(LISTS, st.integers(0, 3))
def test_after_any_context_the_characters_have_mass_one(words, order):
    letters = CharacterModel.fit(words, order)
    seen = set("".join(words))
    for context in ["", "zq", *words]:
        before = spelled_by(letters, context) if context else Scaled.of(1.0)
        known = sum(value(spelled_by(letters, context + c)) for c in seen) / value(before)
        strange = next(c for c in map(chr, range(40, 0x10000)) if c not in seen)
        unseen = value(spelled_by(letters, context + strange)) / value(before)
        assert known + (CHARACTERS - len(seen)) * unseen == pytest.approx(1, abs=1e-9)


@FEW
@given(LISTS)
def test_lengths_have_mass_one(words):
    letters = CharacterModel.fit(words)
    longest = len(letters.lengths) + 50
    mass = sum(value(letters.length_probability(length)) for length in range(1, longest))
    tail = GEOMETRIC * letters.again ** (longest - 1)
    assert mass + tail == pytest.approx(1, abs=1e-12)
    assert (letters.lengths >= 0).all()


def test_lengths_are_the_least_squares():
    """Against a general optimiser, on the objective as the paper prints it."""
    used = {word: n + 1 for n, word in enumerate(ENGLISH)}
    letters = CharacterModel.fit(used, order=1)
    share = np.array([used[word] / sum(used.values()) for word in ENGLISH])
    m = np.array([value(spelled_by(letters, word)) for word in ENGLISH])
    length = np.array([len(word) for word in ENGLISH])

    def discrepancy(law):
        return float(np.sum((share - law[length] * m) ** 2)) * 1e4

    size = len(letters.lengths)
    rule = {"type": "eq", "fun": lambda law: law.sum() - 1}
    best = minimize(
        discrepancy,
        np.full(size, 1 / size),
        bounds=[(0, 1)] * size,
        constraints=rule,
        options={"ftol": 1e-12},
    )
    assert discrepancy(letters.lengths) <= best.fun * (1 + 1e-7)
    assert discrepancy(letters.lengths) < discrepancy(np.bincount(length) / len(length)) - 1e-3


def test_how_often_words_are_used_changes_lengths_only():
    often = {word: 1 if len(word) > 1 else 1000 for word in ENGLISH}
    by_type, by_use = CharacterModel.fit(ENGLISH), CharacterModel.fit(often)
    assert by_type.spelling.text == by_use.spelling.text
    assert by_use.lengths[1] > by_type.lengths[1]


def test_what_looks_like_the_words_is_more_probable():
    letters = CharacterModel.fit(ENGLISH)
    assert (
        probability_of(letters, "senses").log()
        > probability_of(letters, "sxqzes").log()
        > probability_of(letters, "שלוםשל").log()
    )
    assert probability_of(letters, "then").log() > probability_of(letters, "nthe").log()


@pytest.mark.parametrize(
    "word", AWKWARD, ids=[f"{len(word)} characters, U+{ord(word[0]):04X}" for word in AWKWARD]
)
@pytest.mark.parametrize("trained", [ENGLISH, AWKWARD], ids=["of English", "of itself"])
def test_any_string_has_a_probability(word, trained):
    letters = CharacterModel.fit(trained)
    assert -math.inf < probability_of(letters, word).log() < 0
    assert letters.probabilities([word])[0] >= SMALLEST


def test_long_words_keep_their_order_and_their_floor():
    letters = CharacterModel.fit(ENGLISH)
    shorter, longer = "q" * 5000, "q" * 10_000
    assert (
        probability_of(letters, longer).log()
        < probability_of(letters, shorter).log()
        < math.log(SMALLEST)
    )
    assert letters.probabilities(["sea", shorter, longer]).tolist() == [
        value(probability_of(letters, "sea")),
        SMALLEST,
        SMALLEST,
    ]
    assert SMALLEST * SMALLEST > 0


@pytest.mark.parametrize("word", ["s", "sea", "otherwise", "x" * 300])
def test_logarithms_are_those_of_a_plain_sum(word):
    """Against the definition, written with logarithms and counted from the words."""
    letters = CharacterModel.fit(ENGLISH, order=1)
    marked = ["^" + w for w in ENGLISH]

    def follows(context, c):
        pairs = [w[i - len(context) : i + 1] for w in marked for i in range(1, len(w))]
        after = [p[-1] for p in pairs if p[:-1] == context]
        kinds = len(set(after))
        shorter = follows(context[1:], c) if context else 1 / CHARACTERS
        return (after.count(c) + kinds * shorter) / (len(after) + kinds) if after else shorter

    at = "^" + word
    spelled = sum(math.log(follows(at[i - 1], at[i])) for i in range(1, len(at)))
    again = 1 - len(ENGLISH) / sum(map(len, ENGLISH))
    fitted = letters.lengths[len(word)] if len(word) < len(letters.lengths) else 0
    law = 0.9 * fitted + 0.1 * (1 - again) * again ** (len(word) - 1)
    assert probability_of(letters, word).log() == pytest.approx(spelled + math.log(law), rel=1e-12)


@FEW
@given(LISTS, WORD)
def test_bytes_come_back_and_have_one_spelling(words, word):
    letters = CharacterModel.fit(words)
    again = CharacterModel.from_bytes(letters.to_bytes())
    assert again.to_bytes() == letters.to_bytes() == CharacterModel.fit(reversed(words)).to_bytes()
    assert probability_of(again, word) == probability_of(letters, word)


@FEW
@given(st.data())
def test_damaged_bytes_are_refused(data):
    whole = CharacterModel.fit(ENGLISH).to_bytes()
    cut = data.draw(st.integers(0, len(whole) - 1))
    for wrong in (whole[:cut], whole + b"\0"):
        with pytest.raises(DamagedDataError):
            CharacterModel.from_bytes(wrong)
    with pytest.raises(
        DamagedDataError, match="characters of n-grams: found 124 values, allowed is 93"
    ):
        CharacterModel.from_bytes(whole.replace(b'"order":3', b'"order":2'))


def test_repeated_ngrams_are_refused():
    header, blobs = wire.unpack(CharacterModel.MAGIC, CharacterModel.fit(ENGLISH).to_bytes(), 3)
    text = blobs[0][:4] * 2 + blobs[0][8:]
    with pytest.raises(DamagedDataError, match="n-grams: found row 1 after row 0"):
        CharacterModel.from_bytes(wire.pack(CharacterModel.MAGIC, header, text, *blobs[1:]))


def test_words_too_long_for_least_squares():
    letters = CharacterModel.fit(
        ["".join(map(chr, range(0x4E00, 0x4E00 + length))) for length in (4000, 5000)]
    )
    assert letters.lengths[4000] == letters.lengths[5000] == letters.lengths.sum() / 2 == 0.5


@pytest.mark.parametrize("words", [[], ["a", ""], {"a": 0}])
def test_what_cannot_be_fitted(words):
    with pytest.raises(ValueError, match="needs words"):
        CharacterModel.fit(words)


def test_the_empty_string_is_not_a_word():
    with pytest.raises(ValueError, match="empty"):
        probability_of(CharacterModel.fit(ENGLISH), "")


def test_words_of_one_character_leave_longer_ones_a_probability():
    letters = CharacterModel.fit(["a", "b", "c"])
    assert 0 < value(probability_of(letters, "ab")) < value(probability_of(letters, "a"))
