"""The settings of batch Gibbs sampling."""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import OptionError
from model.gibbs.samplers import SAMPLER_HELP, SPARSE_LEARNING_FROM, Sampler, is_sparse
from model.learners.base import implemented_in
from model.learners.particles.initial_settings import ENDLESS, Initial, InitialBatch
from model.learners.particles.settings import ParticleSettings
from model.learners.particles.topic_priors import Flat
from model.options import option


@implemented_in("model.learners.batch_gibbs.batch_gibbs")
@dataclass(frozen=True)
class BatchGibbs(ParticleSettings):
    """Chains of Gibbs sweeps over all documents so far, anew for each version (Alg. 1)."""

    kind = "batch-gibbs"

    chains: int = option(
        2, "C, number of Gibbs chains, of which the best is published", least=1, first=True
    )
    sweeps: int = option(200, "sweeps of each chain", least=1, first=True)
    sampler: Sampler = option("auto", SAMPLER_HELP)

    def check(self) -> None:
        super().check()
        if self.sampler == "sparse" and not isinstance(self.prior, Flat):
            allowed = f"auto or dense with --prior={self.prior.kind}"
            raise OptionError("--sampler", "sparse", allowed, "SparseLDA has no tables to sample.")
        if self.sampler == "sparse" and self.seeds:
            remedy = "SparseLDA begins without counts."
            raise OptionError("--sampler", "sparse", "auto or dense with --seeds", remedy)

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
        """Whether the chains have packed counts."""
        flat = isinstance(self.prior, Flat) and not self.seeds
        return flat and is_sparse(self.sampler, self.topic_count, SPARSE_LEARNING_FROM)
