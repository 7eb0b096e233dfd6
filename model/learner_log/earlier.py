"""Other settings than those of a run, which have learned what it goes on from.

They are, for example, those of an archive that goes on as a stream.
"""

from __future__ import annotations

from dataclasses import replace

from beam_topics.model.errors import DamagedDataError, OptionError, StoreConflictError
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learners import LEARNER
from beam_topics.model.learners.base import LearnerSettings
from beam_topics.model.publishing.manifest import CheckpointEntry, Manifest
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.settings.options import record_from_json


def earlier_options(options: LearnOptions, key: str) -> LearnOptions | None:
    """Return the options that those of a run go on from, by the settings of the store, or None."""
    try:
        bound = options.opened().bound(key)
        stored = bound.get("before", bound)["settings"]
        settings = record_from_json(LEARNER.kinds, stored["learner"], "learner")
    except (DamagedDataError, OptionError):
        # Those of another release, of which the store says what differs; or there are none.
        return None
    assert isinstance(settings, LearnerSettings)
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
