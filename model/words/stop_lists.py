"""The stop words of a language: words of grammar, which texts on every subject have.

``--stop_lists=functions`` has the short lists of ``stop_words.txt``, and those of the library
stopwordsiso for the languages that the file does not have. ``--stop_lists=stopwordsiso`` has the
library's own, which are long: its 1,298 English words include *computer*, *research* and *world*.
The settings of a model hold ``name==release``, because other lists give other words.

>>> "computer" in stop_words_of("en", FUNCTIONS), "computer" in stop_words_of("en", LIBRARY)
(False, True)
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from beam_topics.model.errors import OptionError, one_of

FUNCTIONS, LIBRARY = "functions==1", "stopwordsiso==0.7.1"
# What is left of addresses of the web.
_WEB = frozenset(("http", "https", "www"))


def resolved(lists: str) -> str:
    """Return ``name==release`` for a name; what has a release already is checked.

    Raises:
        OptionError: There are no such lists, or they are of another release.
    """
    known = {one.partition("==")[0]: one for one in (FUNCTIONS, LIBRARY)}
    name, _, wanted = lists.partition("==")
    one_of("--stop_lists", name, tuple(known))
    if wanted and lists != known[name]:
        allowed = f"{known[name]}, because another release gives other words"
        remedy = "Install the release of beam-topics that wrote the model."
        raise OptionError("--stop_lists", lists, allowed, remedy)
    return known[name]


def languages_with_lists() -> frozenset[str]:
    """Return the codes of the languages that have a list."""
    # Imported here and below, so that options can be listed without the tables of all languages.
    import stopwordsiso

    return frozenset(stopwordsiso.langs())


def stop_words_of(codes: str, lists: str) -> frozenset[str]:
    """Return the stop words of a language, or of several with commas between their codes.

    Args:
        codes: Codes of :func:`languages_with_lists`.
        lists: A name of lists with its release.
    """
    import stopwordsiso

    web: Iterable[str] = () if lists == LIBRARY else _WEB
    own, found = _own(), set(web)
    for code in codes.split(","):
        short = None if lists == LIBRARY else own.get(code)
        found.update(short or stopwordsiso.stopwords(code), own.get(f"elided {code}", ()))
    return frozenset(found)


@cache
def _own() -> dict[str, frozenset[str]]:
    """Return the lists of ``stop_words.txt`` by their names."""
    text = Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8")
    parts = (part.partition("]") for part in text.split("\n[")[1:])
    return {code: frozenset(words.split()) for code, _, words in parts}
