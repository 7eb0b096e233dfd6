"""Serve the topics of texts over HTTP, read-only, by the newest version of a model.

``python -m pipelines.serve --model_store=models``

The service listens on 127.0.0.1 unless ``--host`` names another address. It has no passwords and no
encryption: put a proxy before it where others reach it.
"""

from __future__ import annotations

import importlib.util
import sys

from model.errors import BeamTopicsError
from model.publishing.store_settings import StoreSettings
from pipelines.cli.command import command
from pipelines.cli.groups import OptionGroup
from pipelines.cli.options import (
    InferenceOptions,
    MethodOptions,
    ServiceOptions,
    StoreOptions,
)
from pipelines.cli.program_settings import ServiceSettings
from pipelines.cli.settings_from_options import inference_settings_of
from pipelines.cli.settings_options import settings_of

_CONNECTIONS = 1000


GROUPS = (StoreOptions, ServiceOptions, MethodOptions, InferenceOptions)
REQUIRED = {"model_store": "models"}


def serve(options: OptionGroup) -> None:
    """Serve until the process is told to end.

    Raises:
        BeamTopicsError: Starlette or uvicorn is not installed.
        OptionError: The store has no version, or the method needs more than the model.
    """
    for name in ("starlette", "uvicorn"):
        if importlib.util.find_spec(name) is None:
            raise BeamTopicsError(f"serve needs {name}. Run: pip install 'starlette' 'uvicorn'")
    import uvicorn

    from pipelines.service.app import Limits, Service
    from pipelines.service.models import Models

    models = Models(settings_of(options, StoreSettings).root, inference_settings_of(options))
    models.check_any()
    wanted = settings_of(options, ServiceSettings)
    uvicorn.run(
        Service(models, Limits()).app(),
        host=wanted.host,
        port=wanted.port,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=5,
        access_log=False,
    )


main = command("pipelines.serve", __doc__.partition("\n")[0], GROUPS, REQUIRED, serve, graph=False)

if __name__ == "__main__":
    sys.exit(main())
