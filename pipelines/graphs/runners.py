"""Rules of runners: options that are set if the user gives none, and combinations that are refused.

Each rule prevents lost records, a stream that stalls, or learning on outdated state.
``docs/running.md`` describes each. A runner that is not in :data:`RUNNERS` gets its options
unchanged.
"""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beam_topics.model.errors import OptionError
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.cli.options import OUTPUTS, is_elsewhere
from beam_topics.pipelines.graphs.sources import ends, is_log
from beam_topics.pipelines.graphs.sources.base import SOURCES

LOCAL_RUNNER = "FnApiRunner"
# The number of key groups that Flink would choose for up to 85 tasks; more tasks would change it,
# and state with it.
KEY_GROUPS = 128
# Ten of them, in seconds.
YEARS = 315_360_000


@dataclass
class Flags:
    """A command line, what the parsers found in it, and the options that rules add to it."""

    argv: Sequence[str]
    known: argparse.Namespace
    added: list[str] = field(default_factory=list)

    def text(self, name: str) -> str | None:
        """Return the value of an option that only the runner may know.

        It is None where the option is not given, and "" where it has no value.
        """
        found = [
            flag.partition("=")[2] for flag in self.argv if flag.partition("=")[0] == f"--{name}"
        ]
        return found[-1] if found else None

    def has(self, name: str) -> bool:
        """Return whether an option is given."""
        return self.text(name) is not None

    def default(self, name: str, value: object) -> None:
        """Set an option that the user did not give."""
        if not self.has(name):
            self.added.append(f"--{name}={value}")

    def get(self, name: str) -> Any:
        """Return the value of a parsed option, or None where this pipeline has no such option."""
        return getattr(self.known, name, None)

    @property
    def trains(self) -> bool:
        """Whether the pipeline learns, so that its state has learners."""
        return hasattr(self.known, "checkpoint_tokens")

    @property
    def live(self) -> bool:
        """Whether documents come as a stream."""
        return _live(self.get("streaming"), self.get("source"))


def _live(streaming: Any, source: Any) -> bool:
    return bool(streaming) or is_log(source)


def streams(options: Options) -> bool:
    """Return whether event time advances, and windows close, while the job reads its source.

    This is so where documents come as a stream and the runner passes them on as they come. A graph
    is built with the answer: it is an argument of the steps that wait for event time.
    """
    return _live(options.streaming, options.get("source")) and not is_local(options.runner)


Rule = Callable[[Flags], None]


def local_name(flags: Flags) -> None:
    """Use FnApiRunner where Beam's DirectRunner is named.

    DirectRunner would choose Prism, which it downloads, or another runner, by the graph and by the
    network. Errors, counters and speed would then differ from run to run.
    """
    flags.added.append(f"--runner={LOCAL_RUNNER}")


def no_worker_threads(flags: Flags) -> None:
    """Refuse several worker threads in the local runner.

    It gives all bundles one cache token, so threads would read each other's outdated state.
    """
    if (
        flags.get("direct_running_mode") == "multi_threading"
        and flags.get("direct_num_workers") != 1
    ):
        raise OptionError(
            "--direct_running_mode",
            "multi_threading",
            "in_memory, or multi_processing with several workers",
            "Use multi_processing; threads within a learner are given with --threads.",
        )


def sources_that_end(flags: Flags) -> None:
    """Refuse sources without an end in the local runner.

    It ends one stage before it begins the next, so it would never learn.
    """
    source, until = flags.get("source"), flags.get("until")
    if source not in SOURCES or ends(source, until):
        return
    reads = "on the local runner, which reads everything before it learns"
    remedy = "Choose a runner that streams, such as --runner=PrismRunner"
    if ends(source, "end"):
        allowed = f"end with --source={source} {reads}"
        raise OptionError("--until", until or "forever", allowed, f"{remedy}, or give --until=end.")
    able = ", ".join(kind for kind in SOURCES if ends(kind, "end"))
    raise OptionError("--source", source, f"one of {able} {reads}", f"{remedy}.")


def no_splits_of_bundles(flags: Flags) -> None:
    """Keep Prism from splitting bundles.

    Prism splits bundles that take long, and then runs two bundles of one key at once. State that
    both wrote is lost.
    """
    if "prism_disable_sdf_split" not in (flags.get("experiments") or []):
        flags.added.append("--experiments=prism_disable_sdf_split")


