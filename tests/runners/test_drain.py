"""A replay on a Flink cluster that is stopped with a drain in its middle loses nothing.

Flink lets Beam's sources read on to their end before it ends the job, so nothing remains for
another job. To stop within a stream there is the savepoint (``test_faults.py``).

A drain that does stop the sources, as on Dataflow, looks to the graph like the end of its input:
tests/pipelines/test_drain.py.
"""

from runners.processes import Server, run_until
from runners.replays import DOCUMENTS, command, labels, outcome, versions
from runners.tools import ROOT

SECONDS = 300
BEFORE = 4


def drain(cluster, job):
    """Ask Flink for a drain; wait for the end of the job."""
    cluster.rest(
        f"/jobs/{job}/stop",
        {"drain": True, "targetDirectory": f"file://{cluster.folder}/savepoints"},
    )
    run_until(lambda: job in cluster.jobs("FINISHED"), SECONDS, "the end of the drained job")


def test_a_replay_that_is_drained_comes_to_the_outcome_of_one_that_nothing_happened_to(
    flink, archived, expected, tmp_path
):
    given = command(
        archived,
        tmp_path,
        *flink.flags(2),
        "--replay_speed=100000x",
        "--checkpointing_interval=1000",
    )
    with Server("pipeline", given, tmp_path, cwd=ROOT) as pipeline:
        job = flink.running(pipeline, SECONDS)
        run_until(
            lambda: flink.checkpoints(job) > 0 and versions(tmp_path) >= BEFORE,
            SECONDS,
            "some versions",
            pipeline,
        )
        assert len(labels(tmp_path)) < DOCUMENTS // 2
        drain(flink, job)
    assert outcome(tmp_path) == expected
