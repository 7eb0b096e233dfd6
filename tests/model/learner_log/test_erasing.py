"""What is left of a document after an erasure: nothing in a checkpoint, and exact counts."""

import random
import shutil
from collections import Counter
from dataclasses import replace
from functools import partialmethod
from math import lgamma, log

import numpy as np
import pytest
from keys import key_files

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.pending import ListBag
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError, StoreConflictError
from beam_topics.model.learner_log import erasing
from beam_topics.model.learner_log.erasing import KeyErasure
from beam_topics.model.learner_log.head import (
    LiveLearners,
    checkpoint_from_bytes,
    checkpoint_to_bytes,
)
from beam_topics.model.learner_log.known import known_up_to
from beam_topics.model.learner_log.local import learn_documents
from beam_topics.model.learner_log.log import Session
from beam_topics.model.learner_log.options import LearnOptions, RunSettings
from beam_topics.model.learner_log.progress import Outcome
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.papers.kernels.copy_on_write import row_of
from beam_topics.model.papers.kernels.particles import PAGE
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.events import Event
from beam_topics.model.publishing.local_files import LocalBlobs, blobs_at
from beam_topics.model.publishing.settings import Publication
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.erasure import Erased
from beam_topics.model.settings.compositions import compose
from beam_topics.model.times import to_iso
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

DAY = 86_400_000_000
RARE, VICTIM = "zyzzyva", "victim-17"
SEA = ["ship", "harbour", "sail", "captain", "storm", "wind", "deck", "cargo"]
LAW = ["court", "judge", "law", "trial", "jury", "appeal", "lawyer", "verdict"]
GIBBS = {"learner": "gibbs", "topics": 3, "births": "off", "moves": 3}
FILTER = {
    "learner": "particle-filter",
    "topics": 3,
    "particles": 4,
    "initial_documents": 10,
    "chains": 1,
    "initial_sweeps": 2,
    "moves": 4,
    "history": "reservoir",
    "reservoir": 5000,
    "max_words": 100,
}
LEARNERS = {
    "gibbs": GIBBS,
    "births": {"learner": "gibbs", "topics": 3},
    "archive": {"learner": "gibbs", "topics": 3, "schedule": "archive", "sweeps": 3},
    "filter": FILTER,
    "incremental": {**FILTER, "learner": "incremental-gibbs", "particles": None},
    "batch": {
        "learner": "batch-gibbs",
        "topics": 3,
        "chains": 1,
        "sweeps": 2,
        "max_words": 100,
    },
}


