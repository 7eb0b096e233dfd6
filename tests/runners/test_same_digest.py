"""The same archive: the same manifests, learners' states and labels on every runner."""

import pytest
from runners.replays import DOCUMENTS, KEYS, VERSIONS, run


def test_the_local_runner_learns_and_labels_all(expected):
    assert [len(manifests) for manifests in expected.manifests] == [VERSIONS] * len(KEYS)
    assert len(expected.labels) == DOCUMENTS
    assert len({label[:2] for label in expected.labels}) == DOCUMENTS


def test_prism(prism, archived, expected, tmp_path):
    assert run(archived, tmp_path, "--runner=PrismRunner", f"--prism_location={prism}") == expected


def test_embedded_flink(job_server_jar, archived, expected, tmp_path):
    flags = ["--runner=FlinkRunner", "--flink_master=[local]", f"--flink_job_server_jar={job_server_jar}", "--parallelism=2"]
    assert run(archived, tmp_path, *flags) == expected


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_a_flink_cluster(flink, archived, expected, tmp_path, parallelism):
    flags = ["--checkpointing_interval=1000", "--shutdown_sources_after_idle_ms=15000"]
    assert run(archived, tmp_path, *flink.flags(parallelism), *flags) == expected
