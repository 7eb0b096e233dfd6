"""What a learner in a stream needs beside its settings: files, publication, and resources."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from model import wire
from model.learners.base import LEARNER, LearnerSettings
from model.options import StoredOption
from model.publishing.choice import PublishSettings
from model.publishing.keeping import Keep
from model.settings import SequenceSettings, TokeniserSettings


@dataclass(frozen=True)
class LearnOptions:
    """The options of a :class:`model.learner_log.log.Session`.

    Attributes:
        settings: The settings of the learner.
        tokeniser: The settings of the tokeniser.
        sequence: The settings of windows and minibatches.
        store: The root of the model store.
        publish_every: ("windows", N), or ("period", microseconds of event time).
        checkpoint_tokens: The number of tokens between two checkpoints, about.
        max_state_mb: The size in megabytes above which a learner is refused.
        threads: The threads of one learner.
        resume_from: "" for a new run, ``latest``, or the sequence number of a checkpoint.
        publishing: When a version may come from another particle or island than its parent.
        keep: What expires when a version is published; None for nothing.
        end_of_stream: The event time at which candidates of the end of the stream travel, in
            microseconds.
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
    publishing: PublishSettings = field(default_factory=PublishSettings)
    keep: Keep | None = None
    end_of_stream: int = 0

    def settings_dict(self) -> dict[str, Any]:
        """Return the settings that the store binds a key to."""
        return {
            "tokeniser": self.tokeniser.to_json(),
            "sequence": self.sequence.to_json(),
            "learner": self.settings.to_json(),
        }

    def settings_flags(self) -> dict[str, StoredOption]:
        """Return the options behind the paths of :meth:`settings_dict`.

        See :meth:`model.options.Record.flags`.
        """
        flags = {
            **self.tokeniser.flags("tokeniser"),
            **self.sequence.flags("sequence"),
            **self.settings.flags("learner"),
        }
        return {"learner.kind": StoredOption(LEARNER.option()), **flags}

    def manifest_settings(self) -> dict[str, Any]:
        """Return the settings for a manifest; lists of words are replaced by size and digest.

        The lists may be long; ``settings.json`` has them whole.
        """
        return {**self.settings_dict(), "learner": self.settings.to_json(brief=True)}

    def settings_digest(self) -> str:
        """Return the SHA-256 of the settings, hex."""
        return hashlib.sha256(wire.canonical_json(self.settings_dict()).encode()).hexdigest()
