"""The functions of the stream against the slow model of the whole, under a bad runner."""

import random
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest
import stream_twin as twin
from bad_runner import Job, label, learn, publish, sequence
from fake_learner import FAILURES, fake_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streams import TOKENISER, WORDS, final_states, run_settings

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.sequencing import SequenceHead, chain_start
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.labelling import Reference
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.publishing.events import BIRTH, DEATH
from beam_topics.model.publishing.settings import PublishSettings
from beam_topics.model.publishing.store import ModelStore

MS = 1000
END_OF_STREAM = 2**60

documents = st.builds(
    lambda name, time, label, words, arrived: Block.of_words(
        [Document(name, time * MS, "", label, "k", arrived=arrived)], [words]
    ),
    st.sampled_from("abcdefgh"),
    st.integers(-20, 60),
    st.sampled_from([None, "x", "y"]),
    st.lists(st.sampled_from(WORDS), max_size=6),
    st.integers(0, 3),
)
events = st.lists(
    st.one_of(documents, documents, documents, st.integers(-20, 70).map(lambda time: time * MS)),
    max_size=30,
)


@dataclass
class Settings:
    sequence: SequenceSettings
    islands: int
    publish_every: tuple
    checkpoint_tokens: int
    before_first_model: str
    choice: tuple


def bounded(window, size, tokens, **others):
    """Settings with another bound of tokens than the one of all streams."""
    kind = type("Bounded", (SequenceSettings,), {"minibatch_tokens": tokens})
    return kind(window, size, **others)


configurations = st.builds(
    Settings,
    st.builds(
        bounded,
        st.sampled_from([7, 10, 25]).map(lambda time: time * MS),
        st.integers(1, 5),
        st.sampled_from([1, 6, 12, 1000]),
        on_repeat=st.sampled_from(["first", "last"]),
    ),
    st.sampled_from([1, 1, 2, 3]),
    st.one_of(
        st.tuples(st.just("windows"), st.sampled_from([1, 1, 2, 3, 100])),
        st.tuples(st.just("period"), st.sampled_from([5, 20, 33]).map(lambda t: t * MS)),
    ),
    st.sampled_from([1, 10, 40, 10**6]),
    st.sampled_from(["prior", "wait", "dead_letter"]),
    st.tuples(st.sampled_from([0.0, 0.001, 0.03]), st.sampled_from([1, 2, 3])),
)
chances = st.integers(0, 2**32).map(random.Random)


@pytest.fixture(autouse=True)
def no_failures():
    FAILURES.at, FAILURES.steps = [], 0


def ordered(happened):
    """Event time only goes forward."""
    found, passed = [], None
    for event in happened:
        if isinstance(event, int):
            passed = event = event if passed is None else max(passed, event)
        found.append(event)
    return found


def start_of(chosen):
    return chain_start("k", TOKENISER, chosen.sequence)


def words_of(document):
    return [document.words[number] for number in document.tokens]


@settings(max_examples=150)
@given(events, configurations, chances)
def test_minibatches_chain_and_repeated_ids(happened, chosen, chance):
    happened = ordered(happened)
    batches, repeated = twin.sequenced(happened, "k", chosen.sequence, start_of(chosen))
    links, letters = sequence(
        chance, happened, "k", chosen.sequence, SequenceHead(0, start_of(chosen)), twin.FOREVER
    )
    assert [link.sequence for link in links] == [batch.sequence for batch in batches]
    assert [link.payload for link in links] == [batch.payload for batch in batches]
    assert [link.previous for link in links] == [batch.previous for batch in batches]
    assert [link.fingerprint for link in links] == [batch.chain for batch in batches]
    assert [letter.reason for letter in letters] == [reason for _, _, reason in repeated]
    for letter, (_, document, _) in zip(letters, repeated, strict=True):
        assert (
            f'"id":"{document.ids[0]}"' in letter.record
            and f'"words":"{" ".join(words_of(document))}"' in letter.record
        )


