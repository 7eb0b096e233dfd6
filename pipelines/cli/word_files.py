"""Files of words: lists of stop words and of a vocabulary, and topics to begin with.

That of ``--seeds`` is YAML:

    space: [nasa, orbit, launch]
    hockey: goal team^300 season

It maps names of topics to words, as a list or separated by spaces. The number behind ``^`` is
that of the word's prior tokens, in place of ``--seed_strength``. The first name is that of topic 0.
The tokeniser of the run cuts each word, because documents have the words that it returns.

>>> from beam_topics.model.words.settings import TokeniserSettings
>>> from beam_topics.model.words.tokeniser import Tokeniser
>>> lines_of_text("space: [NASA, orbit]", "--seeds", "x.yaml", Tokeniser(TokeniserSettings()))
('space: nasa orbit',)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from beam_topics.model.errors import OptionError
from beam_topics.model.files import read_text
from beam_topics.model.learners.seeds import word_and_tokens
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.config import mapping_of
from beam_topics.pipelines.cli.groups import Options, fields_given

if TYPE_CHECKING:
    from beam_topics.model.words.tokeniser import Tokeniser

Words = Mapping[str, tuple[str, ...]]
NO_WORDS: Words = MappingProxyType({})
_ALLOWED = "a YAML file that maps names of topics to words, as in: space: [nasa, orbit]"


def lines_of_text(text: str, option: str, path: str, tokeniser: Tokeniser) -> tuple[str, ...]:
    """Return a line ``name: word word`` for each topic of a file."""
    found = mapping_of(text, option, path, _ALLOWED)
    if not found:
        raise OptionError(option, path, _ALLOWED, "Correct the file.")
    return tuple(_line(option, name, words, tokeniser) for name, words in found.items())


def _line(option: str, name: str, words: Any, tokeniser: Tokeniser) -> str:
    listed = words.split() if isinstance(words, str) else words
    texts = isinstance(listed, list) and all(isinstance(word, str) for word in listed)
    if not texts or not listed or not name.strip():
        raise OptionError(option, f"{name}: {words}"[:80], _ALLOWED, "Correct the entry.")
    if ": " in name or "\n" in name:
        allowed = "names of one line without a colon and a space"
        raise OptionError(option, name, allowed, "Change the name.")
    return f"{name.strip()}: {' '.join(_cut(option, word, tokeniser) for word in listed)}"


def _cut(option: str, word: str, tokeniser: Tokeniser) -> str:
    """Return the one word that the tokeniser makes of a word, with the number behind it."""
    bare, tokens = word_and_tokens(word)
    found = one_word(option, bare, tokeniser)
    return found if tokens is None else f"{found}^{tokens}"


def one_word(option: str, word: str, tokeniser: Tokeniser) -> str:
    """Return the one word that the tokeniser makes of a word.

    Raises:
        OptionError: It makes several, or none.
    """
    found = list(tokeniser.words(word))
    if len(found) != 1:
        what = " and ".join(map(repr, found)) or "nothing"
        allowed = "words that the tokeniser returns as one word"
        remedy = f"It returns {what}. Change the word, or the options of the tokeniser."
        raise OptionError(option, word, allowed, remedy)
    return found[0]


def tokeniser_settings_of(options: Options, words: Words = NO_WORDS) -> TokeniserSettings:
    """Return the settings of the tokeniser; a file of stop words is read here."""
    # Imported here, because --help needs no tokeniser.
    from beam_topics.model.words.tokeniser import tokeniser_settings

    given = fields_given(options, TokeniserSettings)
    if stop_list := words.get("stop_words_file"):
        made = tokeniser_settings(**{**given, "stop_words": TokeniserSettings.stop_words})
        return replace(made, stop_words="file", stop_list=stop_list)
    return tokeniser_settings(stop_words_file=given.pop("stop_list", None), **given)


def words_of(name: str, path: str, kind: str, options: Options) -> tuple[str, ...]:
    """Return the words of a file: its lines, or the sorted words that the tokeniser finds in it.

    A file of seeds gives a line for each topic.
    """
    from beam_topics.model.words.tokeniser import Tokeniser

    if kind == "seeds":
        text = read_text(f"--{name}", path, _ALLOWED)
        return lines_of_text(text, f"--{name}", path, Tokeniser(tokeniser_settings_of(options)))
    lines = read_text(f"--{name}", path, "a UTF-8 text file, one word a line").split("\n")
    if kind == "lines":
        return tuple(dict.fromkeys(word for line in lines if (word := line.strip())))
    cut = Tokeniser(tokeniser_settings_of(options))
    words = {word for line in lines for word in cut.words(line)}
    if not words:
        allowed = "a file with at least one word that the tokeniser keeps"
        raise OptionError(f"--{name}", path, allowed, "Leave it out to learn from the stream.")
    return tuple(sorted(words))
