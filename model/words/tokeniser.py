"""Tokenisation of texts into words, the same in training and in inference.

A word is a run of Unicode letters, marks and digits. An apostrophe (or a zero-width joiner, as
Persian and Hindi use it) between two of them belongs to the word. The steps in their order: lower
case, Unicode normal form C, splitting into words, stop words, a possessive 's, digits, length
limits, stemming.

Normal form C is used because one "é" may be written as one character or as two, which look the
same. The compatibility forms are not used because they change what was written ("²" would become
"2").

>>> from model.settings import TokeniserSettings
>>> Tokeniser(TokeniserSettings()).words("The nation's rivers don't freeze.")
['nation', 'rivers', 'freeze']

Before them, ``--strip`` removes what is no text (:mod:`model.words.cleaning`). Splitting may be
that of a segmenter (:mod:`model.words.segmenters`) or of a function of the user
(:mod:`model.words.user_function`), and stemming may be that of lemmas (:mod:`model.words.lemmas`).
With ``--key_from=language`` a document without a key gets the language of its text as its key
(:mod:`model.words.languages`), and ``--stop_words=language`` leaves out the stop words of the key.

The stop words of a language are those of the library ``stopwordsiso``. ``requirements.txt`` pins
its release: with another list, the same settings would give other words.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import regex

from model.errors import OptionError
from model.files.regular import read_text
from model.records import Document, TokenisedDocument
from model.settings import TokeniserSettings
from model.words import languages, segmenters
from model.words import lemmas as lemma_tables
from model.words.cleaning import clean, ordered
from model.words.user_function import load_function

_JOINERS = "'\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_WORD = regex.compile(rf"[\p{{L}}\p{{M}}\p{{N}}]+(?:[{_JOINERS}][\p{{L}}\p{{M}}\p{{N}}]+)*")
_DIGIT = regex.compile(r"\p{N}")
_APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"
_SOFT_HYPHEN = "\N{SOFT HYPHEN}"
# A translation table that replaces the ASCII characters between words by spaces.
_ASCII = "".join(
    character if character.isalnum() or character == "'" else " "
    for character in map(chr, range(128))
)

# Stop words that lose their vowel before another word: "l'homme" is a stop word and a word. The
# lists of stop words spell them without the apostrophe.
_ELIDED = {
    "fr": ("c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu"),
    "it": (
        "c",
        "d",
        "l",
        "m",
        "n",
        "s",
        "t",
        "v",
        "un",
        "all",
        "dall",
        "dell",
        "nell",
        "sull",
        "coll",
        "quell",
        "quest",
    ),
    "ca": ("d", "l", "m", "n", "s", "t"),
}

# The key whose stop words are left out where the settings name no language themselves.
_BY_KEY = "language"
_MOST_LANGUAGES = 16
_MEMO_WORDS = 32_000
_MEMO_CHARACTERS = 100


def tokeniser_settings(
    *,
    stop_words: str = "en",
    stop_words_file: str | None = None,
    min_length: int = 2,
    max_length: int = 40,
    stemmer: str = "none",
    digits: bool = False,
    segmenter: str = segmenters.WORDS,
    lemmas: str = "none",
    strip: tuple[str, ...] = (),
    function: str = "none",
    key_from: str = languages.NONE,
) -> TokeniserSettings:
    """Return settings from options.

    A file of stop words is read now, so that the settings hold the words and not a path.

    Args:
        stop_words: ``none`` or a language's ISO 639-1 code. With a file it must be ``file`` or the
            default.
        stop_words_file: UTF-8 text, one word a line. Blank lines and lines that begin with ``#``
            are skipped.
        min_length: the least length of a word, in characters.
        max_length: the largest length of a word, in characters.
        stemmer: ``none`` or a Snowball algorithm.
        digits: whether to keep words that contain a digit.
        segmenter: a name of :mod:`model.words.segmenters`.
        lemmas: ``none`` or a language of :mod:`model.words.lemmas`.
        strip: names of :mod:`model.words.cleaning`.
        function: ``none`` or ``module:function``.
        key_from: ``none`` or ``language``.

    Raises:
        OptionError: an unknown language or stemmer, a language beside a file, a file that cannot be
            read or has no word, or a package that is missing.
    """
    stop_words, stop_list = _stop_list(stop_words, stop_words_file)
    settings = TokeniserSettings(
        stop_words,
        stop_list,
        min_length,
        max_length,
        stemmer,
        digits,
        segmenters.resolved(segmenter),
        lemma_tables.resolved(lemmas),
        ordered(strip),
        function,
        languages.resolved(key_from),
    )
    check_tokeniser(settings)
    return settings


def check_tokeniser(settings: TokeniserSettings) -> None:
    """Refuse settings for which there is no tokeniser.

    Raises:
        OptionError: an unknown language or stemmer, a package that is missing, or one of another
            release than the settings name.
    """
    segmenters.resolved(settings.segmenter)
    lemma_tables.resolved(settings.lemmas)
    ordered(settings.strip)
    languages.resolved(settings.key_from)
    if settings.function != "none":
        load_function(settings.function)
    # Imported here and below, so that options can be listed without the tables of all languages.
    import stopwordsiso

    known = sorted(stopwordsiso.langs())
    if settings.stop_words not in ("none", "file", _BY_KEY, *known):
        raise OptionError(
            "--stop_words",
            settings.stop_words,
            "none, or one of " + ", ".join(known),
            "Give words of your own with --stop_words_file, one a line.",
        )
    if settings.stemmer == "none":
        return
    import snowballstemmer

    stemmers = snowballstemmer.algorithms()
    if settings.stemmer not in stemmers:
        raise OptionError(
            "--stemmer",
            settings.stemmer,
            "none, or one of " + ", ".join(stemmers),
            "Correct the spelling.",
        )


def _stop_list(name: str, file: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the name of the stop words, and those of a file where one is given."""
    if file is None:
        if name == "file":
            raise OptionError(
                "--stop_words",
                "file",
                "file only with --stop_words_file beside it",
                "Say where the file is.",
            )
        return name, ()
    if name not in ("file", TokeniserSettings.stop_words):
        raise OptionError(
            "--stop_words",
            name,
            "file where --stop_words_file is given",
            "Leave one of the two out.",
        )
    return "file", _read_stop_words(file)