def options_of(store, chosen, resume_from=""):
    return LearnOptions(
        settings=fake_settings(islands=chosen.islands),
        tokeniser=TOKENISER,
        sequence=chosen.sequence,
        store=str(store),
        run=run_settings(
            chosen.publish_every,
            checkpoint_tokens=chosen.checkpoint_tokens,
            resume_from=resume_from,
        ),
        end_of_stream=END_OF_STREAM,
        publishing=PublishSettings(*chosen.choice),
    )


def links_of(batches):
    links = [
        NumberedMinibatch(batch.sequence, batch.previous, batch.chain, batch.payload)
        for batch in batches
    ]
    return [*links, NumberedMinibatch.end(links[-1].sequence, links[-1].fingerprint)]


def as_json(manifests):
    return [manifest.to_json() for manifest in manifests]


def check_versions(made, wanted, store, options):
    """The manifests and snapshots that were published are those of the twin."""
    assert [manifest.sequence for _, manifest in made] == [version.sequence for version in wanted]
    assert as_json(ModelStore(str(store)).manifests("k")) == as_json(
        manifest for _, manifest in made
    )
    parent, before = None, None
    for (at, manifest), version in zip(made, wanted, strict=True):
        assert at in (version.event_time, END_OF_STREAM)
        assert (manifest.event_time, manifest.island) == (version.event_time, version.island)
        assert (manifest.parent, manifest.chain, manifest.islands) == (
            parent,
            version.chain.hex(),
            options.settings.islands,
        )
        assert (manifest.documents, manifest.tokens, manifest.words) == (
            version.documents,
            version.tokens,
            len(version.words),
        )
        assert manifest.log_evidence == pytest.approx(version.log_evidence)
        assert manifest.prequential_perplexity == (
            None if version.perplexity is None else pytest.approx(version.perplexity)
        )
        assert manifest.posterior == pytest.approx(version.posterior)
        assert (manifest.particle, manifest.replaced) == (version.particle, version.replaced)
        order = manifest.topic_order or range(3)
        assert manifest.topic_tokens == [version.topic_tokens[z] for z in order]
        assert manifest.topic_documents == [version.topic_documents[z] for z in order]
        check_events(manifest, version, before, store)
        parent, before = manifest.version, check_model(manifest, version, before, store)


def check_events(manifest, version, before, store):
    """The events are those of the twin, in their order, with published ids and words."""
    order, snapshot = manifest.topic_order or [0, 1, 2], snapshot_of(manifest, store)
    noted = [one for one in manifest.events if one["kind"] not in (BIRTH, DEATH)]
    assert noted == manifest.events[: len(noted)] and len(noted) == len(version.events)
    for found, (batch, event) in zip(noted, version.events, strict=True):
        (topic,), (id,) = event.topics, found["topics"]
        published = id % 3
        assert id == manifest.ids(3)[published]
        theirs, ours = twin.model_of(version, 3, event.particle), twin.model_of(version, 3)
        same = event.particle == version.particle
        ways = [(0, 1, 2)] if same else twin.best_numberings(theirs, ours)
        assert published in [order.index(way[topic]) for way in ways]
        wanted = {**event.to_json(), "topics": [id], "particle": version.particle}
        wanted |= {"sequence": batch.sequence, "time": batch.end}
        wanted["words"] = [list(snapshot.top_words(10)[published])]
        assert {name: value for name, value in found.items() if name != "words_before"} == {
            name: value for name, value in wanted.items() if name != "words_before"
        }
        assert bool(found["words_before"]) == (before is not None)


def snapshot_of(manifest, store):
    return ModelStore(str(store)).get_snapshot(manifest)


def check_model(manifest, version, before, store):
    """The snapshot of a version; returns its twin."""
    model = twin.model_of(version, 3)
    order = tuple(manifest.topic_order or range(3))
    assert order in (twin.best_numberings(before, model) if before else [(0, 1, 2)])
    model = model.numbered(order)
    snapshot = ModelStore(str(store)).get_snapshot(manifest)
    assert snapshot.words == tuple(sorted(model.counts))
    assert snapshot.rows(np.arange(len(snapshot.words))).tolist() == [
        model.counts[word] for word in snapshot.words
    ]
    assert (
        snapshot.alpha.tolist() == model.alpha
        and snapshot.prior.strength.tolist() == model.strength
    )
    assert (snapshot.sequence, snapshot.event_time, snapshot.key) == (
        version.sequence,
        version.event_time,
        "k",
    )
    return model


