import argparse
import errno
import os
import re
from pathlib import Path

import pytest
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, StandardOptions
from given import given_by

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.learners import LEARNER, Infvoc
from beam_topics.model.settings.compositions import placements
from beam_topics.model.settings.options import options_of
from beam_topics.pipelines import look, train
from beam_topics.pipelines.cli.arguments import all_groups
from beam_topics.pipelines.cli.command import UsageError, command, parse, parser_for
from beam_topics.pipelines.cli.groups import parsed as parsed_of
from beam_topics.pipelines.cli.options import (
    InputOptions,
    LearnerOptions,
    OutputOptions,
    RecordOptions,
    SequenceOptions,
    StoreOptions,
    TokeniserOptions,
)
from beam_topics.pipelines.graphs.sources import KafkaOptions, SourceOptions

GROUPS = (
    InputOptions,
    RecordOptions,
    TokeniserOptions,
    SequenceOptions,
    LearnerOptions,
    StoreOptions,
)
REQUIRED = {"input": "'data/*.jsonl'", "model_store": "models"}
GIVEN = ["--input=a.jsonl", "--model_store=m"]


def parsed(*flags):
    return parse([*GIVEN, *flags], "x", "What it does.", GROUPS, REQUIRED)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--topisc=20", "--topisc=20: there is no such option here. Did you mean --topics?"),
        ("--stremaing", "Did you mean --streaming?"),
        (
            "--zzz",
            "--zzz: there is no such option here. python -m beam_topics.pipelines.x --help=all"
            " shows",
        ),
        (
            "--output=o",
            (
                "--output=o: python -m beam_topics.pipelines.x has no such option, only other"
                " commands have. Leave it out, or run one of those."
            ),
        ),
        ("stray", "stray: there is no such option here."),
        ("--topics=x", "--topics: 'x' was given; allowed is a whole number."),
        ("--window=3m", "--window: '3m' was given; allowed is a length of time such as 15min"),
        (
            "--format=xml",
            "--format: 'xml' was given; allowed is one of auto, jsonl, csv, avro, parquet, txt, ",
        ),
        ("--runner=SparkRuner", "the full name of a class. Did you mean --runner=SparkRunner?"),
        ("--runner=x", "--runner: 'x' was given; allowed is one of "),
        ("--seed", "--seed: no value was given. Write --seed=VALUE."),
        ("--minibatch_size=0", "--minibatch_size: 0 was given; allowed is 1 or more. Correct"),
        ("--encoding=hex", "--encoding: 'hex' was given; allowed is an encoding of text such as"),
        ("--max_document_mb=0", "--max_document_mb: '0' was given; allowed is a whole number of 1"),
        ("--direct_num_workers=two", "--direct_num_workers"),
    ],
)
def test_a_wrong_option_says_what_to_do(flag, message):
    with pytest.raises((UsageError, OptionError)) as error:
        parsed(flag)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "runner", ["prism", "PrismRunner", "flinkrunner", "a.package.Runner", "Direct"]
)
def test_a_runner_that_beam_knows_passes(runner):
    assert parsed(f"--runner={runner}").beam.view_as(StandardOptions).runner


def test_an_abbreviation_is_not_guessed():
    with pytest.raises(
        UsageError, match="--topic=3: there is no such option here. Did you mean --topics?"
    ):
        parsed("--topic=3")


@pytest.mark.parametrize("argv", [["--model_store=m"], ["--input=a", "--model_store="], []])
def test_a_missing_option_comes_with_an_example(argv):
    with pytest.raises(
        UsageError,
        match=(
            r"--(input|model_store) is missing. Give it, for example"
            r" --(input='data/\*.jsonl'|model_store=models)"
        ),
    ):
        parse(argv, "x", "", GROUPS, REQUIRED)


