"""What the store of a run holds of other settings, and of the documents that it learned.

Other settings than those of a run may have learned what it goes on from. They are, for example,
those of an archive that goes on as a stream.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import DamagedDataError, OptionError, StoreConflictError
from beam_topics.model.learner_log.head import checkpoint_from_bytes
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.learners.base import HoldsDocuments, LearnerSettings
from beam_topics.model.publishing.manifest import CheckpointEntry, Manifest
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.settings.options import record_from_json


def earlier_options(options: LearnOptions, key: str) -> LearnOptions | None:
    """Return the options that those of a run go on from, by the settings of the store, or None."""
    try:
        bound = options.opened().bound(key)
        stored = bound.get("before", bound)["settings"]
        settings = settings_in(stored)
    except (DamagedDataError, OptionError):
        # Those of another release, of which the store says what differs; or there are none.
        return None
    earlier = replace(options, settings=settings)
    goes_on = options.settings.goes_on_from(settings) and earlier.bound_settings == stored
    return earlier if goes_on else None


def check_ended(newest: Manifest, entry: CheckpointEntry, store: ModelStore) -> None:
    """Refuse to go on with other settings elsewhere than at the end of a run.

    Raises:
        StoreConflictError: The checkpoint is not that of the newest version.
    """
    if newest.sequence == entry.sequence == entry.offered:
        return
    raise StoreConflictError(
        f"{store.root} has version {newest.version}, and minibatch {entry.sequence}, from which"
        " this run would go on with other settings, is not the end of what was learned before."
        " Leave out --resume_from. If the run before was interrupted, finish it first: run it again"
        " with its own settings and --resume_from=latest."
    )


def documents_at_hand(store: ModelStore, version: Manifest) -> Block:
    """Return the documents that the newest checkpoint of a version's island holds.

    The default learner holds a sample of all documents and, with births, its newest ones.

    Args:
        store: The model store.
        version: The version.

    Raises:
        OptionError: There is no checkpoint, or the learner holds no documents.
        DamagedDataError: What is stored is damaged.
    """
    key, island = version.key, version.island
    bound = store.bound(key)
    of_settings = [e for e in store.checkpoints(key) if e.settings_digest == bound["digest"]]
    entries = [entry for entry in of_settings if entry.island == island]
    settings = settings_in(bound["settings"])
    learner = learner_for(settings)
    if not entries or not isinstance(learner, HoldsDocuments):
        lacking = "has no checkpoint" if not entries else f"is of --learner={settings.kind}"
        raise OptionError(
            "--mixed",
            True,
            f"a model store whose checkpoints hold documents; this one {lacking}",
            "Leave it out, and judge by documents of your own: beam-topics evaluate"
            " --coherence_with.",
        )
    newest = max(entries, key=lambda entry: entry.sequence)
    _, state = checkpoint_from_bytes(store.get_checkpoint(key, newest.digest))
    held = list(learner.held(learner.load(settings, key, island, state)))
    return Block.of_words([Document("", 0, "")] * len(held), held) if held else Block.empty()


def settings_in(stored: dict[str, Any]) -> LearnerSettings:
    """Return the settings of the learner that a store is bound to."""
    settings = record_from_json(LEARNER.kinds, stored["learner"], "learner")
    assert isinstance(settings, LearnerSettings)
    return settings
