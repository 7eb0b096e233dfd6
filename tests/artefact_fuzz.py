"""Damage artefacts, seal them again, and try them: the result is a known error or a working model.

Run as a program, so that a crash ends a child and not the tests: ``PYTHONPATH=. python
tests/artefact_fuzz.py EXAMPLES FOLDER [KIND ...]``. A KIND is a key of ``KINDS``, for example
``state: o-lda``; every registered learner has one. The artefact that is being tried is in
``FOLDER/last`` meanwhile. A try that takes a minute of the processor, or a GB of memory more than
good artefacts take, ends the process.

Reading a damaged artefact takes no more memory than reading a good one of its size, but for a
quarter and some kilobytes. What an artefact declares is compared with what it has before anything
of that size is made.
"""

import json
import os
import resource
import signal
import sys
import traceback
import tracemalloc
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from blocks import count_in, joined, mixtures_of_documents
from corpora import document_of, learned, minibatches_of, topical
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from learner_options import REAL_LEARNERS, inferring, made
from made import manifest_of

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import BeamTopicsError
from beam_topics.model.inference import PublishedModel
from beam_topics.model.inference.classifier import Classifier, Provenance
from beam_topics.model.inference.mixtures import Groups, MixtureBlock, words_of
from beam_topics.model.learner_log.known import Segment, facts_in, hashes_of
from beam_topics.model.learners import learner_for
from beam_topics.model.publishing import snapshots
from beam_topics.model.publishing.catalogue import Catalogue
from beam_topics.model.reporting.alarms import Watched
from beam_topics.model.reporting.course import DAY
from beam_topics.model.reporting.encoding import mixtures_to_avro, mixtures_to_json_lines
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.reporting.stories import (
    Sketch,
    Stories,
    sketches_from_bytes,
    sketches_to_bytes,
)
from beam_topics.model.reporting.trends import Trends, added_up
from beam_topics.model.stored import wire
from beam_topics.model.stored.wire import seal
from beam_topics.transforms.trends import rows_of, sketches_of

SECONDS, MEMORY = 60, 1 << 30
# What reading may take beyond a good artefact of the same size: a share of it, and bytes.
SHARE, SLACK = 1.25, 64 << 10
SMALL = {
    "topics": 3,
    "particles": 4,
    "initial_documents": 6,
    "chains": 2,
    "initial_sweeps": 2,
    "moves": 6,
    "reservoir": 4,
    "max_words": 60,
    "sweeps": 2,
}
FILTER = {"learner": "particle-filter", "resampling": "residual", "ess": 0.9}
UNITWISE = {
    **FILTER,
    "rejuvenation": "resampling",
    "rejuvenation_unit": "token",
}
LEARNERS = {
    "filter": FILTER,
    "by tokens": {**UNITWISE, "reservoir": 40},
    "full history": {**FILTER, "history": "full"},
    "full history, by tokens": {**UNITWISE, "history": "full"},
    "chains": {"learner": "incremental-gibbs"},
    "o-lda": {"learner": "o-lda"},
    "given": {
        "vocabulary": "given",
        "vocabulary_file": tuple(f"w{i}" for i in range(25)),
        **FILTER,
    },
    "words leave": {"max_words": 25, **FILTER},
    "waiting": {"initial_documents": 1000, **FILTER},
    "batch": {"learner": "batch-gibbs"},
    "fixvoc-vb": {"learner": "fixvoc-vb"},
    "fixvoc-hybrid": {"learner": "fixvoc-hybrid", "vocabulary": "full-hash", "buckets": 20},
    "gibbs": {"learner": "gibbs"},
    "gibbs, given": {
        "learner": "gibbs",
        "alpha": 0.2,
        "reservoir": 100,
        "vocabulary": "given",
        "vocabulary_file": tuple(f"w{i}" for i in range(25)),
    },
    "gibbs, archive": {"learner": "gibbs", "schedule": "archive"},
    "phrases": {"learner": "o-lda", "phrases": "learned", "phrase_documents": 2},
    "frequent words": {"learner": "o-lda", "max_df": 0.3},
    "infvoc": {"learner": "infvoc", "reorder_every": 2, "truncation": 20},
}
_TRIED = {made(SMALL, **own).kind for own in LEARNERS.values()}
LEARNERS |= {name: {"learner": name} for name in REAL_LEARNERS if name not in _TRIED}
WHOLE_DOCUMENT = (
    -1,
    0,
    1,
    2,
    255,
    2**31 - 1,
    2**31,
    2**40,
    2**52,
    2**62,
    2**63 - 1,
    -(2**31),
    -(2**63),
)
FLOATS = (float("nan"), float("inf"), float("-inf"), -1.0, 0.0, 1e-320, 0.5, 1.0, 2.0**400, 1e308)
VALUES = (
    *WHOLE_DOCUMENT,
    *(value for value in FLOATS if np.isfinite(value)),
    None,
    True,
    "",
    "x",
    "1e999",
    "0x1p2000",
    [],
    {},
    [[]],
    [None],
    2**70,
    10**400,
)
STREAM = minibatches_of(topical(30, words=30, length=12), 5)
DOCUMENTS = topical(4, words=40, length=8, seed=8)
METHODS = ("gibbs3", "variational", "naive-bayes", "gibbs2")


