"""The parts that several graphs share: learning, and what becomes of dead letters and coverage reports. :mod:`pipelines.sources` reads."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Several
from typing import NamedTuple

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from model.encoding import json_lines
from model.errors import LostMinibatchesError, OptionError
from model.learning.options import LearnOptions
from model.publishing.store import ModelStore
from pipelines.checked import learner_settings_of, sequence_settings_of, tokeniser_settings_of
from pipelines.inference_options import CoverageOptions
from pipelines.options import LearnerOptions, RecordOptions, StoreOptions, TrainingOptions
from pipelines.runners import streams
from transforms.gather import GatherByPeriod
from transforms.learn import Learn
from transforms.publish import Publish
from transforms.sequence import Sequence
from transforms.write import WriteDeadLetters, WriteRecords


class Learned(NamedTuple):
    """What learning gives: the minibatches in their order, references to the versions, repeated ids."""

    minibatches: beam.PCollection
    references: beam.PCollection
    dead_letters: beam.PCollection


def learn_options_of(options: PipelineOptions) -> LearnOptions:
    """Checked options of the learner, those that change what is learned and the others.

    Raises:
        OptionError: one of them cannot be used, or the input is said to go on from a checkpoint, and none is named.
    """
    given = options.view_as(TrainingOptions)
    if given.resume_source == "onward" and not given.resume_from:
        raise OptionError("--resume_source", "onward", "again without --resume_from", "Add --resume_from=latest, or leave this out.")
    return LearnOptions(
        settings=learner_settings_of(options),
        tokeniser=tokeniser_settings_of(options),
        sequence=sequence_settings_of(options),
        store=options.view_as(StoreOptions).model_store,
        publish_every=given.publish_every,
        checkpoint_tokens=given.checkpoint_tokens,
        max_state_mb=given.max_state_mb,
        threads=given.threads,
        resume_from=given.resume_from or "",
    )


def check_store(options: PipelineOptions, learning: LearnOptions) -> None:
    """Look into the store before the run: its settings, and the checkpoint to go on from. Keys that records name are looked at later.

    Raises:
        StoreConflictError, OptionError: the store holds other settings, or has no such checkpoint.
    """
    store = ModelStore(learning.store)
    if options.view_as(RecordOptions).key_field is not None:
        if learning.resume_from and not any(map(store.has_checkpoints, store.keys())):
            allowed = f"nothing with {store.root}, where no key has a checkpoint"
            raise OptionError("--resume_from", learning.resume_from, allowed, "Correct --model_store, or leave this out to start anew.")
        return
    store.bind("", learning.settings_digest(), learning.settings_dict())
    if learning.resume_from:
        store.resume_point("", learning.resume_from, learning.settings.islands)


def learn(documents: beam.PCollection, options: PipelineOptions, learning: LearnOptions) -> Learned:
    """Documents to versions in the model store."""
    onward = learning.resume_from if options.view_as(TrainingOptions).resume_source == "onward" else ""
    islands = learning.settings.islands
    sequence = Sequence(learning.tokeniser, learning.sequence, learning.store, onward, islands, streams=streams(options))
    sequenced = documents | "Sequence" >> sequence
    references = sequenced.minibatches | "Learn" >> Learn(learning) | "Publish" >> Publish(learning)
    return Learned(sequenced.minibatches, references, sequenced.dead_letters)


def check_learned(counted: Mapping[str, int], options: PipelineOptions) -> None:
    """Every minibatch that was cut must have been learned on every island, or have been known; a runner that ends without that lost some.

    Where a learner was restored a runner may have counted what it did twice, and nothing is said.

    Raises:
        LostMinibatchesError: fewer were learned.
    """
    cut = counted.get("minibatches", 0) * options.view_as(LearnerOptions).islands
    learned = counted.get("learned_minibatches", 0) + counted.get("repeats", 0)
    if learned < cut and not counted.get("restores", 0):
        raise LostMinibatchesError(
            f"the job ended, but of {cut} minibatches (all islands together) only {learned} were learned: the runner lost or still holds "
            "the others. The model store is good up to there. Go on with --resume_from=latest, and tell which runner it was."
        )


def write_dead_letters(collections: Several[beam.PCollection], options: PipelineOptions) -> None:
    """All of them, into the folder ``--dead_letters``."""
    given = options.view_as(RecordOptions)
    if given.file_period:
        write: beam.PTransform = GatherByPeriod(
            given.dead_letters, "dead-letters", ".jsonl", json_lines, given.file_period, streams=streams(options)
        )
    else:
        write = WriteDeadLetters(given.dead_letters)
    _ = tuple(collections) | "All dead letters" >> beam.Flatten() | "Write dead letters" >> write


def report_coverage(reports: beam.PCollection, options: PipelineOptions) -> None:
    """Coverage reports into the folder ``--coverage``, where one is given."""
    if (folder := options.view_as(CoverageOptions).coverage) is not None:
        _ = reports | "Write coverage" >> WriteRecords(folder, "coverage", ".jsonl", json_lines)
