"""Whose files a reader takes: those that a key of ``--trust`` signed, in their place and whole."""

import os
import pickle
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from blocks import joined
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from fake_learner import fake_settings
from hostile import latest_path, manifest_path, resealed
from keys import key_files, private_pem, public_pem, secret
from made import manifest_of, random_snapshot
from streams import document, learn_options

from beam_topics.model.errors import DamagedDataError, OptionError, UntrustedError
from beam_topics.model.inference import Gibbs3
from beam_topics.model.inference.classifier import Classifier, ClassifierStore, Provenance
from beam_topics.model.learner_log.local import learn_documents
from beam_topics.model.publishing.catalogue import Catalogue, CatalogueStore
from beam_topics.model.publishing.expiry import Expiry
from beam_topics.model.publishing.manifest import CheckpointEntry, Manifest, Pointer
from beam_topics.model.publishing.settings import Keep, Rule
from beam_topics.model.publishing.signatures import Signatures
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.watch import StoreWatch
from beam_topics.model.stored import wire
from beam_topics.pipelines.service.models import Models

REFUSED = r"is not what a key of --trust=.*public\d\.pem has signed: another one or none has, or"
DAY = 86_400_000_000


@pytest.fixture
def keys(tmp_path):
    return key_files(tmp_path)


@pytest.fixture
def others(tmp_path):
    return key_files(tmp_path, 2)


def fill(store, key="", seed=0):
    """Two versions and two checkpoints; the names of the versions."""
    names, parent = [], None
    for sequence in (2, 5):
        snapshot = store.put_snapshot(random_snapshot(sequence + seed, sequence=sequence, key=key))
        entry = CheckpointEntry(key, 0, sequence, "c", sequence, sequence, "s")
        digest = store.put_checkpoint(entry, b"state %d of %d" % (sequence, seed)).digest
        store.put_known(key, digest, b"known %d of %d" % (sequence, seed))
        parent = store.publish(
            manifest_of(sequence, parent, snapshot=snapshot, key=key, event_time=sequence * DAY)
        ).version
        names.append(parent)
    return names


def files(root, beside="none"):
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(Path(root).rglob("*"))
        if path.is_file() and beside not in path.parts
    }


def signature(store, name):
    (found,) = Path(store.root, "_", "signatures").glob(f"{name}*")
    return found


@pytest.fixture
def signed(tmp_path, keys):
    """(store that reads with trust, its versions)."""
    root = str(tmp_path / "store")
    names = fill(ModelStore(root, sign=keys[0]))
    return ModelStore(root, trust=keys[1]), names


def test_what_a_trusted_key_signed_is_read_and_no_byte_of_it_is_another(tmp_path, signed):
    store, names = signed
    assert [one.version for one in store.manifests("")] == names
    (first, second), newest = store.checkpoints(""), store.manifest("")
    assert store.resume_point("", "latest", 1, ["s"], newest) == [second]
    assert store.get_known("", first.digest) == b"known 2 of 0"
    fill(ModelStore(str(tmp_path / "plain")))
    assert files(store.root, beside="signatures") == files(tmp_path / "plain")
    # Manifests, checkpoints, known documents and LATEST.
    signatures = [path for path in Path(store.root, "_", "signatures").rglob("*") if path.is_file()]
    assert len(signatures) == 7


@pytest.mark.parametrize("sign", [False, True], ids=["unsigned", "signed by another key"])
def test_a_version_or_checkpoint_of_anyone_else_is_refused_in_one_line(
    tmp_path, keys, others, sign
):
    root = str(tmp_path / "store")
    first, last = fill(ModelStore(root, sign=others[0] if sign else ""))
    digest = ModelStore(root).checkpoints("")[0].digest
    store = ModelStore(root, trust=keys[1])
    with pytest.raises(UntrustedError) as error:
        store.manifest("")
    assert str(error.value) == (
        f"{root}/_/LATEST is not what a key of --trust={keys[1]} has signed: another"
        " one or none has, or it was changed or moved. Give the public key of who wrote it, or a"
        " store that was written with --sign and one of these keys."
    )
    reads = [
        lambda: store.manifest("", first),
        lambda: store.manifests(""),
        lambda: store.brief("", first),
        lambda: store.checkpoints(""),
        lambda: store.resume_point("", "latest", 1),
        lambda: store.get_known("", digest),
        lambda: Expiry(root, Keep(), keys[1]).plan(""),
        lambda: Models(root, Gibbs3(), 1, trust=keys[1]).check_any(),
    ]
    for read in reads:
        with pytest.raises(UntrustedError, match=REFUSED):
            read()
    watch = StoreWatch(root, keys[1])
    assert re.search(REFUSED, watch.read()[0]) and watch.seen == {}
    # Without --trust nothing is asked.
    assert ModelStore(root).manifest("").version == last


