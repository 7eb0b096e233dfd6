"""Korean texts, whose words have particles and endings."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from beam_topics.model.words import segmenters
from beam_topics.model.words.languages import language_of
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

pytest.importorskip("kiwipiepy")

# Sentences written for this test, and their words without particles and endings.
SENTENCES = {
    "정부는 새로운 경제 정책을 발표했다.": "정부 새롭다 경제 정책 발표",
    "학교에서는 학생들이 수학을 배웠습니다.": "학교 학생 수학 배우다",
    "항구로 배가 들어왔고, 선원들은 바다를 보았다.": "항구 들어오다 선원 바다 보다",
    "의사가 환자에게 약을 주었다.": "의사 환자 주다",
}


def korean(**options):
    return Tokeniser(tokeniser_settings(segmenter="korean", **options))


def test_words_have_no_particles_and_no_endings():
    cut = korean(stop_words="none")
    assert cut.settings.segmenter.count("+") == 1
    for text, expected in SENTENCES.items():
        assert cut.words(text) == expected.split()
        assert expected.split() != Tokeniser(tokeniser_settings(stop_words="none")).words(text)


def test_other_scripts_are_left_alone():
    assert korean(stop_words="none").words("GPT-4는 don't 中文을 R&D에") == [
        "gpt-4",
        "don't",
        "中文",
        "r&d",
    ]


def test_long_runs_are_cut_in_pieces_that_lose_no_word():
    spaced = segmenters.segmenter_of("korean")
    assert spaced("학교 학생 " * 1000).split().count("학생") >= 990
    assert spaced(f"가{' ' * 5000}나").split() == ["가", "나"]


def test_threads_find_the_words_that_one_finds():
    texts, cut = [*SENTENCES] * 20, segmenters.segmenter_of("korean")
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(cut, texts)] == [*map(cut, texts)]


def test_the_language_calls_for_the_segmenter():
    assert language_of([*SENTENCES]).options == {"stop_words": "ko", "segmenter": "korean"}
