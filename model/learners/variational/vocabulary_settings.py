"""Settings of :mod:`model.learners.variational.fixed_vocabulary`."""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import OptionError
from model.kinds import Kinds
from model.learners.particles.vocabularies import DEFAULT_MAX_WORDS, Given
from model.options import Record, option


@dataclass(frozen=True)
class GrowingUntilFull(Record):
    """New words join until there are as many as --max_words.

    The prior expects that many from the start.
    """

    kind = "growing"

    max_words: int = option(
        DEFAULT_MAX_WORDS,
        "size of the vocabulary: later words are not learned",
        unit="words",
        least=1,
        first=True,
    )


@dataclass(frozen=True)
class Null(Record):
    """The words of the first minibatch that has any, and no others."""

    kind = "null"


@dataclass(frozen=True)
class Dict(Record):
    """The words that the tokeniser finds in a list, and no others."""

    kind = "dict"

    word_list: tuple[str, ...] = option((), "file of the words", file="text")

    def check(self) -> None:
        if not self.word_list:
            raise OptionError(
                "--vocabulary",
                self.kind,
                "a list of words beside it",
                "Give a file of words with --word_list.",
            )


@dataclass(frozen=True)
class DictHash(Dict):
    """The words of a list; a hash gives every other word the number of one of these."""

    kind = "dict-hash"


@dataclass(frozen=True)
class FullHash(Record):
    """A hash gives every word one of --buckets numbers."""

    kind = "full-hash"

    buckets: int = option(30_000, "how many numbers words share", least=1)


FIXVOC_VOCABULARIES = Kinds(GrowingUntilFull, Given, Null, Dict, DictHash, FullHash)
