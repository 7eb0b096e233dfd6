import pytest
from made import manifest_of, random_snapshot

from beam_topics.model.publishing.expiry import pinned
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.settings import DAY
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import show, versions


@pytest.fixture
def store(tmp_path):
    store = ModelStore(str(tmp_path / "models"))
    parent = None
    for day in range(1, 7):
        entry = CheckpointEntry("", 0, day, f"c{day}", day * DAY, day, "digest")
        store.put_checkpoint(entry, b"state %d" % day)
        digest = store.put_snapshot(random_snapshot(day, sequence=day))
        values = {"snapshot": digest, "event_time": day * DAY}
        values |= {"topic_tokens": [1.0, 2.0, 3.0, 4.0, 5.0]}
        parent = store.publish(manifest_of(day, parent, **values)).version
    return store


@pytest.fixture
def run(store, capsys):
    def act(*given):
        capsys.readouterr()
        status = versions.main([given[0], f"--model_store={store.root}", *given[1:]])
        return status, "".join(capsys.readouterr())

    return act


KEEP = "--keep=versions:2d,checkpoints:1,grace:0"


def name_of(store, day):
    return next(one.version for one in store.manifests("") if one.sequence == day)


def test_list_expire_and_what_is_left(store, run, capsys):
    fourth = name_of(store, 4)
    status, told = run("expire", KEEP, "--dry_run")
    assert status == 0 and "files of key '' would be removed" in told
    assert told.count("_/manifests/") == 3 and len(store.manifests("")) == 6
    status, told = run("expire", KEEP)
    assert status == 0 and "files of key '' were removed" in told
    status, told = run("list")
    assert status == 0 and "3 versions" in told
    assert f"Versions before {fourth} have expired." in told
    # A chain that begins in the middle is shown.
    assert show.main([f"--model_store={store.root}"]) == 0
    assert show.main([f"--model_store={store.root}", f"--model_version={fourth}"]) == 0
    capsys.readouterr()


def test_a_thinned_version_is_listed_and_its_model_is_refused_with_what_to_do(store, run, capsys):
    fourth = name_of(store, 4)
    run("expire", "--keep=versions:1d,3d/all,grace:0")
    status, told = run("list")
    assert (status, told.count("expired")) == (0, 3)
    assert show.main([f"--model_store={store.root}", f"--model_version={fourth}"]) == 2
    assert "it has expired (--keep, or beam-topics versions)" in capsys.readouterr().err
    status, told = run("pin", f"--model_version={fourth}")
    assert status == 2 and "this one has expired" in told


def test_pin_and_unpin(store, run):
    second = f"--model_version={name_of(store, 2)}"
    assert run("pin", second)[0] == 0
    assert len(pinned(blobs_at(store.root), "")) == 1
    run("expire", KEEP)
    status, told = run("list")
    assert status == 0 and "4 versions" in told and "yes" in told
    assert show.main([f"--model_store={store.root}", second]) == 0
    assert run("unpin", second)[0] == 0
    assert pinned(blobs_at(store.root), "") == set()


def test_diff(store, run):
    status, told = run("diff")
    assert status == 0 and f"from {name_of(store, 5)} to {name_of(store, 6)}:" in told
    status, told = run("diff", f"--model_version={name_of(store, 5)}")
    assert status == 0 and f"from {name_of(store, 4)} to {name_of(store, 5)}:" in told
    status, told = run("diff", f"--model_version={name_of(store, 1)}..latest")
    assert status == 0 and f"from {name_of(store, 1)} to {name_of(store, 6)}:" in told
    status, told = run("diff", f"--model_version={name_of(store, 1)}")
    assert status == 2 and "allowed is a version with a parent, or OLDER..NEWER" in told


def test_rollback_makes_an_earlier_version_the_newest_one_and_training_continues_there(store, run):
    fourth = name_of(store, 4)
    status, told = run("rollback", f"--model_version={fourth}")
    assert status == 0 and f"version {fourth} is the newest one; 2 later checkpoints" in told
    assert store.latest("").version == fourth
    assert store.resume_point("", "latest", 1)[0].sequence == 4
    assert run("rollback", f"--model_version={fourth}")[0] == 0
    # The history goes on from there.
    again = manifest_of(9, fourth, snapshot=store.latest("").snapshot)
    assert store.publish(again).version == store.latest("").version
    assert [one.sequence for one in store.manifests("")] == [1, 2, 3, 4, 9]


def test_an_unknown_action_is_refused_with_the_known_ones(capsys):
    assert versions.main(["lsit"]) == 2
    assert "'lsit' was given; the first argument is one of list, pin" in capsys.readouterr().err
    assert versions.main(["posts.topics"]) == 2
    assert "For example" not in capsys.readouterr().err
    assert versions.main([]) == versions.main(["--help"]) == 0
    assert versions.main(["expire", "--model_store=x"]) == 2
    told = capsys.readouterr().err
    assert "--keep is missing. Give it, for example --keep=versions:30d,checkpoints:3" in told
