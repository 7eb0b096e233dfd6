"""When a particle is challenged (:mod:`model.learners.particles.challengers`), and what waits for
the decision.

A trial is due when the documents learned since the last change reach one of the multiples
:data:`~model.learners.particles.following.AFTER_CHANGE` of ``--judges`` (by default after 100, 250,
500, 1,000 and 2,000 documents) or, where there was no change,
:data:`~model.learners.particles.following.AT_START` (after 400, 800 and 1,600). The documents that
come next are the judges: they wait, unlearned, until there are enough of them. Then the duel is
fought, and they are learned. So what is pending is a list of documents and a few numbers
(:class:`~model.learners.particles.following.Following`). They are part of the state and of its
bytes, and a learner that is restored in the middle of a trial comes to the same decision. A
minibatch of as many documents as there are judges does not wait at all. A version that is published
meanwhile has learned the waiting documents without a duel, on a copy.

Islands do not share what decides a duel, so there is one island
(:mod:`model.learners.particles.settings`). With more than one particle the one with the largest
joint probability is challenged, and if a challenger wins, all particles go on from it.
"""

from __future__ import annotations

from model.learners.particles.challengers import duel, room_of, split_history
from model.learners.particles.following import Documents, Following
from model.learners.particles.kernels.divergence import sum_of_shares
from model.learners.particles.state import ParticleState
from model.scaled import Scaled


def release(state: ParticleState, following: Following, documents: Documents) -> Documents:
    """What is to be learned now that these have come: nothing while judges are missing. A duel is
    fought where one is due.
    """
    if not following.due(state.documents):
        return documents
    following.held += documents
    if len(following.held) < following.judges:
        return []
    documents, following.held = following.held, []
    free = int(room_of(state) * state.settings.topics) if following.fresh else 0
    judges = [tokens for tokens, _ in documents[: following.judges]]
    verdict = duel(state, judges, state.documents - following.changed, free)
    following.trial_held(state.documents, verdict.winner >= 0)
    return documents


def observe(
    state: ParticleState, following: Following, evidence: Scaled, scored: int, learned: int
) -> None:
    """Take note of a step that has learned so many documents; ``scored`` of their tokens are in the
    evidence.
    """
    newest, _ = split_history(state, learned)
    shares = sum_of_shares(state.population, 0, newest, state.settings.topics)
    if following.notice(evidence, scored, learned, shares, state.documents):
        state.history.count_as_newest(state.documents - following.changed)
