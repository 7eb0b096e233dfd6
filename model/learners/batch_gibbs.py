"""Batch Gibbs (Canini et al. 2009, Alg. 1): the reference, not a streaming algorithm.

It keeps every document in an initial batch that never ends. A snapshot is what P chains of ``sweeps`` sweeps over all documents so far come
to, the best by its joint probability. Each snapshot starts from nothing, so it is a function of the documents alone. Its state
grows with the stream.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from model.errors import OptionError
from model.learners.base import register
from model.learners.particle_filter import ParticleFilter
from model.settings import LearnerSettings


@register("batch-gibbs")
class BatchGibbs(ParticleFilter):
    """Alg. 1 over all documents so far, at each snapshot."""

    def adapt(self, settings: LearnerSettings) -> LearnerSettings:
        if settings.islands > 1:
            raise OptionError("--islands", settings.islands, "1 with --learner=batch-gibbs", "Its chains run in threads.")
        return replace(
            settings,
            particles=1,
            ess=0.0,
            rejuvenation="never",
            ess_check="document",
            initial_documents=sys.maxsize,
            chains=settings.particles,
            initial_sweeps=settings.sweeps,
            initial_choice="posterior",
        )
