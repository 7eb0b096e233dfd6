"""The language of a text as the key of its document."""

import io
import random
from importlib import metadata

import numpy as np
import pytest
from languages import NO_LANGUAGE, SENTENCES

from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError
from beam_topics.model.words import languages, segmenters
from beam_topics.model.words.languages import language_of
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

PAIRS = [(code, text) for code, texts in SENTENCES.items() for text in texts]


@pytest.fixture(scope="module")
def key_of():
    return Tokeniser(tokeniser_settings(key_from="language")).key


def outcomes(find):
    """Shares of the sentences whose language is found, and is another one."""
    found = [(code, find(text)) for code, text in PAIRS]
    right = sum(code == key for code, key in found)
    wrong = sum(key not in (code, languages.UNDETERMINED) for code, key in found)
    return right / len(PAIRS), wrong / len(PAIRS)


def test_the_languages_of_short_sentences_are_found(key_of):
    right, wrong = outcomes(key_of)
    assert right >= 0.9 and wrong == 0


def test_a_detector_that_looks_at_letters_alone_fails_this_test(key_of):
    planted = {code: {c for text in SENTENCES[code] for c in text[:5]} for code in SENTENCES}
    right, wrong = outcomes(lambda t: max(planted, key=lambda c: len(planted[c] & set(t))))
    assert right < 0.9 and wrong > 0


@pytest.mark.parametrize("text", NO_LANGUAGE)
def test_what_is_too_short_or_no_language_is_undetermined(key_of, text):
    assert key_of(text) == "und"


def test_texts_that_are_not_sure_are_undetermined(key_of, monkeypatch):
    text = SENTENCES["de"][0]
    monkeypatch.setattr(languages, "LEAST_PROBABILITY", 1.0)
    assert key_of(text) == "und"


def test_the_first_characters_decide(key_of):
    text = (SENTENCES["de"][0] + " ") * 100
    more = text[: languages.MOST_CHARACTERS] + SENTENCES["ru"][0] * 5000
    assert key_of(more) == "de"


def test_the_same_text_has_the_same_language_whatever_came_before(key_of):
    texts = [text for _, text in PAIRS]
    first = [key_of(text) for text in texts]
    mixed = list(zip(texts, first, strict=True)) * 2
    random.Random(1).shuffle(mixed)
    assert all(key_of(text) == key for text, key in mixed)


def test_probabilities_are_sums_in_a_stated_order():
    found = languages._identifier()
    scores = found._raw_score(found._encode(SENTENCES["fr"][0]))
    # The library's own has 32 bits and goes by BLAS.
    assert scores.dtype == "float64"
    assert found.classify(SENTENCES["fr"][0])[1] == pytest.approx(0.99975, abs=1e-5)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Where the model is stored, and the one that was stored there."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    made = languages._identifier.__wrapped__()
    (place,) = (tmp_path / "kernels").iterdir()
    return place, made


def scores(found):
    return [found._raw_score(found._encode(text)).tobytes() for _, text in PAIRS]


def test_a_stored_model_is_the_one_that_was_unpacked(stored, monkeypatch):
    place, made = stored
    before = place.read_bytes()
    monkeypatch.setattr("py3langid.modelio.lzma.open", None)
    again = languages._identifier.__wrapped__()
    assert scores(again) == scores(made) and again.nb_classes == made.nb_classes
    assert [text for text in PAIRS if again.classify(text[1]) != made.classify(text[1])] == []
    assert place.read_bytes() == before


def test_a_stored_model_that_is_damaged_is_made_again(stored):
    place, made = stored
    whole = place.read_bytes()
    with np.load(place) as parts:
        parts = dict(parts)
    few = io.BytesIO()
    np.savez(few, **parts | {"nb_pc": parts["nb_pc"][1:]})
    far = io.BytesIO()
    np.savez(far, **parts | {"tk_row": parts["tk_row"] + np.uint16(60_000)})
    objects = io.BytesIO()
    np.savez(objects, **parts | {"nb_classes": parts["nb_classes"].astype(object)})
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    damaged = (few.getvalue(), far.getvalue(), objects.getvalue(), changed, whole[:-9], b"")
    for data in damaged:
        place.write_bytes(data)
        assert scores(languages._identifier.__wrapped__())[:3] == scores(made)[:3]
        assert (
            place.read_bytes()[:middle] == whole[:middle] and len(list(place.parent.iterdir())) == 1
        )


