"""The language of a text by py3langid, as the key of the document: one model for each language.

As for segmenters, the settings of a model hold the release, ``language==release``, because another
one may find another language. The keys are ISO 639-1 codes (639-3 where a language has no code of
two letters), and :data:`UNDETERMINED` where

* the text has fewer than :data:`LEAST_BYTES` bytes in UTF-8,
* the probability of the likeliest language is below :data:`LEAST_PROBABILITY`,
* the text is of no language, for example a table of numbers, or
* the language is none of those of ``language:de,en``, where such a list is given.

The first :data:`MOST_CHARACTERS` characters of a text decide, so time and memory are bounded.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from model.errors import OptionError

NONE = "none"
LANGUAGE = "language"
UNDETERMINED = "und"
LEAST_BYTES = 20
LEAST_PROBABILITY = 0.5
MOST_CHARACTERS = 1_000
_PACKAGE = "py3langid"
# What the library calls a text of no language.
_NO_LANGUAGE = "zxx"
# Sums of floats may differ in their last bits between machines; what is compared does not.
_DIGITS = 6


def resolved(key_from: str) -> str:
    """Return ``language==release`` for ``language``; what has a release already is checked.

    A list of languages, ``language:en,de``, is sorted.

    Raises:
        OptionError: There are no such keys or languages, py3langid is missing, or another release
            of it is installed.
    """
    name, _, wanted = key_from.partition("==")
    kind, listed, codes = name.partition(":")
    if kind not in (NONE, LANGUAGE) or (kind == NONE and key_from != NONE):
        allowed = f"{NONE}, {LANGUAGE}, or {LANGUAGE} with a list such as {LANGUAGE}:de,en"
        raise OptionError("--key_from", key_from, allowed, "Correct the spelling.")
    if kind == NONE:
        return NONE
    if importlib.util.find_spec(_PACKAGE) is None:
        allowed = f"{NONE} where {_PACKAGE} is not installed"
        remedy = "Run: pip install 'beam-topics[languages]'"
        raise OptionError("--key_from", key_from, allowed, remedy)
    # Imported here, so that --help does not read the releases of packages.
    from importlib.metadata import version

    found = version(_PACKAGE)
    if wanted and wanted != found:
        allowed = f"the installed release {found}, because another one may find other languages"
        raise OptionError("--key_from", key_from, allowed, f"Run: pip install {_PACKAGE}=={wanted}")
    return f"{kind}{listed}{_sorted(codes) if listed else ''}=={found}"


def _sorted(codes: str) -> str:
    """Return a list of languages in its order, each once."""
    found, known = sorted({code.strip() for code in codes.split(",")}), set(_identifier().labels)
    if unknown := [code for code in found if code not in known - {_NO_LANGUAGE}]:
        allowed = "codes of languages that py3langid knows, with commas, such as language:de,en"
        raise OptionError("--key_from", unknown[0], allowed, "Correct the code, or leave it out.")
    return ",".join(found)


def language_of(key_from: str) -> Callable[[str], str] | None:
    """Return the function that gives the language of a text; None for ``none``.

    Raises:
        OptionError: As :func:`resolved`.
    """
    found = resolved(key_from)
    codes = found.partition("==")[0].partition(":")[2]
    only = frozenset(codes.split(",")) if codes else None
    return None if found == NONE else lambda text: _language(text, only)


def _language(text: str, only: frozenset[str] | None) -> str:
    # A text from a terminal may hold half of a surrogate pair.
    data = text[:MOST_CHARACTERS].strip().encode("utf-8", "replace")
    if len(data) < LEAST_BYTES:
        return UNDETERMINED
    language, probability = _identifier().classify(data.decode())
    sure = round(probability, _DIGITS) >= LEAST_PROBABILITY
    wanted = language != _NO_LANGUAGE if only is None else language in only
    return str(language) if sure and wanted else UNDETERMINED


@cache
def _identifier() -> Any:
    """Return the identifier of the process; it is read once, and keeps no state of texts."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    class Ordered(LanguageIdentifier):
        """Adds scores in the order of the text; the product of BLAS has other bits elsewhere."""

        __slots__ = ()

        def _sparse_score(self, visits: Any, table: Any) -> Any:
            rows = np.fromiter(visits.keys(), np.intp, len(visits))
            counts = np.log1p(np.fromiter(visits.values(), np.float64, len(visits)))
            return (counts[:, None] * table[rows]).sum(axis=0) + self.nb_pc

    return Ordered.from_model_file(MODEL_FILE, norm_probs=True)
