"""What docs/running.md tells an operator to do, on a Flink cluster, beside test_faults.py."""

import subprocess
from contextlib import contextmanager

import pytest
from runners.processes import Server, run_until
from runners.replays import KEYS, command, versions
from runners.replays import outcome as outcome_of
from runners.test_faults import FLAGS, SECONDS, complete
from runners.tools import ROOT

from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import versions as program

# They take minutes each.
pytestmark = pytest.mark.faults

BEFORE = 3


@contextmanager
def running(cluster, archived, folder, *flags):
    """A job that runs; it is ended afterwards."""
    given = command(archived, folder, *cluster.flags(2), *FLAGS, *flags)
    with Server(f"pipeline{len(flags)}", given, folder, cwd=ROOT) as pipeline:
        job = cluster.running(pipeline)
        try:
            yield job
        finally:
            cluster.cancel(job)


def until_some(folder, cluster, job):
    """Wait for some versions of each key and a checkpoint."""
    store = ModelStore(str(folder / "models"))
    run_until(
        lambda: (
            cluster.checkpoints(job) > 0
            and all(len(store.manifests(key)) >= BEFORE for key in KEYS)
        ),
        SECONDS,
        "versions",
    )


def test_a_version_that_was_rolled_back_is_learned_again(flink, archived, expected, tmp_path):
    with running(flink, archived, tmp_path) as job:
        until_some(tmp_path, flink, job)
    root = tmp_path / "models"
    for key in KEYS:
        # The first one with a checkpoint before it.
        second = ModelStore(str(root)).manifests(key)[1].version
        given = [f"--model_store={root}", f"--model_key={key}", f"--model_version={second}"]
        assert program.main(["rollback", *given]) == 0
    assert versions(tmp_path) == 2 * len(KEYS)
    with running(flink, archived, tmp_path, "--resume_from=latest") as job:
        complete(tmp_path, flink, job)
    assert outcome_of(tmp_path) == expected


@pytest.fixture
def small_disk(tmp_path):
    """A folder for models with a disk of its own of 16 MB."""
    folder = tmp_path / "models"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", folder], check=False)
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(path):
    """Write a file until its disk is full."""
    with path.open("wb", buffering=0) as stream, pytest.raises(OSError, match="No space left"):
        while True:
            stream.write(bytes(4096))


def test_a_job_goes_on_when_its_full_disk_has_space_again(
    flink, small_disk, archived, expected, tmp_path
):
    with running(flink, archived, tmp_path) as job:
        until_some(tmp_path, flink, job)
        ballast, before = small_disk / "ballast", flink.restored(job)
        fill(ballast)
        run_until(lambda: flink.restored(job) > before + 1, SECONDS, "two restarts")
        assert "No space left" in str(flink.rest(f"/jobs/{job}/exceptions"))
        ballast.unlink()
        complete(tmp_path, flink, job)
    assert outcome_of(tmp_path) == expected
