"""Learn a finite list of minibatches without Beam or a store, one step at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.errors import DivergedError
from beam_topics.model.learner_log.head import fingerprinter
from beam_topics.model.learners import LearnerSettings, learner_for


@dataclass(frozen=True, slots=True)
class Learned:
    """The result of :func:`run_without_beam`; ``state_digest`` is that of the saved state."""

    state: Any
    sequence: int
    fingerprint: bytes
    witness: bytes
    state_digest: str


def run_without_beam(
    links: Iterable[NumberedMinibatch],
    settings: LearnerSettings,
    key: str = "",
    island: int = 0,
    threads: int = 1,
) -> Learned:
    """Learn numbered minibatches in order, without Beam or a store, to the bits of the pipeline.

    Raises:
        DivergedError: A minibatch does not follow the one before it.
    """
    learner = learner_for(settings)
    state = learner.init(settings, key, island, threads)
    sequence, chain = 0, b""
    for link in links:
        if link.sequence != sequence + 1 or (sequence and link.previous != chain):
            raise DivergedError(f"minibatch {link.sequence} does not follow minibatch {sequence}")
        sequence, chain = link.sequence, link.fingerprint
        learner.step(state, link.minibatch())
    digest = hashlib.sha256(learner.save(state)).hexdigest()
    return Learned(
        state, sequence, fingerprinter(settings, island)(chain), learner.witness(state), digest
    )
