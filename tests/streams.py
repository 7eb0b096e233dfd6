"""Small made-up streams, and graphs over them, for the tests of several stages."""

import hashlib
from dataclasses import replace

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from blocks import joined

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.sequencing import chain_start, sequence_documents
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.learner_log.head import checkpoint_from_bytes
from beam_topics.model.learner_log.options import LearnOptions, RunSettings
from beam_topics.model.publishing.settings import Publication
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.settings.options import options_of
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.transforms.learn import Learn
from beam_topics.transforms.publish import Publish
from beam_topics.transforms.sequence import Sequence

SECOND = 1_000_000
WORDS = ["tax", "law", "ship", "sea", "gold", "bank", "peace", "war"]
TOKENISER = TokeniserSettings()
SEQUENCE = SequenceSettings(window=10 * SECOND, minibatch_size=4)


def number(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def document(name, seconds, key=""):
    words = [WORDS[number(f"{name} {i}") % len(WORDS)] for i in range(number(name) % 7)]
    return Block.of_words([Document(name, int(seconds * SECOND), "", None, key)], [words])


def documents(count, key="", span=100):
    """``count`` documents over ``span`` seconds, in an order that is not that of time."""
    return [
        document(f"{key}d{i}", number(f"{key} time {i}") % (span * 1000) / 1000, key)
        for i in range(count)
    ]


def shuffled(items, salt):
    return [
        item for _, item in sorted(enumerate(items), key=lambda pair: number(f"{salt} {pair[0]}"))
    ]


def links_of(items, key="", settings=SEQUENCE):
    return list(sequence_documents(joined(items), settings, chain_start(key, TOKENISER, settings)))


_OF_RUN = {item.name for item in options_of(RunSettings)}


def run_settings(publish_every=("windows", 1), **others):
    """The settings of a run; ``publish_every`` as (kind, every)."""
    return RunSettings(publish_every=Publication(*publish_every), **others)


def learn_options(store, settings, **others):
    """The options of learning; those that a run may change are given by name."""
    of_run = {name: others.pop(name) for name in _OF_RUN & set(others)}
    return LearnOptions(
        settings=settings,
        tokeniser=TOKENISER,
        sequence=SEQUENCE,
        store=str(store),
        run=run_settings(**of_run),
        **others,
    )


def timestamped(pipeline, items):
    return (
        pipeline
        | "Create" >> beam.Create([item.to_bytes() for item in items], reshuffle=False)
        | "Times" >> beam.Map(_with_time).with_output_types(bytes)
    )


def _with_time(data):
    return TimestampedValue(data, Timestamp(micros=int(Block.from_bytes(data).timestamps.min())))


class Collect(beam.DoFn):
    """Add elements to a list of this process, by name.

    Repeated bundles add them again, so readers take sets or last elements.
    """

    HELD = {}

    def __init__(self, name):
        self._name = name
        self.HELD[name] = []

    def process(self, element, time=beam.DoFn.TimestampParam):
        # In a worker process the list is another one, which nobody reads.
        self.HELD.setdefault(self._name, []).append((time.micros, element))


def collected(name):
    return Collect.HELD[name]


def train(items, options, *flags, runner=None, adds=False, streams=False):
    """Run sequence, learn and publish over documents; the published references as (key, JSON)."""
    pipeline = beam.Pipeline(runner or FnApiRunner(), options=PipelineOptions(list(flags)))
    options = replace(options, run=replace(options.run, add_documents=adds))
    sequenced = timestamped(pipeline, items) | Sequence(options, streams=streams)
    candidates = sequenced.minibatches | Learn(options, streams=streams)
    references, events = candidates | Publish(options, streams=streams)
    events | "Collect events" >> beam.ParDo(Collect("events"))
    references | "Collect" >> beam.ParDo(Collect("references"))
    sequenced.dead_letters | "Collect dead" >> beam.ParDo(Collect("dead"))
    result = pipeline.run()
    result.wait_until_finish()
    return result


def final_states(store, key="", islands=1):
    """(sequence, fingerprint, witness, state digest) of each island from the newest checkpoints."""
    root = ModelStore(str(store))
    states = []
    for entry in root.resume_point(key, "latest", islands):
        head, state = checkpoint_from_bytes(root.get_checkpoint(key, entry.digest))
        states.append(
            (head.sequence, head.fingerprint, head.witness, hashlib.sha256(state).hexdigest())
        )
    return states


def counters(result):
    found = result.metrics().query()["counters"]
    totals = {}
    for counter in found:
        totals[counter.key.metric.name] = totals.get(counter.key.metric.name, 0) + counter.committed
    return totals
