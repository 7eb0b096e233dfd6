"""What a learner in a stream needs to know beside its settings: where its files are, how often
it publishes, what it may use.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from model import wire
from model.learners.base import LEARNER, LearnerSettings
from model.settings import SequenceSettings, TokeniserSettings


@dataclass(frozen=True)
class LearnOptions:
    """Everything that :class:`model.learner_log.log.Session` needs to know.

    Attributes:
        settings, tokeniser, sequence: they say what is learned.
        store: root of the model store.
        publish_every: ("windows", N), or ("period", microseconds of event time).
        checkpoint_tokens: learned between two checkpoints, about.
        max_state_mb: a larger learner is refused.
        threads: of one learner.
        resume_from: "" for a new run, ``latest``, or the sequence number of a checkpoint.
        end_of_stream: event time at which candidates of the end of the stream travel, microseconds.
    """

    settings: LearnerSettings
    tokeniser: TokeniserSettings
    sequence: SequenceSettings
    store: str
    publish_every: tuple[Literal["windows", "period"], int] = ("windows", 1)
    checkpoint_tokens: int = 2_000_000
    max_state_mb: float = 2048
    threads: int = 1
    resume_from: str = ""
    end_of_stream: int = 0

    def settings_dict(self) -> dict[str, Any]:
        """The settings that a key's part of the store is bound to."""
        return {
            "tokeniser": self.tokeniser.to_json(),
            "sequence": self.sequence.to_json(),
            "learner": self.settings.to_json(),
        }

    def settings_flags(self) -> dict[str, tuple[str, Any]]:
        """The options behind the paths of :meth:`settings_dict`, see
        :meth:`model.options.Record.flags`.
        """
        flags = {
            **self.tokeniser.flags("tokeniser"),
            **self.sequence.flags("sequence"),
            **self.settings.flags("learner"),
        }
        return {"learner.kind": (f"--{LEARNER.name}", None), **flags}

    def manifest_settings(self) -> dict[str, Any]:
        """The same for a manifest: lists of words are named by size and digest, as they may be
        long; ``settings.json`` has them whole.
        """
        return {**self.settings_dict(), "learner": self.settings.to_json(brief=True)}

    def settings_digest(self) -> str:
        """Their SHA-256, hex."""
        return hashlib.sha256(wire.canonical_json(self.settings_dict()).encode()).hexdigest()
