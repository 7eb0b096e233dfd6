"""Tokenisation of texts into words, the same in training and in inference.

A word is a run of Unicode letters, marks and digits. An apostrophe (or a zero-width joiner, as in
Persian and Hindi) between two of them belongs to the word, and so do the signs that
``--word_forms`` names (:mod:`beam_topics.model.words.word_forms`). The steps are, in order: lower
case, Unicode normal form C, Arabic and Hebrew vowel marks, splitting into words, stop words, a
possessive 's, length limits, digits, stemming.

Normal form C is used because "é" may be written as one character or as two, which look the same.
Compatibility forms are not used because they change what was written ("²" would become "2").

>>> from beam_topics.model.words.settings import TokeniserSettings
>>> Tokeniser(TokeniserSettings()).words("The nation's 12 rivers don't freeze. GPT-4 knew.")
['nation', 'rivers', 'freeze', 'gpt-4', 'knew']

Before these steps, ``--strip`` removes what is not text, addresses and HTML entities are removed,
and words hyphenated at the end of a line are joined (:mod:`beam_topics.model.words.cleaning`). A
segmenter (:mod:`beam_topics.model.words.segmenters`) or a function of the user
(:mod:`beam_topics.model.words.functions`) may do the splitting, and lemmas of the former module may
replace stems. With ``--key_from=language`` a document without a key gets the language of its text
as its key (:mod:`beam_topics.model.words.languages`), and ``--stop_words=language`` leaves out the
stop words of the key, which are those of :mod:`beam_topics.model.words.stop_lists`.

:class:`Losses` says why texts have no words, and which option keeps what the tokeniser left out.
It cuts a text again under settings that leave out less and less; what each of them adds was lost
for its reason. This takes several times as long as tokenising, so it is done for few texts.

>>> found = Losses(TokeniserSettings()).of("We are 12, and that is it")
>>> dict(found)
{'stop_words': 6, 'digits': 1}
>>> explained(found).split("; ")[0]
'86 % of the words are stop words (--stop_words=none keeps them)'
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import regex

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError, one_of
from beam_topics.model.files import read_text
from beam_topics.model.words import languages, segmenters, stop_lists, word_forms
from beam_topics.model.words.cleaning import clean, ordered, without_addresses, without_line_hyphens
from beam_topics.model.words.forms import FormNumbers, unclean
from beam_topics.model.words.functions import load_function
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.word_forms import resolved
from beam_topics.model.words.word_list import WordList

_JOINERS = "'\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_WORD = rf"[\p{{L}}\p{{N}}][\p{{L}}\p{{M}}\p{{N}}]*(?:[{_JOINERS}][\p{{L}}\p{{M}}\p{{N}}]+)*"
_DIGIT = regex.compile(r"\p{N}")
_LETTER = regex.compile(r"\p{L}")
# Characters that are written for others, and the soft hyphen.
_ALIKE = {
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{HYPHEN}": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{SOFT HYPHEN}": "",
}
# A translation table that replaces the ASCII characters between words by spaces.
_ASCII = "".join(
    character if character.isalnum() or character == "'" else " "
    for character in map(chr, range(128))
)

# The key whose stop words are left out where the settings name no language themselves.
_BY_KEY = "language"
_MOST_LANGUAGES = 16
_MEMO_WORDS = 200_000
_MEMO_CHARACTERS = 100
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
# A text without a letter or digit.
SIGNS = "signs"
REASONS = (*_SAID, SIGNS)


def tokeniser_settings(*, stop_words_file: str | None = None, **fields: Any) -> TokeniserSettings:
    """Return settings with the releases of what they name.

    A file of stop words is read now, so that the settings hold the words and not a path.

    Args:
        stop_words_file: UTF-8 text, one word a line. Blank lines and lines that begin with ``#``
            are skipped. With it, ``stop_words`` must be ``file`` or the default.
        **fields: Fields of :class:`beam_topics.model.words.settings.TokeniserSettings`, without
            releases.

    Raises:
        OptionError: an unknown language or stemmer, a language together with a file, a file
            that cannot be read or has no word, or a package that is missing.
    """
    made = TokeniserSettings(**fields)
    stop_words, stop_list = _stop_list(made.stop_words, stop_words_file)
    return check_tokeniser(replace(made, stop_words=stop_words, stop_list=stop_list))


def check_tokeniser(settings: TokeniserSettings) -> TokeniserSettings:
    """Return settings with the releases of what they name; refuse those without a tokeniser.

    Raises:
        OptionError: an unknown language or stemmer, a package that is missing, or one of another
            release than the settings name.
    """
    settings = replace(
        settings,
        stop_lists=stop_lists.resolved(settings.stop_lists),
        word_forms=word_forms.resolved(settings.word_forms),
        segmenter=segmenters.resolved(settings.segmenter),
        lemmas=segmenters.resolved_lemmas(settings.lemmas),
        strip=ordered(settings.strip),
        key_from=languages.resolved(settings.key_from),
    )
    if settings.function != "none":
        load_function(settings.function)
    if settings.stop_words not in ("none", "file", _BY_KEY):
        known = stop_lists.languages_with_lists()
        if unknown := [one for one in settings.stop_words.split(",") if one not in known]:
            allowed = "none, or one or more, with commas, of " + ", ".join(sorted(known))
            remedy = "Give words of your own with --stop_words_file, one a line."
            raise OptionError("--stop_words", unknown[0], allowed, remedy)
    if settings.stemmer != "none":
        import snowballstemmer

        one_of("--stemmer", settings.stemmer, ("none", *snowballstemmer.algorithms()))
    return settings


def _stop_list(name: str, file: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the name of the stop words, and those of a file where one is given."""
    if file is None and name == "file":
        allowed, remedy = "file only with --stop_words_file", "Say where the file is."
    elif file is None:
        return name, ()
    elif name in ("file", TokeniserSettings.stop_words):
        return "file", _read_stop_words(file)
    else:
        allowed = "file where --stop_words_file is given"
        remedy = "Leave one of the two out."
    raise OptionError("--stop_words", name, allowed, remedy)


