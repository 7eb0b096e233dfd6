"""Documents at hand, from which topics get their names: a bounded, uniform sample.

A document counts for the topic that has the largest share of its mixture.

Names by a function of the user, for example one that asks a language model.

``--namer=module:function`` names a function that is called once for each topic. It takes a
dictionary that JSON can hold, and returns the name:

    {"topic": 3, "share": 0.04, "name": "gun, weapons, firearms",
     "words": ["gun", "guns", ...], "documents": ["Re: ...", ...]}

``name`` is the name that follows without the function, ``words`` are the most relevant words, and
``documents`` the beginnings of the texts of typical documents, where these are at hand. All of them
come from documents, so a function that asks a model must not trust them. The name is checked, and
it is shown as text everywhere.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from model.errors import OptionError
from model.functions import load
from model.publishing.catalogue import MOST_NAME
from model.reporting.names import Counted, Names, Pairs, candidates, names_of
from model.reporting.relevance import topic_shares, word_statistics
from model.snapshot import Snapshot

MOST_DOCUMENTS = 20_000


def names_by_documents(snapshot: Snapshot, documents: Iterable[tuple[int, Sequence[str]]]) -> Names:
    """Return names that cover documents at hand.

    Args:
        snapshot: The model.
        documents: The topic of each document, and its words in their order.
    """
    statistics = word_statistics(snapshot)
    rows = [candidates(statistics, topic) for topic in range(snapshot.topic_count)]
    pairs = Pairs([frozenset(snapshot.words[row] for row in some) for some in rows])
    wanted = {snapshot.words[row]: row for some in rows for row in some}
    counted = counted_words(documents, wanted, pairs)
    return names_of(snapshot, statistics, counted, pairs)


def counted_words(
    documents: Iterable[tuple[int, Sequence[str]]],
    wanted: dict[str, int],
    pairs: Pairs | None = None,
) -> Counted:
    """Return which documents hold some words.

    Args:
        documents: The topic of each document, and its words in their order.
        wanted: The rows of the words by word.
        pairs: Counts the pairs of the documents, too.
    """
    topics: list[int] = []
    holding: dict[int, list[int]] = defaultdict(list)
    for number, (topic, words) in enumerate(documents):
        topics.append(topic)
        for row in {wanted[word] for word in words if word in wanted}:
            holding[row].append(number)
        if pairs is not None:
            pairs.add(topic, words)
    return Counted(
        np.array(topics, np.int64),
        {row: np.array(numbers, np.int64) for row, numbers in holding.items()},
    )


Namer = Callable[[Mapping[str, Any]], str]

WORDS = 20
LAMBDA = 0.6
_CONTROL = ("Cc", "Cf", "Cs", "Zl", "Zp")


def load_namer(given: str) -> Namer:
    """Return the function that ``--namer`` names.

    Args:
        given: ``module:function``.

    Raises:
        OptionError: There is no such function.
    """
    namer: Namer = load("--namer", given, "my_names:name_topic")
    return namer


def names_by(
    namer: Namer, snapshot: Snapshot, names: Names, documents: Sequence[Sequence[str]]
) -> list[str]:
    """Return the names that a function gives.

    Args:
        namer: The function.
        snapshot: The model.
        names: The names that follow without it.
        documents: For each topic, the beginnings of the texts of typical documents; none without
            documents.

    Raises:
        OptionError: The function fails, or returns something that is not a name.
    """
    statistics, share = word_statistics(snapshot), topic_shares(snapshot).tolist()
    found = []
    for topic, name in enumerate(names.texts):
        first = statistics.words[statistics.by_relevance(topic, LAMBDA, WORDS)].tolist()
        facts = {
            "topic": topic,
            "share": share[topic],
            "name": name,
            "words": [snapshot.words[row] for row in first],
            "documents": list(documents[topic]) if documents else [],
        }
        found.append(_asked(namer, facts))
    return found


def _asked(namer: Namer, facts: Mapping[str, Any]) -> str:
    where = f"the name of topic {facts['topic']}"
    try:
        name = namer(facts)
    except Exception as error:
        remedy = "Correct the function; nothing was changed."
        given = f"{type(error).__name__}: {error}"
        raise OptionError(f"--namer: {where}", given, "a function that returns", remedy) from error
    if not isinstance(name, str) or not name.strip() or len(name) > MOST_NAME or _acts(name):
        allowed = f"one line of text of 1 to {MOST_NAME} characters, without control characters"
        remedy = "Correct the function; nothing was changed."
        raise OptionError(f"--namer: {where}", f"{name!r:.100}", allowed, remedy)
    return name.strip()


def _acts(text: str) -> bool:
    return any(unicodedata.category(character) in _CONTROL for character in text)
