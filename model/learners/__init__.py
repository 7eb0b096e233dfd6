"""Learners, registered by name; :mod:`model.learners.base` has the contract."""

from model.learners import batch_gibbs, fixvoc, infvoc, particle_filter
from model.learners.base import learner_for, learner_names

__all__ = ["batch_gibbs", "fixvoc", "infvoc", "learner_for", "learner_names", "particle_filter"]
