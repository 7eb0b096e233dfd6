import argparse
from dataclasses import dataclass

import pytest
from apache_beam.options.pipeline_options import (
    DebugOptions,
    FlinkRunnerOptions,
    SetupOptions,
    StandardOptions,
)
from apache_beam.runners.portability.portable_runner import JobServiceHandle

from beam_topics.model.errors import OptionError
from beam_topics.model.settings.options import options_of
from beam_topics.pipelines import archive, evaluate, infer, train
from beam_topics.pipelines.cli.arguments import all_groups
from beam_topics.pipelines.cli.command import parse
from beam_topics.pipelines.cli.options import OUTPUTS
from beam_topics.pipelines.graphs.runners import LOCAL_RUNNER, RUNNERS, is_local, streams
from beam_topics.pipelines.graphs.sources.base import SOURCES, SourceSettings

TRAIN = ["--input=a.jsonl", "--model_store=gs://b/m", "--dead_letters=gs://b/d"]
FLINK = ["--runner=FlinkRunner", "--flink_master=[local]"]
CLUSTER = ["--runner=FlinkRunner", "--flink_master=manager:8081"]
DATAFLOW = [
    "--runner=DataflowRunner",
    "--setup_file=./setup.py",
    "--project=p",
    "--region=r",
    "--temp_location=gs://b/t",
]


def parsed(*flags, of=train, given=TRAIN):
    return parse([*given, *flags], "x", "", of.GROUPS, {})


def added(*flags, of=train, given=TRAIN):
    """What is set for the user, in its order."""
    return parsed(*flags, of=of, given=given).beam._flags[len(given) + len(flags) :]


def refused(*flags, of=train, given=TRAIN):
    with pytest.raises(OptionError) as error:
        parsed(*flags, of=of, given=given)
    return str(error.value)


@pytest.mark.parametrize(
    "runner",
    [
        [],
        ["--runner=DirectRunner"],
        ["--runner=direct"],
        ["--runner=apache_beam.runners.DirectRunner"],
    ],
)
def test_local_runs_have_one_runner(runner):
    assert parsed(*runner).beam.view_as(StandardOptions).runner == LOCAL_RUNNER


PRISM = "--runner=PrismRunner"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], False),
        (["--streaming"], False),
        (["--source=replay"], False),
        ([PRISM], False),
        ([PRISM, "--streaming"], True),
        ([PRISM, "--source=replay"], True),
        ([*FLINK, "--source=kafka"], True),
        (["--runner=a.package.OtherRunner", "--source=kafka"], True),
    ],
)
def test_a_job_streams_where_documents_come_as_a_stream_and_the_runner_passes_them_on(
    flags, expected
):
    assert streams(parsed(*flags)) is expected


def test_a_pipeline_that_only_reads_files_does_not_stream():
    assert not streams(
        parsed(PRISM, of=archive, given=["--input=a.jsonl", "--output=a", "--dead_letters=d"])
    )


def test_worker_threads_that_would_share_outdated_state_are_refused():
    message = refused("--direct_running_mode=multi_threading", "--direct_num_workers=2")
    assert message.startswith(
        "--direct_running_mode: 'multi_threading' was given; allowed is in_memory, or"
        " multi_processing with several"
    )
    parsed("--direct_running_mode=multi_threading")
    parsed("--direct_running_mode=multi_processing", "--direct_num_workers=2")


def test_prism_does_not_split_bundles_of_a_key():
    options = parsed("--runner=PrismRunner", "--experiments=mine")
    assert options.beam.view_as(DebugOptions).experiments == ["mine", "prism_disable_sdf_split"]
    assert not any(
        "experiments" in flag
        for flag in added("--runner=PrismRunner", "--experiments=prism_disable_sdf_split")
    )


@pytest.mark.parametrize("runner", ["PrismRunner", "FlinkRunner"])
def test_the_process_that_submitted_a_job_waits_for_years(runner):
    assert "--job_server_timeout=315360000" in added(f"--runner={runner}")
    assert "--job_server_timeout=315360000" not in added(
        f"--runner={runner}", "--job_server_timeout=60"
    )


