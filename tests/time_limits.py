"""The limit of a test's time, which does not run while numba compiles.

pytest-timeout ends a test with SIGALRM. A kernel that nobody has used before compiles for some tens
of seconds, and whichever test comes first waits for it; so the alarm stands still meanwhile. The
other tiers have longer limits than the one in ``pyproject.toml``.
"""

import signal
import threading

import pytest
from numba.core import event

# Seconds, by the marker of a tier.
TIERS = {
    "slow": 1200,
    "statistical": 1200,
    "browser": 300,
    "docs": 1200,
    "runners": 3600,
    "faults": 4 * 3600,
}


def limited(items):
    """Give the tests of other tiers their limits."""
    for item in items:
        longest = max((TIERS[tier] for tier in TIERS if item.get_closest_marker(tier)), default=0)
        if longest and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(longest))


class Standstill(event.Listener):
    """Stop the alarm of the test that runs while anything is compiled in this process.

    Attributes:
        test: the test that runs; one that compiles beyond its end starts no other one's alarm.
    """

    def __init__(self):
        self.test = None
        self._lock, self._depth, self._left = threading.Lock(), 0, (None, 0.0)

    def on_start(self, event):
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._left = self.test, signal.setitimer(signal.ITIMER_REAL, 0)[0]

    def on_end(self, event):
        with self._lock:
            self._depth -= 1
            test, seconds = self._left
            if self._depth == 0 and seconds and test == self.test:
                signal.setitimer(signal.ITIMER_REAL, seconds)
