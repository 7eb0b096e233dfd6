r"""Run a piece of Python in a process with limits on its time and memory, so that it may crash.

limited("print(1 + 1)", b"") -> "2\n"
"""

import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
MEGABYTE = 2**20


def limited(code, data=b"", arguments=(), seconds=30, megabytes=1500):
    """What the code prints; ``data`` is its standard input.

    The limits are of its processor time, and of its address space, which is larger than its memory:
        the libraries alone take some hundreds.
    """

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * MEGABYTE, megabytes * MEGABYTE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command,
        input=data,
        capture_output=True,
        cwd=ROOT,
        preexec_fn=limit,
        timeout=20 * seconds,
        check=False,
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr.decode()[-2000:]}"
    return done.stdout.decode()