def long_jobs(flags: Flags) -> None:
    """Let the client wait for the job without a limit.

    Otherwise it ends with DEADLINE_EXCEEDED after five minutes, and on Prism the job ends with it.
    """
    flags.default("job_server_timeout", YEARS)


def whole_bundles_in_checkpoints(flags: Flags) -> None:
    """Let Flink finish bundles before its checkpoints.

    Otherwise a checkpoint may be taken while a Python worker holds part of a bundle, which is then
    lost without an error.
    """
    if not flags.has("checkpointing_interval"):
        return
    given = flags.text("finish_bundle_before_checkpointing")
    if given is None:
        flags.added.append("--finish_bundle_before_checkpointing")
    elif given.lower() not in ("", "true"):
        raise OptionError(
            "--finish_bundle_before_checkpointing",
            given,
            "true with --checkpointing_interval",
            "Leave it out: it is set for you. Without it checkpoints lose records.",
        )


def streamed_in_small_bundles(flags: Flags) -> None:
    """Let Flink stream what comes as a stream, in short bundles.

    Otherwise it takes a source that ends for a batch, and the workers hold all documents. The
    output of a splittable source waits for the end of its bundle: by default a second at each
    stage.
    """
    if flags.live:
        if not flags.get("streaming"):
            flags.added.append("--streaming")
        flags.default("max_bundle_time_mills", 100)


def fixed_key_groups(flags: Flags) -> None:
    """Fix the number of key groups.

    State can be restored only with the number of key groups with which it was written.
    """
    given = flags.get("max_parallelism")
    if given == -1:
        flags.default("max_parallelism", KEY_GROUPS)
    most = KEY_GROUPS if given == -1 else given
    if flags.get("parallelism") > most:
        raise OptionError(
            "--parallelism",
            flags.get("parallelism"),
            f"{most} or less",
            "Give --max_parallelism; it cannot change when there is a savepoint.",
        )


def workers_of_a_cluster(flags: Flags) -> None:
    """Refuse workers that a cluster's task managers cannot call."""
    kind = flags.get("environment_type") or "DOCKER"
    if (flags.get("flink_master") or "[auto]") in ("[local]", "[auto]"):
        return
    if kind == "LOOPBACK":
        raise OptionError(
            "--environment_type",
            kind,
            "DOCKER, PROCESS or EXTERNAL on a cluster",
            "With LOOPBACK the job's workers live in the process that submits it, and die with it.",
        )
    given = flags.get("environment_config") or flags.get("environment_options")
    if kind == "EXTERNAL" and not given:
        raise OptionError(
            "--environment_config",
            None,
            "the worker pool's host:port with --environment_type=EXTERNAL",
            "Give it, as localhost:50000.",
        )
    if kind == "DOCKER" and not given:
        installed_on_workers(flags)


def installed_on_workers(flags: Flags) -> None:
    """Refuse workers without this project.

    Steps are pickled by the names of their modules, which workers must be able to import.
    """
    if not any(map(flags.get, ("sdk_container_image", "setup_file", "extra_packages"))):
        raise OptionError(
            "--setup_file",
            None,
            "./setup.py, or --sdk_container_image with this project installed",
            "Without either the workers cannot import this project.",
        )


def no_main_session(flags: Flags) -> None:
    """Keep the main module out of the job.

    Workers run nothing of it, and a pickle of it would make updates of the job fail.
    """
    if flags.has("save_main_session"):
        raise OptionError(
            "--save_main_session",
            True,
            "--no_save_main_session",
            "Leave it out: no step is in the main module.",
        )
    if not flags.has("no_save_main_session"):
        flags.added.append("--no_save_main_session")


def one_process_a_worker(flags: Flags) -> None:
    """Use one process on each worker of a pipeline that learns.

    By default there is a process for each core. Each would hold learners, and load them again when
    work moves.
    """
    experiments = flags.get("experiments") or []
    if "use_multiple_sdk_containers" in experiments and flags.trains:
        raise OptionError(
            "--experiments",
            "use_multiple_sdk_containers",
            "no_use_multiple_sdk_containers for a pipeline that learns",
            "Leave it out, and give the learner cores with --threads.",
        )
    if flags.trains and "no_use_multiple_sdk_containers" not in experiments:
        flags.added.append("--experiments=no_use_multiple_sdk_containers")


