"""Lists of stop words: short ones of words of grammar, and the long ones of a library."""

from pathlib import Path

import pytest

from beam_topics.model.errors import OptionError
from beam_topics.model.words import stop_lists
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.stop_lists import FUNCTIONS, LIBRARY, stop_words_of
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

LINES = (Path(__file__).parent / "content_words.txt").read_text(encoding="utf-8").split("\n", 1)
GRAMMAR = (Path(__file__).parent / "grammar_words.txt").read_text(encoding="utf-8")
PARTS = {part[:2]: part[3:].split("\n")[1:3] for part in GRAMMAR.split("\n[")[1:]}
# Words that the library's lists have.
NOUNS = {
    "de": "zeit jahr mensch welt teil tag recht",
    "es": "mundo tiempo estado trabajo verdad parte",
    "fr": "monde temps état personne force plein",
    "it": "mondo tempo stato anni persone parte",
    "nl": "wereld jaar mens werk tijd",
    "pt": "mundo tempo trabalho estado povo grupo",
    "ru": "мир время человек год жизнь работа",
}


def test_content_words_survive_the_default():
    words = LINES[1].split()
    assert len(set(words)) >= 200
    assert Tokeniser(TokeniserSettings()).words(" ".join(words)) == words
    lost = set(words) & stop_words_of("en", LIBRARY)
    assert {"fire", "computer", "system", "uk", "tv", "test", "research", "world", "work"} <= lost


def test_function_words_and_what_is_left_of_addresses_go():
    text = "The https://www.x.org of which I don't, dont, it's and e.g. i.e. http: really"
    assert Tokeniser(TokeniserSettings()).words(text) == []


@pytest.mark.parametrize("code", NOUNS)
def test_nouns_of_other_languages_survive(code):
    assert not stop_words_of(code, FUNCTIONS) & set(NOUNS[code].split())


@pytest.mark.parametrize("code", PARTS)
def test_words_of_grammar_go_and_others_stay(code):
    grammar, others = PARTS[code]
    assert len(set(grammar.split())) >= 30 and len(set(others.split())) >= 50
    cut = Tokeniser(tokeniser_settings(stop_words=code)).words
    assert cut(f"{grammar} {grammar.title()}") == [] and cut(others) == others.split()


@pytest.mark.parametrize(
    ("code", "text", "left"),
    [
        ("it", "dell' arte, dell’opera, all'anno c'è com'è nessun'altra", "arte opera anno"),
        ("fr", "l'homme qu'il aujourd'hui jusqu’au port", "homme port"),
        ("nl", "zo'n haven", "haven"),
    ],
)
def test_words_of_grammar_before_an_apostrophe(code, text, left):
    assert Tokeniser(tokeniser_settings(stop_words=code)).words(text) == left.split()


def test_each_short_list_is_short_and_plain():
    lists = {code: words for code, words in stop_lists._own().items() if len(code) == 2}
    assert set(lists) <= stop_lists.languages_with_lists() and {"en", *PARTS} <= set(lists)
    for code, words in lists.items():
        assert 90 <= len(words) <= 560, code
        cut = Tokeniser(tokeniser_settings(stop_words=code))
        assert cut.words(" ".join(sorted(words))) == []


def test_a_language_without_a_short_list_has_the_one_of_the_library():
    web = {"http", "https", "www"}
    assert stop_words_of("cs", FUNCTIONS) == stop_words_of("cs", LIBRARY) | web
    assert stop_words_of("de,fr", FUNCTIONS) == (
        stop_words_of("de", FUNCTIONS) | stop_words_of("fr", FUNCTIONS)
    )


def test_settings_hold_the_release():
    assert tokeniser_settings(stop_lists="stopwordsiso").stop_lists == LIBRARY
    assert tokeniser_settings() == TokeniserSettings()
    new = TokeniserSettings().to_json()
    forms = ["capitals", "codes", "digits", "signs"]
    assert (new["stop_lists"], new["word_forms"]) == (FUNCTIONS, forms)


def test_other_lists_and_releases_are_refused():
    with pytest.raises(OptionError, match="--stop_lists: 'long' .* one of functions, stopwordsiso"):
        tokeniser_settings(stop_lists="long")
    with pytest.raises(OptionError, match="functions==1, because another release gives other word"):
        Tokeniser(TokeniserSettings(stop_lists="functions==9"))
