"""The language of a text by py3langid: as the key of a document, and for a sample of texts.

:func:`language_of` gives the languages of a sample with the options that they call for: their stop
words, and a segmenter for texts without spaces between words, or with particles at their ends.

>>> found = language_of(["Der Hafen war voller Schiffe, als der Sturm vom Meer kam."])
>>> found.code, found.share, found.options
('de', 1.0, {'stop_words': 'de'})

``--key_from=language`` makes the language of each document its key: one model for each. As with
segmenters, the settings of a model hold the release, ``language==release``, because another release
may find another language. The keys are ISO 639-1 codes (639-3 where a language has no code of two
letters), and :data:`UNDETERMINED` where

* the text has fewer than :data:`LEAST_BYTES` bytes in UTF-8,
* the probability of the likeliest language is below :data:`LEAST_PROBABILITY`,
* the text is of no language, for example a table of numbers, or
* the language is not in the list ``language:de,en``, where one is given.

The first :data:`MOST_CHARACTERS` characters of a text decide, so time and memory are bounded.
"""

from __future__ import annotations

import os
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import regex

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.kernels.caches import cache_places
from beam_topics.model.stored import wire
from beam_topics.model.words import segmenters
from beam_topics.model.words.stop_lists import languages_with_lists

NONE = "none"
LANGUAGE = "language"
UNDETERMINED = "und"
LEAST_BYTES = 20
LEAST_PROBABILITY = 0.5
MOST_CHARACTERS = 1_000
_PACKAGE = "py3langid"
# The parts of its model that are stored.
_PARTS = ("nb_ptc", "nb_pc", "nb_classes", "tk_nextmove", "tk_output", "tk_row")
# What the library calls a text of no language.
_NO_LANGUAGE = "zxx"
# Sums of floats may differ in their last bits between machines; what is compared does not.
_DIGITS = 6
# Texts of a sample that are looked at, evenly spaced.
_MOST_TEXTS = 50
# A language is one of a sample from this share of its texts on, ...
_LEAST_SHARE = 0.1
# ... where the languages of at least this share of the texts are found.
_LEAST_FOUND = 0.05
# Texts have no spaces between words where this share of their letters is of such a script.
_LEAST_LETTERS = 0.25
_LETTER = regex.compile(r"\p{L}")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
# Scripts without spaces between words, each of one language; Han is Japanese where there is Kana.
_UNSPACED = {
    "th": regex.compile(r"\p{Thai}"),
    "lo": regex.compile(r"\p{Lao}"),
    "km": regex.compile(r"\p{Khmer}"),
    "my": regex.compile(r"\p{Myanmar}"),
    "zh": regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]"),
}
_SEGMENTER = {"th": "thai", "zh": "chinese", "ja": "japanese", "ko": "korean"}


@dataclass(frozen=True)
class FoundLanguage:
    """The languages of a sample of texts.

    Attributes:
        code: The language of most texts.
        share: Its share of the texts whose language is found.
        shares: All languages of at least a tenth of these texts; the most frequent comes first.
            Where there are several, ``--key_from=language`` learns one model for each.
        options: The options that the languages call for, with their values.
        missing: What has to be done before these options can be used; empty where nothing has to.
    """

    code: str
    share: float
    shares: dict[str, float]
    options: dict[str, str]
    missing: str


