"""Sequence, learn, publish and label on a local runner, against the slow model of the stream."""

import tempfile
from dataclasses import replace

import apache_beam as beam
import pytest
import stream_twin as twin
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing import test_stream
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from fake_learner import FAILURES, fake_settings
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from streams import (
    SECOND,
    SEQUENCE,
    TOKENISER,
    WORDS,
    Collect,
    collected,
    learn_options,
    timestamped,
)

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.sequencing import chain_start
from beam_topics.model.learner_log.head import LIVE_LEARNERS
from beam_topics.model.publishing.store import ModelStore
from beam_topics.transforms.label import Label
from beam_topics.transforms.learn import Learn
from beam_topics.transforms.publish import Publish
from beam_topics.transforms.sequence import Sequence

documents = st.builds(
    lambda name, time, words: Block.of_words([Document(name, time * SECOND, "")], [words]),
    st.sampled_from("abcdefghijkl"),
    st.integers(0, 60),
    st.lists(st.sampled_from(WORDS), max_size=4),
)
flags = st.sampled_from([(), ("--direct_runner_bundle_repeat=2",)])
policies = st.sampled_from(["prior", "wait", "dead_letter"])


@pytest.fixture(autouse=True)
def nothing_left_over():
    FAILURES.at, FAILURES.steps = [], 0
    LIVE_LEARNERS.clear()


def named(happened):
    """A label names each document: ids are repeated."""
    return [
        event if isinstance(event, int) else replace(event, labels=(str(number),))
        for number, event in enumerate(happened)
    ]


def run(pipeline, source, options, streams, before_first_model=None):
    """Run the graph over a source of documents with times; with labels where a policy is given."""
    sequenced = source | Sequence(options, streams=streams)
    references, _ = sequenced.minibatches | Learn(options) | Publish(options)
    outputs = {
        "minibatches": sequenced.minibatches,
        "repeated": sequenced.dead_letters,
        "references": references,
    }
    if before_first_model:
        labelled = (sequenced.minibatches, references) | Label(
            before_first_model, "window", 2, streams=streams
        )
        outputs |= {"labelled": labelled.documents, "no model": labelled.dead_letters}
    for name, collection in outputs.items():
        collection | f"Keep {name}" >> beam.ParDo(Collect(name))
    pipeline.run().wait_until_finish()


def given_once(name):
    """What was collected, in order: a bundle that is run twice gives the same twice."""
    return list(dict.fromkeys(value for _, value in collected(name)))


def check(events, options):
    """Compare the run with the twin, and return its minibatches and manifests."""
    batches, repeated = twin.sequenced(events, "", SEQUENCE, chain_start("", TOKENISER, SEQUENCE))
    links = [NumberedMinibatch.from_bytes(data) for _, data in given_once("minibatches")]
    found = sorted(
        (link.sequence, link.previous, link.fingerprint, link.payload)
        for link in links
        if not link.is_end
    )
    assert found == [
        (batch.sequence, batch.previous, batch.chain, batch.payload) for batch in batches
    ]
    assert len(given_once("repeated")) == len(repeated)
    wanted = twin.published(
        batches,
        twin.due(batches, options.run.publish_every, SEQUENCE.window),
        options.settings,
        "",
        (options.publishing.margin, options.publishing.versions),
    )
    manifests = ModelStore(options.store).manifests("")
    assert [(m.sequence, m.event_time, m.island, m.documents) for m in manifests] == [
        (version.sequence, version.event_time, version.island, version.documents)
        for version in wanted
    ]
    assert [data for _, data in given_once("references")] == [
        manifest.to_json() for manifest in manifests
    ]
    return batches, manifests


def check_labels(batches, manifests, before_first_model):
    """Each document has the label that the twin gives it."""
    references = [
        (manifest.event_time, manifest.sequence, manifest.version) for manifest in manifests
    ]
    labels, unlabelled = twin.labelled(batches, references, before_first_model)
    pairs = [(Block.from_bytes(data), version) for data, version in given_once("labelled")]
    ends = {document.labels[0]: batch.end for batch in batches for document in batch.documents}
    assert sorted(
        ((ends[label], name), version)
        for block, version in pairs
        for label, name in zip(block.labels, block.ids, strict=True)
    ) == sorted(labels.items())
    assert len(given_once("no model")) == len(unlabelled)


@settings(max_examples=5, phases=[Phase.generate])
@given(
    st.lists(documents, max_size=20),
    st.integers(1, 3),
    st.integers(1, 2),
    policies,
    flags,
    st.booleans(),
)
def test_an_archive(items, every, islands, before_first_model, given_flags, streams):
    items = named(items)
    LIVE_LEARNERS.clear()
    with tempfile.TemporaryDirectory() as store:
        options = learn_options(
            store,
            fake_settings(islands=islands),
            publish_every=("windows", every),
            checkpoint_tokens=20,
        )
        pipeline = beam.Pipeline(FnApiRunner(), options=PipelineOptions(list(given_flags)))
        run(pipeline, timestamped(pipeline, items), options, streams, before_first_model)
        check_labels(*check(items, options), before_first_model)


@settings(max_examples=5, phases=[Phase.generate])
@given(
    st.lists(st.one_of(documents, documents, st.integers(0, 70)), max_size=20),
    st.integers(1, 3),
    st.integers(1, 2),
)
def test_a_stream_with_late_documents(happened, every, islands):
    # Without labels: on this runner a labeller's timers fire before the versions have come.
    LIVE_LEARNERS.clear()
    stream, events, passed = test_stream.TestStream(), [], -1
    for event in named(happened):
        if isinstance(event, int) and event <= passed:
            continue
        if isinstance(event, int):
            passed = event
            stream.advance_watermark_to(passed)
            events.append(passed * SECOND)
        else:
            stream.add_elements(
                [TimestampedValue(event.to_bytes(), Timestamp(micros=int(event.timestamps[0])))]
            )
            events.append(event)
            if passed >= 0:
                # The timer of a late document's window fires at once.
                events.append(passed * SECOND)
    given_flags = PipelineOptions([])
    given_flags.view_as(StandardOptions).streaming = True
    with tempfile.TemporaryDirectory() as store:
        options = learn_options(
            store,
            fake_settings(islands=islands),
            publish_every=("windows", every),
            checkpoint_tokens=20,
        )
        pipeline = beam.Pipeline(BundleBasedDirectRunner(), options=given_flags)
        source = (
            pipeline
            | stream.advance_watermark_to_infinity()
            | beam.Map(lambda data: data).with_output_types(bytes)
        )
        run(pipeline, source, options, streams=True)
        check(events, options)
