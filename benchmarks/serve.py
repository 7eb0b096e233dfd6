"""The HTTP service under load: ``python -m benchmarks serve``.

A model with T = 50 learns abstracts by the defaults. ``beam-topics serve`` runs on one core, where
the system can pin it. This process sends one abstract a request in an open loop: requests begin at
their planned times, whether or not those before were answered, and a latency is counted from the
planned time. So a service that stalls shows it in all requests that were due meanwhile.

Hostile clients are at work at the same time: bodies of 10 MB, broken JSON, keys that are paths,
senders that stop after a few bytes, and 1,200 connections that say nothing; 1,000 are allowed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from benchmarks.corpora import records

WARM, IDLE = 50, 1200
HOSTILE = (
    (b"POST /label", b"x" * 10_000_000, {413}),
    (b"POST /label", b"{", {400}),
    (b"POST /label", b'{"texts": [' + b"1," * 1000 + b"1]}", {400}),
    (b"GET /topics?key=..%2F..%2Fetc", b"", {404}),
    (b"GET /..%2f..%2fetc/passwd", b"", {404}),
)


@dataclass
class Seen:
    """What clients saw."""

    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    hostile: Counter[str] = field(default_factory=Counter)
    memory: list[int] = field(default_factory=list)


async def exchange(
    stream: tuple[asyncio.StreamReader, asyncio.StreamWriter], line: bytes, body: bytes
) -> int:
    """Send a request and return the status of its answer."""
    reader, writer = stream
    head = b"%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (line, len(body))
    writer.write(head + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = int(answer.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
    await reader.readexactly(length)
    return int(answer.split(b" ", 2)[1])


class Clients:
    """Connections that are used again."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(self, line: bytes, body: bytes) -> int:
        """Send a request; 0 stands for a connection that broke."""
        # The service closes connections that were idle for five seconds.
        while self._free and self._free[-1][0].at_eof():
            self._free.pop()
        try:
            stream = (
                self._free.pop() if self._free else await asyncio.open_connection(*self._address)
            )
            status = await exchange(stream, line, body)
        except (OSError, asyncio.IncompleteReadError):
            return 0
        self._free.append(stream)
        return status


async def load(
    address: tuple[str, int],
    bodies: Sequence[bytes],
    rate: int,
    seconds: int,
    server: psutil.Process,
) -> Seen:
    """Send requests at a rate, with hostile ones beside them."""
    seen, clients, loop = Seen(), Clients(address), asyncio.get_running_loop()
    for body in bodies[:WARM]:
        await clients.send(b"POST /label", body)
    idle = [await asyncio.open_connection(*address) for _ in range(IDLE)]
    hostile = asyncio.create_task(be_hostile(address, seen))
    begin = loop.time()

    async def one(number: int) -> None:
        due = begin + number / rate
        status = await clients.send(b"POST /label", bodies[number % len(bodies)])
        seen.latencies.append(loop.time() - due)
        seen.statuses[status] += 1

    waiting = []
    for number in range(rate * seconds):
        await asyncio.sleep(max(0.0, begin + number / rate - loop.time()))
        waiting.append(asyncio.create_task(one(number)))
        if number % rate == 0:
            seen.memory.append(server.memory_info().rss)
    await asyncio.gather(*waiting)
    hostile.cancel()
    seen.hostile["closed"] += sum([reader.at_eof() for reader, _ in idle])
    for _, writer in idle:
        writer.close()
    return seen


async def be_hostile(address: tuple[str, int], seen: Seen) -> None:
    """Send what has to be refused, ten times a second, until this is cancelled."""
    slow = []
    number = 0
    while True:
        line, body, allowed = HOSTILE[number % len(HOSTILE)]
        status = await Clients(address).send(line, body)
        # The server may close the connection before it has read ten megabytes.
        refused = status in allowed or (status == 0 and len(body) > 1_000_000)
        seen.hostile["refused" if refused else f"status {status}"] += 1
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"POST /label HTTP/1.1\r\nContent-Length: 5\r\n\r\n{")
        slow.append((reader, writer))
        number += 1
        await asyncio.sleep(0.1)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def wait_for(port: int) -> None:
    """Return when the service answers."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.2)


def trained(folder: Path, documents: int) -> str:
    """Learn abstracts by the defaults, and return the model store."""
    archive, store = folder / "abstracts.jsonl", folder / "models"
    rows = list(records("arxiv-cs-1994-2019"))[:documents]
    archive.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [
        sys.executable,
        "-m",
        "beam_topics.pipelines.train",
        f"--input={archive}",
        "--window=30d",
    ]
    command += [f"--model_store={store}", f"--dead_letters={folder / 'dead'}"]
    subprocess.run([*command, "--publish_every=3650d"], check=True, stdout=subprocess.DEVNULL)
    return str(store)


def serve() -> None:
    """Put the HTTP service under load, with hostile clients beside it."""
    main([])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the load and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--method", default="gibbs3")
    wanted = parser.parse_args(arguments)
    texts = [row["text"] for row in list(records("arxiv-cs-1994-2019"))[-2000:]]
    bodies = [json.dumps({"text": text}).encode() for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        store, port = trained(Path(folder), wanted.documents), free_port()
        command = [sys.executable, "-m", "beam_topics.pipelines.serve", f"--model_store={store}"]
        command += [f"--port={port}", f"--method={wanted.method}"]
        pinned = {"preexec_fn": lambda: os.sched_setaffinity(0, {0})}
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL, **pinned)
        try:
            wait_for(port)
            process = psutil.Process(server.pid)
            before = process.cpu_times()
            begin = time.monotonic()
            seen = asyncio.run(
                load(("127.0.0.1", port), bodies, wanted.rate, wanted.seconds, process)
            )
            taken, after = time.monotonic() - begin, process.cpu_times()
        finally:
            server.terminate()
            server.wait()
    busy = (after.user + after.system - before.user - before.system) / taken
    show(seen, wanted.rate, busy)
    return 0


def show(seen: Seen, rate: int, busy: float) -> None:
    """Print the figures."""
    p50, p90, p99, most = np.percentile(seen.latencies, [50, 90, 99, 100]) * 1000
    print(f"{len(seen.latencies):,} requests at {rate} a second, load {os.getloadavg()[0]:.1f}")
    print(f"statuses {dict(seen.statuses)}; hostile {dict(seen.hostile)}")
    print(f"ms: median {p50:.1f}, 90 % {p90:.1f}, 99 % {p99:.1f}, longest {most:.1f}")
    first, last = (np.mean(part) / 1e6 for part in (seen.memory[:5], seen.memory[-5:]))
    print(
        f"memory {first:.0f} MB in the first five seconds, {last:.0f} MB in the last;"
        f" busy {busy:.0%}"
    )


if __name__ == "__main__":
    sys.exit(main())
