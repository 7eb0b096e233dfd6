"""The documents that the learner of a version can visit again."""

from __future__ import annotations

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError
from beam_topics.model.learner_log.head import checkpoint_from_bytes
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.learners.base import HoldsDocuments, LearnerSettings
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.settings.options import record_from_json


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
    settings = record_from_json(LEARNER.kinds, bound["settings"]["learner"], "learner")
    assert isinstance(settings, LearnerSettings)
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
