"""Run a graph on a runner, show progress, and print the counters at the end.

A run that could use less than half of its records says which were refused, and why, and ends with
status 3. Two things of the local runner are changed while it runs (:func:`changed`).

After each bundle ``FnApiRunner`` merges the bundle's metrics with those so far, by
``apache_beam.metrics.monitoring_infos.consolidate``. This function is a generator. Each bundle
wraps that of the bundle before it, and reading the counters after about 1,000 bundles ends in a
``RecursionError``. So the runner's reference to the function is replaced by one that adds up at
once.

The runner keeps all state in the process that runs the steps. Its cache of 100 MB saves nothing
there, and measures each value that goes into it, in a fifth of the processor time of a run over
1,000 keys. With a size of 0 the cache is off.

Beam 2.77.0 needs both; ``tests/pipelines/graphs/test_local_runner.py`` notices when it does not.
"""

from __future__ import annotations

import errno
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.metrics import MetricsFilter, monitoring_infos
from apache_beam.runners.portability.fn_api_runner import fn_runner, worker_handlers
from apache_beam.runners.runner import PipelineResult, PipelineState

from beam_topics.model import errors
from beam_topics.model.documents.sequencing import REPEATED_ID
from beam_topics.model.errors import BeamTopicsError, RefusedInputError
from beam_topics.model.interrupts import INTERRUPTS
from beam_topics.model.reading.parsing import SCHEMA
from beam_topics.model.reading.refused import (
    UNKNOWN_KEY,
    Example,
    Refused,
    first_example,
    most_refused,
)
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import OutputFileSettings
from beam_topics.pipelines.cli.progress import progress
from beam_topics.pipelines.cli.terminal import tell
from beam_topics.pipelines.graphs.memory import collect_now
from beam_topics.transforms.shared import EXAMPLES, LOST, NAMESPACE, PREFIX, lags


def consolidated(metrics: Iterable[Any]) -> list[Any]:
    """Return the metrics, with those that have one key added up."""
    return list(monitoring_infos.consolidate(metrics))


@contextmanager
def changed() -> Iterator[None]:
    """Add up the metrics of each bundle when it ends, and keep no cache of state."""
    metrics = fn_runner.consolidate_monitoring_infos
    size = worker_handlers.STATE_CACHE_SIZE_MB
    fn_runner.consolidate_monitoring_infos = consolidated
    worker_handlers.STATE_CACHE_SIZE_MB = 0
    try:
        yield
    finally:
        fn_runner.consolidate_monitoring_infos = metrics
        worker_handlers.STATE_CACHE_SIZE_MB = size


# Reasons that stand for themselves, where there is no example.
_NO_EXAMPLE = "This runner passes on no example; the dead letters hold all records."
_REMEDIES = {
    REPEATED_ID: (
        "Several documents of one window have the same id and other texts. Name another field with"
        " --id_field, use --id_from=place, or learn the newest of each with --on_repeat=last."
    ),
    UNKNOWN_KEY: (
        "This run has no model for their keys. Check --key_field, --model_key and --model_store."
    ),
}


def report(metrics: Metrics) -> Refused | None:
    """Print what was refused: most records of the run or of one of its inputs, or whole files.

    Returns:
        What was refused, if nothing or less than half could be used; otherwise, and where the
        runner keeps no counters, None.
    """
    counted, examples = metrics.counters, metrics.examples
    lines: list[str] = []
    if (found := most_refused(counted, examples)) is not None:
        lines = _most(found)
    elif files := sum(counters.get(f"dead_{SCHEMA}", 0) for counters in counted.values()):
        example = first_example(SCHEMA, [text for each in examples.values() for text in each])
        lines = [f"Files that were refused as a whole: {files:,}.", *_shown(example)]
    for line in lines:
        tell(line)
    return found


def error_of(found: Refused, options: Options) -> RefusedInputError:
    """Return the error that ends such a run."""
    folder = settings_of(options, OutputFileSettings).dead_letters
    if found.used <= 0:
        said = (
            "no record could be used (see above), so nothing was learned or written from this"
            " input."
        )
    else:
        said = (
            "less than half of the records could be used (see above). What was learned and written"
            " from them stays."
        )
    return RefusedInputError(
        f"{said} Each record that was refused is in {folder}, with its reason."
    )


