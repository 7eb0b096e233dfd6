"""Thai texts, which have no spaces between words."""

import os
import random
import subprocess
import sys
import time

import pytest
from gold_words import f1

from beam_topics.model.words import segmenters
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

pytest.importorskip("pythainlp")

# Sentences with words separated by spaces, written for this test.
SENTENCES = (
    "แพทย์ แนะนำ ให้ ผู้ป่วย ดื่ม น้ำ",
    "นักเรียน เรียน คณิตศาสตร์ ใน ห้องเรียน",
    "รัฐบาล ประกาศ นโยบาย ใหม่",
    "รถไฟ วิ่ง จาก กรุงเทพ ไป เชียงใหม่",
    "เด็ก เล่น ใน สวน",
    "หนังสือ เล่ม นี้ น่าสนใจ มาก",
    "แมว นอน อยู่ บน โต๊ะ",
    "เศรษฐกิจ ต้องการ เทคโนโลยี",
)


def thai(**options):
    return Tokeniser(tokeniser_settings(segmenter="thai", **options))


def test_segments_are_words():
    spaced = segmenters.segmenter_of("thai")
    assert f1(lambda text: spaced(text).split(), SENTENCES) >= 0.85
    assert f1(list, SENTENCES) < 0.7


def test_other_scripts_are_left_alone_and_stop_words_left_out():
    cut = thai(stop_words="none")
    assert cut.settings.segmenter.startswith("thai==")
    assert cut.words("รัฐบาลใหม่ don't, 中文 2024!") == ["รัฐบาล", "ใหม่", "don't", "中文"]
    assert thai(stop_words="th").words("เด็กเล่นในสวน") == ["เด็ก", "เล่น", "สวน"]


def test_hostile_texts_lose_no_character_and_take_no_longer():
    spaced, draw = segmenters.segmenter_of("thai"), random.Random(1)
    letters = [chr(code) for code in (*range(0xE01, 0xE3B), *range(0xE40, 0xE4F))]
    spaced("สวน")
    for text in ("ก" * 5000, "ๆ" * 5000, "ตากลม" * 1000, "".join(draw.choices(letters, k=50_000))):
        begin = time.process_time()
        assert spaced(text).replace(" ", "") == text
        assert time.process_time() - begin < 2


def test_no_folder_is_made_in_the_home(tmp_path):
    """In a process of its own, which imports the library for the first time."""
    imported = "from beam_topics.model.words.segmenters import segmenter_of"
    program = f"{imported}; print(segmenter_of('thai')('ในสวน'))"
    here = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=here, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["ใน", "สวน"] and list(tmp_path.iterdir()) == []
