"""Settings of the stages before the learner, checked when they are made.

:class:`TokeniserSettings` are for text to words, :class:`SequenceSettings` for documents to
numbered minibatches. The settings of learners are beside the learners
(:mod:`beam_topics.model.learners`), and those of inference beside its methods. Options that do not
change what is learned, such as threads, paths and the interval of checkpoints, are not settings.
They may change between a run and its continuation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from beam_topics.model.errors import OptionError, at_least
from beam_topics.model.functions import Stored
from beam_topics.model.options import Record, option, time_zone
from beam_topics.model.times import check_zone, window_number, window_start
from beam_topics.model.words.stop_lists import FUNCTIONS, LIBRARY

# The forms of words where releases up to 0.2 kept words with digits.
_KEPT_DIGITS = ("digits", "marks", "numbers")


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

    def to_json(self, brief: bool = False) -> dict[str, Any]:
        """Return JSON in which the forms of releases up to 0.2 are spelt as these spelt them."""
        values = super().to_json(brief)
        values["digits"] = self.word_forms == _KEPT_DIGITS
        if values["digits"]:
            del values["word_forms"]
        return values

    @classmethod
    def from_json(cls, values: Any, where: str = "") -> Self:
        if isinstance(values, dict) and isinstance(digits := values.get("digits"), bool):
            values = {name: value for name, value in values.items() if name != "digits"}
            if digits:
                values = {"word_forms": list(_KEPT_DIGITS), **values}
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
            raise OptionError("--lemmas", self.lemmas, "none beside --stemmer", remedy)
        if self.function != "none" and self.segmenter != "words":
            remedy = "The function cuts the text. Leave one of the two out."
            raise OptionError("--segmenter", self.segmenter, "words beside --tokeniser", remedy)
        if self.stop_words == "language" and self.key_from == "none":
            allowed = "language only with --key_from=language beside it"
            raise OptionError("--stop_words", "language", allowed, "Give both, or a language.")


@dataclass(frozen=True)
class SequenceSettings(Record):
    """How documents become numbered minibatches.

    Attributes:
        time_zone: The zone of windows of days, see :mod:`beam_topics.model.times`; on the command
            line it is that of :class:`beam_topics.model.reading.settings.ParseSettings` too.
    """

    window: int = option(
        3_600_000_000, "length of the event-time windows", unit="microseconds", least=1, first=True
    )
    minibatch_size: int = option(
        200, "largest number of documents in a minibatch", unit="documents", least=1, first=True
    )
    minibatch_tokens: int = option(
        200_000,
        "largest number of tokens in a minibatch; a longer document is a minibatch of its own",
        unit="tokens",
        least=1,
    )
    time_zone: str = time_zone(absent="UTC")
    on_repeat: Literal["first", "last"] = option(
        "first",
        "which of the documents of a window with one id is learned, in the order of arrival",
        absent="first",
    )

    def check(self) -> None:
        check_zone(self.time_zone)

    def window_number(self, time: int) -> int:
        """Return the number of the window that holds a time."""
        return window_number(time, self.window, self.time_zone)

    def window_end(self, time: int) -> int:
        """Return the end of the window that holds a time; a window does not hold its end."""
        return window_start(self.window_number(time) + 1, self.window, self.time_zone)

    def window_start(self, end: int) -> int:
        """Return the start of the window that ends at ``end``."""
        return window_start(self.window_number(end - 1), self.window, self.time_zone)
