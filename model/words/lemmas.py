"""The lemma of a word, by the tables of simplemma: "harbours" becomes "harbour".

As for segmenters, the settings of a model hold ``language==release``.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from model.errors import OptionError
from model.words.segmenters import with_release

NONE = "none"


def resolved(lemmas: str) -> str:
    """Return ``language==release`` for a language; what has a release already is checked.

    Raises:
        OptionError: There are no lemmas of this language, simplemma is missing, or another release
            of it is installed.
    """
    language, _, wanted = lemmas.partition("==")
    if language == NONE:
        return NONE
    if importlib.util.find_spec("simplemma") is None:
        allowed = "none where simplemma is not installed"
        remedy = "Run: pip install 'beam-topics[languages]'"
        raise OptionError("--lemmas", lemmas, allowed, remedy)
    known = languages()
    if language not in known:
        allowed = "none, or one of " + ", ".join(known)
        raise OptionError("--lemmas", lemmas, allowed, "Correct the code of the language.")
    return with_release("--lemmas", language, wanted, ("simplemma",))


def languages() -> list[str]:
    """Return the codes of the languages that have lemmas."""
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    return sorted(SUPPORTED_LANGUAGES)


def lemma_of(lemmas: str) -> Callable[[str], str] | None:
    """Return the function that gives the lemma of a word; None for ``none``.

    Raises:
        OptionError: As :func:`resolved`.
    """
    language = resolved(lemmas).partition("==")[0]
    if language == NONE:
        return None
    import simplemma

    return lambda word: simplemma.lemmatize(word, lang=language).lower()
