"""What a release wrote is read, used for labels and gone on with, to the stated digests.

Learning is compared bit by bit where IEEE 754 fixes the bits (:func:`golden_store.is_exact`).
Elsewhere logarithms, exponentials or powers take part, whose last bits differ between C libraries
and processors. Those digests are compared where :func:`golden_store.arithmetic` gives the bits that
it gave on the machine that made the folder, and skipped with a reason elsewhere.
"""

import hashlib
import json
import shutil
from dataclasses import dataclass

import golden_store
import numpy as np
import pytest
from golden_store import (
    EXACT_METHODS,
    GOLDEN,
    LABELLED,
    TOP_WORDS,
    opened,
    stated_of,
)
from hostile import manifest_path, pointed, resealed

from beam_topics.model import __version__
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference.classifier import Classifier, ClassifierStore
from beam_topics.model.learner_log import head
from beam_topics.model.learner_log.head import checkpoint_from_bytes, checkpoint_to_bytes
from beam_topics.model.learners import ParticleFilter, learner_for
from beam_topics.model.learners.base import _LEARNERS, LEARNERS
from beam_topics.model.publishing import publication, store
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.snapshots import snapshot_from_bytes
from beam_topics.model.settings.options import option
from beam_topics.model.stored.wire import seal, unseal
from beam_topics.pipelines import show, train

FOLDERS = sorted(path.parent for path in GOLDEN.glob("*/stated.json"))
MOST_BYTES = 400_000
# What logarithms, exponentials and 32-bit weights may change in a proportion.
TOLERANCE = 1e-5
OTHER_BITS = "logarithms or exponentials have other last bits here than where the folder was made"
EXACT = "islands"


@dataclass(frozen=True)
class Case:
    """One key of one store of one folder."""

    folder: object
    name: str
    key: str

    @property
    def stated(self):
        return stated_of(self.folder)["stores"][self.name]["keys"][self.key]

    @property
    def root(self):
        return self.folder / "stores" / self.name

    def read(self):
        return opened(self.root, self.key)

    def heads(self):
        """The heads of the key's checkpoints."""
        store = self.read().store
        data = (store.get_checkpoint(self.key, one.digest) for one in store.checkpoints(self.key))
        return [checkpoint_from_bytes(one)[0] for one in data]

    def copy(self, tmp_path):
        """The store where it may be changed."""
        return opened(shutil.copytree(self.root, tmp_path / "store"), self.key)

    def needs_equal_bits(self, anyhow=False):
        """Skip where the results are those of another processor's library."""
        exact = golden_store.is_exact(self.read()) and not anyhow
        if not exact and stated_of(self.folder)["arithmetic"] != golden_store.arithmetic():
            pytest.skip(OTHER_BITS)


CASES = [
    pytest.param(Case(folder, name, key), id=f"{folder.name} {name} {key}".strip())
    for folder in FOLDERS
    for name, found in stated_of(folder)["stores"].items()
    for key in found["keys"]
]
folders = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
cases = pytest.mark.parametrize("case", CASES)


@pytest.fixture
def case():
    """The store of this release that several tests change."""
    return Case(GOLDEN / __version__, EXACT, "")


def test_this_release_has_a_folder_with_every_store():
    stated = stated_of(GOLDEN / __version__)
    assert stated["release"] == __version__
    assert list(stated["stores"]) == sorted(golden_store.STORES)


def test_a_store_lists_its_keys():
    stores = {case.name: case.read().store.keys() for param in CASES for case in param.values}
    assert stores["keys"] == sorted(golden_store.KEYS)


@folders
def test_a_folder_is_small_and_holds_no_pickle_and_no_path_of_a_machine(folder):
    found = golden_store.files_of(folder)
    assert sum(map(len, found.values())) < MOST_BYTES
    for name, data in found.items():
        known = name.endswith(("json", "jsonl", "latest", "LATEST")) and json.loads(
            data.splitlines()[0] if name.endswith("jsonl") else data
        )
        assert known or data[:4] in (b"BTz4", b"BTP1", b"BTc1", b"BTK1"), name
        for path in (b"/work", b"/home", b"/tmp", b"/root", str(GOLDEN).encode()):
            assert path not in data and path.decode() not in name, name