def test_a_switch_is_true_or_false():
    with pytest.raises(UsageError, match="--topic_names: 'yes' was given; allowed is true or fal"):
        parse(
            [*GIVEN, "--topic_names=yes"],
            "x",
            "",
            (*GROUPS, OutputOptions),
            REQUIRED,
        )


def test_beams_options_pass():
    options = parsed("--streaming", "--direct_num_workers=2", "--runner=PrismRunner")
    assert options.beam.view_as(StandardOptions).streaming
    assert options.beam.view_as(StandardOptions).runner == "PrismRunner"
    assert options.beam.view_as(DirectOptions).direct_num_workers == 2


def test_another_runner_may_know_options_that_nobody_here_knows():
    parsed(
        "--runner=FlinkRunner",
        "--flink_master=[local]",
        "--checkpointing_interval=1000",
        "--checkpointing_mode=EXACTLY_ONCE",
    )
    with pytest.raises(UsageError, match="Did you mean --topics?"):
        parsed("--runner=FlinkRunner", "--topisc=20")


@pytest.mark.parametrize("flag", ["--output=o", "--allowed_hosts=a", "--coverage=c"])
def test_no_runner_gets_an_option_of_another_pipeline(flag):
    with pytest.raises(
        UsageError, match="pipelines.x has no such option, only other commands have"
    ):
        parsed("--runner=FlinkRunner", flag)


def test_help_shows_our_groups_with_defaults_and_not_beams(capsys):
    with pytest.raises(SystemExit) as ending:
        parsed("--help")
    assert ending.value.code == 0
    text = capsys.readouterr().out
    assert (
        "usage: python -m beam_topics.pipelines.x --input=... --model_store=... [options]" in text
    )
    for part in (
        "What it does.",
        "Input:",
        "Learner:",
        "Minibatches:",
        "(required)",
        "(default: 1h)",
        "default: gibbs)",
    ):
        assert part in text
    assert "Beam's own options may be given too" in text
    assert "--direct_runner_bundle_repeat" not in text
    assert "--output" not in text


def shown(capsys, *flags):
    """The options that the help names."""
    with pytest.raises(SystemExit) as ending:
        parse(flags, "x", "What it does.", GROUPS, REQUIRED)
    assert ending.value.code == 0
    return set(re.findall(r"^  (--\w+)", capsys.readouterr().out, re.MULTILINE))


def test_plain_help_shows_what_matters(capsys):
    found = shown(capsys, "--help")
    assert {"--input", "--learner", "--topics", "--window", "--model_store"} <= found
    assert not found & {"--reservoir", "--kappa", "--max_document_mb"}
    assert len(found) <= 24


def test_help_of_a_learner_shows_its_options_alone(capsys):
    found = shown(capsys, "--learner=infvoc", "--help")
    own = [place for place in placements(LEARNER) if place.path[0] == ("learner", "infvoc")]
    assert {option.flag for option in options_of(Infvoc)} < found
    assert found == {"--learner", *(place.option.flag for place in own)}


def test_help_of_a_choice_leaves_the_other_kinds_out(capsys):
    found = shown(capsys, "-h", "--learner=particle-filter", "--resampling=residual")
    assert {"--beta", "--ess", "--moves", "--history", "--reservoir"} <= found
    assert not found & {"--births", "--sweeps", "--kappa", "--input"}


def test_help_of_a_choice_that_belongs_elsewhere_says_where(capsys):
    with pytest.raises(OptionError, match="--resampling=residual belongs to --learner=particle-fi"):
        parse(["-h", "--resampling=residual"], "x", "What it does.", GROUPS, REQUIRED)