def language_of(texts: Sequence[str]) -> FoundLanguage | None:
    """Return the languages of a sample of texts; None where the texts are too short to tell.

    Args:
        texts: The texts. At most 50 are looked at, evenly spaced.
    """
    size = min(len(texts), _MOST_TEXTS)
    looked = [texts[number * len(texts) // size] for number in range(size)]
    counts = Counter(_unspaced(text) or _language(text, None) for text in looked)
    del counts[UNDETERMINED]
    known = counts.total()
    if not known or known < _LEAST_FOUND * size:
        return None
    if 4 * counts["ja"] >= counts["zh"]:
        # Short Japanese texts may have no Kana.
        counts["ja"] += counts.pop("zh", 0)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shares = {code: count / known for code, count in ordered if count >= _LEAST_SHARE * known}
    code, most = ordered[0]
    options, missing = _options(list(shares or [code]))
    return FoundLanguage(code, most / known, shares, options, missing)


def _unspaced(text: str) -> str | None:
    """Return the language of a text without spaces between words; None for other texts."""
    text = text[:MOST_CHARACTERS]
    if text.isascii():
        return None
    least = max(1, _LEAST_LETTERS * len(_LETTER.findall(text)))
    for code, letter in _UNSPACED.items():
        if len(letter.findall(text)) >= least:
            return "ja" if code == "zh" and _KANA.search(text) else code
    return None


def _options(codes: list[str]) -> tuple[dict[str, str], str]:
    """Return the options that languages call for, and what has to be done before."""
    known = languages_with_lists()
    options = {"stop_words": ",".join(sorted(known.intersection(codes)))}
    if not options["stop_words"]:
        # In place of a list; words of grammar are in most texts.
        options = {"stop_words": "none", "max_df": "0.5"}
    for code in codes:
        if code in _SEGMENTER:
            options["segmenter"] = name = _SEGMENTER[code]
            return options, segmenters.missing(name)
        if code in _UNSPACED:
            return options, (
                f"Texts of the language {code!r} have no spaces between words, and no segmenter of"
                " --segmenter cuts them. Give a function of yours with --tokeniser."
            )
    return options, ""


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
    only = f"{listed}{_sorted(codes)}" if listed else ""
    return segmenters.with_release("--key_from", f"{kind}{only}", wanted, (_PACKAGE,))


def _sorted(codes: str) -> str:
    """Return a list of languages in its order, each once."""
    found, known = sorted({code.strip() for code in codes.split(",")}), set(_identifier().labels)
    if unknown := [code for code in found if code not in known - {_NO_LANGUAGE}]:
        allowed = "codes of languages that py3langid knows, with commas, such as language:de,en"
        raise OptionError("--key_from", unknown[0], allowed, "Correct the code, or leave it out.")
    return ",".join(found)


def key_finder(key_from: str) -> Callable[[str], str]:
    """Return the function that gives the language of a text, which is empty for ``none``.

    Raises:
        OptionError: As :func:`resolved`.
    """
    found = resolved(key_from)
    codes = found.partition("==")[0].partition(":")[2]
    only = frozenset(codes.split(",")) if codes else None
    return lambda text: "" if found == NONE else _language(text, only)


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
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier

    class Ordered(LanguageIdentifier):
        """Adds scores in the order of the text; the product of BLAS has other bits elsewhere."""

        __slots__ = ()

        def _sparse_score(self, visits: Any, table: Any) -> Any:
            rows = np.fromiter(visits.keys(), np.intp, len(visits))
            counts = np.log1p(np.fromiter(visits.values(), np.float64, len(visits)))
            return (counts[:, None] * table[rows]).sum(axis=0) + self.nb_pc

    packed = Path(MODEL_DIR, MODEL_FILE)
    name = f"languages-{wire.digest(packed.read_bytes()).hex()[:16]}.npz"
    root, chosen = Path(__file__).parent.parent, os.environ.get("NUMBA_CACHE_DIR")
    places = [place / name for place in cache_places(root, chosen)]
    for place in places:
        # Whatever is wrong with a stored model, unpacking gives another one.
        with suppress(Exception):
            return _stored(Ordered, place)
    made = Ordered.from_model_file(packed, norm_probs=True)
    for place in places:
        with suppress(OSError):
            _store(made, place)
            break
    return made


def _stored(kind: Callable[..., Any], place: Path) -> Any:
    """Read a model that :func:`_store` wrote; to unpack the library's own takes a second.

    Raises:
        DamagedDataError: Its parts do not fit one another.
    """
    # A file that is damaged is closed, too.
    with place.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        table, prior, codes, moves, outputs, rows = (stored[name] for name in _PARTS)
    fits = (
        (table.dtype, prior.dtype, codes.dtype.kind) == (np.float16, np.float32, "U")
        and (moves.dtype, rows.dtype) == (np.uint32, np.uint16)
        and table.shape[1:] == prior.shape == codes.shape
        and (rows.shape, moves.size % 256) == (outputs.shape, 0)
        and (outputs.max() < len(table) and moves.max() < rows.size)
        and 256 * int(rows.max()) < moves.size
    )
    if not fits:
        raise DamagedDataError(f"{place} is no model of languages")
    steps, states = (array(one.dtype.char, one.tobytes()) for one in (moves, rows))
    return kind(table, prior, codes.tolist(), steps, outputs.tolist(), True, tk_row=states)


def _store(made: Any, place: Path) -> None:
    """Write the arrays of a model; another process sees all of it or nothing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    number, new = tempfile.mkstemp(dir=place.parent)
    try:
        with os.fdopen(number, "wb") as out:
            parts: Any = {name: np.asarray(getattr(made, name)) for name in _PARTS}
            np.savez(out, **parts)
        Path(new).replace(place)
    except OSError:
        Path(new).unlink()
        raise