@cases
def test_a_store_is_read(case):
    stored, stated = case.read(), case.stated
    manifests = stored.store.manifests(case.key)
    assert [one.version for one in manifests] == stated["versions"]
    assert [one.snapshot for one in manifests] == stated["snapshots"]
    assert [one.parent for one in manifests] == [None, *stated["versions"][:-1]]
    assert stored.store.latest(case.key) == manifests[-1]
    assert {one.tokeniser for one in manifests} == {stored.options.tokeniser}
    snapshots = [stored.store.get_snapshot(one) for one in manifests]
    assert [one.sequence for one in snapshots] == [one.sequence for one in manifests]
    assert snapshots[-1].top_words(TOP_WORDS) == stated["top_words"]


@cases
def test_checkpoints_are_read_and_written_again_alike(case):
    stored, stated = case.read(), case.stated
    entries = stored.store.checkpoints(case.key)
    assert [[one.sequence, one.island, one.digest] for one in entries] == stated["checkpoints"]
    assert {one.settings_digest for one in entries} == {stored.options.settings_digest}
    assert stored.states() == stated["states"]
    learner = learner_for(stored.options.settings)
    for entry in entries:
        _, data = checkpoint_from_bytes(stored.store.get_checkpoint(case.key, entry.digest))
        state = learner.load(stored.options.settings, case.key, entry.island, data)
        assert learner.save(state) == data


@cases
def test_the_classifier_is_read(case):
    stored, version = case.read(), case.stated["versions"][-1]
    classifiers = ClassifierStore(str(case.root))
    found = classifiers.get(case.key, classifiers.find(case.key, version, "maxent"))
    assert (found.provenance.key, found.provenance.version) == (case.key, version)
    snapshot = stored.store.get_snapshot(stored.store.manifest(case.key, version))
    assert found.table(snapshot).any()


@cases
def test_show_prints_it(case, capsys):
    assert show.main([f"--model_store={case.root}", f"--model_key={case.key}"]) == 0
    top = [word for words in case.stated["top_words"] for word in words[:1]]
    told = capsys.readouterr().out
    for text in (case.stated["versions"][-1], *top):
        assert text in told


def mixtures_of(folder):
    labelled = opened(folder / "stores" / LABELLED, "")
    training, new = (labelled.documents(folder / f"{name}.jsonl") for name in ("learned", "new"))
    return golden_store.mixtures(labelled, training, new)


@folders
def test_documents_are_labelled_to_the_stated_mixtures(folder):
    stated, found = stated_of(folder)["mixtures"], mixtures_of(folder)
    assert set(stated) <= set(found)
    for method in stated.keys() & set(EXACT_METHODS):
        assert found[method] == stated[method], method
    for method in stated.keys() - set(EXACT_METHODS) - {"hybrid"}:
        np.testing.assert_allclose(found[method], stated[method], atol=TOLERANCE, err_msg=method)


@folders
def test_the_hybrid_method_draws_the_stated_topics(folder):
    # Its draws compare uniforms with exponentials, so another last bit may be another topic.
    stated = stated_of(folder)
    if stated["arithmetic"] != golden_store.arithmetic():
        pytest.skip(OTHER_BITS)
    assert mixtures_of(folder)["hybrid"] == stated["mixtures"]["hybrid"]


@cases
def test_an_interrupted_run_goes_on_from_the_middle(case, tmp_path):
    case.needs_equal_bits()
    stored, middle = case.copy(tmp_path), case.stated["checkpoints"][0][0]
    for path in (stored.root / golden_store.escape_key(case.key) / "checkpoints").iterdir():
        if int(path.name.partition("-")[0]) > middle:
            path.unlink()
    assert stored.states() != case.stated["states"]
    links = golden_store.links_of(stored, stored.documents(case.folder / "learned.jsonl"), False)
    golden_store.learn(stored.resumed("latest"), links)
    assert stored.states() == case.stated["states"]


