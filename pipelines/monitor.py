"""Watch a model store: metrics for Prometheus, and a line a minute.

``beam-topics monitor --model_store=models --dead_letters=dead``

It reads the store alone, so it works with every runner and any job, and it writes nothing.
``GET /metrics`` is on 127.0.0.1 unless ``--host`` names another address. It has no passwords and no
encryption.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from beam_topics.model.errors import BeamTopicsError, OptionError
from beam_topics.model.files import is_local
from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.model.reporting.escaping import harmless
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import Options, settings_of

if TYPE_CHECKING:
    from beam_topics.pipelines.monitoring import Monitor

# Seconds between two readings.
EVERY = 60.0

GROUPS = (group.StoreOptions, group.MonitorOptions)
REQUIRED = {"model_store": "models"}


def monitor(options: Options) -> None:
    """Read, serve and print until the process is told to end."""
    if importlib.util.find_spec("prometheus_client") is None:
        missing = "monitor needs prometheus_client. Run: pip install 'beam-topics[serve]'"
        raise BeamTopicsError(missing)
    from beam_topics.pipelines.monitoring import Monitor

    where = settings_of(options, StoreSettings)
    root = where.root
    if is_local(root) and not Path(root).exists():
        remedy = f"Correct the path; where the job has not begun: mkdir {quote(root)}"
        raise OptionError("--model_store", root, "a folder that is there", remedy)
    wanted = settings_of(options, group.MonitorSettings)
    folders = {"dead_letters": wanted.dead_letters, "trends": wanted.trends or ""}
    made = Monitor(root, trust=where.trust, **folders)
    wrong = made.read(_now())
    for name, folder in folders.items():
        if folder and is_local(folder) and not Path(folder).exists():
            wrong.append(f"--{name}: {folder} is not there yet")
    with listening(made, wanted.host, wanted.port):
        while True:
            print(made.line(_now()), flush=True)
            for one in wrong:
                print(harmless(one), file=sys.stderr)
            _wait(EVERY)
            try:
                wrong = made.read(_now())
            except (BeamTopicsError, OSError) as error:
                # It may be read later.
                made.failed()
                wrong = [str(error)]


@contextmanager
def listening(made: Monitor, host: str, port: int) -> Iterator[int]:
    """Answer requests for the figures in threads; yields the port.

    Raises:
        OptionError: The address cannot be listened on.
    """
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(port, host, made.registry)
    except (OSError, UnicodeError) as error:
        remedy = f"The system says: {error}. Name another one, or another --host than {host}."
        raise OptionError("--port", port, "a port that is free", remedy) from error
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _now() -> int:
    return time.time_ns() // 1000


_wait = time.sleep

_ENDED = "The figures have ended."
main = command("monitor", __doc__, GROUPS, REQUIRED, monitor, graph=False, ended=_ENDED)

if __name__ == "__main__":
    sys.exit(main())
