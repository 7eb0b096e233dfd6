"""The graphs of ``beam-topics train`` and ``beam-topics stream``, and parts that other graphs have.

These parts are dead letters, coverage reports and what a labeller needs.
:mod:`beam_topics.pipelines.graphs.sources` reads documents.

A run with ``--add_documents`` goes on from the newest checkpoint of each model key, or from the one
that ``--resume_from`` names, to repeat a run that was interrupted. A key without a checkpoint
starts a new model. Documents that were learned up to there are known
(:mod:`beam_topics.model.learner_log.known`) and left out. The sequence of minibatches continues at
the checkpoint's number, within the last window that was learned: the input before may have ended in
it. Documents of windows before join that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

import apache_beam as beam

from beam_topics.model.documents.gathering import Blocks
from beam_topics.model.documents.sequencing import REPEATS
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import (
    InterruptedRunError,
    LostMinibatchesError,
    OptionError,
    RefusedInputError,
    StoreConflictError,
)
from beam_topics.model.inference.serving import Serving
from beam_topics.model.inference.settings import CacheSettings, CoverageSettings, LabelSettings
from beam_topics.model.interrupts import INTERRUPTS
from beam_topics.model.learner_log.log import keep_live
from beam_topics.model.learner_log.options import LearnOptions, RunSettings
from beam_topics.model.learner_log.restoring import find_start
from beam_topics.model.publishing.checkpoint_store import rollback
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.encoding import json_lines
from beam_topics.model.times import duration_text, to_iso
from beam_topics.model.words.losses import wordless
from beam_topics.pipelines.cli.groups import Options, UsageError, settings_of
from beam_topics.pipelines.cli.options import (
    CoverageFileSettings,
    EventSettings,
    KafkaClientSettings,
    MixtureSettings,
    OutputFileSettings,
)
from beam_topics.pipelines.cli.settings_from_options import (
    inference_settings_of,
    learn_options_of,
    learner_settings_of,
    read_settings_of,
)
from beam_topics.pipelines.cli.terminal import tell
from beam_topics.pipelines.graphs.execute import run
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import to_kafka, write_mixtures
from beam_topics.pipelines.graphs.sources import read_source
from beam_topics.transforms import sequence
from beam_topics.transforms.coverage import Coverage
from beam_topics.transforms.infer import InferLabelled
from beam_topics.transforms.kafka_sink import EVENTS
from beam_topics.transforms.label import Label
from beam_topics.transforms.learn import Learn
from beam_topics.transforms.publish import Publish
from beam_topics.transforms.shared import LOST, WITHOUT_WORDS
from beam_topics.transforms.write import WriteByPeriod, WriteRecords

_FINISH = (
    "Finish it first: run it again with --resume_from=latest; if it had --add_documents, with"
    " --add_documents and --resume_from=the number of the minibatch that it continued after."
)


class Learned(NamedTuple):
    """The outputs of learning.

    Attributes:
        minibatches: the numbered minibatches.
        references: the references to the published versions.
        events: what the stream did, as JSON.
        dead_letters: documents with a repeated id.
    """

    minibatches: beam.PCollection
    references: beam.PCollection
    events: beam.PCollection
    dead_letters: beam.PCollection


def check_store(options: Options, learning: LearnOptions) -> None:
    """Check the model store before the run: its settings, and the checkpoint to continue from.

    Keys that come from records are checked when their first document arrives.

    Raises:
        StoreConflictError: the store holds other settings, or versions at other times.
        OptionError: the store has no such checkpoint.
    """
    store, run = ModelStore(learning.store), learning.run
    blobs_at(store.root).check_writable()
    keyed = is_keyed(options, learning)
    adds = run.add_documents
    keys = keys_to_add_to(store, keyed) if adds else []
    if keyed:
        if adds:
            print_keys(keys)
        elif run.start and not any(map(store.has_checkpoints, store.keys())):
            allowed = f"nothing with {store.root}, where no key has a checkpoint"
            raise OptionError(
                "--resume_from",
                run.start,
                allowed,
                "Correct --model_store, or leave this out to start again.",
            )
        return
    start = find_start(learning, "")
    if run.start and not start.entries:
        # It says that there is none.
        store.resume_point("", run.start, learning.settings.islands)
    if adds:
        print_start(store, start.entries[0], run.start)


def learn(documents: beam.PCollection, learning: LearnOptions, *, streams: bool) -> Learned:
    """Learn documents, and publish versions into the model store.

    Args:
        documents: bytes (Block).
        learning: how they are learned.
        streams: the answer of :func:`beam_topics.pipelines.graphs.runners.streams`.
    """
    run = learning.run
    if run.silent_after and not streams:
        given = duration_text(run.silent_after)
        remedy = "Event time passes once in this job. Leave it out; --memory_mb bounds the memory."
        raise OptionError("--silent_after", given, "a length of time in a job that streams", remedy)
    sequenced = documents | "Sequence" >> sequence.Sequence(learning, streams=streams)
    candidates = sequenced.minibatches | "Learn" >> Learn(learning, streams=streams)
    published = candidates | "Publish" >> Publish(learning, streams=streams)
    return Learned(sequenced.minibatches, *published, sequenced.dead_letters)


def run_and_check(build: Callable[[beam.Pipeline, Options], Any], options: Options) -> None:
    """Run a graph that learns, and check that it learned every minibatch.

    Raises:
        InterruptedRunError: an interrupt came.
        BeamTopicsError: of :func:`beam_topics.pipelines.graphs.execute.run` and
            :func:`check_learned`.
    """
    began = additions_began(options)
    store = ModelStore(settings_of(options, StoreSettings).root)
    before = store.latest("")
    try:
        run(build, options, lambda counted: check_learned(counted, options))
    except BaseException as error:
        if INTERRUPTS.asked:
            raise interrupted(options, began) from error
        if not isinstance(error, RefusedInputError) or store.latest("") == before:
            raise
        undo = rollback(store.root, "", before.version) if before else f"rm -r {quote(store.root)}"
        raise RefusedInputError(f"{error} Before you learn it corrected, run {undo}.") from error


def interrupted(options: Options, began: int | None) -> InterruptedRunError:
    """Keep what the learners of this process have learned, and return what to say.

    An addition is repeated from where it began, so its learners are not kept.

    Args:
        options: the parsed command line.
        began: as :func:`additions_began` returns it.
    """
    learning = learn_options_of(options)
    store = ModelStore(learning.store)
    if learning.run.add_documents and began is None:
        return InterruptedRunError(
            f"interrupted. Some keys of {store.root} have learned their documents and others have"
            " not. Begin again with a copy of the store from before."
        )
    if learning.run.add_documents:
        return InterruptedRunError(
            f"interrupted. Versions stay in {store.root}, and these documents are learned again"
            " from their first one.",
            ("--add_documents", f"--resume_from={began}"),
        )
    keep_live(learning)
    if not any(map(store.has_checkpoints, store.keys())):
        return InterruptedRunError(
            f"interrupted before the first checkpoint. Versions stay in {store.root}, and learning"
            " begins again with the first document.",
            (),
        )
    return InterruptedRunError(
        f"interrupted. What was learned is kept in {store.root} as a checkpoint.",
        ("--resume_from=latest",),
    )


def check_learned(counted: Mapping[str, int], options: Options) -> None:
    """Check that every minibatch was learned on every island, or was known already.

    A runner that ends without that lost some. If a learner was restored, a runner may have counted
    twice, and the numbers say nothing.

    Args:
        counted: the counters by name.
        options: the parsed command line.

    Raises:
        LostMinibatchesError: fewer minibatches were learned than were cut.
        RefusedInputError: no document has a word.
    """
    check_words(counted)
    tell_repeats(counted, options)
    cut = counted.get("minibatches", 0) * learner_settings_of(options).islands
    learned = counted.get("learned_minibatches", 0) + counted.get("repeats", 0)
    if learned < cut and not counted.get("restores", 0):
        raise LostMinibatchesError(
            f"the job ended, but of {cut} minibatches (all islands together) only {learned} were"
            " learned: the runner lost or still holds the others. The model store is good up to"
            " there. Continue with --resume_from=latest, and report which runner it was."
        )
    if settings_of(options, RunSettings).add_documents:
        print_end(counted)


def tell_repeats(counted: Mapping[str, int], options: Options) -> None:
    """Say how many documents were not learned because another one of their window has their id."""
    found = [counted.get(f"dead_{reason}", 0) for reason in REPEATS]
    if sum(found):
        kept = settings_of(options, SequenceSettings).on_repeat
        tell(
            f"{sum(found):,} documents have an id that another document of their window has, and"
            f" {found[0]:,} of them its text, too. The {kept} of each id was learned (--on_repeat);"
            " the others are dead letters."
        )


def check_words(counted: Mapping[str, int]) -> None:
    """Check that documents have words, and say why if nine of ten have none.

    Args:
        counted: the counters by name.

    Raises:
        RefusedInputError: no document has a word.
    """
    documents, without = counted.get("documents", 0), counted.get(WITHOUT_WORDS, 0)
    lost = {name.removeprefix(LOST): n for name, n in counted.items() if name.startswith(LOST)}
    said = wordless(documents, without, lost)
    if said and without == documents:
        raise RefusedInputError(said)
    if said:
        tell(said)


def write_dead_letters(collections: Sequence[beam.PCollection], options: Options) -> None:
    """Write all dead letters into the folder ``--dead_letters``."""
    write = _write_lines(
        settings_of(options, OutputFileSettings).dead_letters, "dead-letters", options
    )
    _ = tuple(collections) | "All dead letters" >> beam.Flatten() | "Write dead letters" >> write


def write_events(events: beam.PCollection, options: Options) -> None:
    """Write events to ``--events``, a folder or a Kafka topic, if it is given.

    Raises:
        UsageError: the brokers of the topic are missing.
        OptionError: the client of Kafka is not installed, or its properties cannot be used.
    """
    settings = settings_of(options, EventSettings)
    if settings.topic is not None:
        if not settings_of(options, KafkaClientSettings).servers:
            raise UsageError(
                f"--kafka_servers is missing. --events={settings.events} needs it, for example"
                " --kafka_servers=localhost:9092."
            )
        sink = to_kafka(settings.topic, options, EVENTS, "--events")
        _ = events | "Write events" >> sink
    elif settings.events is not None:
        _ = events | "Write events" >> _write_lines(settings.events, "events", options)


def _write_lines(folder: str, name: str, options: Options) -> beam.PTransform:
    """Return the transform that writes JSON lines, with ``--file_period`` one file a period."""
    period = settings_of(options, OutputFileSettings).file_period
    if not period:
        return WriteRecords(folder, name, ".jsonl", json_lines)
    return WriteByPeriod(folder, name, ".jsonl", json_lines, period, streams=streams(options))


def report_coverage(reports: beam.PCollection, options: Options) -> None:
    """Write coverage reports into the folder ``--coverage``, if one is given."""
    if (folder := settings_of(options, CoverageFileSettings).coverage) is not None:
        _ = reports | "Write coverage" >> WriteRecords(folder, "coverage", ".jsonl", json_lines)


def serving_of(options: Options, topics: int) -> Serving:
    """Return what a step that labels needs of the store.

    Args:
        options: the parsed command line.
        topics: the number of topics of a model that is being learned; 0 for published ones.
    """
    mixtures = settings_of(options, MixtureSettings)
    return Serving(
        settings_of(options, StoreSettings).root,
        inference_settings_of(options),
        topics=topics,
        window=settings_of(options, CoverageSettings).window,
        cache_mb=settings_of(options, CacheSettings).megabytes,
        none_share=mixtures.none_share,
        topic_names=mixtures.topic_names,
    )


def build_train(pipeline: beam.Pipeline, options: Options) -> None:
    """Build the graph: read, sequence, learn, publish."""
    learning = learn_options_of(options)
    blocks = Blocks(learning.sequence)
    documents, unreadable = read_source(pipeline, options, learning.tokeniser, blocks=blocks)
    check_store(options, learning)
    learned = learn(documents, learning, streams=streams(options))
    write_events(learned.events, options)
    write_dead_letters([unreadable, learned.dead_letters], options)


def build_stream(pipeline: beam.Pipeline, options: Options) -> None:
    """Build the graph: read, sequence, learn, publish; label and infer beside it.

    ``Label`` takes the numbered minibatches and the references to versions.
    """
    learning = learn_options_of(options)
    serving = serving_of(options, learning.settings.topic_count)
    given = settings_of(options, LabelSettings)
    blocks = Blocks(learning.sequence)
    documents, unreadable = read_source(pipeline, options, learning.tokeniser, blocks=blocks)
    check_store(options, learning)
    learned = learn(documents, learning, streams=streams(options))
    label = Label(
        given.before_first_model, given.label_with, given.shards, streams=streams(options)
    )
    labelled = (learned.minibatches, learned.references) | "Label" >> label
    inferred = labelled.documents | "Infer" >> InferLabelled(serving)
    # The model is being trained: low coverage is no signal to train it, as it is in
    # beam-topics infer.
    known = Coverage(serving.window, retrain_below=None, streams=streams(options))
    report_coverage(inferred.tallies | "Coverage" >> known, options)
    write_events(learned.events, options)
    write_mixtures(inferred.blocks, options, streams(options))
    write_dead_letters([unreadable, learned.dead_letters, labelled.dead_letters], options)


def train(options: Options) -> None:
    """Run the graph of ``beam-topics train``, and check what it learned."""
    run_and_check(build_train, options)


def stream(options: Options) -> None:
    """Run the graph of ``beam-topics stream``, and check what it learned."""
    run_and_check(build_stream, options)


def keys_to_add_to(store: ModelStore, keyed: bool) -> list[str]:
    """Return the model keys that have a version and a checkpoint.

    Args:
        store: the model store.
        keyed: whether the records name the model keys, which are then unknown before the run.

    Raises:
        OptionError: there is no such key.
    """
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


def additions_began(options: Options) -> int | None:
    """Return the minibatch after which a run adds its documents.

    None stands for a run that adds none, or for a store with a model for each key.
    """
    learning = learn_options_of(options)
    store, run = ModelStore(learning.store), learning.run
    if not run.add_documents or is_keyed(options, learning) or not store.has_checkpoints(""):
        return None
    return store.resume_point("", run.start, learning.settings.islands)[0].sequence


def print_keys(keys: Sequence[str]) -> None:
    """Print where the run continues, if there is a model for each key."""
    tell(
        f"--add_documents: {len(keys):,} keys continue from their newest checkpoint; any other key"
        " starts a new model."
    )


def print_start(store: ModelStore, entry: CheckpointEntry, point: str) -> None:
    """Print where the run continues, if there is one model.

    Args:
        store: the model store.
        entry: the entry of the checkpoint.
        point: ``latest``, or the number of the checkpoint, to repeat a run that was interrupted.

    Raises:
        StoreConflictError: the store has a version that the newest checkpoint does not know.
    """
    newest = store.latest("")
    if point == "latest" and newest is not None and newest.sequence > entry.sequence:
        raise StoreConflictError(
            f"{store.root} has version {newest.version}, and its newest checkpoint is of minibatch"
            f" {entry.sequence}: the run before was interrupted. {_FINISH}"
        )
    told = (
        f"--add_documents: continues after minibatch {entry.sequence:,}, which ends at"
        f" {to_iso(entry.window_end)}."
    )
    # The end of an input publishes a version and writes a checkpoint after the same minibatch.
    lost = f" The run before was interrupted, and what it read later was not learned. {_FINISH}"
    tell(told + lost * (entry.offered < entry.sequence))


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
