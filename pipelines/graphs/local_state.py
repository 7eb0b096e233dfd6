"""Read and write the state of the local runner without a cache.

``FnApiRunner`` keeps all state in the process that runs the steps, and a cache of 100 MB beside it.
The cache saves nothing there, but it measures each value that goes into it, and a measurement walks
the globals of all modules. This took a fifth of the processor time of a run over 1,000 keys. With a
size of 0 the cache is off, as it is by default on other runners.

Remove this module when the runner has an option for the size;
``tests/pipelines/graphs/test_local_state.py`` notices when the name goes. Beam 2.77.0 needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from apache_beam.runners.portability.fn_api_runner import worker_handlers

_NAME = "STATE_CACHE_SIZE_MB"


@contextmanager
def state_uncached() -> Iterator[None]:
    """Turn the cache off for workers that live in this process."""
    before = getattr(worker_handlers, _NAME)
    setattr(worker_handlers, _NAME, 0)
    try:
        yield
    finally:
        setattr(worker_handlers, _NAME, before)
