"""The settings of batch Gibbs sampling."""

from __future__ import annotations

from dataclasses import dataclass

from beam_topics.model.learners.base import implemented_in
from beam_topics.model.learners.particles.settings import (
    ENDLESS,
    Initial,
    InitialBatch,
    ParticleSettings,
)
from beam_topics.model.learners.particles.topic_priors import Flat
from beam_topics.model.options import option


@implemented_in("beam_topics.model.learners.batch_gibbs.batch_gibbs")
@dataclass(frozen=True)
class BatchGibbs(ParticleSettings):
    """Chains of Gibbs sweeps over all documents so far, anew for each version (Alg. 1)."""

    kind = "batch-gibbs"

    chains: int = option(
        2, "C, number of Gibbs chains, of which the best is published", least=1, first=True
    )
    sweeps: int = option(200, "sweeps of each chain", least=1, first=True)

    @property
    def initial(self) -> Initial:
        return InitialBatch(
            documents=ENDLESS,
            tokens=ENDLESS,
            chains=self.chains,
            sweeps=self.sweeps,
            choice="posterior",
        )

    @property
    def is_sparse(self) -> bool:
        """Whether the chains have packed counts: SparseLDA has no tables and no prior tokens."""
        return isinstance(self.prior, Flat) and not self.seeds
