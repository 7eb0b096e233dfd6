"""The same archive: the same manifests, learners' states and labels on every runner."""

import json
import sys

import pytest
from runners.processes import Server
from runners.replays import DAYS, DOCUMENTS, KEYS, MANY_DAYS, MANY_FLAGS, VERSIONS, finish, run
from runners.tools import ROOT

from beam_topics.model.publishing.store import ModelStore

WORDS_FLAGS = ["--phrases=learned", "--phrase_npmi=0.01", "--max_df=0.9"]


def embedded(job_server_jar):
    """The options of Flink within its job server."""
    return [
        "--runner=FlinkRunner",
        "--flink_master=[local]",
        f"--flink_job_server_jar={job_server_jar}",
        "--parallelism=2",
    ]


def test_the_local_runner_learns_and_labels_all(expected):
    assert [len(manifests) for manifests in expected.manifests] == [VERSIONS] * len(KEYS)
    assert len(expected.labels) == DOCUMENTS
    assert len({label[:2] for label in expected.labels}) == DOCUMENTS
    # A row for each topic, and one for no topic.
    assert len(expected.trends) == len(KEYS) * (4 + 1) * DAYS // 10
    for key in KEYS:
        shares = [
            row["documents"] * row["mean_share"] for row in expected.trends if row["key"] == key
        ]
        assert sum(shares) == pytest.approx(DOCUMENTS // len(KEYS), rel=1e-9)


def test_prism(prism, archived, expected, tmp_path):
    assert run(archived, tmp_path, "--runner=PrismRunner", f"--prism_location={prism}") == expected


def test_embedded_flink(job_server_jar, archived, expected, tmp_path):
    flags = embedded(job_server_jar)
    assert run(archived, tmp_path, *flags) == expected


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_a_flink_cluster(flink, archived, expected, tmp_path, parallelism):
    flags = ["--checkpointing_interval=1000", "--shutdown_sources_after_idle_ms=15000"]
    assert run(archived, tmp_path, *flink.flags(parallelism), *flags) == expected


@pytest.fixture(scope="module")
def expected_of_words(archived, tmp_path_factory):
    """Of a run that joins phrases and leaves out frequent words."""
    folder = tmp_path_factory.mktemp("words")
    found = run(archived, folder, *WORDS_FLAGS)
    snapshot = ModelStore(str(folder / "models")).get_snapshot(found.manifests[0][-1])
    assert len(snapshot.phrases) > 3
    return found


def test_phrases_on_prism(prism, archived, expected_of_words, tmp_path):
    flags = ["--runner=PrismRunner", f"--prism_location={prism}"]
    assert run(archived, tmp_path, *WORDS_FLAGS, *flags) == expected_of_words


def test_phrases_on_embedded_flink(job_server_jar, archived, expected_of_words, tmp_path):
    flags = embedded(job_server_jar)
    assert run(archived, tmp_path, *WORDS_FLAGS, *flags) == expected_of_words


def test_the_local_runner_learns_and_labels_many_windows(expected_of_many):
    assert [states[0][0] for states in expected_of_many.states] == [MANY_DAYS] * len(KEYS)
    assert len(expected_of_many.labels) == MANY_DAYS * len(KEYS)


@pytest.mark.parametrize("source", ["files", "replay"])
def test_many_windows_on_prism(prism, many_windows, expected_of_many, tmp_path, source):
    """All close at the end of the files, and one after the other in a replay."""
    flags = ["--runner=PrismRunner", f"--prism_location={prism}", f"--source={source}"]
    assert run(many_windows, tmp_path, *MANY_FLAGS, *flags, seconds=900) == expected_of_many


@pytest.mark.parametrize("source", ["files", "replay"])
def test_many_windows_on_embedded_flink(
    job_server_jar, many_windows, expected_of_many, tmp_path, source
):
    flags = embedded(job_server_jar)
    assert (
        run(many_windows, tmp_path, *MANY_FLAGS, *flags, f"--source={source}", seconds=900)
        == expected_of_many
    )


def reports(archived, models, folder, *flags):
    """What ``beam_topics.pipelines.infer`` says of its models' coverage, by window and key."""
    outputs = [f"--{name}={folder / name}" for name in ("output", "dead_letters", "coverage")]
    source = ["--source=replay", f"--input={archived}/*.avro", "--key_field=key"]
    command = [
        sys.executable,
        "-m",
        "beam_topics.pipelines.infer",
        *source,
        f"--model_store={models}",
        *outputs,
        *flags,
    ]
    with Server("pipeline", command, folder, cwd=ROOT) as pipeline:
        finish(pipeline, 300)
    rows = [
        json.loads(line)
        for path in (folder / "coverage").glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return sorted(rows, key=lambda row: (row["window_end"], row["key"]))


def test_no_coverage_report_is_lost_on_prism(prism, archived, learned, tmp_path):
    """Windows and a GroupByKey would lose some of these 240 there."""
    places = [tmp_path / "local", tmp_path / "prism"]
    for place in places:
        place.mkdir()
    local = reports(archived, learned, places[0])
    assert [row["documents"] for row in local] == [DOCUMENTS // DAYS // len(KEYS)] * DAYS * len(
        KEYS
    )
    assert (
        reports(archived, learned, places[1], "--runner=PrismRunner", f"--prism_location={prism}")
        == local
    )
