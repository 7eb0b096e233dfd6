"""Segmenters, lemmas and functions of the user in the tokeniser."""

import random
import sys
from types import ModuleType

import pytest
from gold_words import f1

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.errors import OptionError
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words import segmenters
from beam_topics.model.words.functions import declared
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

# Sentences with words separated by spaces, written for this test.
CHINESE = (
    "我们 昨天 去 图书馆 看书",
    "医生 建议 病人 多 喝水",
    "经济 发展 需要 科学 技术",
    "学生 在 教室 里 学习 数学",
    "这 本 小说 非常 有趣",
    "政府 宣布 新 的 政策",
    "火车 从 北京 开往 上海",
    "孩子 们 在 公园 里 玩耍",
)
JAPANESE = (
    "東京 で 新しい 本 を 買い まし た",
    "医者 は 患者 に 薬 を 出し た",
    "学生 が 図書 館 で 数学 を 勉強 する",
    "経済 の 発展 に 技術 が 必要 だ",
    "私 は 毎朝 コーヒー を 飲む",
    "電車 が 駅 に 着い た",
    "猫 が 庭 で 寝 て いる",
    "新聞 を 読む 時間 が ない",
)


@pytest.mark.parametrize(
    ("name", "package", "sentences"),
    [("chinese", "jieba", CHINESE), ("japanese", "fugashi", JAPANESE)],
)
def test_segments_are_words(name, package, sentences):
    pytest.importorskip(package)
    spaced = segmenters.segmenter_of(name)
    assert f1(lambda text: spaced(text).split(), sentences) >= 0.85
    assert f1(list, sentences) < 0.7


def test_the_words_of_a_segmented_text_pass_the_other_steps():
    pytest.importorskip("jieba")
    made = tokeniser_settings(stop_words="none", segmenter="chinese", min_length=2)
    assert made.segmenter.startswith("chinese==")
    text = "我们昨天去图书馆看书。Don't panic, 2024!"
    assert Tokeniser(made).words(text) == ["我们", "昨天", "图书馆", "看书", "don't", "panic"]


@pytest.fixture(params=["chinese", "japanese"])
def segmented(request):
    for package in ("jieba", "fugashi", "unidic_lite"):
        pytest.importorskip(package)
    return tokeniser_settings(stop_words="none", segmenter=request.param, min_length=1)


@pytest.mark.parametrize("text", ["привет café don't", "हिन्दी की भाषा", "plain, a1 words", ""])
def test_a_segmenter_leaves_other_scripts_alone(segmented, text):
    plain = tokeniser_settings(stop_words="none", min_length=1)
    assert Tokeniser(segmented).words(text) == Tokeniser(plain).words(text)


@pytest.mark.parametrize("text", ["中" * 5000, "アイウエオ" * 1000, "龘靐齉" * 1000, "ー" * 3000])
def test_a_segmenter_loses_no_character(segmented, text):
    spaced = segmenters.segmenter_of(segmented.segmenter)
    assert spaced(text).replace(" ", "") == text
    assert max(map(len, spaced(text).split())) <= 1000


def test_a_decomposed_text_is_cut_as_the_composed_one(segmented):
    cut = Tokeniser(segmented)
    assert cut.words("か\u3099っこうへ行く") == cut.words("がっこうへ行く")


def test_jieba_reads_no_cache_that_others_can_write(monkeypatch):
    jieba = pytest.importorskip("jieba")
    monkeypatch.setattr(jieba.Tokenizer, "initialize", lambda *_: pytest.fail("it was read"))
    assert segmenters.segmenter_of("chinese")("北京大学").split() == ["北京大学"]


THEMES = {
    "chinese": (["银行提高了贷款利率", "政府增加投资"], ["足球比赛吸引观众", "球队赢得冠军"]),
    "japanese": (
        ["銀行は金利を引き上げた", "政府は経済を発表"],
        ["野球の試合が始まる", "選手は練習した"],
    ),
}


def test_topics_of_a_segmented_text_have_words(segmented):
    name = segmented.segmenter.partition("==")[0]
    language = {"chinese": "zh", "japanese": "ja"}[name]
    cut = Tokeniser(tokeniser_settings(stop_words=language, segmenter=name))
    draw = random.Random(1)
    documents = [
        cut.block([Document(str(n), n, "。".join(draw.choices(THEMES[name][n % 2], k=4)))])
        for n in range(60)
    ]
    settings = compose(LEARNER, {"topics": 2, "births": "off", "seed": 1})
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    learner.step(state, Minibatch.of_block(Block.joined(documents), 1, 1, True))
    themes = [{word for text in texts for word in cut.words(text)} for texts in THEMES[name]]
    topics = [set(words) for words in learner.snapshot(state).top_words(3)]
    assert themes[0].isdisjoint(themes[1])
    assert all(any(words <= theme for theme in themes) for words in topics)
    assert all(2 <= len(word) <= 5 for words in topics for word in words)


