"""Tools that these tests need beside the project: Prism, Flink and its job server.

Each is fetched once and kept.

    tool("prism")               the path of the program, made on first use
    program("java")             a program that has to be installed already

A recipe fetches with the ordinary client of its language (go, mvn, pip), as it is set up on the
machine, into a folder that appears whole or not at all: below ``BEAM_TOPICS_TOOLS``, or ``.tools/``
in the clone. If the client, or what it should fetch, is missing, :class:`Unavailable` says so in
one line, and the tests that need it are skipped with that line.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
BEAM = "2.77.0"
FLINK = "1.19.3"
# As in kafka/pom.xml.
KAFKA = "3.9.1"
# The newest job server whose parts a Maven repository is sure to have as a library; it runs graphs
# of the newer Python SDK.
FLINK_RUNNER = "2.70.0"
_FETCH_SECONDS = 900
_SAID = 3000
# Where Go's own installer puts it, which is seldom on the path.
_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/go/bin"])


class Unavailable(Exception):
    """Something cannot be had on this machine; the text is the reason for skipping."""


@dataclass(frozen=True)
class Recipe:
    """How to make a tool: ``make(folder)`` fills an empty folder; the tests need its ``result``."""

    version: str
    result: str
    make: Callable[[Path], None]


_FAILED: dict[str, str] = {}


def folder() -> Path:
    """Where tools are kept between runs."""
    return Path(os.environ.get("BEAM_TOPICS_TOOLS", ROOT / ".tools"))


def tool(name: str) -> Path:
    """The path of a tool of :data:`RECIPES`. Raises Unavailable: it cannot be made here."""
    if name in _FAILED:
        raise Unavailable(_FAILED[name])
    recipe = RECIPES[name]
    place = folder() / f"{name}-{recipe.version}"
    with _alone(name):
        if not place.exists():
            try:
                _make(recipe, place)
            except Unavailable as error:
                _FAILED[name] = str(error)
                raise
    return place / recipe.result


def program(name: str) -> str:
    """The path of an installed program. Raises Unavailable: there is none."""
    found = shutil.which(name, path=_PATH)
    if found is None:
        raise Unavailable(f"{name} is not installed on this machine")
    return found


def fetch(*command: str, where: Path, env: dict[str, str] | None = None) -> None:
    """Run a package manager's client. Raises Unavailable: it could not fetch."""
    everything = {**os.environ, "PATH": _PATH, **(env or {})}
    try:
        done = subprocess.run(
            command,
            cwd=where,
            env=everything,
            capture_output=True,
            text=True,
            timeout=_FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f"{Path(command[0]).name} fetched nothing in {_FETCH_SECONDS} s"
        ) from error
    if "did not run successfully" in done.stderr and "No matching distr" not in done.stderr:
        raise RuntimeError(f"it was fetched and cannot be built:\n{done.stderr[-_SAID:]}")
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:] or ["no message"]
        raise Unavailable(f"{Path(command[0]).name} could not fetch it: {last[0][:300]}")


def _make(recipe: Recipe, place: Path) -> None:
    unfinished = place.with_name(f"{place.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        recipe.make(unfinished)
        unfinished.rename(place)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Two test runs at once make a tool once."""
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _prism(place: Path) -> None:
    go = program("go")
    fetch(
        go,
        "install",
        f"github.com/apache/beam/sdks/v2/go/cmd/prism@v{BEAM}",
        where=place,
        env={"GOBIN": str(place)},
    )


def _flink(place: Path) -> None:
    """The two parts of a Flink distribution that a cluster needs, from the Python package."""
    program("java")
    package = f"apache-flink-libraries=={FLINK}"
    fetch(
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--no-binary",
        ":all:",
        "--dest",
        ".",
        package,
        where=place,
    )
    archive = next(place.glob("*.tar.gz"))
    (place / "lib").mkdir()
    with tarfile.open(archive) as files:
        for member in files:
            name = Path(member.name)
            if name.parts[1:3] == ("deps", "lib") and name.name.startswith(("flink-dist", "log4j")):
                member.name = name.name
                files.extract(member, place / "lib", filter="data")
    archive.unlink()


def _job_server(place: Path) -> None:
    program("java")
    shutil.copy(HERE / "flink" / "pom.xml", place)
    fetch(program("mvn"), "-B", "-q", f"-Dbeam.version={FLINK_RUNNER}", "package", where=place)
    (place / "target" / "job-server.jar").rename(place / "job-server.jar")
    shutil.rmtree(place / "target")


def _kafka(place: Path) -> None:
    program("java")
    shutil.copy(HERE / "kafka" / "pom.xml", place)
    fetch(
        program("mvn"),
        "-B",
        "-q",
        "dependency:copy-dependencies",
        "-DoutputDirectory=lib",
        where=place,
    )


RECIPES = {
    "prism": Recipe(BEAM, "prism", _prism),
    "flink": Recipe(FLINK, "lib", _flink),
    "kafka": Recipe(KAFKA, "lib", _kafka),
    "flink-job-server": Recipe(FLINK_RUNNER, "job-server.jar", _job_server),
}
