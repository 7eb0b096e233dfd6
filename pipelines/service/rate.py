"""How many requests a client may send: a token bucket for each address.

A bucket holds at most ten seconds of requests and is filled evenly. A request takes one; where
there is less, it is refused and the client is told when one is there. Buckets that are full
again say nothing, so those used least recently leave beyond :data:`MOST_CLIENTS`, and memory is
bounded.
"""

from __future__ import annotations

from collections import OrderedDict

SECONDS = 10.0
MOST_CLIENTS = 10_000


class Rate:
    """The buckets of all clients.

    Args:
        rate: Requests a second; 0 for any number.
    """

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, max(1.0, SECONDS * rate)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float) -> float:
        """Take a request from the bucket of a client.

        Args:
            client: The address of the client.
            now: Seconds of a clock that never goes back.

        Returns:
            0 if there was one; else the seconds until there is one, and nothing is taken.
        """
        if not self._rate:
            return 0.0
        held, then = self._buckets.pop(client, (self._most, now))
        held = min(self._most, held + (now - then) * self._rate)
        taken = held >= 1.0
        self._buckets[client] = (held - taken, now)
        while len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1.0 - held) / self._rate