@cache
def settings_of(kind):
    return made(SMALL, **LEARNERS[kind])


@cache
def state_of(kind):
    return learned(settings_of(kind), STREAM[:4])


@cache
def saved(kind):
    return learner_for(settings_of(kind)).save(state_of(kind))


def snapshot_bytes(snapshot):
    return snapshots.snapshot_to_file(snapshot).data


@cache
def snapshot_of(kind="filter"):
    return snapshot_bytes(learner_for(settings_of(kind)).snapshot(state_of(kind)))


@cache
def classifier():
    model = snapshots.snapshot_from_bytes(snapshot_of())
    weights = np.random.default_rng(1).normal(size=(3, model.topic_count)).astype(np.float32)
    made = Provenance(
        "",
        "000000000003-0123456789abcdef",
        "ab" * 32,
        9,
        100,
        "pd",
        {},
        {},
        0.01,
        [[0.01, 2.5]],
        12,
        "0.1.0",
    )
    return Classifier(np.array([0, 4, 9]), weights, 1.25, "counts", made).to_bytes()


@cache
def trends():
    table = Trends(2)
    for start, share in ((0, 0.25), (5, 0.5), (5, 1.0)):
        count_in(
            table, start, "group", [share, 1 - share], tokens=7, words_known=6, named=(start, "id")
        )
    return table.to_bytes()


def known():
    """Documents that were learned before a checkpoint."""
    documents = [document_of(["w1", "w2"]), document_of(["w3"])]
    return Segment("0" * 64, hashes_of(facts_in(documents), "place", SequenceSettings())).to_bytes()


def try_trends(data):
    """Read it, add it up, and write its records."""
    for table in added_up([data, data]):
        list(table.records())


@cache
def watched():
    """What is known of the windows before, as of two rows of trends."""
    rows = []
    for day in range(9):
        table = Trends(2)
        count_in(
            table, day * DAY, "", [0.25, 0.75], tokens=7, words_known=6, named=(day * DAY, "id")
        )
        rows += rows_of(table, "k", (day + 1) * DAY, DAY)
    return Watched().closed(DAY, rows)[0].to_bytes()


def try_watched(data):
    """Read it, and judge another window."""
    table = Trends(2)
    count_in(table, 20 * DAY, "", [0.5, 0.5], tokens=7, words_known=6)
    after, _ = Watched.from_bytes(data).closed(DAY, list(rows_of(table, "k", 21 * DAY, DAY)))
    after.to_bytes()


@cache
def catalogue():
    """Names, and a merge of merged topics."""
    found = Catalogue().with_entries([0], name="a", hidden=True)
    return found.merged([1], into=2).merged([2], into=0).to_bytes()


