"""The command line of a pipeline.

Every option is checked before anything starts, and each error is one line.

>>> from beam_topics.pipelines.cli.options import StoreOptions
>>> required = {"model_store": "models"}
>>> run = lambda options: None
>>> main = command("x", "What it does.", [StoreOptions], required, run)
>>> main(["--model_store=models"])
0

An unknown option is refused with the nearest spelling. Beam would only warn of it, and a misspelt
``--topisc=20`` would learn 50 topics. The first Ctrl-C ends a program after the step under way, a
second one at once. A program that was interrupted says what is kept, and the command that goes on.
"""

from __future__ import annotations

import argparse
import ctypes
import difflib
import importlib
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from beam_topics.model.errors import BeamTopicsError, InterruptedRunError
from beam_topics.model.interrupts import INTERRUPTS
from beam_topics.model.words.functions import allow
from beam_topics.pipelines.cli.arguments import all_groups, arranged
from beam_topics.pipelines.cli.groups import (
    Groups,
    Options,
    Parser,
    UsageError,
    check_settings,
    names_of,
)
from beam_topics.pipelines.cli.help import ALL, help_text
from beam_topics.pipelines.cli.invocation import quiet_pipes, shown, started
from beam_topics.pipelines.cli.option_files import ConfigOptions
from beam_topics.pipelines.graphs.memory import (
    collect_now,
    collected_later,
    end_uncollected,
    limit_malloc,
)
from beam_topics.pipelines.graphs.runners import check_name, check_outputs, complete, is_local

_STAYS = "interrupted. What was written stays."


@contextmanager
def interruptible(ended: str = "") -> Iterator[None]:
    """Turn an interrupt into an error of this project.

    Where the caller handles signals, or this is not the main thread, nothing is changed.

    Args:
        ended: What is said of a program that only an interrupt ends; "" for any other one, which
            an interrupt keeps from its end.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        # The system takes the second one, because Python handles none while a kernel runs.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        INTERRUPTS.ask()

    signal.signal(signal.SIGINT, interrupt)
    _handle_once()
    try:
        yield
    except InterruptedRunError:
        raise
    except BaseException as error:
        # Beam passes an interrupt on as an error of its own.
        if INTERRUPTS.asked:
            said = (f"interrupted. {ended}", None) if ended else (_STAYS, ())
            raise InterruptedRunError(*said) from error
        raise
    finally:
        INTERRUPTS.asked = False
        signal.signal(signal.SIGINT, signal.default_int_handler)


# SA_RESETHAND of Linux, and struct sigaction there: handler, mask, flags, restorer.
_RESET, _FLAGS, _SIZE = 0x80000000, 136, 152


def _handle_once() -> None:
    """Let the system end the process at the second interrupt, before Python has seen the first.

    Python counts no signals: two that come while a kernel runs would be one. Elsewhere than on
    Linux the second one counts from when Python sees the first.
    """
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return
    action, system = ctypes.create_string_buffer(_SIZE), ctypes.CDLL(None)
    if system.sigaction(signal.SIGINT, None, action) == 0:
        flags = ctypes.c_uint32.from_buffer(action, _FLAGS)
        flags.value |= _RESET
        system.sigaction(signal.SIGINT, action, None)


def _check_text(argv: Sequence[str]) -> None:
    """Refuse arguments that are no text.

    Raises:
        UsageError: one has bytes that are not of the encoding of this machine.
    """
    for one in argv:
        if any("\ud800" <= character <= "\udfff" for character in one):
            name = one.partition("=")[0] if one.startswith("--") and "=" in one else "an argument"
            raise UsageError(
                f"{name}: {(one.partition('=')[2] or one)!r} was given; allowed is text in UTF-8."
                " Type it anew; rename a file whose name is none."
            )


def how_to_go_on(error: InterruptedRunError, start: str, argv: Sequence[str]) -> str:
    """Return the command that goes on, or begins again, as the end of a message."""
    if error.again is None:
        return ""
    names = [one.partition("=")[0] for one in error.again]
    # The value of such an option may be an argument of its own.
    valued = [one.partition("=")[0] for one in error.again if "=" in one]
    given = [
        one
        for at, one in enumerate(argv)
        if one.partition("=")[0] not in names and (not at or argv[at - 1] not in valued)
    ]
    return f" To go on: {start} {shlex.join([*given, *error.again])}"


_BEAM_OPTIONS = (
    "Beam's own options may be given too: --runner (default: this machine), --streaming,"
    " --direct_num_workers, ..."
)


class _Help(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34, width=132)


def parser_for(
    prog: str, description: str, groups: Groups, required: Mapping[str, str]
) -> argparse.ArgumentParser:
    """Make a parser of a program's groups."""
    usage = " ".join([shown(prog), *(f"--{name}=..." for name in required), "[options]"])
    if required and {"learner", "input"} <= set(names_of(groups)) - set(required):
        usage = f"{shown(prog)} data.csv [options]\n       {usage}"
    parser = Parser(
        prog=shown(prog),
        usage=usage,
        description=description,
        epilog=_BEAM_OPTIONS,
        formatter_class=_Help,
        allow_abbrev=False,
        add_help=False,
    )
    for group in (*groups, ConfigOptions):
        group.add(parser)
    parser.add_argument("-h", "--help", nargs="?", const="", choices=("", ALL))
    return parser


