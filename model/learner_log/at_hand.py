"""The documents that a model store holds: those that the learner of a version can visit again."""

from __future__ import annotations

from model.errors import OptionError
from model.kinds import record_from_json
from model.learner_log.head import checkpoint_from_bytes
from model.learners import LEARNER, learner_for
from model.learners.base import HoldsDocuments, LearnerSettings
from model.publishing.manifest import Manifest
from model.publishing.store import ModelStore
from model.records import Document, TokenisedDocument


def documents_at_hand(store: ModelStore, version: Manifest) -> list[TokenisedDocument]:
    """Return the documents that the newest checkpoint of a version's island holds.

    A learner of the particle family holds its newest documents and a sample of the earlier ones.

    Args:
        store: The model store.
        version: The version.

    Raises:
        OptionError: There is no checkpoint, or the learner holds no documents.
        DamagedDataError: What is stored is damaged.
    """
    key, island = version.key, version.island
    entries = [entry for entry in store.checkpoints(key) if entry.island == island]
    settings = record_from_json(LEARNER.kinds, store.settings(key)["learner"], "learner")
    assert isinstance(settings, LearnerSettings)
    learner = learner_for(settings)
    if not entries or not isinstance(learner, HoldsDocuments):
        lacking = "has no checkpoint" if not entries else f"is of --learner={settings.kind}"
        raise OptionError(
            "--mixed",
            True,
            f"a model store whose checkpoints hold documents; this one {lacking}",
            "Leave it out, and judge by documents of your own: pipelines.evaluate"
            " --coherence_with.",
        )
    newest = max(entries, key=lambda entry: entry.sequence)
    _, state = checkpoint_from_bytes(store.get_checkpoint(key, newest.digest))
    held = learner.held(learner.load(settings, key, island, state))
    return [TokenisedDocument.from_words(Document("", 0, ""), words) for words in held]