def test_a_file_of_several_keys_trusts_each(tmp_path, keys, others):
    both = tmp_path / "public3.pem"
    both.write_bytes(b"# ours\n" + Path(keys[1]).read_bytes() + Path(others[1]).read_bytes())
    root = str(tmp_path / "store")
    fill(ModelStore(root, sign=keys[0]))
    # The run is repeated with another key: the same versions, with a signature more.
    names = fill(ModelStore(root, sign=others[0]))
    for trust in (keys[1], others[1], str(both)):
        assert [one.version for one in ModelStore(root, trust).manifests("")] == names


def test_a_manifest_that_was_changed_and_sealed_again_is_refused(signed):
    store, (_, last) = signed
    path = manifest_path(store, last)
    resealed(path, documents=1_000_000)
    forged = Manifest.from_json(path.read_bytes())
    path.rename(manifest_path(store, forged.version))
    # With a name, a digest in LATEST and a signature that are there, and are not its own.
    shutil.copy(signature(store, last), _moved(store, last, forged.version))
    data = forged.to_json()
    digest = wire.hashlib.sha256(data).hexdigest()
    latest_path(store).write_bytes(Pointer(forged.version, digest).to_json())
    assert ModelStore(store.root).manifest("").documents == 1_000_000
    with pytest.raises(UntrustedError, match="_/LATEST"):
        store.manifest("")
    with pytest.raises(UntrustedError, match=forged.version):
        store.manifest("", forged.version)


def _moved(store, name, other):
    path = signature(store, name)
    return path.with_name(path.name.replace(name, other))


def test_a_signature_of_another_version_or_key_does_not_count(tmp_path, keys, others, signed):
    store, (first, last) = signed
    signature(store, last).write_bytes(signature(store, first).read_bytes())
    with pytest.raises(UntrustedError, match=last):
        store.manifest("")
    # Everything of a key is copied to another key.
    shutil.copytree(Path(store.root, "_"), Path(store.root, "b"))
    with pytest.raises(UntrustedError, match=f"b/manifests/{first}"):
        store.manifest("b", first)
    # The signature of another signer stands under the name of the trusted one.
    root = str(tmp_path / "other")
    fill(ModelStore(root, sign=others[0]))
    for path in Path(root, "_", "signatures").iterdir():
        path.rename(path.with_suffix(signature(store, first).suffix))
    with pytest.raises(UntrustedError, match=REFUSED):
        ModelStore(root, trust=keys[1]).manifest("")


@pytest.mark.parametrize("damage", [b"", b"BTe1", b"BTe1" + bytes(64), b"x" * 70_000])
def test_a_damaged_signature_does_not_count(signed, damage):
    store, (_, last) = signed
    signature(store, last).write_bytes(damage)
    with pytest.raises(UntrustedError, match=last):
        store.manifest("")


def test_a_checkpoint_that_was_swapped_is_refused(tmp_path, signed):
    store, _ = signed
    (entry, _), root = store.checkpoints(""), str(tmp_path / "evil")
    evil = ModelStore(root).put_checkpoint(replace(entry, digest=""), b"evil")
    folder = Path(store.root, "_", "checkpoints")
    whole = Path(root, "_", "checkpoints", evil.file_name).read_bytes()
    name = signature(store, entry.file_name).name.replace(entry.file_name, evil.file_name)
    # Another state with an entry of its own, and the signature of the one that it takes the
    # place of.
    shutil.copy(signature(store, entry.file_name), Path(store.root, "_", "signatures", name))
    (folder / evil.file_name).write_bytes(whole)
    with pytest.raises(UntrustedError, match=evil.file_name):
        store.checkpoints("")
    # Another state under the entry that was signed.
    (folder / evil.file_name).unlink()
    message = wire.pack_encoded(b"BTP1", entry.to_json(), b"evil")
    (folder / entry.file_name).write_bytes(message)
    assert store.checkpoints("")[0] == entry
    with pytest.raises(DamagedDataError, match="does not have the digest"):
        store.get_checkpoint("", entry.digest)