def test_lemmas_take_the_place_of_words():
    pytest.importorskip("simplemma")
    made = tokeniser_settings(stop_words="none", lemmas="en")
    assert Tokeniser(made).words("The harbours went better") == ["the", "harbour", "go", "good"]
    assert made.lemmas.startswith("en==")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"segmenter": "lao"},
            "--segmenter: .*lao.* one of words, chinese, japanese, thai, korean",
        ),
        ({"segmenter": "words==1"}, "--segmenter: .*allowed is one of words"),
        ({"lemmas": "xx"}, "--lemmas: .*xx.* allowed is none, or one of"),
        ({"lemmas": "en", "stemmer": "english"}, "--lemmas: .*allowed is none with --stemmer"),
        ({"segmenter": "chinese", "function": "a:b"}, "allowed is words with --tokeniser"),
        ({"function": "nothing"}, "--tokeniser: .* allowed is module:function. For example"),
        ({"function": "absent_one:cut"}, "a function that exists"),
    ],
)
def test_wrong_options_are_told(options, told):
    for package in ("jieba", "simplemma"):
        pytest.importorskip(package)
    with pytest.raises(OptionError, match=told):
        tokeniser_settings(**options)


def test_a_model_of_another_release_is_refused():
    for package in ("jieba", "simplemma"):
        pytest.importorskip(package)
    with pytest.raises(
        OptionError, match="another one gives other results. Run: pip install jieba=="
    ):
        Tokeniser(TokeniserSettings(segmenter="chinese==0.1"))
    with pytest.raises(OptionError, match="Run: pip install simplemma==0.1"):
        Tokeniser(TokeniserSettings(lemmas="en==0.1"))


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setattr(segmenters.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match="Run: pip install fugashi unidic-lite$"):
        segmenters.resolved("japanese")
    with pytest.raises(OptionError, match="Run: pip install 'beam-topics.languages.'"):
        segmenters.resolved_lemmas("en")
    assert segmenters.resolved("words") == "words" and segmenters.resolved_lemmas("none") == "none"


def user_module(monkeypatch, **functions):
    module = ModuleType("my_words")
    vars(module).update({name: declared(function) for name, function in functions.items()})
    monkeypatch.setitem(sys.modules, "my_words", module)


def test_a_function_of_the_user_cuts(monkeypatch):
    user_module(monkeypatch, cut=lambda text: text.split("-"))
    made = tokeniser_settings(function="my_words:cut")
    assert Tokeniser(made).words("Ships-THE-harbours-a1-sails") == [
        "ships",
        "harbours",
        "a1",
        "sails",
    ]


@pytest.mark.parametrize("name", ["os:system", "builtins:list", "my_words:plain"])
def test_a_function_that_is_not_declared_is_not_called(monkeypatch, name):
    user_module(monkeypatch)
    monkeypatch.setattr(sys.modules["my_words"], "plain", str.split, raising=False)
    with pytest.raises(OptionError, match=f"{name}.* is a function that is declared as a tokeni"):
        Tokeniser(TokeniserSettings(function=name))


@pytest.mark.parametrize(
    ("cut", "told"),
    [
        *(
            (lambda text, words=words: words, "a function that returns a list of words")
            for words in ("ships", None, [1], [""], ["a b"], ["a\n"], ["a\0"], ["\ud800"])
        ),
        (lambda text: 1 / 0, "It failed for the text that begins with 'ships'"),
    ],
)
def test_a_function_that_fails_is_told(monkeypatch, cut, told):
    user_module(monkeypatch, cut=cut)
    with pytest.raises(OptionError, match=told):
        Tokeniser(tokeniser_settings(function="my_words:cut")).words("Ships")


def test_settings_without_these_options_are_stored_as_before():
    names = {"segmenter", "lemmas", "strip", "function"}
    assert not names & TokeniserSettings().to_json().keys()
    made = TokeniserSettings(strip=("html",), lemmas="en==1")
    assert TokeniserSettings.from_json(made.to_json(), "here") == made
