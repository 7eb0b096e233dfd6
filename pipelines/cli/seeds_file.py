r"""``--seeds=FILE``: topics to begin with, from a YAML file.

    space: [nasa, orbit, launch]
    hockey: goal team^300 season

The file maps names of topics to words, as a list or separated by spaces. The number behind ``^`` is
that of the word's prior tokens, in place of ``--seed_strength``. The first name is that of topic 0.
The tokeniser of the run cuts each word, because documents have the words that it returns.

>>> from model.settings import TokeniserSettings
>>> from model.words.tokeniser import Tokeniser
>>> lines_of_text("space: [NASA, orbit]", "--seeds", "x.yaml", Tokeniser(TokeniserSettings()))
('space: nasa orbit',)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model.errors import OptionError
from model.files.regular import read_text
from model.learners.particles.seeds import word_and_tokens
from pipelines.cli.yaml_file import mapping_of

if TYPE_CHECKING:
    from model.words.tokeniser import Tokeniser

_ALLOWED = "a YAML file that maps names of topics to words, as in: space: [nasa, orbit]"


def seeds_of_file(option: str, path: str, tokeniser: Tokeniser) -> tuple[str, ...]:
    """Return a line ``name: word word`` for each topic of a file.

    Args:
        option: the option that names the file.
        path: the file.
        tokeniser: cuts the words.

    Raises:
        OptionError: it cannot be read, is no such file, or has a word that the tokeniser does not
            return as one word.
    """
    return lines_of_text(read_text(option, path, _ALLOWED), option, path, tokeniser)


def lines_of_text(text: str, option: str, path: str, tokeniser: Tokeniser) -> tuple[str, ...]:
    """Return the lines of the text of a file; arguments and errors as :func:`seeds_of_file`."""
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
    found = list(tokeniser.words(bare))
    if len(found) != 1:
        what = " and ".join(map(repr, found)) or "nothing"
        allowed = "words that the tokeniser returns as one word"
        remedy = f"It returns {what}. Change the word, or the options of the tokeniser."
        raise OptionError(option, word, allowed, remedy)
    return found[0] if tokens is None else f"{found[0]}^{tokens}"