def _most(found: Refused) -> list[str]:
    said = (
        f"{found.share} records could not be used. The most frequent reason is {found.reason}"
        f" ({found.count:,}):"
    )
    remedy = _REMEDIES.get(found.reason)
    example = [] if remedy and found.example is None else _shown(found.example)
    return [said, *example, *([f"  {remedy}"] if remedy else [])]


def _shown(example: Example | None) -> list[str]:
    if example is None:
        return [f"  {_NO_EXAMPLE}"]
    return [f"  {example.source}: {example.detail}", f"  {example.record}"]


class Metrics(NamedTuple):
    """What this project measured in a job; nothing where the runner keeps no metrics.

    Attributes:
        counters: By step and name.
        examples: Of refused records, by step.
        newest: The newest event time of each stage, in seconds.
    """

    counters: dict[str, dict[str, int]]
    examples: dict[str, set[str]]
    newest: dict[str, int]

    def totals(self) -> dict[str, int]:
        """Return the counters by name, added up over the steps."""
        totals: Counter[str] = Counter()
        for counted in self.counters.values():
            totals.update(counted)
        return dict(sorted(totals.items()))


def metrics_of(result: PipelineResult) -> Metrics:
    """Return the metrics of a job."""
    made = Metrics(defaultdict(dict), defaultdict(set), {})
    try:
        found = result.metrics().query(MetricsFilter().with_namespace(NAMESPACE))
    except NotImplementedError:
        return made
    for metric in found.get("counters", ()):
        made.counters[metric.key.step][metric.key.metric.name] = metric.result
    for metric in found.get("string_sets", ()):
        if metric.key.metric.name == EXAMPLES:
            made.examples[metric.key.step].update(metric.result or ())
    for metric in found.get("distributions", ()):
        name, measured = metric.key.metric.name, metric.result
        if name.startswith(PREFIX) and measured is not None and measured.count:
            stage = name.removeprefix(PREFIX)
            made.newest[stage] = max(made.newest.get(stage, measured.max), measured.max)
    return made


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
    build: Callable[[beam.Pipeline, Options], Any],
    options: Options,
    then: Callable[[dict[str, int]], None] = lambda counted: None,
) -> None:
    """Build a graph, run it to its end, and print the counters to standard error.

    ``then`` is not called where the job is only submitted (``--no_wait_until_finish``, or the main
    program of a Flex Template), where another job replaced it (``--update``), or where no record
    could be used.

    Raises:
        RefusedInputError: the job ended, and less than half of the records could be used.
        BeamTopicsError: an option is wrong, a worker raised such an error, or the job was
            cancelled.
    """
    pipeline = beam.Pipeline(options=options.beam)
    build(pipeline, options)
    _BEAM_ERRORS.addFilter(_is_unreported)
    collect_now()
    try:
        with changed(), progress():
            result = pipeline.run()
            # A template's launcher takes the job from that place after the program has ended.
            leaves = options.no_wait_until_finish or options.template_location
            if leaves or not _ended(result):
                return
    except Exception as error:
        if (own := own_error(error)) is not None:
            raise own from error
        raise
    finally:
        _BEAM_ERRORS.removeFilter(_is_unreported)
    metrics = metrics_of(result)
    found = metrics.totals()
    listed = "  ".join(
        f"{name} {count:,}" for name, count in found.items() if not name.startswith(LOST)
    )
    tell(listed or _NOTHING)
    # The order of the records is no time.
    if options.get("time_from") != "order" and (line := lags(metrics.newest)):
        tell(line)
    refused = report(metrics)
    if refused is None or refused.used > 0:
        then(found)
    if refused is not None:
        raise error_of(refused, options)


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


def own_error(error: BaseException) -> BeamTopicsError | None:
    """Return the error of :mod:`beam_topics.model.errors` that an exception reports, if any.

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