def try_catalogue(data):
    """Read it, show a model by it, change it, and read it again."""
    found = Catalogue.from_bytes(data)
    snapshot = snapshots.snapshot_from_bytes(snapshot_of())
    manifest = manifest_of(1)
    shown = Shown(found, manifest, snapshot)
    shares = shown.groups.sums(np.full(snapshot.topic_count, 1 / snapshot.topic_count))
    assert abs(shares.sum() - 1) < 1e-9 and shares.min() >= -1e-9, "shares do not sum to 1"
    assert abs(shown.snapshot.totals.sum() - snapshot.totals.sum()) < 1e-6, "counts are lost"
    assert len(shown.names) == len(shown.ids) == shown.snapshot.topic_count
    groups = shown.groups
    assert Groups.from_json(json.loads(json.dumps(groups.to_json())), 3, "a test") == groups
    again = found.merged(shown.ids[:1], into=shown.ids[-1])
    assert Catalogue.from_bytes(again.to_bytes()).roots(shown.ids) == again.roots(shown.ids)


@cache
def mixtures():
    """A block of mixtures with groups, names and none shares."""
    snapshot = snapshots.snapshot_from_bytes(snapshot_of())
    shown = Shown(Catalogue.from_bytes(catalogue()), manifest_of(1), snapshot)
    even = np.full((len(DOCUMENTS), snapshot.topic_count), 1 / snapshot.topic_count)
    plain = MixtureBlock.of(
        joined(DOCUMENTS),
        even,
        np.ones(len(DOCUMENTS), np.int64),
        model_version="v",
        method="gibbs3",
    )
    none = np.full(len(DOCUMENTS), 0.5)
    more = {
        "names": tuple(shown.names),
        "groups": shown.groups,
        "words": words_of(joined(DOCUMENTS)),
    }
    return replace(plain, none=none, **more).to_bytes()


@cache
def sketches():
    """Sketches of documents of a day."""
    words = {"sea": 2, "ship": 1}
    return sketches_to_bytes(Sketch(n, str(n), n % 2 or None, words) for n in range(6))


def try_sketches(data):
    """Read them, and find their stories."""
    Stories().closed(sketches_from_bytes(data))


@cache
def stories():
    """The stories of a day."""
    known = Stories()
    known.closed(sketches_from_bytes(sketches()))
    return known.to_bytes()


def try_stories(data):
    """Read them, and find those of another day."""
    Stories.from_bytes(data).closed(sketches_from_bytes(sketches()))


def try_mixtures(data):
    """Read them, and write them as others read them."""
    for element in sketches_of(data, DAY):
        list(sketches_from_bytes(element.value[1]))
    mixtures_to_json_lines([data])
    mixtures_to_avro([data])


def try_state(kind, data):
    """Load, go on, publish, label, save and load again."""
    learner = learner_for(settings_of(kind))
    state = learner.load(settings_of(kind), "", 0, data)
    learner.summary(state)
    for minibatch in STREAM[4:]:
        learner.step(state, minibatch)
    # Not every state that was loaded can be published and learned from: that is told when it is.
    try_snapshot(snapshot_bytes(learner.snapshot(state)), ("gibbs3",))
    learner.load(settings_of(kind), "", 0, learner.save(state))


def try_snapshot(data, methods=METHODS):
    """Read it, and label documents by it."""
    snapshot = snapshots.snapshot_from_bytes(data)
    snapshot.top_words(3)
    snapshot.prior.unseen_base(["unseen"])
    for method in methods:
        label(PublishedModel(snapshot, "v"), inferring(method, sweeps=3), DOCUMENTS)


def label(published, wanted, documents):
    mixtures = mixtures_of_documents(wanted, published, documents)
    with np.errstate(all="ignore"):
        assert all(
            abs(mixture.proportions.sum() - (mixture.words_known > 0)) < 1e-6
            for mixture in mixtures
        ), "proportions do not sum to 1"


def try_classifier(data):
    """Read it, and label documents by it."""
    published = PublishedModel(
        snapshots.snapshot_from_bytes(snapshot_of()), "v", Classifier.from_bytes(data)
    )
    for method in ("maxent", "hybrid"):
        label(published, inferring(method), DOCUMENTS)


