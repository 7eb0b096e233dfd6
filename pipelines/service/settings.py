"""Where the service listens, and what requests may take of it."""

from __future__ import annotations

from dataclasses import dataclass

from beam_topics.model.options import Record, option


@dataclass(frozen=True)
class ServiceSettings(Record):
    """Where the service listens."""

    host: str = option("127.0.0.1", "address to listen on; the default is this machine alone")
    allowed_hosts: tuple[str, ...] = option(
        (),
        "names of the service beside localhost and --host, with commas, as in topics.example; *"
        " for any",
        unit="names",
    )
    port: int = option(8000, "port to listen on", least=1, most=65535)
    poll: int = option(
        10_000_000, "time between two looks for a newer version", unit="microseconds", least=1
    )


@dataclass(frozen=True)
class LimitSettings(Record):
    """What requests may take. A request above a limit is refused with the remedy."""

    most_bytes: int = option(1_000_000, "bytes of a request's body", least=1)
    most_texts: int = option(1000, "texts in a request", least=1)
    most_characters: int = option(100_000, "length of a text", least=1)
    most_waiting: int = option(64, "requests that are answered or wait at a time", least=1)
    most_connections: int = option(1000, "connections at a time", least=1)
    most_keys: int = option(100, "model keys whose models are held in memory", least=1)
    patience: int = option(
        10_000_000,
        "time in which the headers and then the body of a request have to arrive",
        unit="microseconds",
        least=1,
    )
    rate: float = option(
        0.0, "requests a second of one client, over ten seconds; 0 for any number", least=0
    )