def _read_stop_words(path: str) -> tuple[str, ...]:
    text = read_text("--stop_words_file", path, "a UTF-8 text file, one word a line")
    lines = (line.strip() for line in text.splitlines())
    words = {_listed(line, True) for line in lines if line and not line.startswith("#")}
    if not words:
        allowed = "a file with at least one word"
        remedy = "Use --stop_words=none to keep every word."
        raise OptionError("--stop_words_file", path, allowed, remedy)
    return tuple(sorted(words))


def _listed(word: str, points: bool) -> str:
    """Return a stop word as a text has it: US of a list is the word in capitals."""
    return word if word in word_forms.CAPITALS.values() else _plain(word, points)


def _plain(text: str, points: bool) -> str:
    """Return the text in lower case and normal form C, with one kind of apostrophe and hyphen.

    Soft hyphens are removed, and Arabic and Hebrew vowel marks where there are no ``points``.
    """
    text = text.lower()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    for written, alike in _ALIKE.items():
        text = text.replace(written, alike)
    return text if points else word_forms.without_points(text)


class Tokeniser:
    """A tokeniser; see the module's docstring.

    Stemmers keep state while they stem. So each thread needs a tokeniser of its own.

    Raises:
        OptionError: as :func:`check_tokeniser`.
    """

    def __init__(self, settings: TokeniserSettings) -> None:
        check_tokeniser(settings)
        self.settings, self._by_key = settings, settings.stop_words == _BY_KEY
        self._words = _Words(settings)
        words = self._words
        self._numbers = FormNumbers(
            lambda forms: [words[form] for form in forms], *words.of_plain()
        )
        self._of_language: dict[str, _Words] = {}
        self._language = languages.key_finder(settings.key_from)
        self._space = segmenters.segmenter_of(settings.segmenter)
        function = settings.function
        self._function = None if function == "none" else load_function(function)
        self._joined = word_forms.joiner(settings.word_forms)
        # Kernels join the signs of these forms.
        joining = word_forms.joining(settings.word_forms)
        self._is_native = self._space is None and joining == {"capitals", "codes", "signs"}
        word = f"{_WORD}|{word_forms.EMOJI}" if "emoji" in settings.word_forms else _WORD
        self._word = regex.compile(word)

    def words(self, text: str) -> list[str]:
        """Return the words that are kept, in the order of the text."""
        text = self._clean(text)
        return self._kept(text, self._language(text) if self._by_key else "")

    def key(self, text: str) -> str:
        """Return the key of a document with this text, which is empty without ``key_from``."""
        return self._language(self._clean(text))

    def _clean(self, text: str) -> str:
        """Return a text without what is stripped; a function of the user gets its addresses."""
        text = clean(text, self.settings.strip)
        return text if self._function is not None else self._marked(text)

    def _marked(self, text: str) -> str:
        """Return a text without addresses, that tells the joiner what capitals say."""
        text = without_addresses(without_line_hyphens(text))
        if "capitals" in self.settings.word_forms:
            text = word_forms.marked_capitals(text)
        return word_forms.hyphens_before_capitals(text)

    def _kept(self, text: str, key: str) -> list[str]:
        words = self._words_of(key) if self._by_key else self._words
        found = self._cut(_plain(text, "marks" in self.settings.word_forms))
        return list(filter(None, map(words.__getitem__, found)))

    def _words_of(self, key: str) -> _Words:
        """Return the words of a language, with its stop words."""
        if key not in self._of_language:
            if len(self._of_language) >= _MOST_LANGUAGES:
                self._of_language.clear()
            listed = key if key in stop_lists.languages_with_lists() else "none"
            self._of_language[key] = _Words(replace(self.settings, stop_words=listed))
        return self._of_language[key]

    def _cut(self, text: str) -> list[str]:
        """Return the words of a plain text; apostrophes may be left around them."""
        if self._function is not None:
            return self._function(text)
        text = self._spaced(text)
        return (text.translate(_ASCII) if text.isascii() else text).split()

    def _spaced(self, text: str) -> str:
        """Return a plain text whose words are between signs of ASCII other than an apostrophe."""
        text = self._joined(text)
        if self._space is not None:
            text = self._space(text)
        # ASCII is cut by translation, which takes an eighth of the time of the pattern.
        if text.isascii():
            return text.replace("''", " ")
        return " ".join(self._word.findall(text))

    def with_key(self, document: Document) -> Document:
        """Return the document, with the key of its text if it has none."""
        if document.key or not self.settings.has_keys:
            return document
        return replace(document, key=self.key(document.text))

    def block(self, documents: Sequence[Document]) -> Block:
        """Return one or more documents as a block; a document has no token if no word is kept.

        Args:
            documents: Documents of one key (:meth:`with_key`).
        """
        if self._function is not None or self._by_key:
            key, texts = documents[0].key, [self._clean(one.text) for one in documents]
            return Block.of_words(documents, [self._kept(text, key) for text in texts])
        texts = [clean(one.text, self.settings.strip) for one in documents]
        return Block.of(documents, *self._numbered(texts))

    def _numbered(self, texts: Sequence[str]) -> tuple[WordList, IntArray, LongArray]:
        """Return the words, tokens and offsets of texts."""
        marks = "marks" in self.settings.word_forms
        if not self._is_native:
            plain = (_plain(self._marked(text), marks) for text in texts)
            return self._numbers.of_texts([self._spaced(text) for text in plain])
        spaced, changes = list(texts), unclean(texts)
        for row in np.flatnonzero(changes).tolist():
            text = _plain(self._marked(texts[row]), marks)
            spaced[row] = text if text.isascii() else self._spaced(text)
        return self._numbers.of_texts(spaced, changes)


