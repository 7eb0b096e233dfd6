"""The made-up courses of a stream for :mod:`benchmarks.drift`.

Three domains take part: abstracts of nine arXiv categories (1), posts of 20 Newsgroups (2), and
abstracts of nine other categories (3). A course is a list of documents of these domains, and of the
places where a version is scored.

* ``planted``: N documents of domain 1, N of 2, N of 3. ``reverse``: 3, 2, 1.
* ``gradual``: domain 1, then domain 2. Over 3/7 N documents in the middle the share of the second
  one rises evenly from 0 to 1.
* ``returning``: N documents of domain 1, then N of domain 2, then 3/7 N of domain 3, then new
  documents of domain 1, so that domain 1 comes back after 10/7 N documents.
* ``alone``: one domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from beam_topics.model.records import Document, TokenisedDocument
from benchmarks.corpora import letters_of, may_words, records, shuffled, stop_words

FIRST_CATEGORIES = ("cs.NI", "cs.DC", "cs.SI", "cs.SY", "cs.GT", "cs.DB", "cs.HC", "cs.DL", "cs.CE")
THIRD_CATEGORIES = ("cs.CR", "cs.RO", "cs.SE", "cs.CY", "cs.IR", "cs.NE", "cs.PL", "cs.SD", "cs.OH")
COURSES = ("planted", "reverse", "gradual", "returning")
PLACES = (500, 1000, 2000, 7000)
# The part of N that a gradual change takes, and that follows the second domain of ``returning``.
PART = 3 / 7

Documents = Sequence[TokenisedDocument]


@dataclass(frozen=True)
class Stretch:
    """Documents up to the next version that is scored.

    Attributes:
        documents: what comes.
        domain: the domain by whose documents the version is scored.
        place: documents of the stretch's part of the course so far.
    """

    documents: Documents
    domain: int
    place: int


@cache
def arxiv(categories: tuple[str, ...], size: int) -> tuple[TokenisedDocument, ...]:
    """Return so many abstracts of these categories, evenly spread over the years."""
    stop = stop_words()
    chosen = [record for record in records("arxiv-cs-1994-2019") if record["label"] in categories]
    chosen_places = np.linspace(0, len(chosen) - 1, size).astype(int).tolist()
    return tuple(
        _document(record, _abstract_words(record, stop))
        for record in (chosen[at] for at in chosen_places)
    )


@cache
def posts(groups: tuple[str, ...], split: str) -> tuple[TokenisedDocument, ...]:
    """Return the posts of these groups in the order of their dates.

    Args:
        groups: the groups; all where there are none.
        split: ``train``, ``test``, or empty for both.
    """
    stop = stop_words()
    wanted = (
        r
        for r in records("20news-bydate")
        if (not groups or r["label"] in groups) and (not split or r["split"] == split)
    )
    ordered = sorted(wanted, key=lambda record: (record["timestamp"], record["id"]))
    return tuple(_document(record, may_words(record["text"], stop)) for record in ordered)


def _abstract_words(record: dict[str, Any], stop: frozenset[str]) -> list[str]:
    return [word for word in letters_of(record["text"]) if len(word) > 1 and word not in stop]


def _document(record: dict[str, Any], words: list[str]) -> TokenisedDocument:
    return TokenisedDocument.from_words(Document(record["id"], 0, "", record["label"]), words)


@cache
def domain(number: int, size: int) -> tuple[TokenisedDocument, ...]:
    """Return documents of a domain, counted from 1, in one shuffled order."""
    if number == 2:
        return tuple(shuffled(list(posts((), "")), 1)[:size])
    categories = FIRST_CATEGORIES if number == 1 else THIRD_CATEGORIES
    return tuple(shuffled(list(arxiv(categories, size)), 1))


def places(size: int) -> list[int]:
    """Return after how many documents of a part a version is scored."""
    return sorted({*(place for place in PLACES if place < size), size})


def course(name: str, size: int, seed: int) -> list[Stretch]:
    """Return the stretches of a course; the documents of each part are shuffled by the seed."""
    if name.startswith("alone"):
        return _part(int(name[-1]), size, seed)
    if name == "gradual":
        return _gradual(size, seed)
    if name == "returning":
        extra = int(PART * size)
        first = shuffled(list(domain(1, size + places(size)[1])), seed)
        again = [place for place in places(size) if place <= len(first) - size]
        return [
            Stretch(first[:size], 1, size),
            *_part(2, size, seed),
            Stretch(shuffled(list(domain(3, extra)), seed), 3, extra),
            *_stretches(first[size:], 1, again),
        ]
    order = (1, 2, 3) if name == "planted" else (3, 2, 1)
    return [stretch for number in order for stretch in _part(number, size, seed)]


def _part(number: int, size: int, seed: int) -> list[Stretch]:
    return _stretches(shuffled(list(domain(number, size)), seed), number, places(size))


def _stretches(documents: Documents, number: int, ends: Sequence[int]) -> list[Stretch]:
    return [
        Stretch(documents[begin:end], number, end)
        for begin, end in zip((0, *ends), ends, strict=False)
    ]


def _gradual(size: int, seed: int) -> list[Stretch]:
    """Return domain 1, a mixture, and the rest of domain 2, which is scored from its first 500."""
    first, second = (shuffled(list(domain(number, size)), seed) for number in (1, 2))
    length = int(PART * size)
    generator = np.random.default_rng(seed)
    from_second = (generator.random(length) < np.arange(length) / length).tolist()
    before = size - from_second.count(False)
    old, new = iter(first[before:]), iter(second)
    mixed = [next(new) if is_new else next(old) for is_new in from_second]
    return [
        Stretch(first[:before], 1, before),
        Stretch(mixed, 2, sum(from_second)),
        *_stretches(list(new), 2, places(size - sum(from_second))),
    ]
