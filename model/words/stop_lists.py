"""The stop words of a language: words that texts on every subject have."""

from __future__ import annotations


def stop_lists() -> frozenset[str]:
    """Return the codes of the languages that have a list."""
    # Imported here and below, so that options can be listed without the tables of all languages.
    import stopwordsiso

    return frozenset(stopwordsiso.langs())


def stop_words_of(codes: str) -> frozenset[str]:
    """Return the stop words of a language, or of several with commas between their codes."""
    import stopwordsiso

    return frozenset().union(*(stopwordsiso.stopwords(code) for code in codes.split(",")))