def try_minibatch(kind, data):
    """Read it, and learn it."""
    minibatch, learner = Minibatch.from_bytes(data), learner_for(settings_of(kind))
    state = learner.load(settings_of(kind), "", 0, saved(kind))
    learner.step(state, minibatch)
    learner.load(settings_of(kind), "", 0, learner.save(state))
    list(minibatch.documents())


def try_block(data):
    """Read it, take it apart, and label it."""
    block = Block.from_bytes(data)
    list(block.documents())
    for row in range(len(block)):
        block.take([row])
        block.dead_letter(row, "a test", "no_model", "")
    published = PublishedModel(snapshots.snapshot_from_bytes(snapshot_of()), "v")
    for method in METHODS:
        label(published, inferring(method, sweeps=3), block)


def load_state(kind, data):
    return learner_for(settings_of(kind)).load(settings_of(kind), "", 0, data)


def load_minibatch(data):
    return list(Minibatch.from_bytes(data).documents())


class Kind(NamedTuple):
    """A kind of artefact: how a good one is made, read, and read and used."""

    made: Any
    load: Any
    attempt: Any


def kind_of_minibatch(learner):
    return Kind(lambda: STREAM[4].to_bytes(), load_minibatch, partial(try_minibatch, learner))


KINDS = {
    **{
        f"state: {kind}": Kind(
            partial(saved, kind), partial(load_state, kind), partial(try_state, kind)
        )
        for kind in LEARNERS
    },
    "snapshot": Kind(snapshot_of, snapshots.snapshot_from_bytes, try_snapshot),
    "snapshot, hashed": Kind(
        partial(snapshot_of, "fixvoc-hybrid"), snapshots.snapshot_from_bytes, try_snapshot
    ),
    "classifier": Kind(classifier, Classifier.from_bytes, try_classifier),
    "known documents": Kind(known, Segment.from_bytes, Segment.from_bytes),
    "trends": Kind(trends, Trends.from_bytes, try_trends),
    "watched": Kind(watched, Watched.from_bytes, try_watched),
    "sketches": Kind(sketches, try_sketches, try_sketches),
    "stories": Kind(stories, Stories.from_bytes, try_stories),
    "catalogue": Kind(catalogue, Catalogue.from_bytes, try_catalogue),
    "mixtures": Kind(mixtures, MixtureBlock.from_bytes, try_mixtures),
    "minibatch, filter": kind_of_minibatch("filter"),
    "minibatch, chains": kind_of_minibatch("chains"),
    "minibatch, fixvoc": kind_of_minibatch("fixvoc-vb"),
    "minibatch, infvoc": kind_of_minibatch("infvoc"),
    "block": Kind(
        lambda: joined([document_of(["w1", "w2", "w1"]), document_of(["w3"])]).to_bytes(),
        Block.from_bytes,
        try_block,
    ),
}


def peak_of(load, data):
    """The most bytes that reading takes at once, in Python's objects and arrays."""
    tracemalloc.start(1)
    try:
        load(data)
    except BeamTopicsError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def check_memory(kind, data):
    """Reading takes no more than a good artefact of the same size."""
    good, load = KINDS[kind].made(), KINDS[kind].load
    most = SHARE * good_peak(kind) * max(1, len(data) / len(good)) + SLACK
    # The first reading may load a kernel.
    if peak_of(load, data) > most:
        peak = peak_of(load, data)
        assert peak <= most, f"{len(data)} bytes take {peak} to read, more than {most:.0f}"


@cache
def good_peak(kind):
    KINDS[kind].load(KINDS[kind].made())
    return peak_of(KINDS[kind].load, KINDS[kind].made())


def damaged(draw, data):
    """The artefact with one part changed, whatever seals it made good."""
    if data[:1] == b"{" and draw(st.integers(0, 9)):
        return _damaged_line(draw, data)
    if data[:4] == snapshots.MAGIC and draw(st.integers(0, 3)):
        return _damaged_snapshot(draw, data)
    if data[:2] == b"BT" and draw(st.integers(0, 9)):
        try:
            header, blobs = wire.unpack(data[:4], data)
        except BeamTopicsError:
            return _damaged_bytes(draw, data)
        return _damaged_message(draw, data[:4], header, blobs)
    return _damaged_bytes(draw, data)


