"""What the service counts, in Prometheus's text form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

FORM = CONTENT_TYPE_LATEST


class Metrics:
    """The figures of one service.

    Args:
        versions: Returns the version at hand of each key.
    """

    def __init__(self, versions: Callable[[], Mapping[str, str]]) -> None:
        self._registry = CollectorRegistry()
        self.documents = Counter(
            "beam_topics_documents_labelled", "Texts labelled", registry=self._registry
        )
        self._requests = Counter(
            "beam_topics_requests",
            "Requests answered",
            ["route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "beam_topics_request_seconds",
            "Time from the headers of a request to its answer",
            ["route"],
            buckets=_BOUNDS,
            registry=self._registry,
        )
        self._registry.register(_Versions(versions))

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return all figures."""
        return generate_latest(self._registry)


class _Versions:
    """The version of each key, as a gauge that is 1."""

    def __init__(self, versions: Callable[[], Mapping[str, str]]) -> None:
        self._versions = versions

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(
            "beam_topics_model_version", "The version at hand", labels=["key", "version"]
        )
        for key, version in sorted(self._versions().items()):
            family.add_metric([key, version], 1.0)
        yield family
