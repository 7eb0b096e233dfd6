"""The report on records that could not be used.

A run that could use less than half of its records ends with status 3.
"""

from __future__ import annotations

from collections import defaultdict

from apache_beam.metrics import MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineResult

from model.errors import RefusedInputError
from model.reading.parsing import SCHEMA
from model.reading.refused import UNKNOWN_KEY, Example, Refused, first_example, most_refused
from model.sequencing import REPEATED_ID
from pipelines.cli.program_settings import OutputFileSettings
from pipelines.cli.settings_options import settings_of
from pipelines.cli.terminal import tell
from transforms.constants import NAMESPACE
from transforms.refusals import EXAMPLES

# Reasons that stand for themselves, where there is no example.
_NO_EXAMPLE = "This runner passes on no example; the dead letters hold all records."
_REMEDIES = {
    REPEATED_ID: (
        "Several documents of one window have the same id. Name another field with --id_field, or"
        " use --id_from=place."
    ),
    UNKNOWN_KEY: (
        "This run has no model for their keys. Check --key_field, --model_key and --model_store."
    ),
}


def report(result: PipelineResult) -> Refused | None:
    """Print to standard error what was refused.

    This is most of the records of the run or of one of its inputs, or whole files.

    Returns:
        What was refused, if nothing or less than half could be used; otherwise, and where the
        runner keeps no counters, None.
    """
    counted, examples = _metrics(result)
    lines: list[str] = []
    if (found := most_refused(counted, examples)) is not None:
        lines = _most(found)
    elif files := sum(counters.get(f"dead_{SCHEMA}", 0) for counters in counted.values()):
        example = first_example(SCHEMA, [text for each in examples.values() for text in each])
        lines = [f"Files that were refused as a whole: {files:,}.", *_shown(example, _NO_EXAMPLE)]
    for line in lines:
        tell(line)
    return found


def error_of(found: Refused, options: PipelineOptions) -> RefusedInputError:
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
    return [said, *_shown(found.example, _REMEDIES.get(found.reason, _NO_EXAMPLE))]


def _shown(example: Example | None, otherwise: str) -> list[str]:
    return (
        [f"  {otherwise}"]
        if example is None
        else [f"  {example.source}: {example.detail}", f"  {example.record}"]
    )


def _metrics(result: PipelineResult) -> tuple[dict[str, dict[str, int]], dict[str, set[str]]]:
    """Return this project's counters by step and name, and examples by step.

    Both are empty where the runner keeps no such metrics.
    """
    counted: dict[str, dict[str, int]] = defaultdict(dict)
    examples: dict[str, set[str]] = defaultdict(set)
    try:
        found = result.metrics().query(MetricsFilter().with_namespace(NAMESPACE))
    except NotImplementedError:
        return counted, examples
    for metric in found["counters"]:
        counted[metric.key.step][metric.key.metric.name] = metric.result
    for metric in found.get("string_sets", ()):
        if metric.key.metric.name == EXAMPLES:
            examples[metric.key.step] |= metric.result or set()
    return counted, examples
