"""The priors of topics over words: :class:`Flat`, :class:`Urn` and :class:`Hierarchical`.

A topic z gives word w the probability (n_wz - d t_wz + s_z B(w)) / (n_z + a), with s_z = a + d k_z:
n counts tokens and t and k count tables. A prior says what a and d are, which tables are counted,
and which distribution G over words B begins with. A new prior that can be said in these terms is
one record, registered in :data:`PRIORS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.learners.particles.kernels import table_counts as seating
from model.options import Kinds, Record, option, part

PRIORS = Kinds()

# Particles hold an a_0 also where the prior has none.
_BASE_CONCENTRATION = 1000.0


class TopicPrior(Record):
    """What the particle family asks of a prior."""

    @property
    def word_list(self) -> tuple[str, ...]:
        """The words from which G learns how words are spelled; with none, the first documents of
        the stream.
        """
        return ()

    @property
    def is_spelled(self) -> bool:
        """Whether G is a distribution over all strings where the vocabulary grows; otherwise
        every word is alike.
        """
        return False

    @property
    def discount(self) -> float:
        """d of the tables."""
        return 0.0

    @property
    def table_uniforms(self) -> int:
        """Which tables are counted: ``NONE``, ``MINIMAL`` or ``SAMPLED`` of
        :mod:`model.learners.particles.kernels.table_counts`.
        """
        return seating.NONE

    @property
    def learns_concentrations(self) -> bool:
        """Whether a and a_0 are drawn from the stream."""
        return False

    @property
    def base_strength(self) -> float:
        """a_0, of the distribution that topics share."""
        return _BASE_CONCENTRATION

    def strength(self, words: int) -> float:
        """a, of a vocabulary of so many words."""
        raise NotImplementedError


@PRIORS.register
@dataclass(frozen=True)
class Flat(TopicPrior):
    """A symmetric Dirichlet: every word of the vocabulary is alike."""

    kind = "flat"

    beta: float = option(
        0.1,
        "Dirichlet parameter of a topic's words, for each word",
        above=0,
        usual="0.001 and 1",
        first=True,
    )

    def strength(self, words: int) -> float:
        return words * self.beta


@dataclass(frozen=True)
class _Spelled(TopicPrior):
    """G is a distribution over strings."""

    concentration: float = option(
        1000.0,
        "a: pseudo-counts of words that a topic has not seen",
        unit="tokens",
        above=0,
        usual="100 and 10000",
    )
    word_list: tuple[str, ...] = option(
        (),
        "file of words that show how words are spelled; without it, the stream's first documents",
        file="text",
    )

    @property
    def is_spelled(self) -> bool:
        return True

    def strength(self, words: int) -> float:
        return self.concentration


@PRIORS.register
@dataclass(frozen=True)
class Urn(_Spelled):
    """Each topic draws its words from G, a distribution over strings."""

    kind = "urn"


class Tables(Record):
    """The tables of the Chinese restaurant franchise."""


@dataclass(frozen=True)
class SampledTables(Tables):
    """Tables are drawn, which is exact."""

    kind = "sampled"

    concentrations: Literal["learned", "fixed"] = option(
        "learned", "whether a and a_0 are drawn from the stream"
    )


@dataclass(frozen=True)
class MinimalTables(Tables):
    """One table for each word and topic, which is faster and an approximation."""

    kind = "minimal"


@PRIORS.register
@dataclass(frozen=True)
class Hierarchical(_Spelled):
    """Topics draw from a distribution that they share, and that draws from G."""

    kind = "hierarchical"

    base_concentration: float = option(
        1000.0,
        "a_0: the same of the distribution that topics share",
        unit="tables",
        above=0,
        usual="100 and 10000",
    )
    discount: float = option(
        0.3,
        "d of Pitman and Yor: more weight to rare words",
        least=0,
        below=1,
        remedy="0 is a Dirichlet process.",
    )
    tables: Tables = part(
        SampledTables(), "how tables are counted", Kinds(SampledTables, MinimalTables)
    )

    @property
    def table_uniforms(self) -> int:
        return seating.SAMPLED if isinstance(self.tables, SampledTables) else seating.MINIMAL

    @property
    def learns_concentrations(self) -> bool:
        return isinstance(self.tables, SampledTables) and self.tables.concentrations == "learned"

    @property
    def base_strength(self) -> float:
        return self.base_concentration
