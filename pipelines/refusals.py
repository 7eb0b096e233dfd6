"""What a run says of records that it could not use, and the exit status 3 of a run that could use less than half of them."""

from __future__ import annotations

from collections.abc import Mapping

from apache_beam.metrics import MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineResult
from rich.console import Console

from model.errors import RefusedInputError
from model.refused import UNKNOWN_KEY, Refused, refused
from model.sequencing import REPEATED_ID
from pipelines.options import RecordOptions
from pipelines.terminal import plain
from transforms.refusals import EXAMPLES
from transforms.sequence import NAMESPACE

# Reasons that stand for themselves, where there is no example.
_REMEDIES = {
    REPEATED_ID: "Several documents of one window have the same id. Name another field with --id_field, or use --id_from=place.",
    UNKNOWN_KEY: "This run has no model for their keys. Check --key_field, --model_key and --model_store.",
}


def most_refused(result: PipelineResult, counted: Mapping[str, int]) -> Refused | None:
    """What was refused, where nothing or less than half of the records could be used; None otherwise, and where nothing is counted."""
    found = refused(counted, ())
    return refused(counted, _examples(result)) if found is not None and found.is_failure else None


def report(found: Refused) -> None:
    """Print how much was refused, why, and an example, to standard error."""
    lines = [f"{found.share} records could not be used. The most frequent reason is {found.reason} ({found.count:,}):"]
    if found.example is not None:
        lines += [f"  {found.example.source}: {found.example.detail}", f"  {found.example.record}"]
    else:
        lines.append(f"  {_REMEDIES.get(found.reason, 'This runner hands on no example; the dead letters have them all.')}")
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(plain(line))


def error_of(found: Refused, options: PipelineOptions) -> RefusedInputError:
    """The error that ends such a run."""
    folder = options.view_as(RecordOptions).dead_letters
    if found.used <= 0:
        said = "no record could be used (see above), so nothing was learned or written from this input."
    else:
        said = "less than half of the records could be used (see above). What was learned and written from them stays."
    return RefusedInputError(f"{said} Each record that was refused is in {folder}, with its reason.")


def _examples(result: PipelineResult) -> set[str]:
    """Examples of what was refused; none where the runner keeps no metrics of strings."""
    try:
        found = result.metrics().query(MetricsFilter().with_namespace(NAMESPACE).with_name(EXAMPLES))
    except NotImplementedError:
        return set()
    return {text for metric in found.get("string_sets", ()) for text in metric.result or ()}