@cases
def test_a_run_that_is_repeated_changes_nothing(case, tmp_path):
    # Manifests hold logarithms for people to read, whatever the learner computes.
    case.needs_equal_bits(anyhow=True)
    stored, middle = case.copy(tmp_path), str(case.stated["checkpoints"][0][0])
    before = golden_store.files_of(stored.root)
    links = golden_store.links_of(stored, stored.documents(case.folder / "learned.jsonl"), False)
    repeated = stored.resumed(middle)
    golden_store.publish(repeated, golden_store.learn(repeated, links))
    after = golden_store.files_of(stored.root)
    assert {name: after[name] for name in before} == before
    new = after.keys() - before.keys() - {".lock"}
    # The heads of later releases have more fields, and their events name documents, so their
    # checkpoints have other digests.
    assert all("/checkpoints/" in name for name in new)
    offered = [Candidate.from_bytes(one) for head in case.heads() for one in head.candidates]
    nameless = [one for candidate in offered for one in candidate.events if not one["ids"]]
    assert not new or case.heads()[0].counted is None or nameless
    assert stored.states() == case.stated["states"]


@cases
def test_documents_are_added_to_the_stated_digest(case, tmp_path):
    case.needs_equal_bits()
    added = golden_store.add(case.copy(tmp_path), case.folder / "added.jsonl")
    assert added == case.stated["added"]


def added_by_command(folder, root, options, tmp_path):
    own = [f"--{name}={value}" for name, value in options.items()]
    words = opened(root, "").options.tokeniser
    own += [f"--word_forms={','.join(words.word_forms)}", f"--stop_lists={words.stop_lists}"]
    where = [
        f"--input={folder / 'added.jsonl'}",
        f"--model_store={root}",
        f"--dead_letters={tmp_path / 'dead'}",
    ]
    every = ["--publish_every=2windows", "--checkpoint_tokens=120"]
    cut = ["--window=1d", "--minibatch_size=3"]
    return train.main([*where, *every, *cut, *own, "--add_documents"])


@folders
def test_the_command_adds_documents_to_the_stated_digest(folder, tmp_path, capsys):
    case = Case(folder, EXACT, "")
    stored, options = case.copy(tmp_path), stated_of(folder)["stores"][EXACT]["options"]
    status = added_by_command(folder, stored.root, options, tmp_path)
    assert status == 0, capsys.readouterr().err
    versions, known = stored.store.manifests(""), len(case.stated["versions"])
    assert [one.snapshot for one in versions[known:]] == case.stated["added"]["snapshots"]
    assert stored.states() == case.stated["added"]["states"]


@dataclass(frozen=True)
class LaterManifest(Manifest):
    later: str = "what absence means"


@dataclass(frozen=True)
class LaterFilter(ParticleFilter):
    later: int = option(5, "an option of a later release", absent=0)


def test_a_later_release_with_more_fields_goes_on_with_the_store(case, tmp_path, monkeypatch):
    learner = learner_for(case.read().options.settings)
    monkeypatch.setitem(LEARNERS._kinds, ParticleFilter.kind, LaterFilter)
    monkeypatch.setitem(_LEARNERS._found, LaterFilter, learner)
    monkeypatch.setattr(store, "Manifest", LaterManifest)
    monkeypatch.setattr(publication, "Manifest", LaterManifest)
    stored = case.copy(tmp_path)
    assert stored.options.settings.later == 0
    assert [one.version for one in stored.store.manifests("")] == case.stated["versions"]
    added = golden_store.add(stored, case.folder / "added.jsonl")
    assert added["states"] == case.stated["added"]["states"]
    newest = stored.store.latest("")
    assert newest.later == "what absence means" and newest.parent == case.stated["versions"][-1]
    assert "later" in json.loads(newest.to_json())


