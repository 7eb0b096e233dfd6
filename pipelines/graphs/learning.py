"""Parts that several graphs have: learning, dead letters, coverage reports, what a labeller needs.

:mod:`beam_topics.pipelines.graphs.sources` reads documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Several
from shlex import quote
from typing import Any, NamedTuple

import apache_beam as beam

from beam_topics.model.documents.sequencing import REPEATS
from beam_topics.model.encoding import json_lines
from beam_topics.model.errors import (
    InterruptedRunError,
    LostMinibatchesError,
    OptionError,
    RefusedInputError,
)
from beam_topics.model.inference.serving import Serving
from beam_topics.model.inference.settings import CacheSettings, CoverageSettings
from beam_topics.model.interrupts import INTERRUPTS
from beam_topics.model.learner_log.log import keep_live
from beam_topics.model.learner_log.options import LearnOptions, RunSettings
from beam_topics.model.learner_log.restoring import find_start
from beam_topics.model.publishing.checkpoint_store import rollback
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.settings import SequenceSettings
from beam_topics.model.times import duration_text
from beam_topics.model.words.losses import wordless
from beam_topics.pipelines.cli.groups import Options
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
)
from beam_topics.pipelines.cli.settings_options import UsageError, settings_of
from beam_topics.pipelines.cli.terminal import tell
from beam_topics.pipelines.graphs.adding import (
    additions_began,
    is_keyed,
    keys_to_add_to,
    print_end,
    print_keys,
    print_start,
)
from beam_topics.pipelines.graphs.execute import run
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import to_kafka
from beam_topics.transforms.kafka_sink import EVENTS
from beam_topics.transforms.learn import Learn
from beam_topics.transforms.publish import Publish
from beam_topics.transforms.sequence import Sequence
from beam_topics.transforms.shared import LOST, WITHOUT_WORDS
from beam_topics.transforms.write import WriteByPeriod, WriteRecords


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
    sequenced = documents | "Sequence" >> Sequence(learning, streams=streams)
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
        began: as :func:`beam_topics.pipelines.graphs.adding.additions_began` returns it.
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


def write_dead_letters(collections: Several[beam.PCollection], options: Options) -> None:
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
