import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import beam_topics.model.words.tokeniser as module
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError
from beam_topics.model.words import word_forms
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

EVERY = word_forms.FORMS


def words(text, **options):
    return Tokeniser(
        tokeniser_settings(**({"stop_words": "none", "min_length": 1} | options))
    ).words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Union, the UNION!", ["the", "union", "the", "union"]),
        ("don't can’t 'quoted' rock'n'roll", ["don't", "can't", "quoted", "rock'n'roll"]),
        ("nation's nation’s nation", ["nation"] * 3),
        ("e\u0301te\u0301 été ÉTÉ E\u0301TE\u0301", ["été"] * 4),
        ("well-known snake_case any.body", ["well", "known", "snake", "case", "any", "body"]),
        ("हिन्दी की भाषा", ["हिन्दी", "की", "भाषा"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("infor\u00admation", ["information"]),
        ("привет, МИР", ["привет", "мир"]),
        ("", []),
        ("?! \n\t", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@given(st.text(st.sampled_from("aB9' -_\n.+#&@")))
@settings(max_examples=300)
def test_ascii_and_other_texts_are_cut_alike(text):
    assert words(text, word_forms=EVERY) == words(text + " é", word_forms=EVERY)[:-1]


def test_stop_words_of_a_language():
    assert words("the cat and it's mat", stop_words="en") == ["cat", "mat"]
    assert words("der Hund und die Katze", stop_words="de") == ["hund", "katze"]


def test_an_elided_stop_word_leaves_its_word():
    assert words("L’homme d'honneur", stop_words="fr") == ["homme", "honneur"]
    assert words("O'Brien", stop_words="en") == ["o'brien"]


def test_lengths_and_digits():
    assert words("a bb ccc dddd", min_length=2, max_length=3) == ["bb", "ccc"]
    assert words("b2b 1790 x² plain") == ["b2b", "x²", "plain"]
    assert words("b2b 1790 x² plain", word_forms=("letters",)) == ["plain"]
    assert words("b2b 1790", word_forms=("numbers",)) == ["1790"]


def test_stemming():
    assert words("running runs", stemmer="english") == ["run", "run"]


def test_stop_words_from_a_file(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("# mine\nCat\n\n  dog’s \n", encoding="utf-8-sig")
    made = tokeniser_settings(stop_words_file=str(path))
    assert (made.stop_words, made.stop_list) == ("file", ("cat", "dog's"))
    assert TokeniserSettings.from_json(made.to_json()) == made
    assert Tokeniser(made).words("the cat, the dog's mat") == ["the", "the", "mat"]


def test_errors_say_what_is_allowed(tmp_path):
    with pytest.raises(
        OptionError,
        match=(
            r"--stop_words: 'english' was given; allowed is none, or one or more, with"
            r" commas, of .*\ben, .*--stop_words_file"
        ),
    ):
        tokeniser_settings(stop_words="english")
    with pytest.raises(
        OptionError,
        match=r"--stemmer: 'en' was given; allowed is one of none, arabic, .*english",
    ):
        tokeniser_settings(stemmer="en")
    with pytest.raises(OptionError, match=r"--stop_words_file: .*It cannot be read"):
        tokeniser_settings(stop_words_file=str(tmp_path / "absent"))
    with pytest.raises(OptionError, match="file only with --stop_words_file"):
        tokeniser_settings(stop_words="file")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(OptionError, match="UTF-8 text file"):
        tokeniser_settings(stop_words_file=str(tmp_path / "latin"))
    (tmp_path / "empty").write_text("# nothing\n")
    with pytest.raises(OptionError, match="--stop_words=none"):
        tokeniser_settings(stop_words_file=str(tmp_path / "empty"))
    with pytest.raises(OptionError, match="--stemmer"):
        Tokeniser(TokeniserSettings(stemmer="klingon"))


def test_the_memo_is_bounded_and_changes_nothing(monkeypatch):
    text = " ".join(f"word{a}{b}" for a in "abcdefghij" for b in "klmnopqrst")
    expected = words(text)
    monkeypatch.setattr(module, "_MEMO_WORDS", 7)
    small = Tokeniser(TokeniserSettings(stop_words="none"))
    assert small.words(text) == expected
    assert len(small._words) <= 7
    small.words("x" * 100_000)
    assert max(map(len, small._words)) < 100_000


def test_tokens_index_words_in_order_of_first_use():
    made = Tokeniser(TokeniserSettings()).block(
        [Document("a", 5, "rivers freeze; rivers flow", "l", "k")]
    )
    assert (made.ids, made.timestamps, made.labels, made.key) == (("a",), [5], ("l",), "k")
    assert made.words == ("rivers", "freeze", "flow")
    assert made.tokens.tolist() == [0, 1, 0, 2]
    assert len(Tokeniser(TokeniserSettings()).block([Document("a", 5, "of the")]).tokens) == 0


@given(st.text())
@settings(max_examples=200)
def test_any_text_gives_words_that_the_wire_takes(text):
    made = Tokeniser(TokeniserSettings(stop_words="none", min_length=1, word_forms=EVERY)).block(
        [Document("a", 0, text)]
    )
    assert type(made).from_bytes(made.to_bytes()).words == made.words
    assert all(word == word.strip() and "\n" not in word for word in made.words)


def test_a_language_beside_a_file(tmp_path):
    (tmp_path / "words").write_text("a")
    with pytest.raises(
        OptionError,
        match=r"--stop_words: 'de' was given; allowed is file where --stop_words_file is given",
    ):
        tokeniser_settings(stop_words="de", stop_words_file=str(tmp_path / "words"))