def test_fields_of_a_later_release_are_kept_and_the_store_is_gone_on_with(case, tmp_path):
    stored = case.copy(tmp_path)
    version = case.stated["versions"][-1]
    values = unseal(manifest_path(stored.store, version).read_bytes(), "a manifest")
    data = seal({**values, "later": {"a": [1]}})
    planted = f"{version.partition('-')[0]}-{hashlib.sha256(data).hexdigest()[:16]}"
    manifest_path(stored.store, planted).write_bytes(data)
    pointed(stored.store, planted)
    settings = stored.root / "_" / "settings.json"
    resealed(settings, later=[None])
    added = golden_store.add(stored, case.folder / "added.jsonl")
    assert added == case.stated["added"]
    assert stored.store.latest("").parent == planted
    assert manifest_path(stored.store, planted).read_bytes() == data
    assert json.loads(settings.read_bytes())["later"] == [None]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda learner: learner.update(later=1), "learner.later is not known here. Another"),
        (lambda learner: learner.pop("alpha"), "learner.alpha is missing. Another release"),
        (
            lambda learner: learner["vocabulary"].pop("max_words"),
            "learner.vocabulary.max_words is missing.",
        ),
    ],
)
def test_settings_with_a_field_that_is_not_known_or_not_there_are_refused(
    case, tmp_path, change, told
):
    stored = case.copy(tmp_path)
    path = stored.root / "_" / "settings.json"
    settings = unseal(path.read_bytes(), "settings")["settings"]
    change(settings["learner"])
    resealed(path, settings=settings)
    with pytest.raises(DamagedDataError, match=told):
        opened(stored.root, "")


def with_older_state(stored):
    """The newest checkpoints of a copy, with the states' forms one lower."""
    for entry in stored.store.resume_point(stored.key, "latest", stored.islands):
        folder = stored.root / golden_store.escape_key(stored.key) / "checkpoints"
        data = stored.store.get_checkpoint(stored.key, entry.digest)
        saved, state = checkpoint_from_bytes(data)
        data = checkpoint_to_bytes(saved, b"%s%d" % (state[:3], int(state[3:4]) - 1) + state[4:])
        for path in folder.glob(f"{entry.file_name}*"):
            path.unlink()
        stored.store.put_checkpoint(entry, data)


OLDER = (
    r"has form {}, and this release reads form {}\. An older release wrote it: use that release,"
    r" or start with an empty model store\.$"
)


@cases
def test_a_state_of_an_older_form_is_refused_with_what_to_do(case, tmp_path):
    stored = case.copy(tmp_path)
    with_older_state(stored)
    with pytest.raises(DamagedDataError, match=r"^a record 'BT.' " + OLDER.format(".", ".")):
        golden_store.add(stored, case.folder / "added.jsonl")


def test_the_command_says_so_in_one_line(case, tmp_path, capsys):
    stored = case.copy(tmp_path)
    with_older_state(stored)
    options = stated_of(case.folder)["stores"][EXACT]["options"]
    capsys.readouterr()
    assert added_by_command(case.folder, stored.root, options, tmp_path) != 0
    told = capsys.readouterr().err
    line = "has form 0, and this release reads form 1. An older release wrote it:"
    assert told.count(line) == 1 and "Traceback" not in told


def test_a_release_that_learns_other_bits_reads_the_store_and_does_not_go_on(
    case, tmp_path, monkeypatch
):
    monkeypatch.setattr(head, "ALGORITHM_VERSION", head.ALGORITHM_VERSION + 1)
    stored = case.copy(tmp_path)
    assert [one.version for one in stored.store.manifests("")] == case.stated["versions"]
    told = "holds another learner, .* Continue where it was written, or start again with an empty"
    with pytest.raises(DamagedDataError, match=told):
        golden_store.add(stored, case.folder / "added.jsonl")


@pytest.mark.parametrize(
    ("kind", "read", "stored", "older", "own"),
    [
        ("snapshots/*", snapshot_from_bytes, b"BTz4", b"BTz3", 4),
        ("classifiers/*", Classifier.from_bytes, b"BTc1", b"BTc0", 1),
    ],
)
def test_a_file_of_an_older_form_is_refused_with_what_to_do(case, kind, read, stored, older, own):
    named = [path for path in sorted(case.root.glob(f"_/{kind}")) if not path.suffix]
    data = named[0].read_bytes()
    assert data.count(stored) == 1
    told = OLDER.format(older[-1:].decode(), own)
    with pytest.raises(DamagedDataError, match=told):
        read(data.replace(stored, older))