def _read_stop_words(path: str) -> tuple[str, ...]:
    text = read_text("--stop_words_file", path, "a UTF-8 text file, one word a line")
    lines = (line.strip() for line in text.splitlines())
    words = {_plain(line) for line in lines if line and not line.startswith("#")}
    if not words:
        raise OptionError(
            "--stop_words_file",
            path,
            "a file with at least one word",
            "Use --stop_words=none to keep every word.",
        )
    return tuple(sorted(words))


def _plain(text: str) -> str:
    """Return the text in lower case and normal form C, with one kind of apostrophe.

    Soft hyphens are removed.
    """
    text = text.lower()
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text).replace(_APOSTROPHE, "'").replace(_SOFT_HYPHEN, "")


def _cut(text: str) -> list[str]:
    """Return the words of a plain text; apostrophes may be left around them.

    ASCII is split by translation, which takes an eighth of the time of the pattern.
    """
    if text.isascii():
        return text.replace("''", " ").translate(_ASCII).split()
    return _WORD.findall(text)


class Tokeniser:
    """A tokeniser; see the module's docstring.

    Stemmers keep state while they stem. So each thread needs a tokeniser of its own.

    Raises:
        OptionError: as :func:`check_tokeniser`.
    """

    def __init__(self, settings: TokeniserSettings) -> None:
        check_tokeniser(settings)
        self.settings = settings
        self._words = _Words(settings)
        self._of_language: dict[str, _Words] = {}
        self._language = languages.language_of(settings.key_from)
        self._space = segmenters.segmenter_of(settings.segmenter)
        function = settings.function
        self._function = None if function == "none" else load_function(function)

    def words(self, text: str) -> list[str]:
        """Return the words that are kept, in the order of the text."""
        text = self._clean(text)
        return self._kept(text, self._key_of(text) if self._by_key else "")

    def key(self, text: str) -> str:
        """Return the key of a document with this text, which is empty without ``key_from``."""
        return self._key_of(self._clean(text))

    def _key_of(self, text: str) -> str:
        """Return the key of a text that is clean."""
        return "" if self._language is None else self._language(text)

    def _clean(self, text: str) -> str:
        return clean(text, self.settings.strip) if self.settings.strip else text

    @property
    def _by_key(self) -> bool:
        return self.settings.stop_words == _BY_KEY

    def _kept(self, text: str, key: str) -> list[str]:
        words = self._words_of(key) if self._by_key else self._words
        found = self._cut(_plain(text))
        return list(filter(None, map(words.__getitem__, found)))

    def _words_of(self, key: str) -> _Words:
        """Return the words of a language, with its stop words."""
        if key not in self._of_language:
            if len(self._of_language) >= _MOST_LANGUAGES:
                self._of_language.clear()
            import stopwordsiso

            listed = key if key in stopwordsiso.langs() else "none"
            self._of_language[key] = _Words(replace(self.settings, stop_words=listed))
        return self._of_language[key]

    def _cut(self, text: str) -> list[str]:
        if self._function is not None:
            return self._function(text)
        return _cut(text if self._space is None else self._space(text))

    def tokenise(self, document: Document) -> TokenisedDocument:
        """Return the document as tokens; it has none where no word is kept.

        A document without a key gets that of its text.
        """
        text = self._clean(document.text)
        if self._language is not None and not document.key:
            document = replace(document, key=self._language(text))
        return TokenisedDocument.from_words(document, self._kept(text, document.key))


