"""Fixtures of real runners and servers.

Every test in this folder is marked ``runners``, and ``make test-runners`` runs them. A fixture that
a machine cannot provide (no Java, no Go, nothing to fetch from) skips its tests with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from runners import replays
from runners.flink_cluster import FlinkCluster
from runners.tools import Unavailable, tool

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.runners)


@contextmanager
def or_skip() -> Iterator[None]:
    """Skip the test where something is not to be had."""
    try:
        yield
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def prism() -> Path:
    """The Prism binary."""
    with or_skip():
        return tool("prism")


@pytest.fixture(scope="session")
def job_server_jar() -> Path:
    """The jar of Flink's job server, which can run jobs itself (``--flink_master=[local]``)."""
    with or_skip():
        return tool("flink-job-server")


@pytest.fixture(scope="session")
def flink(tmp_path_factory) -> Iterator[FlinkCluster]:
    """A running cluster with four slots."""
    with or_skip():
        cluster = FlinkCluster(tmp_path_factory.mktemp("flink"), managers=2, slots=2)
    with cluster:
        yield cluster


@pytest.fixture(scope="session")
def archived(tmp_path_factory) -> Path:
    """The archive of :mod:`runners.replays`."""
    return replays.write_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="session")
def many_windows(tmp_path_factory) -> Path:
    """An archive with a document of each key on each of 3,000 days."""
    days = replays.MANY_DAYS
    return replays.write_archive(tmp_path_factory.mktemp("many"), days, days * len(replays.KEYS))


@pytest.fixture(scope="session")
def expected_of_many(many_windows, tmp_path_factory) -> replays.Outcome:
    """What learning and labelling it on the local runner comes to."""
    return replays.run(
        many_windows, tmp_path_factory.mktemp("expected-of-many"), *replays.MANY_FLAGS
    )


@pytest.fixture(scope="session")
def undisturbed(archived, tmp_path_factory) -> Path:
    """The folder in which the local runner learned and labelled it."""
    folder = tmp_path_factory.mktemp("expected")
    replays.run(archived, folder)
    return folder


@pytest.fixture(scope="session")
def expected(undisturbed) -> replays.Outcome:
    """What learning and labelling it comes to where nothing fails."""
    return replays.outcome(undisturbed)


@pytest.fixture(scope="session")
def learned(undisturbed) -> Path:
    """The model store of that."""
    return undisturbed / "models"
