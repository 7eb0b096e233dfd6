"""Start Python workers for the task managers of one machine.

Run ``python worker_pool.py --port=50000``. Beam's own pool
(``apache_beam.runners.worker.worker_pool_main``) tells workers apart by their name only, and two
task managers ask for the same names: the first to end its worker would end the other's. This pool
also asks for the address of the manager. It prints a line ``worker <pid>`` for each worker that it
starts.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from typing import Any

from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.worker import worker_pool_main

_RUN = (
    "from apache_beam.runners.worker.sdk_worker import SdkHarness;SdkHarness({url!r},"
    " worker_id={name!r}, state_cache_size=0, data_buffer_time_limit_ms=-1).run()"
)


class Pool(worker_pool_main.BeamFnExternalWorkerPoolServicer):
    """One process for each worker."""

    def StartWorker(self, request: Any, _: Any) -> Any:
        url, name = request.control_endpoint.url, request.worker_id
        worker = subprocess.Popen([sys.executable, "-c", _RUN.format(url=url, name=name)])
        self._worker_processes[f"{name} {url}"] = worker
        print(f"worker {worker.pid}", flush=True)
        return beam_fn_api_pb2.StartWorkerResponse()

    def StopWorker(self, request: Any, _: Any) -> Any:
        """Stop the named worker; do nothing where the name leaves a doubt.

        A worker ends by itself when its manager has gone.
        """
        named = [key for key in self._worker_processes if key.split(" ")[0] == request.worker_id]
        if len(named) == 1:
            worker_pool_main.kill_process_gracefully(self._worker_processes.pop(named[0]))
        return beam_fn_api_pb2.StopWorkerResponse()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    # A server that nobody holds is collected, and closes.
    address, server = Pool.start(use_process=True, port=parser.parse_args().port)
    print("listening", address, flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server.wait_for_termination()


if __name__ == "__main__":
    main()
