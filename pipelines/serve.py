"""Serve the topics of texts over HTTP by the newest version of a model.

``beam-topics serve --model_store=models``

The service listens on 127.0.0.1 unless ``--host`` names another address. It has no passwords and no
encryption: put a proxy before it where others reach it. It writes nothing but names, merges and
hidden topics, for readers with the token that it prints.
"""

from __future__ import annotations

import errno
import importlib.util
import secrets
import socket
import sys
from typing import TYPE_CHECKING

from beam_topics.model.errors import BeamTopicsError, OptionError
from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.invocation import shown
from beam_topics.pipelines.cli.looking import inform
from beam_topics.pipelines.cli.options import ServiceSettings
from beam_topics.pipelines.cli.settings_from_options import inference_settings_of

if TYPE_CHECKING:
    import uvicorn

    from beam_topics.pipelines.service.limits import RequestLimits
    from beam_topics.pipelines.service.models import Models

GROUPS = (
    group.StoreOptions,
    group.FunctionOptions,
    group.ServiceOptions,
    group.MethodOptions,
    group.InferenceOptions,
    group.SignOptions,
)
REQUIRED = {"model_store": "models"}
# The models of so many keys are held. Each version is looked for after so many seconds.
MOST_KEYS, POLL = 100, 10.0
_OTHER = 8080
# Who has it may change the catalogue while this process serves.
TOKEN = secrets.token_urlsafe(18)


def serve(options: Options) -> None:
    """Serve until the process is told to end."""
    models = models_of(options)
    models.check_any()
    with listening(options, "serve") as place:
        server_of(models, options, POLL).run([place])


def models_of(options: Options) -> Models:
    """Return what is served.

    Raises:
        BeamTopicsError: A package is not installed.
    """
    for name in ("starlette", "uvicorn", "httptools", "prometheus_client"):
        if importlib.util.find_spec(name) is None:
            missing = f"serve needs {name}. Run: pip install 'beam-topics[serve]'"
            raise BeamTopicsError(missing)
    from beam_topics.pipelines.service.models import Models

    where = settings_of(options, StoreSettings)
    method, sign = inference_settings_of(options), options.sign or ""
    return Models(where.root, method, MOST_KEYS, trust=where.trust, sign=sign)


def listening(options: Options, prog: str) -> socket.socket:
    """Return a socket that listens, and print its address.

    Raises:
        OptionError: This machine cannot listen there.
    """
    wanted = settings_of(options, ServiceSettings)
    family = socket.AF_INET6 if ":" in wanted.host else socket.AF_INET
    try:
        found = socket.create_server((wanted.host, wanted.port), family=family)
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            allowed, remedy = "a port that is free", f"Give another, such as --port={_OTHER}."
            raise OptionError("--port", wanted.port, allowed, remedy) from None
        allowed = "an address of this machine"
        raise OptionError("--host", wanted.host, allowed, "Give 127.0.0.1 or 0.0.0.0.") from None
    host = f"[{wanted.host}]" if ":" in wanted.host else wanted.host
    address = f"http://{host}:{wanted.port}/"
    inform(f"{shown(prog)}: {address} (Ctrl-C ends it)")
    inform(f"{shown(prog)}: {address}#/token/{TOKEN} (the same, where topics are named and merged)")
    return found


def server_of(models: Models, options: Options, poll: float) -> uvicorn.Server:
    """Return a server, which looks for new versions every ``poll`` seconds."""
    import uvicorn

    from beam_topics.pipelines.service.limits import RequestLimits

    wanted = settings_of(options, ServiceSettings)
    return uvicorn.Server(config_of(models, wanted, RequestLimits(rate=wanted.rate), poll))


def config_of(
    models: Models, wanted: ServiceSettings, limits: RequestLimits, poll: float
) -> uvicorn.Config:
    """Return how uvicorn runs the service."""
    import uvicorn

    from beam_topics.pipelines.service.app import Hosts, Service, names_of
    from beam_topics.pipelines.service.limits import protocol_with

    service = Service(models, limits, poll, TOKEN)
    return uvicorn.Config(
        Hosts(service.app(), names_of(wanted)),
        http=protocol_with(limits.patience, service.followers.end),
        ws="none",
        limit_concurrency=limits.most_connections,
        timeout_keep_alive=5,
        # Any client may send such headers, and --rate counts by address.
        proxy_headers=False,
        access_log=False,
        log_level="warning",
    )


_ENDED = "The page has ended."
main = command("serve", __doc__, GROUPS, REQUIRED, serve, graph=False, ended=_ENDED)

if __name__ == "__main__":
    sys.exit(main())
