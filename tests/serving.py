"""A service on a free port, in a thread, and versions that are published while it runs."""

import socket
import threading
from contextlib import contextmanager
from dataclasses import replace

import httpx
import uvicorn

from beam_topics.pipelines.cli.options import ServiceSettings
from beam_topics.pipelines.serve import config_of
from beam_topics.pipelines.service.limits import RequestLimits

LISTENING = ServiceSettings()


class Server(uvicorn.Server):
    """A server that tells when it has begun."""

    def __init__(self, config):
        super().__init__(config)
        self.begun = threading.Event()

    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.begun.set()


@contextmanager
def serving(models, wanted=LISTENING, poll=1.0, **limits):
    """Yield the address of a service on a free port."""
    config = config_of(models, wanted, RequestLimits(**limits), poll)
    listening = socket.create_server(("127.0.0.1", 0))
    server = Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    assert server.begun.wait(30)
    yield listening.getsockname()
    server.should_exit = True
    thread.join(30)
    assert not thread.is_alive()


def client_of(address):
    return httpx.Client(base_url="http://{}:{}".format(*address), timeout=30)


def publish_next(store, manifest, **changes):
    """Publish a version with the model of another one, and return its name."""
    latest = store.latest("")
    sequence = 99 if latest is None else latest.sequence + 1
    parent = None if latest is None else latest.version
    facts = {"sequence": sequence, "parent": parent, "topic_order": (), **changes}
    return store.publish(replace(manifest, **facts)).version
