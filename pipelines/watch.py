"""Train a model, label its documents, and serve its page from the first version on.

``beam-topics watch data.csv``

It takes the options of ``train``, ``--alerts``, and those of the service. Where the model store is
the folder ``models`` of this machine, a process of its own runs ``stream``, which labels too: it
writes ``mixtures``, ``trends`` and ``events`` next to the store, and the page shows the last window
of them. Elsewhere the process runs ``train``.

Labels cost more than half of what training does (``docs/results/serving.md``), of which the labels
themselves are a third, and rows, bursts and stories the rest: fewer sweeps save nothing. Those of
files are made when all versions are published, so no version waits for them.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import BeamTopicsError, InterruptedRunError
from beam_topics.model.times import duration_text
from beam_topics.pipelines import train
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.arguments import labels_beside
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import Options, names_of, settings_of
from beam_topics.pipelines.cli.invocation import shown, started_by
from beam_topics.pipelines.cli.looking import inform
from beam_topics.pipelines.graphs.sources import is_log
from beam_topics.pipelines.serve import listening, models_of, server_of

if TYPE_CHECKING:
    import uvicorn

GROUPS = (*train.GROUPS, group.AlertOptions, group.ServiceOptions)
# New versions are looked for after so many seconds.
POLL = 1.0
_ENDS = (signal.SIGTERM, signal.SIGHUP)


def watch(options: Options) -> None:
    """Train and serve until the process is told to end, or training fails.

    Raises:
        SystemExit: Training failed, and has said why; the status is its own.
        BeamTopicsError: A signal ended training.
    """
    models = models_of(options)
    with listening(options, "watch") as place, training(options) as child:
        server = server_of(models, options, POLL)
        # In the context of this thread, which has the name of the command.
        after = (_wait, child, options, server)
        threading.Thread(target=copy_context().run, args=after, daemon=True).start()
        server.run([place])
        if (status := child.wait()) < 0:
            raise BeamTopicsError(f"training was ended by {signal.Signals(-status).name}")
        raise SystemExit(status)


@contextmanager
def training(options: Options) -> Iterator[subprocess.Popen[bytes]]:
    """Train in a process that gets no signal of the terminal; it is interrupted at the end."""
    # None of them comes between the start of the process and what ends it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, *_ENDS))
    line = [sys.executable, "-m", "beam_topics", *line_of(options)]
    environment = started_by("watch", options.line)
    child = subprocess.Popen(line, process_group=0, preexec_fn=_hear_interrupts, env=environment)
    try:
        for number in _ENDS:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield child
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)
        if child.wait() == InterruptedRunError.exit_status:
            # It has said what is kept and how to go on, which depends on how far it came.
            raise InterruptedRunError(
                "interrupted. The page has ended with its training."
            ) from None
        raise
    finally:
        child.send_signal(signal.SIGINT)
        child.wait()


def _hear_interrupts() -> None:
    """Hear SIGINT in the child, also where a shell has started this process with an ``&``."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def line_of(options: Options) -> list[str]:
    """Return the program that trains, and its command line."""
    own = {f"--{name}" for name in names_of([group.ServiceOptions])}
    line = [one for one in options.argv if one.partition("=")[0] not in own]
    found = labels_beside(options.model_store)
    if not found:
        return ["train", *line]
    window = max(settings_of(options, SequenceSettings).window, group.LEAST_WINDOW)
    found["trends_window"] = duration_text(window)
    if is_log(options.source):
        # Without it, each bundle of a stream would have a file.
        found["file_period"] = duration_text(window)
    chosen = {name: value for name, value in found.items() if options.get(name) is None}
    return ["stream", *line, *(f"--{name}={value}" for name, value in chosen.items())]


def _wait(child: subprocess.Popen[bytes], options: Options, server: uvicorn.Server) -> None:
    """Say when training has ended; where it failed, end the server."""
    if child.wait():
        server.should_exit = True
    elif not server.should_exit:
        options.ended()
        inform(f"{shown('watch')}: training has ended; the page stays until Ctrl-C")


main = command("watch", __doc__, GROUPS, train.REQUIRED, watch, graph=False)

if __name__ == "__main__":
    sys.exit(main())