def catalogues(store):
    """A writer and a reader of the catalogue: what is written last is named by a number."""
    store = CatalogueStore(store.root, store.signatures)
    return (
        lambda number: store.put("", Catalogue().with_entries([number], name="Sea")),
        lambda: min(store.latest("")[1].entries),
    )


def classifiers(store):
    """A writer and a reader of the classifiers of a version."""
    version = "000000000002-0123456789abcdef"
    made = Provenance("", version, "5e", 9, 100, "pd", {}, {}, 0.01, [[0.01, 2.5]], 12, "0.1.0")
    held = ClassifierStore(store.root, store.signatures)

    def write(number):
        weights = np.zeros((1, 2), np.float32)
        held.put(Classifier(np.array([number]), weights, 1.0, "counts", made))

    return write, lambda: int(held.get("", held.find("", version, "maxent")).rows[0])


def versions(store):
    """A writer and a reader of LATEST."""
    return lambda number: store.publish(
        manifest_of(number, newest.version if (newest := store.latest("")) else None)
    ), lambda: store.manifest("").sequence


POINTERS = {
    "LATEST": versions,
    "catalogue/LATEST": catalogues,
    "classifiers/000000000002-0123456789abcdef.latest": classifiers,
}


@pytest.mark.parametrize("name", POINTERS)
class TestPointers:
    """LATEST, the catalogue and classifiers."""

    @pytest.fixture
    def place(self, name, tmp_path, keys):
        """(a writer, a reader, the pointer, the folder of its signatures)."""
        root, of = str(tmp_path / "store"), POINTERS[name]
        write, _ = of(ModelStore(root, keys[1], keys[0]))
        write(1)
        read = of(ModelStore(root, keys[1]))[1]
        return write, read, Path(root, "_", name), Path(root, "_", "signatures", name)

    def test_what_a_trusted_key_signed_is_read(self, place):
        write, read, _, signatures = place
        assert read() == 1
        write(2)
        assert read() == 2 and len(list(signatures.iterdir())) == 1

    def test_it_cannot_be_set_back_to_what_it_was(self, place):
        write, read, pointer, _ = place
        before = pointer.read_bytes()
        write(2)
        pointer.write_bytes(before)
        with pytest.raises(UntrustedError, match=REFUSED):
            read()

    def test_another_key_none_or_another_byte_does_not_count(
        self, name, place, tmp_path, keys, others
    ):
        _, read, pointer, signatures = place
        (signature,), whole = signatures.iterdir(), pointer.read_bytes()
        pointer.write_bytes(whole[:-1])
        with pytest.raises(UntrustedError, match=REFUSED):
            read()
        pointer.write_bytes(whole)
        assert read() == 1
        signature.unlink()
        with pytest.raises(UntrustedError, match=REFUSED):
            read()
        other = tmp_path / "other"
        POINTERS[name](ModelStore(str(other), others[1], others[0]))[0](1)
        with pytest.raises(UntrustedError, match=REFUSED):
            POINTERS[name](ModelStore(str(other), keys[1]))[1]()
        assert POINTERS[name](ModelStore(str(other)))[1]() == 1

    def test_who_does_not_sign_changes_nothing(self, name, place):
        _, read, pointer, _ = place
        root = pointer.parents[len(Path(name).parts)]
        before = files(root)
        if name != "LATEST":
            with pytest.raises(OptionError, match="--sign: None was given; allowed is the key"):
                POINTERS[name](ModelStore(str(root)))[0](2)
        else:
            store = ModelStore(str(root))
            with pytest.raises(OptionError, match="--sign: None was given; allowed is the key"):
                store.roll_back(store.manifest(""))
        assert files(root) == before and read() == 1

    def test_versions_sign_signs_it(self, place, keys):
        _, read, pointer, signatures = place
        (signature,) = signatures.iterdir()
        signature.unlink()
        root = str(pointer).partition("/_/")[0]
        ModelStore(root, sign=keys[0]).sign("")
        assert read() == 1

    def test_it_is_read_while_it_moves(self, place, monkeypatch):
        write, read, pointer, _ = place
        check = Signatures.check

        def moved(self, path, data):
            """Move it between the reading of its contents and of the signature."""
            if path.endswith((".latest", "LATEST")) and data == first:
                monkeypatch.setattr(Signatures, "check", check)
                write(2)
            check(self, path, data)

        first = pointer.read_bytes()
        monkeypatch.setattr(Signatures, "check", moved)
        assert read() == 2


