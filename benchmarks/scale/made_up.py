"""Made-up documents, whose words follow Zipf's law."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beam_topics.model.arrays import FloatArray

# The time of the first document. Smaller numbers look like years.
_BEGIN = 1_000_000_000
_VOCABULARY = 8_000
# The name of a customer with a number.
CUSTOMER = "customer-{:05}"


class Made(NamedTuple):
    """How documents are made.

    Attributes:
        words: The words of a document.
        keys: Names of customers, drawn by Zipf's law.
        seconds: Seconds of event time from a document to the next.
    """

    words: int = 100
    keys: int = 1
    seconds: int = 600


DEFAULT = Made()


def write(path: Path, documents: int, made: Made = DEFAULT) -> None:
    """Write documents in the order of time, with a customer each."""
    generator = np.random.default_rng(1)
    known, weights = made_up_words()
    customers = 1 / np.arange(1, made.keys + 1)
    owners = generator.choice(made.keys, documents, p=customers / customers.sum())
    with path.open("w", encoding="utf-8") as lines:
        for number in range(documents):
            chosen = generator.choice(_VOCABULARY, made.words, p=weights)
            record = {
                "id": str(number),
                "timestamp": _BEGIN + number * made.seconds,
                "text": " ".join(known[word] for word in chosen.tolist()),
                "customer": CUSTOMER.format(int(owners[number])),
            }
            lines.write(json.dumps(record) + "\n")


def made_up_words() -> tuple[list[str], FloatArray]:
    """Return the words of the documents, and the probability of each by Zipf's law."""
    weights = 1 / np.arange(1, _VOCABULARY + 1)
    return [_word(number) for number in range(_VOCABULARY)], weights / weights.sum()


def _word(number: int) -> str:
    """Return a word of letters for a number."""
    letters = ""
    while number or not letters:
        number, letter = divmod(number, 26)
        letters += chr(ord("a") + letter)
    return f"w{letters}x"