def test_flinks_checkpoints_hold_whole_bundles():
    assert "--finish_bundle_before_checkpointing" in added(*FLINK, "--checkpointing_interval=1000")
    assert "--finish_bundle_before_checkpointing" not in added(
        *FLINK, "--checkpointing_interval=1000", "--finish_bundle_before_checkpointing"
    )
    assert "--finish_bundle_before_checkpointing" not in added(*FLINK)
    message = refused(
        *FLINK, "--checkpointing_interval=1000", "--finish_bundle_before_checkpointing=false"
    )
    assert (
        message == "--finish_bundle_before_checkpointing: 'false' was given; allowed is true with"
        " --checkpointing_interval. Leave it out: it is set for you. Without it checkpoints lose"
        " records."
    )


def test_flinks_bundles_of_streams_are_short():
    assert "--max_bundle_time_mills=100" in added(*FLINK, "--source=replay")
    assert "--max_bundle_time_mills=100" in added(*FLINK, "--streaming")
    assert "--max_bundle_time_mills=100" not in added(
        *FLINK, "--streaming", "--max_bundle_time_mills=20"
    )
    assert "--max_bundle_time_mills=100" not in added(*FLINK)


def test_flink_streams_what_comes_as_a_stream():
    assert "--streaming" in added(*FLINK, "--source=replay")
    assert "--streaming" not in added(*FLINK, "--streaming")
    assert "--streaming" not in added(*FLINK)


def test_flinks_key_groups_are_fixed():
    assert parsed(*FLINK).beam.view_as(FlinkRunnerOptions).max_parallelism == 128
    assert (
        parsed(*FLINK, "--max_parallelism=400", "--parallelism=300")
        .beam.view_as(FlinkRunnerOptions)
        .max_parallelism
        == 400
    )
    message = refused(*FLINK, "--parallelism=129")
    assert (
        message
        == "--parallelism: 129 was given; allowed is 128 or less. Give --max_parallelism; it cannot"
        " change when there is a savepoint."
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--environment_type=LOOPBACK"],
            (
                "--environment_type: 'LOOPBACK' was given; allowed is DOCKER, PROCESS or EXTERNAL"
                " on a cluster. With"
            ),
        ),
        (
            ["--environment_type=EXTERNAL"],
            "--environment_config: None was given; allowed is the worker pool's host:port with",
        ),
        (
            [],
            (
                "--setup_file: None was given; allowed is ./setup.py, or --sdk_container_image with"
                " this project installed. Without either"
            ),
        ),
    ],
)
def test_a_clusters_workers_must_be_there(flags, message):
    assert refused(*CLUSTER, *flags).startswith(message)


@pytest.mark.parametrize(
    "flags",
    [
        ["--environment_type=EXTERNAL", "--environment_config=localhost:50000"],
        ["--setup_file=./setup.py"],
        ["--environment_config=registry/image:1"],
        ["--environment_type=PROCESS", "--environment_options=process_command=/opt/boot"],
    ],
)
def test_a_clusters_workers_are_given(flags):
    parsed(*CLUSTER, *flags)


def test_dataflow_runs_one_process_a_worker_for_a_learner_and_pickles_no_main_module():
    options = parsed(*DATAFLOW)
    assert options.beam.view_as(DebugOptions).experiments == ["no_use_multiple_sdk_containers"]
    assert options.beam.view_as(SetupOptions).save_main_session is False
    labelling = added(*DATAFLOW, of=infer, given=[*TRAIN, "--output=gs://b/o"])
    assert labelling == ["--no_save_main_session"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--save_main_session"],
            (
                "--save_main_session: True was given; allowed is --no_save_main_session. Leave it"
                " out: no step is in"
            ),
        ),
        (
            ["--experiments=use_multiple_sdk_containers"],
            "--experiments: 'use_multiple_sdk_containers' was given; allowed is no_use_multiple",
        ),
        (
            ["--model_store=models"],
            (
                "--model_store: 'models' was given; allowed is a path such as gs://bucket/folder."
                " Workers' own disks are"
            ),
        ),
        (["--dead_letters=/mnt/dead"], "--dead_letters: '/mnt/dead' was given"),
        (["--setup_file="], "--setup_file: None was given"),
    ],
)
def test_dataflow_refuses_what_would_be_lost(flags, message):
    assert refused(*DATAFLOW, *flags).startswith(message)


