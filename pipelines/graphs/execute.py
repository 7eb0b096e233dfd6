"""Run a graph on a runner, show progress, and print the counters at the end."""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Callable
from typing import Any

import apache_beam as beam
from apache_beam.metrics import MetricsFilter
from apache_beam.options.pipeline_options import (
    GoogleCloudOptions,
    PipelineOptions,
    StandardOptions,
)
from apache_beam.runners.runner import PipelineResult, PipelineState

from model import errors
from model.errors import BeamTopicsError
from model.interrupts import INTERRUPTS
from pipelines.cli.progress import progress
from pipelines.cli.terminal import tell
from pipelines.graphs import local_runner, refusals
from pipelines.graphs.garbage import collect_now
from transforms.constants import NAMESPACE
from transforms.event_times import PREFIX, lags
from transforms.wordless import LOST

# Beam passes a worker's exception on as text.
_OURS = re.compile(r"model\.errors\.(\w+): (.*)$", re.MULTILINE)
# An OSError that a user can resolve, as text: the disk or the user's quota is full.
_FULL = re.compile(rf"OSError: \[Errno (?:{errno.ENOSPC}|{errno.EDQUOT})\] (.*)$", re.MULTILINE)
# Beam logs an error in a step here, with its traceback, before it raises it.
_BEAM_ERRORS = logging.getLogger("apache_beam.runners.common")
# Flink raises this exception for a job that was cancelled, even after failures and restores.
_FLINK_CANCELLED = "JobCancellationException"
_NOTHING = (
    "nothing was counted: there was no record to read, or this runner keeps no counters; the dead"
    " letters hold what was refused"
)
_STEP = re.compile(r" \[while running '[^']*'\]\s*$")


def _is_unreported(record: logging.LogRecord) -> bool:
    """Return False for the traceback of an error that the command prints in one line."""
    if INTERRUPTS.asked:
        return False
    error = record.exc_info[1] if record.exc_info else None
    return error is None or own_error(error) is None


def run(
    build: Callable[[beam.Pipeline, PipelineOptions], Any],
    options: PipelineOptions,
    then: Callable[[dict[str, int]], None] = lambda counted: None,
) -> None:
    """Build a graph, run it to its end, and print the counters to standard error.

    With ``--no_wait_until_finish``, or as the main program of a Flex Template, the job is only
    submitted, and ``then`` is not called. It is not called either where another job replaced this
    one (``--update``), or where no record could be used.

    Args:
        build: builds the graph.
        options: the parsed command line.
        then: shows or checks what the job did; it gets the counters by name.

    Raises:
        RefusedInputError: the job ended, and less than half of the records could be used.
        BeamTopicsError: an option is wrong, a worker raised such an error, or the job was
            cancelled.
    """
    pipeline = beam.Pipeline(options=options)
    build(pipeline, options)
    _BEAM_ERRORS.addFilter(_is_unreported)
    collect_now()
    try:
        with local_runner.changed(), progress():
            result = pipeline.run()
            if not _waits(options) or not _ended(result):
                return
    except Exception as error:
        if (own := own_error(error)) is not None:
            raise own from error
        raise
    finally:
        _BEAM_ERRORS.removeFilter(_is_unreported)
    found = counters(result)
    listed = "  ".join(
        f"{name} {count:,}" for name, count in found.items() if not name.startswith(LOST)
    )
    tell(listed or _NOTHING)
    if behind := lags(event_times(result)):
        tell(behind)
    refused = refusals.report(result)
    if refused is None or refused.used > 0:
        then(found)
    if refused is not None:
        raise refusals.error_of(refused, options)


def _ended(result: PipelineResult) -> bool:
    """Wait for the job, and return whether it came to an end of its own.

    Beam raises an error after a drain and after an update, too.

    Raises:
        BeamTopicsError: the job was cancelled.
    """
    try:
        result.wait_until_finish()
    except Exception as error:
        if result.state == PipelineState.CANCELLED or _cancelled_on_flink(result, error):
            raise BeamTopicsError(
                "the job was cancelled. The model store is good up to its newest checkpoint;"
                " continue with --resume_from=latest."
            ) from None
        if result.state not in (PipelineState.DRAINED, PipelineState.UPDATED):
            raise
    return bool(result.state != PipelineState.UPDATED)


def _cancelled_on_flink(result: PipelineResult, error: Exception) -> bool:
    """Return whether a job that Flink's runner calls FAILED was cancelled.

    The runner names the root cause alone. For a restored job, this is the failure before the
    restore. The exceptions around it are in the job's messages, which only a private attribute has.
    """
    said = [message.message_response.message_text for message in getattr(result, "_messages", ())]
    return any(_FLINK_CANCELLED in text for text in (str(error), *said))


def _waits(options: PipelineOptions) -> bool:
    # A template's launcher takes the job from that place after the program has ended.
    return not (
        options.view_as(StandardOptions).no_wait_until_finish
        or options.view_as(GoogleCloudOptions).template_location
    )


def own_error(error: BaseException) -> BeamTopicsError | None:
    """Return the error of :mod:`model.errors` that a runner's exception reports, or None.

    The name of the step is removed from its text.
    """
    kind: type[BeamTopicsError]
    if isinstance(error, BeamTopicsError):
        kind, text = type(error), str(error)
    elif found := _OURS.findall(str(error)):
        kind, text = getattr(errors, found[-1][0], BeamTopicsError), found[-1][1]
    elif full := _FULL.findall(f"{type(error).__name__}: {error}"):
        return errors.OutputError(f"{_STEP.sub('', full[-1])}. {errors.FULL_DISK}")
    else:
        return None
    # An OptionError is made of four parts; its text is all that comes through.
    plainer = BeamTopicsError if issubclass(kind, errors.OptionError) else kind
    return plainer(_STEP.sub("", text))


def counters(result: PipelineResult) -> dict[str, int]:
    """Return this project's counters by name, added up over the steps.

    The result is empty where the runner keeps no metrics.
    """
    totals: dict[str, int] = {}
    try:
        metrics = result.metrics()
    except NotImplementedError:
        return totals
    for metric in metrics.query(MetricsFilter().with_namespace(NAMESPACE))["counters"]:
        name = metric.key.metric.name
        totals[name] = totals.get(name, 0) + (
            metric.committed if metric.committed is not None else metric.attempted
        )
    return dict(sorted(totals.items()))


def event_times(result: PipelineResult) -> dict[str, int]:
    """Return the newest event time of each stage in seconds.

    The result is empty where the runner keeps no metrics.
    """
    newest: dict[str, int] = {}
    try:
        metrics = result.metrics()
    except NotImplementedError:
        return newest
    for metric in metrics.query(MetricsFilter().with_namespace(NAMESPACE)).get("distributions", ()):
        name, found = metric.key.metric.name, metric.result
        if name.startswith(PREFIX) and found is not None and found.count:
            stage = name.removeprefix(PREFIX)
            newest[stage] = max(newest.get(stage, found.max), found.max)
    return newest
