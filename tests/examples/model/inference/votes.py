"""``votes``: each word is a vote for the topic in which it is most probable."""

from __future__ import annotations

from dataclasses import dataclass

from beam_topics.model.inference.base import InferenceSettings, implemented_in


@implemented_in("beam_topics.model.inference.votes_inference")
@dataclass(frozen=True)
class Votes(InferenceSettings):
    """Each word is a vote for the topic in which it is most probable."""

    kind = "votes"