def outputs_off_the_workers(flags: Flags) -> None:
    """Refuse outputs on a worker's disk.

    They are lost when the worker ends.
    """
    for name in ("model_store", *OUTPUTS):
        path = flags.get(name)
        if path and "://" not in path and not is_elsewhere(name, path):
            raise OptionError(
                f"--{name}",
                path,
                "a path such as gs://bucket/folder",
                "Workers' own disks are lost when they end.",
            )


def check_outputs(given: Mapping[str, Any], local: bool = True) -> None:
    """Refuse an output that cannot be written, before any work is done.

    Raises:
        OptionError: a path is on a file system that is not installed, or cannot be made on this
            machine, where ``local`` says that it writes the outputs.
    """
    # Imported here, because --help needs no Beam.
    from apache_beam.io.filesystems import FileSystems

    for name in OUTPUTS:
        path = given.get(name)
        if is_elsewhere(name, path):
            continue
        if local and path is not None and FileSystems.get_scheme(path) is None:
            # A report is one file, all else that --output names is a folder.
            is_file = name == "json" or (name == "output" and path.endswith(".html"))
            _check_can_be_made(f"--{name}", path, is_file=is_file)
        try:
            FileSystems.get_filesystem(path or "")
        except ValueError as error:
            scheme = FileSystems.get_scheme(path)
            remedy = (
                "Run: pip install 'apache-beam[gcp]'."
                if scheme == "gs"
                else "Correct the part before ://, or install what it needs."
            )
            allowed = f"a path on a file system that is installed, and {scheme}:// is not"
            raise OptionError(f"--{name}", path, allowed, remedy) from error


def _check_can_be_made(option: str, path: str, is_file: bool) -> None:
    """Refuse a path that is of another kind, or that this user may not write."""
    target = Path(path).absolute()
    nearest = next(place for place in (target, *target.parents) if os.access(place, os.F_OK))
    if nearest == target and target.is_dir() == is_file:
        why = "is a folder" if is_file else "is a file"
    elif nearest != target and not nearest.is_dir():
        why = "is a file"
    elif not os.access(nearest, os.W_OK):
        why = "may not be written by this user"
    else:
        return
    raise OptionError(
        option,
        path,
        f"a {'file' if is_file else 'folder'} that is there, or can be made",
        f"{nearest} {why}. Name another.",
    )


# By the last part of a runner's name, in small letters.
_LOCAL: tuple[Rule, ...] = (local_name, no_worker_threads, sources_that_end)
RUNNERS: dict[str, tuple[Rule, ...]] = {
    "": _LOCAL,
    "directrunner": _LOCAL,
    "direct": _LOCAL,
    "switchingdirectrunner": _LOCAL,
    "fnapirunner": _LOCAL,
    "prismrunner": (long_jobs, no_splits_of_bundles),
    "flinkrunner": (
        long_jobs,
        whole_bundles_in_checkpoints,
        streamed_in_small_bundles,
        fixed_key_groups,
        workers_of_a_cluster,
    ),
    "dataflowrunner": (
        no_main_session,
        installed_on_workers,
        one_process_a_worker,
        outputs_off_the_workers,
    ),
}


def check_name(runner: str | None) -> None:
    """Refuse a runner that Beam does not know; Beam checks the full name of a class."""
    if runner is None or "." in runner:
        return
    from apache_beam.options.pipeline_options import StandardOptions

    known = {name.lower(): name for name in StandardOptions.KNOWN_RUNNER_NAMES}
    name = runner.lower()
    if name in known or f"{name}runner" in known or name in RUNNERS:
        return
    near = difflib.get_close_matches(name, known, 1)
    remedy = (
        f"Did you mean --runner={known[near[0]]}?"
        if near
        else "Leave it out to run on this machine."
    )
    raise OptionError(
        "--runner",
        runner,
        f"one of {', '.join(known.values())}, or the full name of a class",
        remedy,
    )


def is_local(runner: str | None) -> bool:
    """Return whether a name of ``--runner`` means this process."""
    return RUNNERS.get(_last(runner)) is _LOCAL


def complete(argv: Sequence[str], known: argparse.Namespace) -> list[str]:
    """Return the command line with what its runner needs.

    Raises:
        OptionError: a combination would lose records, or cannot work.
    """
    flags = Flags(argv, known)
    for rule in RUNNERS.get(_last(known.runner), ()):
        rule(flags)
    return [*argv, *flags.added]


def _last(runner: str | None) -> str:
    return (runner or "").rpartition(".")[2].lower()
