"""The settings by which a text becomes words, checked when they are made.

They are part of each published model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from beam_topics.model.errors import OptionError, at_least
from beam_topics.model.settings.options import Record, option
from beam_topics.model.words.functions import Stored
from beam_topics.model.words.stop_lists import FUNCTIONS, LIBRARY


@dataclass(frozen=True)
class TokeniserSettings(Record):
    """How a text becomes words.

    The settings are part of each published model and are used again at inference.

    Attributes:
        stop_words: ``none``, the ISO code of a language (``en``), ``file``, with the words in
            ``stop_list``, or ``language``, each document's own with ``key_from``.
        stop_list: The words of a ``file``, sorted.
        stop_lists: A name of :mod:`beam_topics.model.words.stop_lists`, with its release.
        word_forms: Names of :mod:`beam_topics.model.words.word_forms`, sorted.
        segmenter: A name of :mod:`beam_topics.model.words.segmenters`, with the releases of its
            packages.
        lemmas: ``none``, or a language of simplemma with the release.
        strip: Names of :mod:`beam_topics.model.words.cleaning`, in the order in which they are
            applied.
        function: ``none``, or ``module:function``: a function of the user that takes a text and
            returns its words.
        key_from: ``none``, or ``language`` of :mod:`beam_topics.model.words.languages` with the
            release: the key of a document is the language of its text.
    """

    stop_words: str = option(
        "en",
        "none, file, the ISO codes of languages with commas, or language (see --key_from)",
        first=True,
    )
    stop_list: tuple[str, ...] = option(
        (), "with --stop_words=file: one word a line", name="stop_words_file", file="lines"
    )
    min_length: int = option(
        2, "shorter words are left out", name="min_word_length", unit="characters", least=1
    )
    max_length: int = option(
        40, "longer words are left out", name="max_word_length", unit="characters", least=1
    )
    stemmer: str = option("none", "none, or a Snowball algorithm such as english")
    stop_lists: str = option(
        FUNCTIONS,
        "functions: short lists of words of grammar; stopwordsiso: the long ones of this library",
        absent=LIBRARY,
    )
    word_forms: tuple[str, ...] = option(
        ("capitals", "codes", "digits", "signs"),
        "what else is a word, with commas: digits (5G), codes (GPT-4), signs (C++, R&D, x-ray),"
        " capitals (US, IT, WHO), numbers, compounds, hashtags, names, emoji, marks; or letters",
        unit="names",
        absent=("marks",),
    )
    segmenter: str = option(
        "words",
        "how texts are cut: words (at spaces), chinese, japanese, korean or thai",
        absent="words",
    )
    lemmas: str = option(
        "none", "none, or the language whose lemmas take the place of words", absent="none"
    )
    strip: tuple[str, ...] = option(
        (),
        "what is removed from texts first, with commas: mail, html, quotes, signatures, urls; or"
        " none",
        unit="names",
        absent=(),
    )
    function: str = option(
        "none",
        "none, or module:function: a function of yours that takes a text and returns its words",
        name="tokeniser",
        absent="none",
    )
    key_from: str = option(
        "none",
        "none, language: one model for each language that texts are in; or language:de,en: one for"
        " each of these, and und for the others",
        absent="none",
    )

    @classmethod
    def from_json(cls, values: Any, where: str = "") -> Self:
        found = super().from_json(values, where)
        # Another one may have written it, so nothing is imported for it.
        return replace(found, function=Stored(found.function))

    @property
    def has_keys(self) -> bool:
        """Whether the text of a document gives its key."""
        return self.key_from != "none"

    def check(self) -> None:
        at_least("--max_word_length", self.max_length, self.min_length)
        if self.lemmas != "none" and self.stemmer != "none":
            remedy = "A lemma is no word to cut the ending of. Leave one of the two out."
            raise OptionError("--lemmas", self.lemmas, "none with --stemmer", remedy)
        if self.function != "none" and self.segmenter != "words":
            remedy = "The function cuts the text. Leave one of the two out."
            raise OptionError("--segmenter", self.segmenter, "words with --tokeniser", remedy)
        if self.stop_words == "language" and self.key_from == "none":
            allowed = "language only with --key_from=language"
            raise OptionError("--stop_words", "language", allowed, "Give both, or a language.")