def _damaged_line(draw, data):
    """A sealed line with a value changed, or an entry under another id."""
    try:
        values = {name: one for name, one in json.loads(data).items() if name != "sha256"}
    except ValueError:
        return _damaged_bytes(draw, data)
    entries = values.get("entries")
    if isinstance(entries, dict) and entries and not draw(st.integers(0, 3)):
        name = draw(st.sampled_from(sorted(entries)))
        other = draw(st.sampled_from(["-1", "0", "1", "9", "-0", "٣", "x", ""]))
        return seal({**values, "entries": {**entries, other: entries[name]}})
    changed = _damaged_value(draw, values)
    return seal(changed) if isinstance(changed, dict) else json.dumps(changed).encode()


def _damaged_message(draw, magic, header, blobs):
    at = draw(st.integers(0, len(blobs) + 1))
    if at == len(blobs):
        header = _damaged_value(draw, header)
    elif at > len(blobs):
        if len(blobs) > 1:
            one, other = (draw(st.integers(0, len(blobs) - 1)) for _ in range(2))
            blobs[one], blobs[other] = blobs[other], blobs[one]
        if draw(st.booleans()):
            blobs = blobs[:-1] if draw(st.booleans()) else [*blobs, b""]
    else:
        blobs[at] = (
            damaged(draw, blobs[at]) if blobs[at][:2] == b"BT" else _damaged_array(draw, blobs[at])
        )
    return message(magic, header, blobs)


def message(magic, header, blobs):
    """The bytes of a record, with any header."""
    text = json.dumps(header).encode()
    pieces = [magic, len(text).to_bytes(4, "little"), text, len(blobs).to_bytes(4, "little")]
    return b"".join(
        pieces + [piece for blob in blobs for piece in (len(blob).to_bytes(8, "little"), blob)]
    )


def inflated(data):
    """The artefact with each number of its header, and of those within it, very large."""
    if data[:2] == b"BT":
        header, blobs = wire.unpack(data[:4], data)
        for changed in _inflated_value(header):
            yield message(data[:4], changed, blobs)
        for at, blob in enumerate(blobs):
            for changed in inflated(blob):
                yield message(data[:4], header, [*blobs[:at], changed, *blobs[at + 1 :]])