def learned(chance, links, options):
    """The candidates and the last head of every island."""
    found = [
        learn(chance, links, options, "k", island) for island in range(options.settings.islands)
    ]
    return [candidates for candidates, _ in found], [head for _, head in found]


def outcome(store, heads):
    """What is the same however the stream was run."""
    return [
        (head.sequence, head.chain, head.fingerprint, head.witness) for head in heads
    ], final_states(store, "k", len(heads))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events, configurations, chances)
def test_versions_and_labels(tmp_path_factory, happened, chosen, chance):
    store = tmp_path_factory.mktemp("store")
    batches, _ = twin.sequenced(ordered(happened), "k", chosen.sequence, start_of(chosen))
    # Without a token nothing is published, and nothing is kept.
    if not twin.due(batches, ("windows", 1), chosen.sequence.window):
        return
    options = options_of(store, chosen)
    sequences = twin.due(batches, chosen.publish_every, chosen.sequence.window)
    wanted = twin.published(batches, sequences, options.settings, "k", chosen.choice)
    offers, heads = learned(chance, links_of(batches), options)
    for offered in offers:
        assert [(c.previous, c.sequence) for c in offered] == list(
            zip([0, *sequences], sequences, strict=False)
        )
    made = publish(chance, offers, options, "k")
    check_versions(made, wanted, store, options)
    assert [(head.sequence, head.chain) for head in heads] == [
        (len(batches), batches[-1].chain)
    ] * chosen.islands
    check_labels(chance, batches, made, chosen)


def check_labels(chance, batches, made, chosen):
    """Each document has the label that the twin gives it, exactly once."""
    arriving = [(batch.end, document) for batch in batches for document in batch.documents]
    references = [
        (at, Reference(manifest.event_time, manifest.sequence, manifest.version))
        for at, manifest in made
    ]
    # A document is found again by its label field, which names its window.
    sent = [(end, replace(document, labels=(str(end),)).to_bytes()) for end, document in arriving]
    pairs, letters = label(chance, sent, references, chosen.before_first_model)
    labels, unlabelled = twin.labelled(
        batches,
        [(r.event_time, r.sequence, r.version) for _, r in references],
        chosen.before_first_model,
    )
    found = [(Block.from_bytes(data), version) for data, version in pairs]
    assert sorted(
        ((int(document.labels[0]), document.ids[0]), version) for document, version in found
    ) == sorted(labels.items())
    assert Counter(letter.reason for letter in letters) == Counter(["no_model"] * len(unlabelled))
    assert sorted(letter.record for letter in letters) == sorted(
        letter_of(end, name, batches).record for end, name in unlabelled
    )


def letter_of(end, name, batches):
    """The record of a dead letter."""
    (document,) = (
        document
        for batch in batches
        for document in batch.documents
        if (batch.end, document.ids[0]) == (end, name)
    )
    return replace(document, labels=(str(end),)).dead_letter(0, "", "", "")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events, configurations, chances)