def test_a_signature_covers_every_byte(signed):
    store, (_, last) = signed
    # A name is that of a part of a digest, or of the digest of something else.
    path = f"_/manifests/{last}.json"
    data = store.manifest("").to_json()
    store.signatures.check(path, data)
    for other in (data[:-1], b"x" + data[1:], data + b"x", b""):
        with pytest.raises(UntrustedError, match=last):
            store.signatures.check(path, other)
    digest = store.checkpoints("")[0].digest
    Path(store.root, "_", "known", digest).write_bytes(b"known 2 of 1")
    with pytest.raises(UntrustedError, match=f"_/known/{digest}"):
        store.get_known("", digest)


def test_a_snapshot_that_was_swapped_is_refused(signed):
    store, _ = signed
    newest, oldest = store.manifest(""), store.manifests("")[0]
    folder = Path(store.root, "_", "snapshots")
    shutil.copy(folder / oldest.snapshot, folder / newest.snapshot)
    with pytest.raises(DamagedDataError):
        store.get_snapshot(newest)


def test_a_signature_goes_after_its_file(tmp_path, keys, signed):
    store, (first, last) = signed
    keep = Keep((Rule(0, 4 * DAY),), checkpoints=1, grace=0)
    third = store.put_snapshot(random_snapshot(9, sequence=9))
    made = manifest_of(9, last, snapshot=third, event_time=9 * DAY)
    ModelStore(store.root, sign=keys[0]).publish(made)
    os.utime(latest_path(store), (2e9, 2e9))
    Expiry(store.root, keep).expire("")
    assert not manifest_path(store, first).exists() and signature(store, first).exists()
    gone = [Path(one.path) for one in Expiry(store.root, keep).plan("")]
    assert {path.parent.name for path in gone} == {"signatures"} and len(gone) == 2
    Expiry(store.root, keep).expire("")
    left = {
        path.name.rpartition(".")[0]
        for path in Path(store.root, "_/signatures").iterdir()
        if path.is_file()
    }
    there = {
        p.name
        for folder in ("manifests", "checkpoints", "known")
        for p in Path(store.root, "_", folder).iterdir()
    }
    assert left == there
    assert len(ModelStore(store.root, keys[1]).manifests("")) == 2


WRONG = "allowed is a private Ed25519 key in PEM without a passphrase, which others cannot read. "
NO_PUBLIC = "allowed is public Ed25519 keys in PEM. "


def cases(tmp_path):
    """(what it is, a file, the option, the message)."""
    private, public = key_files(tmp_path)
    curve = generate_private_key(SECP256R1())
    make, take = WRONG + "Make one: ", NO_PUBLIC + "Take it from the private key: "
    contents = [
        ("curve", private_pem(curve), "--sign", make),
        ("public", Path(public).read_bytes(), "--sign", make),
        ("text", b"secret words", "--sign", make),
        ("private", Path(private).read_bytes(), "--trust", take),
        ("other", public_pem(curve), "--trust", take),
        ("both", Path(public).read_bytes() + public_pem(curve), "--trust", take),
        ("cut", Path(public).read_bytes()[:60], "--trust", take),
        ("more", Path(public).read_bytes() * 2 + b"-----BEGIN PUBLIC KEY-----", "--trust", take),
        ("none", b"", "--trust", take),
    ]
    for name, data, option, told in contents:
        path = tmp_path / f"{name}.pem"
        path.touch(0o600)
        path.write_bytes(data)
        yield str(path), option, told
    yield str(tmp_path / "absent"), "--sign", WRONG + "It cannot be read: "
    yield str(tmp_path / "absent"), "--trust", NO_PUBLIC + "It cannot be read: "
    yield str(tmp_path), "--sign", "allowed is a regular file. It is a folder."


def test_files_that_hold_no_such_key_are_refused_by_option_and_show_nothing(tmp_path):
    for path, option, told in cases(tmp_path):
        given = {option.strip("-"): path}
        with pytest.raises(OptionError, match=re.escape(f"{option}: {path!r} was given; {told}")):
            ModelStore(str(tmp_path / "store"), **given).signatures.check_keys()
        with pytest.raises(OptionError) as error:
            ModelStore(str(tmp_path / "store"), **given).signatures.check_keys()
        assert "secret words" not in str(error.value) and "MC4" not in str(error.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o602])
