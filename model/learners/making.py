"""Make the learner that settings belong to, with the filters that they ask for."""

from __future__ import annotations

from typing import Any

from model.learners.base import Learner, LearnerSettings, implementation_of


def learner_for(settings: LearnerSettings) -> Learner[Any]:
    """Return the learner that the settings belong to."""
    learner = implementation_of(settings)
    if not settings.is_filtered:
        return learner
    # Imported here, so that settings can be listed without kernels.
    from model.learners.filters.learner import filtered

    return filtered(learner)
