"""What all tests have in common.

hypothesis tries the same examples each time, and does not mind a slow machine. ``--shard=k/n`` runs
a part of the tests. Each test has a limit of time (``time_limits.py``). Ctrl-C works in tests and
their children, however they were started: a script that starts them in the background makes them
ignore it, and children inherit that.
"""

import signal

import pytest
from hypothesis import Phase, settings
from numba.core import event
from sharding import parsed, part_of
from time_limits import Standstill, limited

settings.register_profile("here", derandomize=True, deadline=None)
# Where it matters only that a test fails: no example is made smaller.
AS_FOUND = [Phase.explicit, Phase.generate]
settings.register_profile("first failure", settings.get_profile("here"), phases=AS_FOUND)
settings.load_profile("here")
STANDSTILL = Standstill()
# They belong to packages that tests/test_contributing.py makes.
collect_ignore = ["examples"]


def pytest_addoption(parser):
    help_ = "run the K-th of N parts of the tests that were chosen"
    parser.addoption("--shard", type=parsed, default=(1, 1), metavar="K/N", help=help_)


def pytest_sessionstart():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    event.register("numba:compile", STANDSTILL)


def pytest_runtest_logstart(nodeid):
    STANDSTILL.test = nodeid


def pytest_runtest_logfinish():
    STANDSTILL.test = None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """After -m and -k have chosen."""
    mine = set(part_of([item.nodeid for item in items], *config.getoption("--shard")))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in mine])
    items[:] = [item for item in items if item.nodeid in mine]
    limited(items)
