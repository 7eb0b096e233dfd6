"""What a learner in a stream needs besides its settings: files, publication, and resources."""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.learners.base import AUTO, LEARNER, LearnerSettings
from beam_topics.model.publishing.settings import Keep, Publication, PublishSettings
from beam_topics.model.settings.options import Record, option, record_from_json
from beam_topics.model.times import duration_text, window_number
from beam_topics.model.words.settings import TokeniserSettings

if TYPE_CHECKING:
    from beam_topics.model.documents.minibatch import Minibatch
    from beam_topics.model.publishing.store import Binding, ModelStore


# More threads than this gain nothing: an epoch has at most 16 shards.
MOST_THREADS = 8


@dataclass(frozen=True)
class RunSettings(Record):
    """How a learner runs; a run may be continued with other values.

    Attributes:
        resume_from: "" for a new run, ``latest``, or the sequence number of a checkpoint.
    """

    publish_every: Publication = option(
        Publication("period", 86_400_000_000),
        "how often to publish a version: a length of event time, or 4windows",
        first=True,
    )
    checkpoint_tokens: int = option(2_000_000, "tokens to learn between two checkpoints", least=1)
    add_documents: bool = option(
        False,
        "continue from the newest checkpoint; documents that the model store has learned are left"
        " out",
    )
    resume_from: str = option(
        "",
        "repeat a run that was interrupted, with the same input: latest, or the number of a"
        " checkpoint",
        first=True,
    )
    threads: int | Literal["auto"] = option(
        AUTO,
        "threads of one learner, which change no result; auto: the cores of the process, at most 8",
        least=1,
        word=AUTO,
        first=True,
    )
    max_state_mb: float = option(
        2048, "largest size of a learner's state, in megabytes; a larger one ends the run", above=0
    )
    memory_mb: float = option(
        4096,
        "megabytes that the learners of all keys take in a worker's process; beyond it, those that"
        " were used least recently are kept as saved states, or restored from their checkpoints",
        above=0,
    )

    sign: str = option(
        "",
        "file of a private Ed25519 key in PEM, on each worker, that signs versions and checkpoints"
        " for readers with --trust",
    )
    silent_after: int | None = option(
        None,
        "in a job that streams, the event time without documents after which the learner of a key"
        " leaves memory and the runner's state for a checkpoint; without it, none does",
        unit="microseconds",
        least=1,
    )

    @property
    def start(self) -> str:
        """Where the run continues: "" for a new run, ``latest``, or the number of a checkpoint."""
        return self.resume_from or ("latest" if self.add_documents else "")

    def check_streams(self, streams: bool) -> None:
        """Refuse what only a job that streams can do.

        Raises:
            OptionError: ``silent_after`` is given, and the job does not stream.
        """
        if self.silent_after and not streams:
            given = duration_text(self.silent_after)
            allowed = "a length of time in a job that streams"
            once = "Event time passes once in this job."
            remedy = f"{once} Leave it out; --memory_mb bounds the memory."
            raise OptionError("--silent_after", given, allowed, remedy)

    @property
    def learner_threads(self) -> int:
        """Return the number of threads of one learner in this process."""
        if self.threads != AUTO:
            return self.threads
        # Not every system tells which cores a process may use.
        own = getattr(os, "sched_getaffinity", None)
        return min(len(own(0)) if own else os.cpu_count() or 1, MOST_THREADS)


