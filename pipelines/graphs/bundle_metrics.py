"""Keep the counters of the local runner usable after any number of bundles.

After each bundle ``FnApiRunner`` merges the bundle's metrics with those so far, by
``apache_beam.metrics.monitoring_infos.consolidate``. This function is a generator. Each bundle
wraps the generator of the bundle before it, and nothing is added up until the counters are read.
After about 1,000 bundles reading them ends in a ``RecursionError``. This module replaces the
runner's reference to the function by one that adds up at once.

Remove this module when Beam adds up by itself;
``tests/pipelines/graphs/test_bundle_metrics.py`` notices this. Beam 2.77.0 needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from apache_beam.metrics import monitoring_infos
from apache_beam.runners.portability.fn_api_runner import fn_runner

# The name under which the runner imports the function.
_NAME = "consolidate_monitoring_infos"


def consolidated(metrics: Iterable[Any]) -> list[Any]:
    """Return the metrics, with those that have one key added up."""
    return list(monitoring_infos.consolidate(metrics))


@contextmanager
def metrics_consolidated() -> Iterator[None]:
    """Make the local runner add up the metrics of each bundle when the bundle ends."""
    before = getattr(fn_runner, _NAME)
    setattr(fn_runner, _NAME, consolidated)
    try:
        yield
    finally:
        setattr(fn_runner, _NAME, before)
