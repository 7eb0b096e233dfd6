"""Cut texts of languages whose words have no spaces between them, and lemmas, by optional packages.

A segmenter has a name and is given as ``name`` on the command line. The settings of a model hold
``name==release`` with the release of its library and dictionary, because another release gives
other words; a model learned with another release is refused.

A segmenter gets the runs of the characters of its scripts (Thai; Han, Hiragana and Katakana; Hangul
with its spaces), in pieces of at most 1,000 characters, so its memory and time are bounded. All
other text is cut at non-letters: jieba would cut other letters one by one. The Korean one drops
particles and endings, and gives verbs in their dictionary form.

=========  =========================================  ==============================
name       cuts                                       library
=========  =========================================  ==============================
words      at what is no letter, mark or digit        none
chinese    by a dictionary and a hidden Markov model  jieba
japanese   by a dictionary and a conditional field    fugashi (MeCab), unidic-lite
thai       by the fewest words of a dictionary        pythainlp (newmm, safe mode)
korean     by a dictionary and a language model       kiwipiepy, kiwipiepy_model
=========  =========================================  ==============================

The lemma of a word is that of the tables of simplemma: "harbours" becomes "harbour". The settings
hold ``language==release``.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from collections.abc import Callable, Sequence
from functools import cache

import regex

from beam_topics.model.errors import OptionError, one_of

WORDS = "words"
_EAST_ASIAN = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}"
    "\N{KATAKANA-HIRAGANA PROLONGED SOUND MARK}\N{HALFWIDTH KATAKANA-HIRAGANA PROLONGED SOUND MARK}"
    "\N{IDEOGRAPHIC CLOSING MARK}]{1,1000}"
)
_THAI = regex.compile(r"\p{Thai}{1,1000}")
# A space tells where a Korean word begins. What follows another script is a run of its own.
_KOREAN = regex.compile(
    r"(?<=[\p{Latin}\p{Han}\p{N}])\p{Hangul}{1,1000}|\p{Hangul}[\p{Hangul} ]{0,999}"
)
# Tags of particles, endings, the copula, auxiliary verbs, and what makes a verb of a noun.
_AFFIXES = ("J", "E", "VC", "VX", "XS")
Cut = Callable[[str], list[str]]


def _chinese() -> Cut:
    import jieba

    jieba.setLogLevel(logging.WARNING)
    segmenter = jieba.Tokenizer()
    # initialize() would read a cache in the folder of temporary files, which others can write.
    segmenter.FREQ, segmenter.total = segmenter.gen_pfdict(segmenter.get_dict_file())
    segmenter.initialized = True
    return segmenter.lcut


def _japanese() -> Cut:
    import fugashi
    import unidic_lite

    # With the file of the package in place of the user's configuration.
    folder = unidic_lite.DICDIR
    tagger = fugashi.GenericTagger(f'-r "{folder}/mecabrc" -d "{folder}"')
    return lambda text: [word.surface for word in tagger(text)]


def _thai() -> Cut:
    # It would make a folder in the user's home when it is imported, and may fetch others later.
    for name in ("PYTHAINLP_READ_ONLY", "PYTHAINLP_OFFLINE"):
        os.environ.setdefault(name, "1")
    from pythainlp.tokenize.newmm import segment

    # Without the safe mode ambiguous texts take minutes.
    return lambda text: [word for word in segment(text, safe_mode=True) if word.strip()]


@cache
def _korean() -> Cut:
    """Return the one analyser of the process, which takes 300 MB, for one thread at a time."""
    from kiwipiepy import Kiwi

    analyser, lock = Kiwi(num_workers=1), threading.Lock()

    def cut(text: str) -> list[str]:
        if len(text) == 1:
            # A particle after another script would be read as a verb.
            return [text]
        with lock:
            found = analyser.tokenize(text)
        return [word.lemma for word in found if not word.tag.startswith(_AFFIXES)]

    return cut


# The function that makes a segmenter, what it is given, and the packages that it needs.
_SEGMENTERS: dict[str, tuple[Callable[[], Cut], regex.Pattern[str], tuple[str, ...]]] = {
    "chinese": (_chinese, _EAST_ASIAN, ("jieba",)),
    "japanese": (_japanese, _EAST_ASIAN, ("fugashi", "unidic-lite")),
    "thai": (_thai, _THAI, ("pythainlp",)),
    "korean": (_korean, _KOREAN, ("kiwipiepy", "kiwipiepy_model")),
}
NAMES = (WORDS, *_SEGMENTERS)


def resolved(segmenter: str) -> str:
    """Return ``name==releases`` for a name; what has releases already is checked.

    Raises:
        OptionError: There is no such segmenter, its package is missing, or another release of it is
            installed.
    """
    name, _, wanted = segmenter.partition("==")
    one_of("--segmenter", segmenter if name == WORDS else name, NAMES)
    if name == WORDS:
        return WORDS
    packages = _SEGMENTERS[name][2]
    if remedy := missing(name):
        allowed = f"{name} where {' and '.join(packages)} can be imported"
        raise OptionError("--segmenter", segmenter, allowed, remedy)
    return with_release("--segmenter", name, wanted, packages)


def with_release(flag: str, name: str, wanted: str, packages: Sequence[str]) -> str:
    """Return ``name==releases`` of the packages that are installed.

    Args:
        flag: The option that gives the name, for the message.
        name: The name of what the packages do.
        wanted: The releases that a model was learned with, joined by ``+``; "" for any.
        packages: The packages.

    Raises:
        OptionError: Other releases are installed.
    """
    # Imported here, because it takes a tenth of the time of numpy, and few models need it.
    from importlib.metadata import version

    found = "+".join(map(version, packages))
    if wanted and wanted != found:
        pairs = zip(packages, wanted.split("+"), strict=False)
        pins = " ".join(f"{package}=={release}" for package, release in pairs)
        allowed = f"the installed release {found}, because another one gives other results"
        raise OptionError(flag, f"{name}=={wanted}", allowed, f"Run: pip install {pins}")
    return f"{name}=={found}"


def missing(name: str) -> str:
    """Return how to install what a segmenter needs and is not there; empty where it is."""
    absent = [
        package
        for package in _SEGMENTERS[name][2]
        if importlib.util.find_spec(package.replace("-", "_")) is None
    ]
    return f"Run: pip install {' '.join(absent)}" if absent else ""


def segmenter_of(segmenter: str) -> Callable[[str], str] | None:
    """Return the function that puts spaces between the words of a text; None for ``words``.

    Raises:
        OptionError: As :func:`resolved`.
    """
    name = resolved(segmenter).partition("==")[0]
    if name == WORDS:
        return None
    made, run_of, _ = _SEGMENTERS[name]
    cut = made()
    return lambda text: str(run_of.sub(lambda run: f" {' '.join(cut(run[0]))} ", text))


def resolved_lemmas(lemmas: str) -> str:
    """Return ``language==release`` for a language; what has a release already is checked.

    Raises:
        OptionError: There are no lemmas of this language, simplemma is missing, or another release
            of it is installed.
    """
    language, _, wanted = lemmas.partition("==")
    if language == "none":
        return "none"
    if importlib.util.find_spec("simplemma") is None:
        allowed = "none where simplemma is not installed"
        remedy = "Run: pip install 'beam-topics[languages]'"
        raise OptionError("--lemmas", lemmas, allowed, remedy)
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    if language not in SUPPORTED_LANGUAGES:
        allowed = "none, or one of " + ", ".join(sorted(SUPPORTED_LANGUAGES))
        raise OptionError("--lemmas", lemmas, allowed, "Correct the code of the language.")
    return with_release("--lemmas", language, wanted, ("simplemma",))


def lemma_of(lemmas: str) -> Callable[[str], str] | None:
    """Return the function that gives the lemma of a word; None for ``none``.

    Raises:
        OptionError: As :func:`resolved_lemmas`.
    """
    language = resolved_lemmas(lemmas).partition("==")[0]
    if language == "none":
        return None
    import simplemma

    return lambda word: simplemma.lemmatize(word, lang=language).lower()
