"""Why texts have no words: what the tokeniser left out, and the option that keeps it.

A text is cut again under settings that leave out less and less. What each of them adds was lost
for its reason. This takes several times as long as to tokenise, so it is done for few texts.

>>> from beam_topics.model.words.settings import TokeniserSettings
>>> found = Losses(TokeniserSettings()).of("We are 12, and that is it")
>>> dict(found)
{'stop_words': 6, 'digits': 1}
>>> explained(found).split("; ")[0]
'86 % of the words are stop words (--stop_words=none keeps them)'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import regex

from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.model.words.word_forms import resolved

# Documents without a word: from this share on a run says so.
MOST_WITHOUT = 0.9
# Texts of a file, or of a worker, that are looked at.
MOST_TEXTS = 50
_MOST_CHARACTERS = 10_000
_ANY_LENGTH = 2**31 - 1
# What each change of the settings keeps, in the order in which the changes are added up.
_CHANGES: Mapping[str, Mapping[str, Any]] = {
    "stop_words": {"stop_words": "none", "stop_list": ()},
    "digits": {"word_forms": resolved(("codes", "digits", "numbers", "signs"))},
    "short": {"min_length": 1},
    "long": {"max_length": _ANY_LENGTH},
    "stripped": {"strip": ()},
}
# Scripts that are written without spaces, whose sentences are longer than any word.
_UNSPACED = {
    "thai": regex.compile(r"\p{Thai}"),
    "japanese": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "chinese": regex.compile(r"\p{Han}"),
    "unspaced": regex.compile(r"[\p{Khmer}\p{Lao}\p{Myanmar}\p{Tibetan}]"),
}
_SAID = {
    "stop_words": "are stop words (--stop_words=none keeps them)",
    "digits": "have digits (--word_forms=capitals,codes,digits,numbers,signs keeps them)",
    "short": "are shorter than --min_word_length (1 keeps all)",
    "long": "are longer than --max_word_length",
    "stripped": "are removed by --strip (leave it out)",
    "thai": "are sentences in Thai, which has no spaces (--segmenter=thai)",
    "japanese": "are sentences in Japanese, which has no spaces (--segmenter=japanese)",
    "chinese": "are sentences in Chinese, which has no spaces (--segmenter=chinese)",
    "unspaced": "are sentences in a script without spaces (--tokeniser=module:function cuts them)",
}
# A text in which there is no letter and no digit.
SIGNS = "signs"
REASONS = (*_SAID, SIGNS)


class Losses:
    """Counts the words that a tokeniser leaves out, by reason.

    Args:
        settings: The settings of the tokeniser.
    """

    def __init__(self, settings: TokeniserSettings) -> None:
        self._kept = Tokeniser(settings)
        self._chain: dict[str, Tokeniser] = {}
        for name, change in _CHANGES.items():
            settings = replace(settings, **change)
            self._chain[name] = Tokeniser(settings)

    def of(self, text: str) -> Counter[str]:
        """Return the lost words of the beginning of a text by reason of :data:`REASONS`."""
        text, found = text[:_MOST_CHARACTERS], Counter[str]()
        before = len(self._kept.words(text))
        for name, tokeniser in self._chain.items():
            count = len(tokeniser.words(text))
            reason = _script_of(text) if name == "long" else name
            if count > before:
                found[reason] += count - before
            before = count
        return found if before else Counter({SIGNS: 1})


def _script_of(text: str) -> str:
    """Return the script without spaces that a text is in; ``long`` for none."""
    return next((name for name, sign in _UNSPACED.items() if sign.search(text)), "long")


def explained(lost: Mapping[str, int]) -> str:
    """Return the shares of the reasons with their remedies, the largest first."""
    words = {name: count for name, count in lost.items() if name in _SAID and count}
    total = sum(words.values())
    said = [
        f"{_percent(count, total)}{' of the words' * (not at)} {_SAID[name]}"
        for at, (name, count) in enumerate(sorted(words.items(), key=lambda one: -one[1]))
    ]
    if lost.get(SIGNS):
        said.append(f"texts without a letter or a digit: {lost[SIGNS]:,} of those looked at")
    return "; ".join(said)


def _percent(count: int, total: int) -> str:
    share = 100 * count / total
    return "under 1 %" if share < 1 else f"{share:.0f} %"


def wordless(documents: int, without: int, lost: Mapping[str, int]) -> str:
    """Return what to say of documents without words; nothing where one of ten has some.

    Args:
        documents: The number of documents.
        without: The number of those without a word.
        lost: The lost words of some of them by reason.
    """
    if not documents or without < MOST_WITHOUT * documents:
        return ""
    why = explained(lost)
    if without == documents:
        return (
            f"no word was learned, because none of {documents:,} documents has one, and no version"
            f" was made: {why}."
        )
    return f"{without:,} of {documents:,} documents have no word: {why}."