def _inflated_value(value):
    """Parsed JSON with one of its whole numbers very large."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from ({**value, name: changed} for changed in _inflated_value(one))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from (10**7, 2**31 - 1)


def _damaged_value(draw, value):
    """Parsed JSON with one value in it changed, dropped or added."""
    if isinstance(value, dict) and value and draw(st.integers(0, 9)):
        name = draw(st.sampled_from(sorted(value)))
        if not draw(st.integers(0, 9)):
            return {other: one for other, one in value.items() if other != name}
        return {**value, name: _damaged_value(draw, value[name])}
    if isinstance(value, list) and value and draw(st.integers(0, 4)):
        at = draw(st.integers(0, len(value) - 1))
        return (
            [*value[:at], _damaged_value(draw, value[at]), *value[at + 1 :]]
            if draw(st.booleans())
            else value[:at]
        )
    if isinstance(value, dict) and draw(st.booleans()):
        return {**value, "unknown": 1}
    return draw(st.sampled_from(VALUES))


def _damaged_array(draw, blob, kinds=("<u1", "<u2", "<u4", "<i8")):
    """One element of the array that the bytes may be, or its length."""
    packed = len(blob) > 1 and blob[0] < 4 and draw(st.integers(0, 3))
    start = 1 if packed else 0
    kind = kinds[blob[0]] if packed else draw(st.sampled_from(["<i8", "<f8", "<f8", "<i4", "<f4"]))
    size = np.dtype(kind).itemsize
    values = np.frombuffer(blob[start : start + (len(blob) - start) // size * size], kind).copy()
    if not len(values) or not draw(st.integers(0, 9)):
        return _damaged_bytes(draw, blob)
    if packed and draw(st.booleans()):
        # Wider numbers hold what the narrow ones cannot.
        blob, kind = b"\x03" + blob[1:], kinds[3]
        values = values.astype(kind)
    at = draw(st.integers(0, len(values) - 1))
    how = draw(st.integers(0, 4))
    with np.errstate(all="ignore"):
        if how <= 1:
            extreme = draw(st.sampled_from(FLOATS if kind[1] == "f" else WHOLE_DOCUMENT))
            values[at] = extreme if kind[1] == "f" else np.array(extreme, np.int64).astype(kind)
        elif how == 2:
            values[at] += np.array(draw(st.sampled_from([-1, 1]))).astype(kind)
        elif how == 3:
            other = draw(st.integers(0, len(values) - 1))
            values[at], values[other] = values[other], values[at]
        else:
            values = (
                np.delete(values, at) if draw(st.booleans()) else np.insert(values, at, values[at])
            )
    return blob[:start] + values.tobytes()


def _damaged_bytes(draw, data):
    changed = bytearray(data)
    at = draw(st.integers(0, len(changed)))
    how = draw(st.integers(0, 2))
    if how == 0:
        changed[at : at + 1] = bytes([draw(st.integers(0, 255))])
    elif how == 1:
        del changed[at : at + draw(st.integers(1, 9))]
    else:
        changed[at:at] = draw(st.binary(min_size=1, max_size=9))
    return bytes(changed)


def _damaged_snapshot(draw, data):
    """The file with a field of its header or a value of a column changed."""
    try:
        header, packed = wire.unpack(snapshots.MAGIC, data)
        facts = snapshots.Facts(**header)
        contents = wire.unpack_columns("it", packed, facts.lengths())
    except Exception:
        # It has been damaged before.
        return _damaged_bytes(draw, data)
    if draw(st.booleans()):
        return message(snapshots.MAGIC, _damaged_value(draw, header), packed)
    at = draw(st.integers(0, len(contents) - 1))
    kind, body = contents[at]
    if body[:2] == b"BT":
        contents[at] = contents[at]._replace(body=damaged(draw, body))
    else:
        # The damage may take the byte of the type, too.
        whole = _damaged_array(draw, bytes([kind]) + body, wire.TYPES) or b"\0"
        contents[at] = wire.Content(whole[0], whole[1:])
    # A length that does not fit the header is tried too.
    if draw(st.booleans()):
        header["characters"] = len(contents[-1].body)
    made = [_plain(content) for content in contents]
    return message(snapshots.MAGIC, header, made)


def _plain(content):
    """A column as it is, whatever its type and its length."""
    return bytes([content.kind, 0]) + content.body


def fuzz(kind, examples, folder):
    """Try so many damaged artefacts of a kind; how many of them could be loaded and used."""
    made, _, attempt = KINDS[kind]
    worked = 0
    last = Path(folder, "last")

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data):
        nonlocal worked
        artefact = made()
        for _ in range(data.draw(st.integers(1, 2))):
            artefact = damaged(data.draw, artefact)
        last.write_bytes(artefact)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            check_memory(kind, artefact)
            attempt(artefact)
            worked += 1
        except BeamTopicsError:
            pass
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    run()
    return worked


def main(examples, folder, *kinds):
    """Good artefacts first, which compiles what is needed; then damaged ones."""
    np.seterr(all="ignore")
    kinds = kinds or tuple(KINDS)
    for kind in kinds:
        KINDS[kind].attempt(KINDS[kind].made())
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    failed = False
    for kind in kinds:
        print(kind, end=": ", flush=True)  # noqa: T201
        try:
            for artefact in inflated(KINDS[kind].made()):
                check_memory(kind, artefact)
            print(f"{fuzz(kind, int(examples), folder)} of {examples} worked", flush=True)  # noqa: T201
        except Exception:
            traceback.print_exc(file=sys.stdout)
            failed = True
    sys.stdout.flush()
    os._exit(failed)


if __name__ == "__main__":
    main(*sys.argv[1:])
