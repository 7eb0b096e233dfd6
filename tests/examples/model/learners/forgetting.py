"""``forgetting``: topics whose counts fade, so that the model follows the stream."""

from __future__ import annotations

from dataclasses import dataclass

from beam_topics.model.learners.base import LearnerSettings, implemented_in
from beam_topics.model.settings.options import option


@implemented_in("beam_topics.model.learners.forgetting_learner")
@dataclass(frozen=True)
class Forgetting(LearnerSettings):
    """Online expectation maximisation with counts that fade."""

    kind = "forgetting"

    beta: float = option(
        0.1, "Dirichlet parameter of a topic's words, for each word", above=0, usual="0.001 and 1"
    )
    fading: float = option(
        0.9, "what is left of the counts after a minibatch", least=0, below=1, first=True
    )