def test_a_private_key_that_others_can_read_is_refused(tmp_path, keys, mode):
    Path(keys[0]).chmod(mode)
    store = ModelStore(str(tmp_path / "store"), sign=keys[0])
    told = f"{WRONG}Its mode is {mode:04o}. Run: chmod 600 {keys[0]}"
    with pytest.raises(OptionError, match=re.escape(told)):
        store.signatures.check_keys()
    with pytest.raises(OptionError, match="Its mode is"):
        fill(store)
    assert not list(Path(store.root).rglob("*.json"))


def test_the_group_may_read_a_key_of_another_user(tmp_path, keys, monkeypatch):
    Path(keys[0]).chmod(0o640)
    monkeypatch.setattr(os, "geteuid", lambda: Path(keys[0]).stat().st_uid + 1)
    ModelStore(str(tmp_path), sign=keys[0]).signatures.check_keys()
    Path(keys[0]).chmod(0o604)
    with pytest.raises(OptionError, match="Its mode is 0604"):
        ModelStore(str(tmp_path), sign=keys[0]).signatures.check_keys()


def test_without_the_library_the_extra_is_named(tmp_path, keys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    for given in ({"sign": keys[0]}, {"trust": keys[1]}):
        with pytest.raises(OptionError, match=r"Run: pip install 'beam-topics\[sign\]'"):
            ModelStore(str(tmp_path), **given).signatures.check_keys()


def learn(root, count=30, trust="", sign="", **run):
    values = {"publish_every": ("windows", 3), "checkpoint_tokens": 20, "sign": sign, **run}
    options = replace(learn_options(root, fake_settings(), **values), trust=trust)
    block = joined([document(f"d{n}", 3.3 * n) for n in range(count)])
    return learn_documents(block, options, lambda letter: None)


class TestRuns:
    """Runs that learn."""

    def test_a_signed_run_makes_the_same_store_and_goes_on_by_its_own(self, tmp_path, keys):
        plain = learn(tmp_path / "plain")
        signed = learn(tmp_path / "signed", trust=keys[1], sign=keys[0])
        assert [one.version for one in signed] == [one.version for one in plain]
        assert files(tmp_path / "signed", "signatures") == files(tmp_path / "plain")
        more = {"count": 60, "add_documents": True}
        plain = learn(tmp_path / "plain", **more)
        signed = learn(tmp_path / "signed", trust=keys[1], sign=keys[0], **more)
        assert [one.version for one in signed] == [one.version for one in plain] != []

    @pytest.mark.parametrize("run", [{}, {"add_documents": True}, {"resume_from": "latest"}])
    def test_a_run_that_trusts_others_writes_nothing(self, tmp_path, keys, others, run):
        root = tmp_path / "store"
        learn(root, sign=others[0])
        before = files(root)
        with pytest.raises(UntrustedError, match=REFUSED):
            learn(root, trust=keys[1], sign=keys[0], count=60, **run)
        assert files(root) == before

    def test_a_checkpoint_of_another_is_refused_where_the_versions_are_trusted(
        self, tmp_path, keys
    ):
        root = tmp_path / "store"
        learn(root, sign=keys[0])
        for path in Path(root, "_", "signatures").glob("*-0000-*"):
            path.unlink()
        before = files(root)
        with pytest.raises(UntrustedError, match=r"_/checkpoints/\d+-0000-"):
            learn(root, trust=keys[1], sign=keys[0], count=60, add_documents=True)
        assert files(root) == before

    def test_a_run_signs_what_it_trusts_or_does_not_begin(self, tmp_path, keys, others):
        root = tmp_path / "store"
        for sign in ("", others[0]):
            with pytest.raises(OptionError) as error:
                learn(root, trust=keys[1], sign=sign)
            assert str(error.value) == (
                f"--sign: {sign or None!r} was given; allowed is the private key of one in"
                f" --trust={keys[1]}. What is written has to be trusted. Give its key, or add"
                " it there."
            )
        assert not files(root)

    def test_options_that_are_sent_to_workers_have_paths_alone(self, tmp_path, keys):
        options = learn_options(tmp_path / "store", fake_settings(), sign=keys[0])
        options.opened()
        sent = pickle.dumps(options)
        assert secret() not in sent and b"PRIVATE KEY" not in sent and keys[0].encode() in sent
        with pytest.raises(TypeError):
            pickle.dumps(options.opened())

    def test_versions_that_were_not_signed_are_signed_by_the_same_run(self, tmp_path, keys):
        root = tmp_path / "store"
        names = [one.version for one in learn(root)]
        learn(root, sign=keys[0])
        found = ModelStore(str(root), keys[1]).manifests("")
        assert [one.version for one in found] == names