def test_help_of_a_source_shows_what_it_shares_with_other_choices(capsys):
    needed = {"--kafka_servers", "--kafka_config", "--id_from", "--timestamp_format"}
    groups = [SourceOptions, KafkaOptions, RecordOptions]
    with pytest.raises(SystemExit):
        parse(["--source=kafka", "--help"], "x", "What it does.", groups, {})
    text = capsys.readouterr().out
    assert needed <= set(re.findall(r"^  (--\w+)", text, re.MULTILINE))
    assert "Also read with --source=kafka:" in text
    assert "--encoding" not in text and "--replay_speed" not in text
    required = {line.split()[0] for line in text.splitlines() if "required)" in line}
    assert required == {"--kafka_servers", "--kafka_topic"}


@pytest.mark.parametrize("flag", ["--help", "--help=all"])
def test_help_says_what_is_required(capsys, flag):
    groups = [*GROUPS, SourceOptions, KafkaOptions]
    with pytest.raises(SystemExit):
        parse([flag], "x", "What it does.", groups, {"model_store": "models"})
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "--model_store X folder, or gs://bucket/folder, for models and checkpoints (required)"
        in text
    )
    assert "with commas (required with --source=files or replay)" in text
    if flag == "--help=all":
        assert "--kafka_topic X the topic to read (required)" in text
        assert "host:port, with commas (required with --source=kafka)" in text
    assert text.count("(required") == (4 if flag == "--help=all" else 2)


def test_help_of_everything(capsys):
    found = shown(capsys, "--help=all")
    assert {f"--{place.option.name}" for place in placements(LEARNER)} <= found
    assert {"--max_document_mb", "--on_repeat"} <= found


def test_help_shows_the_options_of_a_record_in_the_order_of_its_fields(capsys):
    with pytest.raises(SystemExit):
        parse(["--help=all"], "x", "What it does.", GROUPS, REQUIRED)
    text = capsys.readouterr().out
    # The group of the input has the time zone, too, and comes first.
    flags = [one.flag for one in options_of(SequenceSettings) if one.flag != "--time_zone"]
    places = [text.index(f"  {flag} ") for flag in flags]
    assert places == sorted(places) and len(places) > 2


def test_usage_names_what_is_required_and_nothing_else(capsys):
    for required, wanted in (
        (REQUIRED, " --input=... --model_store=... [options]"),
        ({}, " [options]"),
    ):
        with pytest.raises(SystemExit):
            parse(["--help"], "x", "What it does.", GROUPS, required)
        assert capsys.readouterr().out.startswith(
            f"usage: python -m beam_topics.pipelines.x{wanted}\n"
        )


def test_help_of_something_else(capsys):
    with pytest.raises(UsageError, match="--help: 'most' was given; allowed is one of '', 'all'"):
        parsed("--help=most")


def run_with(error):
    def run(options):
        raise error

    return command("x", "", [StoreOptions], {"model_store": "m"}, run)


def test_an_error_is_one_line_on_stderr_and_exit_code_2(capsys):
    assert (
        run_with(OptionError("--topics", 0, "1 or more", "Correct the value."))(["--model_store=m"])
        == 2
    )
    captured = capsys.readouterr()
    assert (
        captured.err
        == "python -m beam_topics.pipelines.x: --topics: 0 was given; allowed is 1 or more. Correct"
        " the value.\n"
    )
    assert captured.out == ""


def test_what_an_error_quotes_cannot_act_on_the_terminal(capsys):
    assert (
        run_with(OptionError("--x", "\N{RIGHT-TO-LEFT OVERRIDE}y", "z\x1b[2J", "Do."))(
            ["--model_store=m"]
        )
        == 2
    )
    error = capsys.readouterr().err
    assert (
        "\x1b" not in error and "\N{RIGHT-TO-LEFT OVERRIDE}" not in error and "�[2J. Do." in error
    )


def test_an_error_that_is_ours_to_mend_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError):
        run_with(ZeroDivisionError())(["--model_store=m"])


def test_success_is_exit_code_0():
    seen = []
    assert (
        command("x", "", [StoreOptions], {"model_store": "m"}, seen.append)(["--model_store=here"])
        == 0
    )
    assert seen[0].model_store == "here"


