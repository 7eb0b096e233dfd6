"""Where a run that learns goes on: ``--add_documents`` and ``--resume_from``.

A run with ``--add_documents`` goes on from the newest checkpoint of each model key, or from the one
that ``--resume_from`` names, to repeat a run that was interrupted. A key without a checkpoint
starts a new model. Documents that were learned up to there are left out
(:mod:`beam_topics.model.learner_log.known`). Documents of windows before the last one that was
learned join that one: the input before may have ended in it.

A new job over a topic of Kafka goes on likewise, by itself, where the model store has the offsets
of what it learned (:func:`beginning_of`). A job whose state the runner restores goes on from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from beam_topics.model.documents.minibatch import reads_on
from beam_topics.model.errors import OptionError, StoreConflictError
from beam_topics.model.learner_log.known import offsets_up_to
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learner_log.restoring import Start, begin_of, find_start
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.times import to_iso
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.cli.settings_from_options import learn_options_of, read_settings_of
from beam_topics.pipelines.cli.terminal import tell

_FINISH = (
    "Finish it first: run it again with --resume_from=latest; if it had --add_documents, with"
    " --add_documents and --resume_from=the number of the minibatch that it continued after."
)


class Beginning(NamedTuple):
    """How a run learns, and after what.

    Attributes:
        learning: The options of the run.
        start: Where it begins, if it has been looked up: where documents are added to one model.
    """

    learning: LearnOptions
    start: Start | None = None

    @property
    def sequence(self) -> int | None:
        """The minibatch after which documents are added to one model; None in other runs."""
        return self.start.entries[0].sequence if self.start and self.start.entries else None


def beginning_of(options: Options) -> Beginning:
    """Return how a run learns, and after what.

    A job over a log adds documents after the newest version if their offsets are stored, unless the
    user or the runner says where it begins.
    """
    learning = learn_options_of(options)
    run, restored = learning.run, restores_state(options)
    if is_keyed(options, learning) or (restored and not run.start):
        return Beginning(learning)
    if run.add_documents:
        start = find_start(learning, "")
        return Beginning(replace(learning, known_up_to=begin_of(start)), start)
    store = learning.opened()
    if options.get("source") != "kafka" or run.start or not (newest := store.latest("")):
        return Beginning(learning)
    after = replace(run, add_documents=True, resume_from=str(newest.sequence))
    added = replace(learning, run=after)
    try:
        start = find_start(added, "")
    except OptionError:
        # Another release wrote no checkpoint with this version.
        return Beginning(learning)
    if not offsets_up_to(store, "", begin_of(start)):
        return Beginning(learning)
    return Beginning(replace(added, known_up_to=begin_of(start)), start)


def stored_offsets(learning: LearnOptions | None) -> dict[str, int]:
    """Return from which offset on each log is not learned, where a run adds documents.

    Logs that the store does not know are left out. With several keys it knows none.
    """
    if learning is None or not learning.known_up_to:
        return {}
    return reads_on(offsets_up_to(learning.opened(), "", learning.known_up_to))


def restores_state(options: Options) -> bool:
    """Return whether the runner restores the state of an earlier job (Flink, Dataflow)."""
    given = options.beam.get_all_options(retain_unknown_options=True) if options.beam else {}
    return bool(given.get("savepoint_path") or given.get("update"))


def check_store(options: Options, learning: LearnOptions, start: Start | None = None) -> None:
    """Check the model store before the run: its settings, and the checkpoint to continue from.

    Keys that come from records are checked when their first document arrives. ``start`` is that of
    :class:`Beginning`.

    Raises:
        StoreConflictError: the store holds other settings, or versions at other times.
        OptionError: the store has no such checkpoint, or the times of versions cannot change.
    """
    store, run = learning.opened(), learning.run
    blobs_at(store.root).check_writable()
    keyed = is_keyed(options, learning)
    adds = run.add_documents
    keys = keys_to_add_to(store, keyed) if adds else []
    if keyed:
        if adds:
            tell(
                f"--add_documents: {len(keys):,} keys continue from their newest checkpoint; any"
                " other key starts a new model."
            )
        elif run.start and not any(map(store.has_checkpoints, store.keys())):
            allowed = f"nothing with {store.root}, where no key has a checkpoint"
            raise OptionError(
                "--resume_from",
                run.start,
                allowed,
                "Correct --model_store, or leave this out to start again.",
            )
        return
    if restores_state(options) and not run.start:
        check_restored(store, learning)
        return
    start = start or find_start(learning, "")
    if run.start and not start.entries:
        # It says that there is none.
        store.resume_point("", run.start, learning.settings.islands)
    if adds:
        print_start(store, start.entries[0], run.start)
        if start.entries[0].settings_digest != learning.settings_digest:
            tell(
                "--add_documents: the archive of the store goes on with --schedule=stream; give"
                " --schedule=archive to learn all documents again for each version."
            )


def check_restored(store: ModelStore, learning: LearnOptions) -> None:
    """Check a run whose learner goes on from the runner's state, at any ``--publish_every``.

    The islands of a learner may stand at different minibatches there, and would offer versions
    after different ones.

    Raises:
        StoreConflictError: the store holds other settings.
        OptionError: several islands would publish at other times.
    """
    if (newest := store.latest("")) is None:
        return
    store.check_settings("", learning.binding)
    every, before = learning.run.publish_every, newest.rhythm
    if learning.settings.islands > 1 and before not in (None, every):
        raise OptionError(
            "--publish_every",
            str(every),
            f"{before}, as before, where the runner restores a learner with islands",
            f"Give --publish_every={before}, or drain the job and start a new one with"
            " --add_documents.",
        )


def keys_to_add_to(store: ModelStore, keyed: bool) -> list[str]:
    """Return the model keys that have a version and a checkpoint."""
    found = [key for key in (store.keys() if keyed else [""]) if store.has_checkpoints(key)]
    keys = [key for key in found if store.has_versions(key)]
    if not keys:
        what = "version" if found else "checkpoint"
        allowed = f"a model store that has learned documents, and {store.root} has no {what}"
        first = "Leave it out for the first documents, or correct --model_store."
        finish = "Its run was interrupted. Finish it first: run it again with --resume_from=latest."
        raise OptionError("--add_documents", True, allowed, finish if found else first)
    return keys


def is_keyed(options: Options, learning: LearnOptions) -> bool:
    """Return whether the records name the model keys, which are then unknown before the run."""
    return learning.tokeniser.has_keys or read_settings_of(options).parse.fields.key is not None


def additions_began(learning: LearnOptions) -> dict[str, int]:
    """Return by model key the minibatch after which a run adds its documents.

    It is empty for a run that adds none.
    """
    store, run = learning.opened(), learning.run
    if not run.add_documents:
        return {}
    return {
        key: store.resume_point(key, run.start, learning.settings.islands)[0].sequence
        for key in filter(store.has_checkpoints, store.keys())
    }


def print_start(store: ModelStore, entry: CheckpointEntry, point: str) -> None:
    """Print where the run continues, if there is one model.

    Raises:
        StoreConflictError: the store has a version that the newest checkpoint does not know.
    """
    newest = store.latest("")
    if point == "latest" and newest is not None and newest.sequence > entry.sequence:
        raise StoreConflictError(
            f"{store.root} has version {newest.version}, and its newest checkpoint is of minibatch"
            f" {entry.sequence}: the run before was interrupted. {_FINISH}"
        )
    line = (
        f"--add_documents: continues after minibatch {entry.sequence:,}, which ends at"
        f" {to_iso(entry.window_end)}."
    )
    # The end of an input publishes a version and writes a checkpoint after the same minibatch.
    lost = f" The run before was interrupted, and what it read later was not learned. {_FINISH}"
    tell(line + lost * (entry.offered < entry.sequence))


def print_end(counted: Mapping[str, int]) -> None:
    """Print how many documents were known or late, and how many keys started a model."""
    if known := counted.get("known_documents", 0):
        new = counted.get("documents", 0) - known
        tell(f"{known:,} documents were known: they were learned before. {new:,} are new.")
    if new := counted.get("new_keys", 0):
        tell(f"{new:,} new keys started a model.")
    if late := counted.get("late_documents", 0):
        tell(
            f"{late:,} documents belong to windows that were closed already, and were learned with"
            " the next window."
        )
