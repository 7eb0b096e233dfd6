"""Counters of the service in Prometheus's text form."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """What the service counts. The event loop alone calls the methods."""

    def __init__(self) -> None:
        self.requests: Counter[int] = Counter()
        self.documents = 0
        self._buckets = [0] * (len(_BOUNDS) + 1)
        self._seconds = 0.0

    def observe(self, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.requests[status] += 1
        self._buckets[bisect_left(_BOUNDS, seconds)] += 1
        self._seconds += seconds

    def text(self, versions: Mapping[str, str]) -> str:
        """Return all figures, one in each line."""
        name = "beam_topics_request_seconds"
        lines = ["# TYPE beam_topics_requests_total counter"]
        lines += [
            f'beam_topics_requests_total{{status="{status}"}} {count}'
            for status, count in sorted(self.requests.items())
        ]
        lines += [
            "# TYPE beam_topics_documents_labelled_total counter",
            f"beam_topics_documents_labelled_total {self.documents}",
            f"# TYPE {name} histogram",
        ]
        total = 0
        for bound, count in zip([*map(str, _BOUNDS), "+Inf"], self._buckets, strict=True):
            total += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        lines += [f"{name}_sum {self._seconds}", f"{name}_count {total}"]
        lines.append("# TYPE beam_topics_model_version gauge")
        lines += [
            f'beam_topics_model_version{{key="{_escaped(key)}",version="{version}"}} 1'
            for key, version in sorted(versions.items())
        ]
        return "\n".join([*lines, ""])


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