def test_no_two_groups_have_the_same_option():
    assert len(all_groups()) > 8
    # argparse refuses a second option of one name, and Beam's options are among them.
    assert PipelineOptions(["--output=a"]).get_all_options()["output"] == "a"
    assert given_by("--output=a").given(["output", "input"]) == {"output": "a"}


def test_an_option_that_a_program_does_not_have_is_an_error_where_its_value_is_read():
    options = parsed_of(["--model_store=m", "--minibatch_size=7"], [StoreOptions, SequenceOptions])
    assert (options.model_store, options.minibatch_size) == ("m", 7)
    assert options.get("topics") is None
    with pytest.raises(AttributeError):
        _ = options.topics


def test_a_program_without_a_graph_takes_the_options_of_beam_too():
    flags = ["--model_store=m", "--runner=FnApiRunner"]
    given = parse(flags, "x", "", [StoreOptions], {"model_store": "m"}, graph=False)
    assert given.model_store == "m"
    with pytest.raises(UsageError, match="there is no such option here"):
        parse(["--zzz"], "x", "", [StoreOptions], {}, graph=False)
    with pytest.raises(UsageError, match="--model_store is missing"):
        parse([], "x", "", [StoreOptions], {"model_store": "m"}, graph=False)


def numeric():
    """Options that take no word, of all programs; each refuses the word of the test."""
    for action in parser_for("x", "", all_groups(), {})._actions:
        if action.type not in (None, str) and action.option_strings:
            try:
                action.type("a:b;c,")
            except argparse.ArgumentTypeError:
                yield action.option_strings[-1]


@pytest.mark.parametrize("flag", [*numeric(), "--direct_num_workers"])
def test_a_value_of_the_wrong_form_is_one_line_at_both_doors(flag):
    groups = all_groups()
    doors = [lambda argv: parse(argv, "x", "", groups, {}), lambda argv: parsed_of(argv, groups)]
    # Beam's options are read at the first one alone.
    for read in doors[: 1 if flag == "--direct_num_workers" else 2]:
        with pytest.raises((UsageError, OptionError)) as raised:
            read([f"{flag}=a:b;c,"])
        told = str(raised.value)
        assert told.startswith(f"{flag}: ") and "was given" in told and "allowed is" in told
        assert "a:b;c" in told and "\n" not in told


@pytest.mark.parametrize("given", ["--topic_name=\udcff", "--input=\udcff.csv", "\udcff"])
def test_an_argument_that_is_no_text_is_one_line(capsys, given):
    main = command("x", "", GROUPS, {}, lambda options: None, graph=False)
    assert main([given]) == 2
    told = capsys.readouterr().err
    name = given.partition("=")[0] if "=" in given else "an argument"
    assert told.count("\n") == 1 and f"x: {name}: '\\udcff" in told and "text in UTF-8" in told


@pytest.mark.parametrize(
    "argv", [["a.csv", "--model_store=m"], ["--input=a.csv", "--model_store=m"]]
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, monkeypatch, capsys, argv):
    def refused(self, *_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("id,text\n1,a ship\n")
    monkeypatch.setattr(Path, "open", refused)
    for program in (train, look) if argv[0] == "a.csv" else (train,):
        assert program.main([one for one in argv if program is train or one == "a.csv"]) == 2
        told = capsys.readouterr().err.splitlines()
        assert "'a.csv' cannot be used: Permission denied. Mend it, or name another." in told[-1]
        assert len(told) == 1


def test_a_name_that_is_too_long_is_one_line(capsys):
    for program in (train, look):
        assert program.main(["x" * 256]) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and "cannot be used: File name too long." in told


def test_an_error_of_the_system_that_names_no_file_keeps_its_traceback():
    def fail(options):
        raise ConnectionResetError(errno.ECONNRESET, "reset")

    with pytest.raises(ConnectionResetError):
        command("x", "", GROUPS, {}, fail, graph=False)([])
