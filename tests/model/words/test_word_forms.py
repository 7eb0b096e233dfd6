"""Which words a text has, by ``--word_forms``."""

import pytest

from beam_topics.model.errors import OptionError
from beam_topics.model.words import word_forms
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

DEFAULT = TokeniserSettings.word_forms


def words(text, *forms, **options):
    made = tokeniser_settings(stop_words="none", word_forms=forms or DEFAULT, **options)
    return Tokeniser(made).words(text)


CODES = "5G covid19 GPT-4 word2vec P0420 KB5034441 IL-6 v2.4.1 G20 0x80070005 06A-906-461-L 3-D"
MORE_CODES = "ORA-00942 CVE-2024-3094 PLC-S7-1200 python3.11 1990s 401(k) 737-MAX 737-MAX-8"
SIGNS = "AT&T R&D Q&A S&P500 C++ C++17 C# F# .NET ASP.NET U.S x-ray e-mail k-means"


@pytest.mark.parametrize("word", f"{CODES} {MORE_CODES} {SIGNS}".split())
@pytest.mark.parametrize("around", ["{}", "a ({}), {}.", "{}/{}: {}!", "é {} ひ", "{}\n{};"])
def test_words_of_the_default_forms_stay_whole(word, around):
    text = around.replace("{}", word)
    assert [found for found in words(text) if found != "é"] == [word.lower()] * around.count("{}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1984 120,000 3.14 5.6.0 2024-03-01 9/11 10:30 192.168.0.1 -4 ½ 1990-2000", []),
        ("covid-19-related 19th-century 20-year-old", "covid-19 related 19th century year old"),
        ("state-of-the-art well-known e-e -x- --flag-", "state of the art well known flag"),
        ("node.js end.Begin Accord.NET ...net", "node js end begin accord net net"),
        ("i.e. e.g. U.S.A. J.R.R. Tolkien, Ph.D.", "i.e e.g u.s.a j.r.r tolkien ph"),
        ("AT&amp;T a&lt;b rock&roll x && y", "at&t rock roll"),
        ("#harbour @harbour joe@mail.org 😀", "harbour harbour"),
        ("va-t-il a-t-il E‐Mail covid‑19", "va il il e-mail covid-19"),
        ("20-year 100-page 100-PAGES 100-DAY-OLD 7-DAY x\x1fab", "year page pages day old day ab"),
        ("f(x) 2(a) 501(c)(3) 401(kk) 401(k)s 401(k", "501(c) kk"),
        ("rock&roll500 R&D2x &lt500", "rock roll500 d2x lt500"),
        ("HDAPSTU Hello-World", "hdapstu hello world"),
    ],
)
def test_what_is_joined_and_what_is_not(text, expected):
    assert words(text) == (expected.split() if expected else [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The US told us, and WHO asks who has IT: it.", "US told WHO asks IT"),
        ("US-led and non-US; the 'US' or «US» of é, and US$8 of\nUS.", "US led US US US US US"),
        # Headings and phrases in capitals.
        ("IT DEPARTMENT: WHO IS IT? TELL US!\nThe harbour", "department harbour"),
        # Parts of other words, codes, signs and addresses.
        ("US's IT'S USA U.S. US&A IT-2 #US @IT it.US/a WHO_x", "usa u.s us&a it-2"),
        ("\x1eabc", "abc"),
    ],
)
def test_capitals_that_are_no_words_of_grammar(text, expected):
    cut = Tokeniser(tokeniser_settings(stop_words="en"))
    assert [word for word in cut.words(text) if word != "é"] == expected.split()


def test_without_the_form_capitals_are_words_of_grammar(tmp_path):
    text = "The US told WHO of IT"
    assert words(text, "codes") == ["the", "us", "told", "who", "of", "it"]
    for option in ({"lemmas": "en"}, {"stemmer": "english"}):
        assert {"US", "WHO", "IT"} < {*words(text, **option)}
    path = tmp_path / "stop.txt"
    path.write_text("US\nit\n", encoding="utf-8")
    cut = Tokeniser(tokeniser_settings(stop_words_file=str(path)))
    assert cut.words("US and us, IT and it") == ["and", "us", "IT", "and"]


@pytest.mark.parametrize(
    ("forms", "text", "expected"),
    [
        ("letters", "GPT-4 covid19 x-ray R&D 1984", "gpt ray"),
        ("digits", "GPT-4 covid19 06A-906", "gpt covid19 06a"),
        ("numbers", "1984 3.14 7 b2b", "1984 14"),
        ("numbers,codes", "1984 3.14 GPT-4", "1984 3.14 gpt-4"),
        ("compounds", "state-of-the-art- x-ray --", "state-of-the-art x-ray"),
        ("hashtags", "#Harbour #my_tag, #1 C# &#39; a#b ##x", "#harbour #my_tag #x"),
        ("names", "@Joe_B joe@mail.org @1", "@joe_b"),
        ("hashtags,names,emoji", "#a @b 👍🏽👍 ❤️❤ 🇩🇪 👩‍💻 ©", "#a @b 👍 👍 ❤ ❤ 🇩🇪 👩‍💻"),
    ],
)
def test_each_form(forms, text, expected):
    found = words(text, *forms.split(","))
    if forms == "numbers,codes":
        expected = "1984 3.14"  # A word with a digit and a letter needs digits.
    assert found == expected.split()


def test_a_form_is_one_option_and_the_order_does_not_count():
    made = tokeniser_settings(word_forms=("names", "emoji", "letters", "names"))
    assert made.word_forms == ("emoji", "names")
    assert tokeniser_settings(word_forms=()).word_forms == ("letters",)
    assert word_forms.resolved(DEFAULT) == DEFAULT
    with pytest.raises(OptionError, match="--word_forms: 'hashes' .* codes, compounds, digits"):
        tokeniser_settings(word_forms=("hashes",))


def test_vowelled_arabic_and_hebrew_are_the_words_without_marks():
    assert words("كِتَابٌ كتاب كتــاب") == ["كتاب"] * 3
    assert words("שָׁלוֹם שלום") == ["שלום"] * 2
    assert words("كِتَابٌ كتاب", "marks") == ["كِتَابٌ", "كتاب"]
    assert Tokeniser(tokeniser_settings(stop_words="ar")).words("مِنَ البَيْت") == ["البيت"]


def test_hindi_keeps_its_marks():
    assert words("हिन्दी की भाषा में धीरे-धीरे") == ["हिन्दी", "की", "भाषा", "में", "धीरे", "धीरे"]


def test_joining_signs_are_those_of_any_text(monkeypatch):
    """Signs that join are capital letters inside; a function of the user may return capitals."""
    joined = word_forms.joiner(word_forms.FORMS)
    text = "gpt-4 r&d c++ c# #tag_a @b_c u.s"
    assert [word_forms.unmarked(word) for word in joined(text).split()] == text.split()
