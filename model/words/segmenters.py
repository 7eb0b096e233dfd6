"""Cut texts of languages that have no spaces between words.

A segmenter has a name and is given as ``name`` on the command line. The settings of a model hold
``name==release`` with the release of its library and dictionary, because another release gives
other words; a model that was learned with another one is refused.

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
from importlib.metadata import version

from model.errors import OptionError

WORDS = "words"
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

    tagger = fugashi.Tagger(f'-d "{unidic_lite.DICDIR}"')
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
    found = "+".join(version(package) for package in packages)
    if wanted and wanted != found:
        pins = " ".join(
            f"{package}=={release}"
            for package, release in zip(packages, wanted.split("+"), strict=False)
        )
        allowed = f"the installed release {found}, because another one gives other words"
        raise OptionError("--segmenter", segmenter, allowed, f"Run: pip install {pins}")
    return f"{name}=={found}"


def segmenter_of(segmenter: str) -> Cut | None:
    """Return the function that cuts a text; None for the one of :mod:`model.words.tokeniser`.

    Raises:
        OptionError: As :func:`resolved`.
    """
    name = resolved(segmenter).partition("==")[0]
    return None if name == WORDS else _SEGMENTERS[name][0]()