# A program that has the option.
WRITES = {
    "archive": archive,
    "output": infer,
    "dead_letters": infer,
    "coverage": infer,
    "trends": infer,
    "events": train,
    "json": evaluate,
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_output_stays_on_a_dataflow_worker(name):
    said = (
        f"--{name}: 'kept' was given; allowed is a path such as gs://bucket/folder. Workers' own"
        " disks are lost when they end."
    )
    assert refused(*DATAFLOW, f"--{name}=kept", of=WRITES[name], given=[]) == said
    parsed(*DATAFLOW, f"--{name}=gs://bucket/kept", of=WRITES[name], given=[])


def test_another_runner_gets_its_flags_as_they_are():
    assert added("--runner=SparkRunner", "--spark_master_url=x") == []
    assert not is_local("SparkRunner")
    assert all(name == name.lower() for name in RUNNERS)


KAFKA = ["--source=kafka", "--kafka_servers=b", "--kafka_topic=t"]
ENDING = ", ".join(name for name, kind in SOURCES.items() if kind.endless != "always")


def test_the_local_runner_reads_what_ends():
    assert (
        "--until: 'forever' was given; allowed is end with --source=kafka on the local runner,"
        " which reads everything" in refused(*KAFKA)
    )
    assert parsed(*KAFKA, "--until=end")
    assert parsed(*KAFKA, "--runner=PrismRunner")


def test_a_source_that_does_not_say_that_it_ends_is_refused(monkeypatch):
    @dataclass(frozen=True)
    class Forever(SourceSettings):
        """It says nothing about its end."""

        kind = "forever"

        def read(self, options, tokeniser, blocks):
            raise AssertionError("the local runner would never return")

    monkeypatch.setattr(SOURCES, "_kinds", dict(SOURCES._kinds))
    SOURCES.register(Forever)
    said = refused("--source=forever")
    assert said.startswith(f"--source: 'forever' was given; allowed is one of {ENDING} on the")
    assert said.endswith("Choose a runner that streams, such as --runner=PrismRunner.")
    assert parsed("--source=forever", "--runner=PrismRunner")


def test_a_source_that_ends_on_demand_has_an_option_for_it():
    on_demand = [kind for kind in SOURCES.values() if kind.endless == "until"]
    assert on_demand
    for kind in on_demand:
        (until,) = [one for one in options_of(kind) if one.name == "until"]
        assert "end" in until.values and until.default != "end"


# A value of each parser of options. A parser that is missing here fails the test.
VALUES = {
    "durations": "1h,none",
    "duration": "1h",
    "keep": "versions:1d,1d/30d,30d/all,checkpoints:3,grace:2d",
    "megabytes": "1",
    "names": "a,b",
    "number": "0.5",
    "numbers": "0.5,1",
    "or_word.<locals>.parse": "1",
    "patterns": "a,b",
    "positive": "3",
    "publication": "4windows",
    "speed": "10x",
    "str": "a",
    "switch": "true",
    "topics": "1,-2",
    "whole": "7",
    "words": "a,b",
}


def test_every_value_of_an_option_can_be_sent_to_a_runner():
    parser = argparse.ArgumentParser(add_help=False, conflict_handler="resolve")
    for group in all_groups():
        group.add(parser)
    found = {
        action.dest: action.type(VALUES[action.type.__qualname__])
        for action in parser._actions
        if action.type is not None
    }
    assert JobServiceHandle.encode_pipeline_options(found)["beam:option:keep:v1"]
