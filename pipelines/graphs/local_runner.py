"""Change two things of the local runner while it runs: its metrics, and its cache of state.

After each bundle ``FnApiRunner`` merges the bundle's metrics with those so far, by
``apache_beam.metrics.monitoring_infos.consolidate``. This function is a generator. Each bundle
wraps the generator of the bundle before it, and nothing is added up until the counters are read.
After about 1,000 bundles reading them ends in a ``RecursionError``. So the runner's reference to
the function is replaced by one that adds up at once.

The runner keeps all state in the process that runs the steps, and a cache of 100 MB beside it. The
cache saves nothing there, but it measures each value that goes into it, and a measurement walks the
globals of all modules. This took a fifth of the processor time of a run over 1,000 keys. With a
size of 0 the cache is off, as it is by default on other runners.

Beam 2.77.0 needs both; ``tests/pipelines/graphs/test_local_runner.py`` notices when it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from apache_beam.metrics import monitoring_infos
from apache_beam.runners.portability.fn_api_runner import fn_runner, worker_handlers


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
