"""The priors of topics over words: :class:`Flat`, :class:`Urn` and :class:`Hierarchical`.

A topic z gives word w the probability

    P(w | z) = (n_wz - d t_wz + s_z B(w)) / (n_z + a),    s_z = a + d k_z,

where n counts tokens, and t and k count tables. A prior says what a and d are, how tables are
counted, and from which distribution G over words B starts. A new prior of this form is one record
that is registered in :data:`PRIORS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from beam_topics.model.learners.base import AUTO
from beam_topics.model.options import Kinds, Record, option, part

PRIORS = Kinds()

# a_0 of the particles where the prior has none.
_BASE_CONCENTRATION = 1000.0
# With "auto", a begins at this share of the words that learning begins with, and at most at MOST_A.
# So each of these words has a tenth of a pseudo-count in a topic, as under the flat prior
# (docs/results/small-data.md).
A_WORD, MOST_A = 0.1, 1000.0


class TopicPrior(Record):
    """What the particle family asks of a prior."""

    @property
    def word_list(self) -> tuple[str, ...]:
        """Return the words from which G learns spelling; if empty, the first documents serve."""
        return ()

    @property
    def is_spelled(self) -> bool:
        """Return whether G is a distribution over all strings where the vocabulary grows.

        Otherwise G gives every word the same probability.
        """
        return False

    @property
    def discount(self) -> float:
        """Return d, the discount of the tables."""
        return 0.0

    @property
    def table_counting(self) -> int:
        """Return how tables are counted: ``NONE``, ``MINIMAL`` or ``SAMPLED``.

        :mod:`beam_topics.model.learners.particles.kernels.table_counts` defines the three.
        """
        return _table_counting("NONE")

    @property
    def learns_concentrations(self) -> bool:
        """Return whether a and a_0 are learned from the stream."""
        return False

    @property
    def base_strength(self) -> float:
        """Return a_0, the concentration of the distribution that topics share."""
        return _BASE_CONCENTRATION

    def strength(self, size: int, words: int) -> float:
        """Return a when learning begins.

        Args:
            size: W, the number of words that the vocabulary can have.
            words: the number of distinct words in the first documents.
        """
        raise NotImplementedError


@PRIORS.register
@dataclass(frozen=True)
class Flat(TopicPrior):
    """A symmetric Dirichlet distribution over the words of the vocabulary."""

    kind = "flat"

    beta: float = option(
        0.1,
        "Dirichlet parameter of a topic's words, for each word",
        above=0,
        usual="0.001 and 1",
        first=True,
    )

    def strength(self, size: int, words: int) -> float:
        return size * self.beta


@dataclass(frozen=True)
class _Spelled(TopicPrior):
    """Priors whose G is a distribution over strings."""

    concentration: float | Literal["auto"] = option(
        AUTO,
        "a: pseudo-counts of words that a topic has not seen; auto: begins at a tenth of the"
        " distinct words of the initial batch, at most 1000",
        unit="tokens",
        above=0,
        usual="100 and 10000",
        word=AUTO,
    )
    word_list: tuple[str, ...] = option(
        (),
        "file of words to learn spelling from; without it the first documents serve",
        file="text",
    )

    @property
    def is_spelled(self) -> bool:
        return True

    def strength(self, size: int, words: int) -> float:
        if self.concentration == AUTO:
            return min(A_WORD * max(words, 1), MOST_A)
        return self.concentration


@PRIORS.register
@dataclass(frozen=True)
class Urn(_Spelled):
    """Each topic draws its words from G, a distribution over strings."""

    kind = "urn"


class Tables(Record):
    """How the tables of the Chinese restaurant franchise are counted."""


@dataclass(frozen=True)
class SampledTables(Tables):
    """Draw the number of tables, which is exact."""

    kind = "sampled"

    concentrations: Literal["learned", "fixed"] = option(
        "learned", "whether a and a_0 are learned from the stream"
    )


@dataclass(frozen=True)
class MinimalTables(Tables):
    """Count one table for each word and topic, which is faster and approximate."""

    kind = "minimal"


@PRIORS.register
@dataclass(frozen=True)
class Hierarchical(_Spelled):
    """Topics draw words from a distribution that they share, which draws words from G."""

    kind = "hierarchical"

    base_concentration: float = option(
        1000.0,
        "a_0: pseudo-counts of the distribution that topics share",
        unit="tables",
        above=0,
        usual="100 and 10000",
    )
    discount: float = option(
        0.3,
        "d, the discount of Pitman and Yor: more weight for rare words",
        least=0,
        below=1,
        remedy="0 is a Dirichlet process.",
    )
    tables: Tables = part(
        SampledTables(), "how tables are counted", Kinds(SampledTables, MinimalTables)
    )

    @property
    def table_counting(self) -> int:
        return _table_counting("SAMPLED" if isinstance(self.tables, SampledTables) else "MINIMAL")

    @property
    def learns_concentrations(self) -> bool:
        return isinstance(self.tables, SampledTables) and self.tables.concentrations == "learned"

    @property
    def base_strength(self) -> float:
        return self.base_concentration


def _table_counting(name: str) -> int:
    """Return a constant of the kernels, which are not imported where settings are only listed."""
    from beam_topics.model.learners.particles.kernels import table_counts

    return int(getattr(table_counts, name))
