"""Why texts have no words: every advice is followed, and then there are words."""

from dataclasses import replace

import pytest

from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import REASONS, Losses, Tokeniser, explained, wordless

THAI = "\u0e1b\u0e23\u0e30\u0e15\u0e39\u0e17\u0e35\u0e21" * 6
CHINESE = "\u6211\u4eec\u7684\u5b66\u6821" * 10
JAPANESE = "\u3053\u308c\u306f\u65e5\u672c\u8a9e" * 8
KHMER = "\u1781\u17d2\u1789\u17bb\u17c6" * 10


@pytest.mark.parametrize(
    ("text", "settings", "lost", "advice", "change"),
    [
        ("we are here", {}, {"stop_words": 3}, "--stop_words=none", {"stop_words": "none"}),
        (
            "12 3450 7",
            {},
            {"digits": 2, "short": 1},
            "=capitals,codes,digits,numbers",
            {"word_forms": ("digits", "numbers")},
        ),
        ("x \u00e9 z", {"stop_words": "none"}, {"short": 3}, "(1 keeps all)", {"min_length": 1}),
        ("a" * 50, {}, {"long": 1}, "--max_word_length", {"max_length": 60}),
        ("<ship>", {"strip": ("html",)}, {"stripped": 1}, "by --strip", {"strip": ()}),
        (THAI, {}, {"thai": 1}, "--segmenter=thai", None),
        (CHINESE, {}, {"chinese": 1}, "--segmenter=chinese", None),
        (JAPANESE, {}, {"japanese": 1}, "--segmenter=japanese", None),
        (KHMER, {}, {"unspaced": 1}, "--tokeniser=module:function", None),
        ("!!! \U0001f600", {}, {"signs": 1}, "texts without a letter or a digit: 1", None),
        ("", {}, {"signs": 1}, "", None),
    ],
)
def test_each_reason_names_an_option_that_keeps_words(text, settings, lost, advice, change):
    settings = TokeniserSettings(**settings)
    assert Tokeniser(settings).words(text) == []
    found = Losses(settings).of(text)
    assert found == lost and set(found) <= set(REASONS)
    assert advice in explained(found)
    if change is not None:
        assert Tokeniser(replace(settings, **change)).words(text)


def test_words_that_are_kept_are_no_loss():
    assert Losses(TokeniserSettings()).of("the ships of 2001") == {"stop_words": 2, "digits": 1}


def test_the_largest_share_comes_first():
    assert explained({"digits": 1, "stop_words": 300, "short": 99}) == (
        "75 % of the words are stop words (--stop_words=none keeps them); 25 % are shorter than"
        " --min_word_length (1 keeps all); under 1 % have digits"
        " (--word_forms=capitals,codes,digits,numbers,signs keeps them)"
    )


@pytest.mark.parametrize(
    ("documents", "without", "said"),
    [
        (0, 0, ""),
        (10, 8, ""),
        (100, 89, ""),
        (1000, 900, "900 of 1,000 documents have no word: 100 % of the words are stop words"),
        (10, 10, "no word was learned, because none of 10 documents has one, and no version was"),
    ],
)
def test_from_nine_of_ten_on_it_is_said(documents, without, said):
    found = wordless(documents, without, {"stop_words": 3})
    assert found.startswith(said) and bool(found) == bool(said)