class _Words(dict[str, str]):
    """A cache of the result for each word of a text; ``""`` for a word that is dropped."""

    def __init__(self, settings: TokeniserSettings) -> None:
        super().__init__()
        self._settings = settings
        self._stop = _stop_words(settings)
        self._stem = None if settings.stemmer == "none" else _stemmer(settings.stemmer)
        self._lemma = lemma_tables.lemma_of(settings.lemmas)

    def __missing__(self, word: str) -> str:
        kept = self._kept(word)
        if len(word) <= _MEMO_CHARACTERS:
            if len(self) >= _MEMO_WORDS:
                self.clear()
            self[word] = kept
        return kept

    def _kept(self, word: str) -> str:
        word = word.strip("'")
        if word in self._stop:
            return ""
        if "'" in word:
            word = self._without_affix(word)
        if self._lemma is not None:
            word = self._lemma(word)
        settings = self._settings
        if word in self._stop or not settings.min_length <= len(word) <= settings.max_length:
            return ""
        if not settings.digits and _DIGIT.search(word):
            return ""
        return word if self._stem is None else str(self._stem.stemWord(word))

    def _without_affix(self, word: str) -> str:
        """Remove a possessive 's, and an elided stop word before an apostrophe."""
        word = word.removesuffix("'s")
        before, apostrophe, after = word.partition("'")
        return after if after and before + apostrophe in self._stop else word


def _stemmer(name: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(name)


def _stop_words(settings: TokeniserSettings) -> frozenset[str]:
    if settings.stop_words in ("none", _BY_KEY):
        return frozenset()
    if settings.stop_words == "file":
        return frozenset(settings.stop_list)
    import stopwordsiso

    words = {_plain(word) for word in stopwordsiso.stopwords(settings.stop_words)}
    return frozenset(words).union(before + "'" for before in _ELIDED.get(settings.stop_words, ()))
