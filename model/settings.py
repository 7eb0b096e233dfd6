"""Settings of the stages before the learner, checked when they are made.

:class:`TokeniserSettings` are for text to words, :class:`SequenceSettings` for documents to
numbered minibatches. The settings of learners are beside the learners (:mod:`model.learners`), and
those of inference beside its methods. Options that do not change what is learned, such as threads,
paths and the interval of checkpoints, are not settings. They may change between a run and its
continuation.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import OptionError, at_least
from model.options import Record, option


@dataclass(frozen=True)
class TokeniserSettings(Record):
    """How a text becomes words.

    The settings are part of each published model and are used again at inference.

    Attributes:
        stop_words: ``none``, the ISO code of a language (``en``), ``file``, with the words in
            ``stop_list``, or ``language``, each document's own with ``key_from``.
        stop_list: The words of a ``file``, sorted.
        segmenter: A name of :mod:`model.words.segmenters`, with the releases of its packages.
        lemmas: ``none``, or a language of :mod:`model.words.lemmas` with the release.
        strip: Names of :mod:`model.words.cleaning`, in the order in which they are applied.
        function: ``none``, or ``module:function``: a function of the user that takes a text and
            returns its words.
        key_from: ``none``, or ``language`` of :mod:`model.words.languages` with the release: the
            key of a document is the language of its text.
    """

    stop_words: str = option(
        "en", "none, file, the ISO code of a language, or language (see --key_from)", first=True
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
    digits: bool = option(False, "keep words with digits in them", name="keep_digits")
    segmenter: str = option(
        "words", "how texts are cut: words (at spaces), chinese, japanese or thai", absent="words"
    )
    lemmas: str = option(
        "none", "none, or the language whose lemmas take the place of words", absent="none"
    )
    strip: tuple[str, ...] = option(
        (),
        "what is removed from texts first, with commas: mail, html, quotes, signatures, urls",
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
    """How documents become numbered minibatches; windows are aligned to 1970-01-01 UTC."""

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