def block(count=120, first=0, rare=True):
    draw, words = random.Random(first + 1), Tokeniser(tokeniser_settings(stop_words="en"))
    found = []
    for n in range(first, first + count):
        text = " ".join(draw.choices(LAW if n % 2 else SEA, k=12 if n % 7 else 70))
        name = VICTIM if n == 17 else f"d{n}"
        found.append(Document(name, n * DAY // 4, text + f" {RARE} {RARE}" * (n == 17 and rare)))
    return words.block(found)


def options_of(root, name, **run):
    given = {name: value for name, value in LEARNERS[name].items() if value is not None}
    return LearnOptions(
        settings=compose(LEARNER, given),
        tokeniser=tokeniser_settings(stop_words="en"),
        sequence=SequenceSettings(window=2 * DAY, minibatch_size=10),
        store=str(root),
        run=RunSettings(
            publish_every=Publication("period", 10 * DAY), checkpoint_tokens=600, threads=1, **run
        ),
    )


def learned(root, name):
    options = options_of(root, name)
    learn_documents(block(), options, lambda letter: None)
    return ModelStore(str(root)), options


def erase(store, *ids):
    erased = Erased(ids or [VICTIM])
    erasure = KeyErasure(store, "", erased)
    erasure.run(writes=False)
    return erased, erasure.run(writes=True)


def states(store, options):
    learner, found = learner_for(options.settings), []
    for entry in store.checkpoints(""):
        head, data = checkpoint_from_bytes(store.get_checkpoint("", entry.digest))
        state = learner.load(options.settings, "", entry.island, data)
        assert learner.witness(state) == head.witness
        found.append((entry.sequence, state))
    return found


def cells(state):
    """The counts of words and topics by word: what is stored, and what z says."""
    if hasattr(state, "live"):
        live, words = state.live, list(state.vocabulary.words)
        counts, z = Counter(), Counter()
        for w, t in np.argwhere(live.rows[: live.size]).tolist():
            counts[words[w], t] = int(live.rows[w, t])
        for w, t in zip(live.words[: live.tokens], live.z[: live.tokens], strict=True):
            z[words[w], int(t)] += int(t) != 2**16 - 1
        assert live.totals.tolist() == live.rows[: live.size].sum(axis=0).tolist()
        return [(counts, +z)]
    return [particle_cells(state, p) for p in range(len(state.particles.weight))]


def particle_cells(state, p):
    words, tables = list(state.vocabulary.words), state.particles
    counts, z, joint = Counter(), Counter(), 0.0
    prior = state.prior
    for w, word in enumerate(words):
        row = tables.words.rows[row_of(tables.words, p, w)]
        counts.update({(word, t): int(n) for t, n in enumerate(row) if n})
    totals = Counter()
    for (_, t), n in counts.items():
        totals[t] += n
    assert [totals[t] for t in range(3)] == tables.totals[p].tolist()
    for slot in state.history.slots().tolist():
        pages, tokens = state.history.pages_of(slot), state.history.words_of(slot)
        topics = [
            int(tables.topics.rows[row_of(tables.topics, p, pages[i // PAGE]), i % PAGE])
            for i in range(len(tokens))
        ]
        z.update((words[w], t) for w, t in zip(tokens.tolist(), topics, strict=True))
        joint += lgamma(prior.alpha_sum) - lgamma(prior.alpha_sum + len(tokens))
        for t, n in Counter(topics).items():
            joint += lgamma(prior.alpha[t] + n) - lgamma(prior.alpha[t])
    for n in counts.values():
        joint += lgamma(prior.beta + n) - lgamma(prior.beta)
    for t in range(3):
        joint += lgamma(prior.words_beta) - lgamma(prior.words_beta + totals[t])
    if state.waiting is None:
        found = log(float(tables.joint[p])) + int(tables.joint_exponent[p]) * log(2.0)
        assert found == pytest.approx(joint, rel=1e-9)
    return counts, z


def bytes_below(root):
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", LEARNERS)
def test_counts_are_those_without_the_document_and_no_checkpoint_has_it(tmp_path, name):
    store, options = learned(tmp_path, name)
    before = states(store, options)
    assert len(before) > 1
    held = [RARE in " ".join(map(str, state.vocabulary.words)) for _, state in before]
    assert all(held)
    erased, told = erase(store)
    assert erased.found == {VICTIM}
    after = states(store, options)
    assert [at for at, _ in after] == [at for at, _ in before]
    victim = Counter(block().words_of(17))
    for (_, old), (_, new) in zip(before, after, strict=True):
        assert RARE not in list(new.vocabulary.words)
        for (had, _), (has, z) in zip(cells(old), cells(new), strict=True):
            # All documents are at hand, so z alone explains the counts.
            assert has == z
            gone = Counter()
            for (word, _), count in (had - has).items():
                gone[word] += count
            assert not has - had and gone in (victim, Counter())
            assert bool(had) == bool(gone)
        learner = learner_for(options.settings)
        again = learner.load(options.settings, "", 0, learner.save(new))
        assert learner.save(again) == learner.save(new)
    for path, data in bytes_below(tmp_path).items():
        if "checkpoints" in str(path) or "known" in str(path):
            assert RARE.encode() not in data and VICTIM.encode() not in data
    assert any("checkpoints written again" in line for line in told)
    assert any("sums of counts. To be rid of these, train" in line for line in told)


def by_words(snapshot):
    """The counts of a model as (word, topic, count), sorted."""
    words = np.repeat(np.arange(len(snapshot.words)), np.diff(snapshot.offsets)).tolist()
    numbers = zip(words, snapshot.topics.tolist(), snapshot.counts.tolist(), strict=True)
    return sorted((snapshot.words[w], topic, count) for w, topic, count in numbers)


@pytest.mark.parametrize("name", ["batch", "archive"])
def test_an_archive_is_learned_as_if_the_document_had_no_words(tmp_path, name):
    store, options = learned(tmp_path / "with", name)
    erase(store)
    every, other = block(), options_of(tmp_path / "without", name)
    facts = zip(every.ids, every.timestamps.tolist(), strict=True)
    words = [[] if n == 17 else list(every.words_of(n)) for n in range(len(every))]
    rest = Block.of_words([Document(one, time, "") for one, time in facts], words)
    learn_documents(rest, other, lambda letter: None)
    learner = learner_for(options.settings)
    found, wanted = (
        by_words(learner.snapshot(states(*one)[-1][1]))
        for one in ((store, options), (ModelStore(other.store), other))
    )
    counted = Counter()
    for word, _, count in found:
        counted[word] += count
    assert counted == Counter(word for some in words for word in some)
    # The order of an archive is that of hashes, which an erased document has no more.
    assert name == "archive" or found == wanted


def test_a_job_that_still_holds_the_document_cannot_write_a_checkpoint(tmp_path):
    store, options = learned(tmp_path, "gibbs")
    last = store.checkpoints("")[-1]
    live = LiveLearners()
    session = Session(replace(options, run=replace(options.run, resume_from="latest")), "", 0, live)
    head, _ = session.first()
    erase(store)
    state, out = session.learner.init(options.settings, "", 0), Outcome(head)
    with pytest.raises(StoreConflictError, match="was removed from .* by beam-topics erase or"):
        session._put_checkpoint(out, session._live_at(head, state), ListBag(), last.digest)


def test_documents_that_a_filter_may_have_left_out_take_the_checkpoints_with_them(tmp_path):
    LEARNERS["filtered"] = {**GIBBS, "duplicates": "count_once", "duplicate_similarity": 0.3}
    store, _ = learned(tmp_path, "filtered")
    assert store.has_checkpoints("")
    _, told = erase(store)
    assert not store.has_checkpoints("") and store.has_versions("")
    assert any("checkpoints removed: filters leave documents out" in line for line in told)


def test_a_signed_store_is_signed_again_or_left_as_it_is(tmp_path):
    private, public = key_files(tmp_path)
    root = tmp_path / "models"
    learn_documents(block(), options_of(root, "gibbs", sign=private), lambda letter: None)
    bytes_then = bytes_below(root)
    with pytest.raises(OptionError, match="--sign: .*Give it: what changes is signed again"):
        erase(ModelStore(str(root)))
    assert bytes_below(root) == bytes_then
    store = ModelStore(str(root), public, private)
    erase(store)
    assert store.checkpoints("") and len(known_up_to(store, "", store.checkpoints("")[-1].digest))
    signed = {path.name for path in root.glob("_/signatures/*")} - {"LATEST"}
    names = {name.rpartition(".")[0] for name in signed}
    there = {p.name for folder in ("checkpoints", "known") for p in root.glob(f"_/{folder}/*")}
    assert there <= names and not [n for n in names - there if not n.endswith(".json")]


def test_too_many_windows_are_refused_and_a_time_needs_one(tmp_path, monkeypatch):
    store, _ = learned(tmp_path, "gibbs")
    # The documents are of 15 windows.
    monkeypatch.setattr(erasing, "MOST_HASHES", 29)
    told = "--ids: '2 ids without times' was given; allowed is 1 where documents are of 15 windows"
    with pytest.raises(OptionError, match=f"{told}. Write the time of the document after each id"):
        erase(store, VICTIM, "d3")
    then = bytes_below(tmp_path)
    assert erase(store, f"{VICTIM}\t2024-01-01", f"d3\t{to_iso(40 * DAY)}")[0].found == set()
    assert bytes_below(tmp_path) == then
    assert erase(store, f"{VICTIM}\t{to_iso(17 * DAY // 4)}", "d3")[0].found == {VICTIM, "d3"}


def test_hashes_are_looked_for_some_at_a_time(tmp_path, monkeypatch):
    shutil.copytree(learned(tmp_path / "a", "gibbs")[0].root, tmp_path / "b")
    asked = (VICTIM, "d3", f"d3\t{to_iso(3 * DAY // 4)}", "d90")
    whole = erase(ModelStore(str(tmp_path / "a")), *asked)
    monkeypatch.setattr(erasing, "_TOGETHER", 4)
    parts = erase(ModelStore(str(tmp_path / "b")), *asked)
    assert whole[0].found == parts[0].found == {VICTIM, "d3", "d90"} and whole[1] == parts[1]
    assert "3 known documents removed" in whole[1][0]


def bytes_in(store, folder="_"):
    """What a folder or a bucket holds of the store, by path."""
    blobs, found = blobs_at(store.root), {}
    for name in blobs.list(folder):
        path = f"{folder}/{name}"
        found |= bytes_in(store, path[:-1]) if name[-1] == "/" else {path: blobs.read(path)}
    return found


@pytest.mark.parametrize("name", ["gibbs", "births", "filter"])
def test_a_run_goes_on_after_an_erasure_and_a_second_one_finds_nothing(root, name):
    store, _ = learned(root, name)
    erase(store)
    bytes_then = bytes_in(store)
    assert len(bytes_then) > 10
    erased, told = erase(store)
    assert (erased.found, told) == (set(), [])
    assert bytes_in(store) == bytes_then
    more = options_of(root, name, add_documents=True)
    made = learn_documents(block(40, 120), more, lambda letter: None)
    assert made and made[-1].documents == 160
    known = known_up_to(store, "", store.checkpoints("")[-1].digest)
    assert len(known) == 160 and np.count_nonzero(known == 0) == 1
    # One that came later is found by its place, although another one has left.
    before = states(store, more)
    assert erase(store, "d130")[0].found == {"d130"}
    gone = cells(before[-1][1])[0][0] - cells(states(store, more)[-1][1])[0][0]
    assert sum(gone.values()) == len(block(40, 120).words_of(10))


def test_events_of_a_checkpoint_do_not_name_it_and_those_of_versions_are_told(tmp_path):
    store, _ = learned(tmp_path, "gibbs")
    entry = store.checkpoints("")[-1]
    head, data = checkpoint_from_bytes(store.get_checkpoint("", entry.digest))
    event = Event("flood", 2, by="near_copies", figures={"share": 0.5}, ids=["d3", VICTIM])
    offered = replace(Candidate.from_bytes(head.candidates[-1]), events=[event.to_json()])
    head = replace(head, events=(event.to_json(),), candidates=(offered.to_bytes(),))
    store.remove_checkpoints_after("", 0)
    new = store.put_checkpoint(replace(entry, digest=""), checkpoint_to_bytes(head, data))
    store.put_known("", new.digest, store.get_known("", entry.digest))
    newest = store.manifest("")
    values = {"parent": newest.version, "sequence": newest.sequence + 1}
    named = replace(newest, **values, events=[event.to_json()])
    object.__setattr__(named, "stored", b"")
    version = store.publish(named).version
    _, told = erase(store)
    (entry,) = store.checkpoints("")
    head, _ = checkpoint_from_bytes(store.get_checkpoint("", entry.digest))
    (offered,) = map(Candidate.from_bytes, head.candidates)
    assert [head.events[0]["ids"], offered.events[0]["ids"]] == [["d3"], ["d3"]]
    assert any(f"an event of version {version} names a document" in line for line in told)
    # What the learner offers again is the version that is there.
    again = replace(named, events=[{**event.to_json(), "ids": ["d3"]}])
    assert store.find("", version).repeats(again)
    assert not store.find("", version).repeats(replace(again, events=[]))


def test_an_erasure_that_was_killed_is_finished_by_another_one(tmp_path, monkeypatch):
    """A process ends at each change of a file in turn."""
    learned(tmp_path / "all", "gibbs")
    for changes in range(100):
        root = tmp_path / str(changes)
        shutil.copytree(tmp_path / "all", root)
        store, left = ModelStore(str(root)), iter(range(changes))
        # The known documents of the first checkpoint remain when it has expired.
        first = store.checkpoints("")[0]
        (root / "_/checkpoints" / first.file_name).unlink()
        with monkeypatch.context() as patched:
            for name in ("replace_pointer", "remove"):
                whole = getattr(LocalBlobs, name)
                patched.setattr(LocalBlobs, name, partialmethod(_until, whole, left))
            try:
                erase(store)
                ended = True
            except StopIteration:
                ended = False
        erase(store)
        for path, data in bytes_below(root).items():
            if "checkpoints" in str(path):
                assert RARE.encode() not in data, (changes, path)
        newest = store.checkpoints("")[-1].digest
        known = known_up_to(store, "", newest)
        assert len(known) == 120 and np.count_nonzero(known == 0) == 1
        if ended:
            assert changes > 8
            return


def _until(self, whole, left, *given):
    next(left)
    return whole(self, *given)