def test_a_killed_job_goes_on_in_a_new_one_to_the_same_end(
    tmp_path_factory, happened, chosen, chance
):
    batches, _ = twin.sequenced(ordered(happened), "k", chosen.sequence, start_of(chosen))
    # Without a token nothing is published, and nothing is kept.
    if not twin.due(batches, ("windows", 1), chosen.sequence.window):
        return
    links, store = links_of(batches), tmp_path_factory.mktemp("killed")
    whole = tmp_path_factory.mktemp("whole")
    _, heads = learned(chance, links, options_of(whole, chosen))
    # The first job is killed: islands have come to different minibatches, and some candidates
    # were not published.
    first = options_of(store, chosen)
    offers = [
        learn(chance, links[: chance.randint(1, len(links) - 1)], first, "k", island)[0]
        for island in range(chosen.islands)
    ]
    kept = min(len(offered) for offered in offers)
    kept = chance.randint(0, kept)
    published = publish(chance, [offered[:kept] for offered in offers], first, "k")
    options = options_of(
        store, chosen, resume_from="latest" if ModelStore(str(store)).has_checkpoints("k") else ""
    )
    try:
        point = ModelStore(str(store)).resume_point("k", "latest", chosen.islands)[0].sequence
    except OptionError:
        # No minibatch has a checkpoint of every island: the job starts again.
        point, options = 0, options_of(store, chosen)
    offers, again = learned(chance, links[point if chance.random() < 0.5 else 0 :], options)
    made = publish(chance, offers, options, "k")
    assert outcome(store, again) == outcome(whole, heads)
    sequences = twin.due(batches, chosen.publish_every, chosen.sequence.window)
    wanted = twin.published(batches, sequences, options.settings, "k", chosen.choice)
    manifests = ModelStore(str(store)).manifests("k")
    assert as_json(manifest for _, manifest in published) == as_json(manifests[: len(published)])
    assert as_json(manifest for _, manifest in made) == as_json(
        manifests[len(manifests) - len(made) :]
    )
    check_versions(
        [(manifest.event_time, manifest) for manifest in manifests], wanted, store, options
    )


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events, events, events, configurations, chances)
def test_a_restored_job_supersedes_the_versions_that_it_does_not_come_to_again(
    tmp_path_factory, happened, then, otherwise, chosen, chance
):
    """Documents come in another order after a restore, so that other minibatches follow."""
    both = [
        twin.sequenced([*ordered(happened), *ordered(rest)], "k", chosen.sequence, start_of(chosen))
        for rest in (then, otherwise)
    ]
    first, second = (batches for batches, _ in both)
    common = sum(one.chain == other.chain for one, other in zip(first, second, strict=False))
    due = twin.due(second, chosen.publish_every, chosen.sequence.window)
    if not common or not due:
        return
    store, cut = tmp_path_factory.mktemp("restored"), chance.randint(1, common)
    job = Job(chance, options_of(store, chosen), "k")
    *links, _ = links_of(first)
    job.take(links[:cut])
    state = job.state()
    job.take(links[cut : chance.randint(cut, len(links))])
    abandoned = ModelStore(str(store)).manifests("k")
    job.restore(state)
    job.take(links_of(second)[cut:])
    manifests = ModelStore(str(store)).manifests("k")
    versions = twin.published(second, due, job.options.settings, "k", chosen.choice)
    # What the second history does not come to, because it ended before, stays.
    assert [manifest.chain for manifest in manifests[: len(versions)]] == [
        version.chain.hex() for version in versions
    ]
    kept = {manifest.version for manifest in manifests}
    assert job.superseded == [one.version for one in reversed(abandoned) if one.version not in kept]
    assert not manifests[len(versions) :] or not job.superseded
    made = [(manifest.event_time, manifest) for manifest in manifests[: len(versions)]]
    if made == [(manifest.event_time, manifest) for manifest in manifests]:
        check_versions(made, versions, store, job.options)


@settings(max_examples=60)
@given(events, configurations, chances)
def test_a_sequence_goes_on_from_a_window_that_was_closed(happened, chosen, chance):
    happened = ordered(happened)
    batches, _ = twin.sequenced(happened, "k", chosen.sequence, start_of(chosen))
    closing = [batch for batch in batches if batch.closes_table]
    if not closing:
        return
    at = chance.choice(closing)
    later = [event for batch in batches[at.sequence :] for event in batch.documents]
    head = SequenceHead(at.sequence, at.chain, at.end)
    links, _ = sequence(chance, later, "k", chosen.sequence, head, twin.FOREVER)
    assert [document for link in links for document in link.minibatch().ids] == [
        d.ids[0] for d in sorted_by_window(later, chosen, at.end)
    ]
    assert not links or (links[0].sequence, links[0].previous) == (at.sequence + 1, at.chain)


def sorted_by_window(later, chosen, closed):
    """The documents in the order of a sequence that continues behind a closed window."""
    again, _ = twin.sequenced(later, "k", chosen.sequence, b"", closed)
    return [document for batch in again for document in batch.documents]
