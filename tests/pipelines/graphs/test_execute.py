import logging
from types import SimpleNamespace

import apache_beam as beam
import pytest
from given import given_by

from beam_topics.model.errors import BeamTopicsError, DivergedError, OptionError, OutputError
from beam_topics.pipelines.graphs.execute import own_error, run


def ran(build, options):
    """The counters that a run hands on; None where it hands on nothing."""
    seen = []
    run(build, options, seen.append)
    return seen[0] if seen else None


def test_our_own_error_stays_what_it_is():
    error = own_error(DivergedError("bits [while running 'Learn/Learn']"))
    assert type(error) is DivergedError
    assert str(error) == "bits"


def test_an_error_that_a_runner_hands_on_as_text_is_found_again():
    text = (
        "Traceback (most recent call last):\n  File x\nmodel.errors.DivergedError: other bits"
        " [while running 'Learn/Learn']\n"
    )
    error = own_error(RuntimeError(text))
    assert type(error) is DivergedError
    assert str(error) == "other bits"


def test_an_option_error_comes_back_as_its_text():
    error = own_error(
        RuntimeError(
            "beam_topics.model.errors.OptionError: --resume_from: '9' was given; allowed is 3."
        )
    )
    assert type(error) is BeamTopicsError
    assert str(error).startswith("--resume_from: '9' was given")


def test_an_error_of_others_is_not_ours():
    assert own_error(ValueError("no")) is None


def test_nothing_is_left_behind_when_a_graph_cannot_be_built():
    def build(pipeline, options):
        raise OptionError("--x", 1, "2", "Do.")

    logger = logging.getLogger("apache_beam.runners.common")
    before = list(logger.filters)
    with pytest.raises(OptionError):
        run(build, given_by())
    assert logger.filters == before


@pytest.mark.parametrize("flag", ["--no_wait_until_finish", "--template_location=gs://bucket/job"])
def test_a_job_that_is_only_submitted_is_not_waited_for(monkeypatch, flag):
    """A result without anything: to wait, or to ask for counters, would be an error."""
    monkeypatch.setattr(beam.Pipeline, "run", lambda pipeline: SimpleNamespace())
    assert ran(lambda pipeline, options: None, given_by("--runner=FnApiRunner", flag)) is None


def test_a_runner_without_metrics():
    class Result(beam.runners.runner.PipelineResult):
        def wait_until_finish(self, duration=None):
            self._state = "DONE"

    result = Result("RUNNING")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beam.Pipeline, "run", lambda pipeline: result)
        assert ran(lambda pipeline, options: None, given_by("--runner=FnApiRunner")) == {}
    assert result.state == "DONE"


def test_a_run_without_a_record_says_so(capsys):
    assert (
        ran(
            lambda pipeline, options: pipeline | beam.Create([]),
            given_by("--runner=FnApiRunner"),
        )
        == {}
    )
    assert "nothing was counted: there was no record to read" in capsys.readouterr().err


class Ended(beam.runners.runner.PipelineResult):
    """A job on a runner that raises for every end but one."""

    def wait_until_finish(self, duration=None):
        raise RuntimeError(f"Pipeline failed. State: {self._state}")


@pytest.mark.parametrize(("state", "found"), [("DRAINED", {}), ("UPDATED", None)])
def test_a_job_that_was_drained_or_replaced_did_not_fail(monkeypatch, state, found):
    monkeypatch.setattr(beam.Pipeline, "run", lambda pipeline: Ended(state))
    assert ran(lambda pipeline, options: None, given_by("--runner=FnApiRunner")) == found


def test_a_job_that_was_cancelled_says_how_to_go_on(monkeypatch):
    monkeypatch.setattr(beam.Pipeline, "run", lambda pipeline: Ended("CANCELLED"))
    with pytest.raises(
        BeamTopicsError, match=r"the job was cancelled\. .* continue with --resume_from=latest"
    ):
        run(lambda pipeline, options: None, given_by("--runner=FnApiRunner"))


def test_a_job_that_failed_fails(monkeypatch):
    monkeypatch.setattr(beam.Pipeline, "run", lambda pipeline: Ended("FAILED"))
    with pytest.raises(RuntimeError, match="State: FAILED"):
        run(lambda pipeline, options: None, given_by("--runner=FnApiRunner"))


CANCELLED_ON_FLINK = "org.apache.flink.runtime.client.JobCancellationException: Job was cancelled."
TOLD_ALL = f"Caused by: {CANCELLED_ON_FLINK}\nCaused by: java.lang.Exception: task manager was lost"


class OnFlink(Ended):
    """A job that FAILED for its root cause, with all exceptions in its messages."""

    def __init__(self, cause, told):
        super().__init__("FAILED")
        self._cause = cause
        self._messages = [
            SimpleNamespace(message_response=SimpleNamespace(message_text=text)) for text in told
        ]

    def wait_until_finish(self, duration=None):
        raise RuntimeError(f"Pipeline failed in state FAILED: {self._cause}")


@pytest.mark.parametrize(
    ("cause", "told"),
    [(CANCELLED_ON_FLINK, []), ("java.lang.Exception: task manager was lost", ["", TOLD_ALL])],
)
def test_a_job_that_was_cancelled_on_flink_was_cancelled_also_after_it_had_been_restored(
    monkeypatch, cause, told
):
    monkeypatch.setattr(beam.Pipeline, "run", lambda pipeline: OnFlink(cause, told))
    with pytest.raises(
        BeamTopicsError, match=r"the job was cancelled\. .* continue with --resume_from=latest"
    ):
        run(lambda pipeline, options: None, given_by("--runner=FnApiRunner"))


def test_a_job_that_failed_on_flink_failed(monkeypatch):
    monkeypatch.setattr(
        beam.Pipeline,
        "run",
        lambda pipeline: OnFlink("java.lang.Exception: lost", ["java.lang.Exception: lost"]),
    )
    with pytest.raises(RuntimeError, match="lost"):
        run(lambda pipeline, options: None, given_by("--runner=FnApiRunner"))


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "error",
    [FULL, RuntimeError(f"Traceback\nOSError: {FULL} [while running 'Write figures/Write']\n")],
)
def test_a_full_disk_is_told_in_one_line(error):
    found = own_error(error)
    assert type(found) is OutputError
    assert (
        str(found)
        == "No space left on device. Free some space, or give another folder, and run again."
    )
    assert own_error(OSError(5, "Input/output error")) is None


def failing(error):
    def fail(element):
        raise error

    return lambda pipeline, options: pipeline | beam.Create([1]) | beam.Map(fail)


@pytest.mark.parametrize(
    ("error", "logged"), [(OptionError("--x", 1, "2", "Do."), 0), (ZeroDivisionError("ours"), 1)]
)
def test_beam_logs_no_traceback_of_what_the_command_tells(caplog, error, logged):
    with pytest.raises((BeamTopicsError, ZeroDivisionError, RuntimeError)):
        run(failing(error), given_by("--runner=FnApiRunner"))
    assert (
        len([record for record in caplog.records if record.name == "apache_beam.runners.common"])
        == logged
    )
