"""Serve the topics of texts over HTTP, read-only, by the newest version of a model.

``beam-topics serve --model_store=models``

The service listens on 127.0.0.1 unless ``--host`` names another address. It has no passwords and no
encryption: put a proxy before it where others reach it.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

from beam_topics.model.errors import BeamTopicsError
from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import Options, settings_of
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
)
REQUIRED = {"model_store": "models"}
# The models of so many keys are held. Each version is looked for after so many seconds.
MOST_KEYS, POLL = 100, 10.0


def serve(options: Options) -> None:
    """Serve until the process is told to end."""
    for name in ("starlette", "uvicorn", "httptools", "prometheus_client"):
        if importlib.util.find_spec(name) is None:
            told = f"serve needs {name}. Run: pip install 'beam-topics[serve]'"
            raise BeamTopicsError(told)
    import uvicorn

    from beam_topics.pipelines.service.limits import RequestLimits
    from beam_topics.pipelines.service.models import Models

    wanted = settings_of(options, ServiceSettings)
    root, settings = settings_of(options, StoreSettings).root, inference_settings_of(options)
    models = Models(root, settings, MOST_KEYS)
    models.check_any()
    uvicorn.Server(config_of(models, wanted, RequestLimits(rate=wanted.rate))).run()


def config_of(models: Models, wanted: ServiceSettings, limits: RequestLimits) -> uvicorn.Config:
    """Return how uvicorn runs the service."""
    import uvicorn

    from beam_topics.pipelines.service.app import Hosts, Service, names_of
    from beam_topics.pipelines.service.limits import protocol_with

    return uvicorn.Config(
        Hosts(Service(models, limits, POLL).app(), names_of(wanted)),
        host=wanted.host,
        port=wanted.port,
        http=protocol_with(limits.patience),
        ws="none",
        limit_concurrency=limits.most_connections,
        timeout_keep_alive=5,
        # Any client may send such headers, and --rate counts by address.
        proxy_headers=False,
        access_log=False,
    )


main = command("serve", __doc__, GROUPS, REQUIRED, serve, graph=False)

if __name__ == "__main__":
    sys.exit(main())
