"""A kill of a task manager, a worker, the job manager or the job during a replay changes no result.

The moments come from a seed: a fault strikes as soon as so many versions are published and Flink
has a checkpoint. LATEST is watched all the time. ``make test-runners`` runs four, ``make
test-faults`` twenty.
"""

import random
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from runners.processes import Server, run_until
from runners.replays import (
    DOCUMENTS,
    KEYS,
    VERSIONS,
    command,
    labels,
    latest_never_goes_back,
    outcome,
    versions,
)
from runners.tools import ROOT

SECONDS = 300
# The replay takes about 40 s. Its sources are kept beyond its end, so that Flink continues to take
# checkpoints, and the test ends the job.
FLAGS = [
    "--replay_speed=250000x",
    "--checkpointing_interval=1000",
    "--externalized_checkpoints_enabled",
    "--retain_externalized_checkpoints_on_cancellation",
]
PARALLELISM = 2
ALL = VERSIONS * len(KEYS)


@dataclass(frozen=True)
class Fault:
    """What is killed, after how many versions of both keys, and which one (as a share)."""

    kind: str
    versions: int
    which: float


def faults(kinds, count, seed):
    """``count`` faults, the kinds in turn."""
    draw = random.Random(seed)
    return [
        Fault(kinds[n % len(kinds)], draw.randint(1, ALL * 2 // 3), draw.random())
        for n in range(count)
    ]


KINDS = ("manager", "worker", "checkpoint", "savepoint")
FEW = [
    Fault("manager", 5, 0.7),
    Fault("worker", 9, 0.2),
    Fault("checkpoint", 7, 0),
    Fault("job-manager", 6, 0),
]


def strike(fault, cluster, job, pipeline):
    """Kill; where the whole job was killed, what a new one has to be given to go on."""
    if fault.kind == "manager":
        cluster.kill_manager(int(fault.which * len(cluster.managers)))
    elif fault.kind == "worker":
        # The newest: those of an earlier job may take a while to end.
        living = cluster.workers()[-len(cluster.managers) :]
        cluster.kill_worker(living[int(fault.which * len(living))])
    else:
        pipeline.kill()
        if fault.kind == "savepoint":
            return [f"--savepoint_path={cluster.savepoint(job)}"]
        if fault.kind == "job-manager":
            cluster.kill_job_manager()
            return [f"--savepoint_path={cluster.newest_checkpoint(job)}"]
        # Ended first: while a job runs its newest checkpoint may be gone a moment later.
        cluster.cancel(job)
        return [f"--savepoint_path={cluster.newest_checkpoint(job)}"]
    return []


def complete(folder, cluster, job):
    """Wait for all versions and labels, then for two checkpoints, which may bring repeats."""
    run_until(
        lambda: versions(folder) == ALL and len(labels(folder)) >= DOCUMENTS,
        SECONDS,
        "the end of the archive",
    )
    enough = cluster.checkpoints(job) + 2
    run_until(lambda: cluster.checkpoints(job) >= enough, SECONDS, "two checkpoints more")


def survive(fault, cluster, archived, folder):
    """Run the replay, strike, and see it through."""
    folder.mkdir(parents=True, exist_ok=True)
    given = command(archived, folder, *cluster.flags(PARALLELISM), *FLAGS)
    with ExitStack() as processes, latest_never_goes_back(folder):
        pipeline = processes.enter_context(Server("pipeline", given, folder, cwd=ROOT))
        job = cluster.running(pipeline)
        run_until(
            lambda: cluster.checkpoints(job) > 0 and versions(folder) >= fault.versions,
            SECONDS,
            "the moment",
            pipeline,
        )
        assert versions(folder) < ALL, "the fault came too late"
        onward = strike(fault, cluster, job, pipeline)
        if onward:
            pipeline = processes.enter_context(
                Server("pipeline-again", [*given, *onward], folder, cwd=ROOT)
            )
            job = cluster.running(pipeline)
        complete(folder, cluster, job)
        assert cluster.restored(job) > 0
        cluster.cancel(job)
        told_as_cancelled(pipeline)
    return outcome(folder)


def told_as_cancelled(pipeline):
    """Check that the program of a cancelled job ends with status 2 and one line."""
    assert pipeline.process.wait(SECONDS) == 2, pipeline.output()[-3000:]
    last = pipeline.output().splitlines()[-1]
    assert "the job was cancelled. " in last and "--resume_from=latest" in last
    assert "Traceback" not in pipeline.output()


@pytest.mark.parametrize("fault", FEW, ids=lambda fault: fault.kind)
def test_a_fault_changes_nothing(fault, flink, archived, expected, tmp_path):
    assert survive(fault, flink, archived, tmp_path) == expected


@pytest.mark.faults
@pytest.mark.parametrize(
    "fault", faults(KINDS, 20, seed=4), ids=lambda fault: f"{fault.kind}-{fault.versions}"
)
def test_twenty_faults_change_nothing(fault, flink, archived, expected, tmp_path):
    assert survive(fault, flink, archived, tmp_path) == expected
