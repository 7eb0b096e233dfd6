"""Servers as processes, with their output in a file and a deadline for their start.

All processes that a server started end with it.

    with Server("broker", ["java", "-jar", "broker.jar"], tmp_path) as broker:
        run_until(lambda: "ready" in broker.output(), 30, "the broker's start", broker)
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

_POLL = 0.1
# Where Linux has it: what a killed test run leaves behind would keep the machine busy.
_DIE_WITH_US = [shutil.which("setpriv"), "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
_SHOWN = 3000


class Server:
    """A process in a session of its own; ``folder/<name>.log`` has what it says."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.name, self.log = name, folder / f"{name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*_DIE_WITH_US, *command],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the process itself lives."""
        return self.process.poll() is None

    def output(self) -> str:
        """All that it has said."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """End it and all that it started, without a chance to say good-bye."""
        self._signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, seconds: float = 10) -> None:
        """Ask it to end; then make it."""
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        self.kill()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


def run_until(check: Callable[[], Any], seconds: float, what: str, *servers: Server) -> Any:
    """Call ``check`` until its result is true, and return the result; an OSError means: not yet.

    Raises:
        AssertionError: the time is over, or one of the servers ended before.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(OSError):
            if found := check():
                return found
        for server in servers:
            if not server.running:
                raise AssertionError(
                    f"{server.name} ended with {server.process.returncode} before"
                    f" {what}:\n{server.output()[-_SHOWN:]}"
                )
        time.sleep(_POLL)
    said = "\n".join(f"{server.name}: {server.output()[-_SHOWN:]}" for server in servers)
    raise AssertionError(f"{what} did not come within {seconds} s\n{said}")


def free_port() -> int:
    """A port of this machine that nobody listens on at the moment."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def listening(port: int) -> bool:
    """Whether somebody accepts connections there."""
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0