def parse(
    argv: Sequence[str],
    prog: str,
    description: str,
    groups: Groups,
    required: Mapping[str, str],
    *,
    graph: bool = True,
) -> Options:
    """Parse a command line into checked options.

    Beam is imported where the program runs a graph, and to tell what an unknown option means.

    Raises:
        UsageError: an unknown option, a value of the wrong form, or a missing option.
        OptionError: an unknown runner, options that the runner cannot work with, or a path on a
            file system that is not installed.
    """
    parser = parser_for(prog, description, groups, required)
    options, unknown = parser.parse_known_args(list(argv), Options())
    if options.help is not None:
        print(help_text(parser, (*groups, ConfigOptions), options, required))
        raise SystemExit(0)
    if graph or unknown:
        options = _parsed_with_beam(argv, parser, prog, required)
    else:
        _check_required(options, prog, required)
    check_settings(options, groups)
    allow(options.get("tokeniser"))
    options.argv = tuple(argv)
    return options


def _parsed_with_beam(
    argv: Sequence[str],
    parser: argparse.ArgumentParser,
    prog: str,
    required: Mapping[str, str],
) -> Options:
    """Parse a command line that may have Beam's options."""
    from apache_beam.options.pipeline_options import PipelineOptions

    from beam_topics.pipelines.graphs.beam_options import add_beam_options

    add_beam_options(parser)
    given, unknown = parser.parse_known_args(list(argv), Options())
    check_name(given.runner)
    _refuse_unknown(unknown, parser, prog, given.runner)
    _check_required(given, prog, required)
    check_outputs(vars(given), is_local(given.runner))
    completed = complete(argv, given)
    options, _ = parser.parse_known_args(completed, Options())
    options.beam = PipelineOptions(completed)
    return options


def _check_required(given: argparse.Namespace, prog: str, required: Mapping[str, str]) -> None:
    for name, example in required.items():
        if getattr(given, name) in (None, ""):
            place = "data.csv" if hasattr(given, "learner") else "data.topics"
            # What stands for all folders of a run (pipelines.cli.arguments).
            short = f", or {shown(prog)} {place}" if name == "model_store" else ""
            if name == "rows":
                short = f", which {shown('infer')} data.topics --trends=trends writes"
            raise UsageError(
                f"--{name} is missing. Give it, for example --{name}={example}{short};"
                f" {shown(prog)} --help=all shows all options."
            )


def _refuse_unknown(
    unknown: Sequence[str], parser: argparse.ArgumentParser, prog: str, runner: str | None
) -> None:
    flags = [flag for action in parser._actions for flag in action.option_strings]
    for given in unknown:
        flag = given.partition("=")[0]
        # No runner has an option of such a name.
        if flag.startswith("--") and flag[2:] in names_of(all_groups()):
            raise UsageError(
                f"{given}: {shown(prog)} has no such option, only other commands have. Leave it"
                " out, or run one of those."
            )
        near = difflib.get_close_matches(flag, flags, 1, 0.8)
        # Flink and others have options of their own, which only their job server knows.
        if is_local(runner) or near or not flag.startswith("--"):
            # Its plural comes first, and an option whose last word this is before one spelt alike.
            by_word = [one for one in flags if one.endswith(f"_{flag[2:]}")]
            near = [f"{flag}s"] if f"{flag}s" in flags else by_word or near
            hint = f"{shown(prog)} --help=all shows all options."
            hint = f"Did you mean {near[0]}?" if near else hint
            raise UsageError(f"{given}: there is no such option here. {hint}")


def later(name: str) -> Callable[[Any], None]:
    """Return a function that imports another one and calls it, because --help needs no Beam."""
    module, _, function = name.partition(".")
    return lambda options: getattr(
        importlib.import_module(f"beam_topics.pipelines.graphs.{module}"), function
    )(options)


def command(
    prog: str,
    text: str,
    groups: Groups,
    required: Mapping[str, str],
    run: Callable[[Any], Any],
    *,
    graph: bool = True,
    ended: str = "",
) -> Callable[[Sequence[str] | None], int]:
    """Make the ``main(argv)`` of a program: it parses, runs, and returns the exit status.

    An error of :mod:`beam_topics.model.errors` is printed to standard error in one line. The status
    is 0, or that of the error: 3 where most of the input was refused, 130 after Ctrl-C, 2 for any
    other. The first line of ``text`` describes the program. ``required`` has options that must be
    given, each with an example. A program that runs no graph begins without Beam. ``ended`` is that
    of :func:`interruptible`.
    """
    summary = text.partition("\n")[0]

    @quiet_pipes()
    def main(argv: Sequence[str] | None = None) -> int:
        limit_malloc()
        if argv is None:
            end_uncollected()
        line = sys.argv[1:] if argv is None else argv
        try:
            with interruptible(ended), collected_later():
                _check_text(line)
                given = arranged(line, prog, groups)
                options = parse(given.argv, prog, summary, groups, required, graph=graph)
                if not graph:
                    collect_now()
                options.line, options.ended = tuple(line), given.ended
                run(options)
                options.ended()
        except (BeamTopicsError, OSError) as error:
            from beam_topics.pipelines.cli.terminal import plain

            if isinstance(error, OSError) and (error.filename is None or error.errno is None):
                # Not of a file that the user names.
                raise
            said = str(error)
            if isinstance(error, OSError):
                name = str(error.filename)
                said = f"{name!r} cannot be used: {error.strerror}. Mend it, or name another."
            if isinstance(error, InterruptedRunError):
                said += how_to_go_on(error, *started(prog, line))
            # It may quote a document.
            print(f"{shown(prog)}:", *map(plain, said.splitlines()), file=sys.stderr)
            return getattr(error, "exit_status", 2)
        return 0

    return main