@dataclass(frozen=True)
class LearnOptions:
    """The options of a :class:`beam_topics.model.learner_log.log.Session`.

    Attributes:
        settings: The settings of the learner.
        tokeniser: The settings of the tokeniser.
        sequence: The settings of windows and minibatches.
        store: The root of the model store.
        run: Publications, checkpoints and resources.
        publishing: When a version may come from another particle or island than its parent.
        keep: What expires when a version is published; None for nothing.
        end_of_stream: The event time at which candidates of the end of the stream travel, in
            microseconds.
        id_from: By what added documents are known to be learned already: ``field``, or ``place``
            (:mod:`beam_topics.model.learner_log.known`).
        trust: The file of public keys (:mod:`beam_topics.model.publishing.signatures`).
        known_up_to: The digest of the checkpoint up to which added documents are known; "" for the
            one where the run begins on a key. Only the former stays while the run writes others.

    Raises:
        OptionError: What the settings alone ask for does not fit into ``--max_state_mb``.
    """

    settings: LearnerSettings
    tokeniser: TokeniserSettings
    sequence: SequenceSettings
    store: str
    run: RunSettings = RunSettings()
    publishing: PublishSettings = field(default_factory=PublishSettings)
    keep: Keep | None = None
    end_of_stream: int = 0
    id_from: str = "field"
    trust: str = ""
    known_up_to: str = ""

    def __post_init__(self) -> None:
        least, most = self.settings.least_bytes / 2**20, self.run.max_state_mb
        if least > most:
            raise OptionError(
                "--topics",
                self.settings.topic_count,
                f"a number whose learner fits into --max_state_mb ({most:g} MB)",
                f"It needs at least {math.ceil(least):,} MB. Give fewer topics, fewer words"
                " (--max_words), or a larger --max_state_mb.",
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: a worker derives the rest, with the kinds that it knows."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def opened(self) -> ModelStore:
        """Return the model store, which signs and trusts as the options say.

        Raises:
            OptionError: A file of keys cannot be used.
        """
        # Imported here, because options are listed without NumPy.
        from beam_topics.model.publishing.store import ModelStore

        store = ModelStore(self.store, self.trust, self.run.sign)
        store.signatures.check_keys()
        return store

    # All keys of a process share what follows, so it is made once.
    @cached_property
    def bound_settings(self) -> dict[str, Any]:
        """The settings that the store binds a key to; they must not be changed."""
        return {
            "tokeniser": self.tokeniser.to_json(),
            "sequence": self.sequence.to_json(),
            "learner": self.settings.to_json(),
        }

    @cached_property
    def binding(self) -> Binding:
        """What the first version binds the store to."""
        # Imported here, because options are listed without NumPy.
        from beam_topics.model.publishing.store import Binding

        flags = {
            "learner.kind": LEARNER.option(),
            **self.tokeniser.flags("tokeniser"),
            **self.sequence.flags("sequence"),
            **self.settings.flags("learner"),
        }
        return Binding(self.settings_digest, self.bound_settings, flags)

    @cached_property
    def manifest_settings(self) -> dict[str, Any]:
        """The settings for a manifest; lists of words are replaced by size and digest.

        The lists may be long; ``settings.json`` has them whole.
        """
        return {**self.bound_settings, "learner": self.settings.to_json(brief=True)}

    def is_due(self, minibatch: Minibatch, *, windows: int, since: int | None) -> bool:
        """Return whether a version is due after a minibatch.

        Args:
            minibatch: The minibatch.
            windows: The windows that closed since the last version, with that of the minibatch.
            since: The ``since`` of the head.
        """
        kind, every = self.run.publish_every
        if not minibatch.closes_window:
            return False
        if kind == "windows":
            return windows >= every
        assert since is not None
        zone = self.sequence.time_zone
        return window_number(minibatch.window_end, every, zone) > window_number(since, every, zone)

    @cached_property
    def settings_digest(self) -> str:
        """The SHA-256 of the settings, hex."""
        # Imported here, because options are listed without NumPy.
        from beam_topics.model.stored import wire

        return hashlib.sha256(wire.canonical_json(self.bound_settings).encode()).hexdigest()


def settings_in(stored: dict[str, Any]) -> LearnerSettings:
    """Return the settings of the learner that a store is bound to."""
    settings = record_from_json(LEARNER.kinds, stored["learner"], "learner")
    assert isinstance(settings, LearnerSettings)
    return settings