def test_a_model_that_cannot_be_stored_is_unpacked(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert languages._identifier.__wrapped__().classify(SENTENCES["fr"][0])[0] == "fr"


def test_markup_is_removed_before_the_language_is_found():
    text = "<div class='the article of the day and of the week'>" * 5 + SENTENCES["de"][0]
    made = tokeniser_settings(key_from="language", strip=("html",))
    assert Tokeniser(made).key(text) == "de"


def test_a_document_gets_the_key_of_its_text_and_keeps_one_that_it_has():
    cut = Tokeniser(tokeniser_settings(key_from="language"))
    text = SENTENCES["pl"][0]
    assert cut.with_key(Document("1", 0, text)).key == "pl"
    assert cut.with_key(Document("1", 0, text, key="de")).key == "de"
    assert Tokeniser(tokeniser_settings()).with_key(Document("1", 0, text)).key == ""


def test_languages_that_are_not_listed_are_undetermined():
    made = tokeniser_settings(key_from="language:pl, de,de")
    assert made.key_from == f"language:de,pl=={metadata.version('py3langid')}"
    found = {code: Tokeniser(made).key(texts[0]) for code, texts in SENTENCES.items()}
    assert found == {code: code if code in ("de", "pl") else "und" for code in SENTENCES}


def test_stop_words_are_those_of_the_language():
    cut = Tokeniser(tokeniser_settings(key_from="language", stop_words="language"))
    german, english = "Der Hafen war voller Schiffe", "The harbour was full of ships"
    assert cut.words(german) == ["hafen", "voller", "schiffe"]
    assert cut.words(english) == ["harbour", "full", "ships"]
    # "war" is a stop word in German alone.
    assert "war" in cut.block([Document("1", 0, german, key="en")]).words
    assert (
        "the" in cut.words("of the")
        and "the" in cut.block([Document("1", 0, "the", key="xx")]).words
    )


def test_more_languages_than_are_held_give_the_same_words():
    cut = Tokeniser(tokeniser_settings(key_from="language", stop_words="language"))
    texts = [text for _, text in PAIRS]
    first = [cut.words(text) for text in texts]
    for code in ("sv", "da", "fi", "no", "hu", "cs"):
        cut.block([Document("1", 0, "x", key=code)])
    assert [cut.words(text) for text in texts] == first


def test_settings_name_the_release_and_defaults_are_stored_as_before():
    made = tokeniser_settings(key_from="language")
    assert made.key_from == f"language=={metadata.version('py3langid')}"
    assert "key_from" not in TokeniserSettings().to_json()
    assert TokeniserSettings.from_json(made.to_json(), "here") == made


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"key_from": "author"},
            "--key_from: 'author' was given; allowed is none, language, or",
        ),
        ({"key_from": "none:de"}, "--key_from: 'none:de' was given; allowed is none, language, or"),
        ({"key_from": "language:"}, "--key_from: '' was given; allowed is codes of languages that"),
        (
            {"key_from": "language:en,klingon"},
            "--key_from: 'klingon' was given; allowed is codes of languages that py3langid knows",
        ),
        ({"key_from": "language:zxx"}, "--key_from: 'zxx' was given; allowed is codes"),
        ({"key_from": "none==1"}, "--key_from: .*allowed is none, language, or"),
        (
            {"key_from": "language==0.1"},
            "because another one gives other results. Run: pip install py3langid==0.1",
        ),
        (
            {"stop_words": "language"},
            "--stop_words: .*allowed is language only with --key_from=language",
        ),
    ],
)
def test_wrong_options_are_told(options, told):
    with pytest.raises(OptionError, match=told):
        tokeniser_settings(**options)


@pytest.mark.parametrize("code", SENTENCES)
def test_the_language_of_a_sample(code):
    found = language_of(SENTENCES[code] * 3)
    assert (found.code, found.share, found.shares) == (code, 1.0, {code: 1.0})
    segmenter = {"zh": "chinese", "ja": "japanese"}.get(code)
    assert found.options == {"stop_words": code, **({"segmenter": segmenter} if segmenter else {})}
    tokeniser_settings(**found.options)


@pytest.mark.parametrize("texts", [[], [""], NO_LANGUAGE * 9, ["ship"] * 500])
def test_a_sample_that_is_too_short_has_no_language(texts):
    assert language_of(texts) is None


def test_languages_of_a_mixed_sample_are_given_with_their_shares():
    texts = SENTENCES["de"][:1] * 600 + SENTENCES["fr"][:1] * 300 + SENTENCES["it"][:1] * 50
    found = language_of(texts)
    assert found.shares == {
        "de": pytest.approx(0.63, abs=0.02),
        "fr": pytest.approx(0.32, abs=0.02),
    }
    assert found.options == {"stop_words": "de,fr"} and found.missing == ""
    cut = Tokeniser(tokeniser_settings(**found.options))
    assert cut.words("Der Hafen et la tempête") == ["hafen", "tempête"]


def test_words_of_many_texts_are_left_out_where_a_language_has_no_list():
    text = "Höfnin var full af skipum þegar stormurinn kom af hafi í gær."
    found = language_of([text] * 3)
    assert (found.code, found.options) == ("is", {"stop_words": "none", "max_df": "0.5"})


def test_a_language_of_few_texts_needs_no_option():
    found = language_of(SENTENCES["en"][:1] * 95 + ["นักเตะฟุตบอลการแข่งขัน"] * 5)
    assert (found.code, found.share, found.options) == ("en", 0.96, {"stop_words": "en"})


def test_texts_without_spaces_are_told_by_their_letters():
    """However short they are; Japanese has Kana in some texts of a sample."""
    assert language_of(["ประตูทีม"]).options["segmenter"] == "thai"
    assert language_of(["预计有雨"]).options["segmenter"] == "chinese"
    assert language_of(["東京大学", "港は船", "金利上昇"]).shares == {"ja": 1.0}
    assert language_of(["Python 3 の新機能について"]).code == "ja"
    assert language_of(SENTENCES["en"][:1] * 60 + ["预计北方有雨"] * 40).options == {
        "stop_words": "en,zh",
        "segmenter": "chinese",
    }


def test_what_is_missing_is_told_before_anything_is_learned(monkeypatch):
    assert language_of(["ผู้ป่วยดื่มน้ำ"]).missing == ""
    monkeypatch.setattr(segmenters.importlib.util, "find_spec", lambda name: None)
    for texts, packages in (
        (["ผู้ป่วยดื่มน้ำ"], "pythainlp"),
        (["预计北方有雨"], "jieba"),
        (["港は船でいっぱい"], "fugashi unidic-lite"),
    ):
        assert language_of(texts).missing == f"Run: pip install {packages}"
    for text in ("ຜູ້ປ່ວຍດື່ມນ້ຳ", "អ្នកជំងឺផឹកទឹក", "လူနာရေသောက်သည်"):
        assert "no spaces between words" in language_of([text]).missing
        assert "--tokeniser" in language_of([text]).missing
