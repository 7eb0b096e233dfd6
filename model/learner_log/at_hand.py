"""The documents that a learner holds, as its newest checkpoint has them."""

from __future__ import annotations

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError
from beam_topics.model.learner_log.head import checkpoint_from_bytes
from beam_topics.model.learner_log.options import settings_in
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.base import HoldsDocuments
from beam_topics.model.publishing.store import ModelStore


def documents_at_hand(store: ModelStore, key: str, island: int) -> Block:
    """Return the documents that the newest checkpoint of an island holds.

    The default learner holds a sample of all documents and, with births, its newest ones.

    Args:
        store: The model store.
        key: The model key.
        island: The island of the version.

    Raises:
        OptionError: There is no checkpoint, or the learner holds no documents.
        DamagedDataError: What is stored is damaged.
    """
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