class _Words(dict[str, str]):
    """A cache of the result for each word of a text; ``""`` for a word that is dropped."""

    def __init__(self, settings: TokeniserSettings) -> None:
        super().__init__()
        self._settings = settings
        self._stop = _stop_words(settings)
        self._stem: Any = None
        if settings.stemmer != "none":
            import snowballstemmer

            self._stem = snowballstemmer.stemmer(settings.stemmer)
        self._lemma = segmenters.lemma_of(settings.lemmas)

    def __missing__(self, word: str) -> str:
        kept = self._kept(word)
        if len(word) <= _MEMO_CHARACTERS:
            if len(self) >= _MEMO_WORDS:
                self.clear()
            self[word] = kept
        return kept

    def of_plain(self) -> tuple[Iterable[str], int, int]:
        """Return the stop words and the bounds of length of letters that stay as they are."""
        if self._stem is not None or self._lemma is not None:
            return (), 1, 0
        return self._stop, self._settings.min_length, self._settings.max_length

    def _kept(self, word: str) -> str:
        word = word.strip("'")
        if self._settings.function == "none":
            word = word_forms.unmarked(word)
        word = self._base(word)
        if self._is_out(word):
            return ""
        return word if self._stem is None else str(self._stem.stemWord(word))

    def _base(self, word: str) -> str:
        """Return a word without affixes, or its lemma; a stop word, or US, as it is."""
        if word in self._stop or word.isupper():
            return word
        if "'" in word:
            word = self._without_affix(word)
        return word if self._lemma is None else self._lemma(word)

    def _is_out(self, word: str) -> bool:
        """Return whether a word is a stop word, short, long, or of a form with digits left out."""
        fits = self._settings.min_length <= len(word) <= self._settings.max_length
        if word in self._stop or not (fits or word_forms.is_emoji(word)):
            return True
        if word.isalpha() or _DIGIT.search(word) is None:
            return False
        return ("digits" if _LETTER.search(word) else "numbers") not in self._settings.word_forms

    def _without_affix(self, word: str) -> str:
        """Remove a possessive 's, and an elided stop word before an apostrophe."""
        word = word.removesuffix("'s")
        before, apostrophe, after = word.partition("'")
        return after if after and before + apostrophe in self._stop else word


def _stop_words(settings: TokeniserSettings) -> frozenset[str]:
    if settings.stop_words in ("none", _BY_KEY):
        return frozenset()
    words: Iterable[str] = settings.stop_list
    if settings.stop_words != "file":
        words = stop_lists.stop_words_of(settings.stop_words, settings.stop_lists)
    return frozenset(_listed(word, "marks" in settings.word_forms) for word in words)


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
