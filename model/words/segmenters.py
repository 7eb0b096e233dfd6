"""Cut texts of languages that have no spaces between words.

A segmenter has a name and is given as ``name`` on the command line. The settings of a model hold
``name==release`` with the release of its library and dictionary, because another release gives
other words; a model that was learned with another one is refused.

A segmenter gets the runs of Han, Hiragana and Katakana characters, in pieces of at most 1,000
characters, so its memory and time are bounded. All other text is cut at what is no letter: jieba
cuts other letters one by one.

=========  =========================================  ==============================
name       cuts                                       library
=========  =========================================  ==============================
words      at what is no letter, mark or digit        none
chinese    by a dictionary and a hidden Markov model  jieba
japanese   by a dictionary and a conditional field    fugashi (MeCab), unidic-lite
=========  =========================================  ==============================
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable

import regex

from model.errors import OptionError

WORDS = "words"
_RUN = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}"
    "\N{KATAKANA-HIRAGANA PROLONGED SOUND MARK}\N{HALFWIDTH KATAKANA-HIRAGANA PROLONGED SOUND MARK}"
    "\N{IDEOGRAPHIC CLOSING MARK}]{1,1000}"
)
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


# The function that makes a segmenter, and the packages that it needs.
_SEGMENTERS: dict[str, tuple[Callable[[], Cut], tuple[str, ...]]] = {
    "chinese": (_chinese, ("jieba",)),
    "japanese": (_japanese, ("fugashi", "unidic-lite")),
}
NAMES = (WORDS, *_SEGMENTERS)


def resolved(segmenter: str) -> str:
    """Return ``name==releases`` for a name; what has releases already is checked.

    Raises:
        OptionError: There is no such segmenter, its package is missing, or another release of it is
            installed.
    """
    name, _, wanted = segmenter.partition("==")
    if name not in NAMES or (wanted and name == WORDS):
        remedy = "Correct the spelling."
        raise OptionError("--segmenter", segmenter, "one of " + ", ".join(NAMES), remedy)
    if name == WORDS:
        return WORDS
    packages = _SEGMENTERS[name][1]
    for package in packages:
        if importlib.util.find_spec(package.replace("-", "_")) is None:
            allowed = f"{name} where {package} is installed"
            remedy = "Run: pip install 'beam-topics[languages]'"
            raise OptionError("--segmenter", segmenter, allowed, remedy)
    # Imported here, because it takes a tenth of the time of numpy, and few models need it.
    from importlib.metadata import version

    found = "+".join(version(package) for package in packages)
    if wanted and wanted != found:
        pins = " ".join(
            f"{package}=={release}"
            for package, release in zip(packages, wanted.split("+"), strict=False)
        )
        allowed = f"the installed release {found}, because another one gives other words"
        raise OptionError("--segmenter", segmenter, allowed, f"Run: pip install {pins}")
    return f"{name}=={found}"


def segmenter_of(segmenter: str) -> Callable[[str], str] | None:
    """Return the function that puts spaces between the words of a text; None for ``words``.

    Raises:
        OptionError: As :func:`resolved`.
    """
    name = resolved(segmenter).partition("==")[0]
    if name == WORDS:
        return None
    cut = _SEGMENTERS[name][0]()
    return lambda text: str(_RUN.sub(lambda run: f" {' '.join(cut(run[0]))} ", text))
