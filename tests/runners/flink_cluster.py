"""A Flink cluster on this machine, with each part as a process of its own.

The parts are a job manager, task managers, a job server and a pool of Python workers.

    with FlinkCluster(tmp_path, managers=2, slots=2) as cluster:
        flags = cluster.flags(parallelism=4)
        subprocess.run([sys.executable, "-m", "beam_topics.pipelines.train", *flags], check=True)
        cluster.managers[0].kill()

Its files (configuration, logs, checkpoints) are in the folder. All ports are free ones.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from runners.processes import Server, free_port, listening, run_until
from runners.tools import HERE, ROOT, program, tool

from beam_topics.pipelines.graphs.memory import LIMITS

_START_SECONDS = 180
# Small enough that four of these and the workers fit beside other things; managed memory is for
# state backends that are not used.
_CONFIG = """\
jobmanager.rpc.address: 127.0.0.1
jobmanager.rpc.port: {rpc}
jobmanager.bind-host: 127.0.0.1
rest.address: 127.0.0.1
rest.bind-address: 127.0.0.1
rest.port: {rest}
taskmanager.host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.numberOfTaskSlots: {slots}
taskmanager.cpu.cores: 1.0
taskmanager.memory.task.heap.size: 512m
taskmanager.memory.task.off-heap.size: 64m
taskmanager.memory.managed.size: 128m
taskmanager.memory.network.min: 128m
taskmanager.memory.network.max: 128m
taskmanager.memory.framework.heap.size: 128m
taskmanager.memory.framework.off-heap.size: 128m
taskmanager.memory.jvm-metaspace.size: 256m
taskmanager.memory.jvm-overhead.min: 128m
taskmanager.memory.jvm-overhead.max: 128m
state.backend.type: hashmap
state.checkpoints.dir: file://{folder}/checkpoints
state.checkpoints.num-retained: 3
restart-strategy.type: exponential-delay
heartbeat.interval: 1000
heartbeat.timeout: 8000
slot.request.timeout: 60000
cluster.evenly-spread-out-slots: true
io.tmp.dirs: {folder}/temporary
"""
_LOGGING = """\
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
appender.out.name = out
appender.out.type = CONSOLE
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss,SSS} %-5p %c{1} %m%n
"""
# Flink's own scripts open these packages of Java 17 to it.
_OPEN = [
    *("lang", "net", "io", "nio", "lang.reflect", "text", "time", "util"),
    *("util.concurrent", "util.concurrent.atomic", "util.concurrent.locks"),
]
_JVM = [
    "-XX:+UseSerialGC",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    *(f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in _OPEN),
]
_JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
_TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"


class FlinkCluster:
    """See the module's docstring.

    Args:
        folder: for everything that it writes. managers, slots: task managers, and slots of each.
        python_path: where the workers find what the tests bring, beside the project itself.
    """

    def __init__(
        self, folder: Path, managers: int = 2, slots: int = 2, python_path: str = ""
    ) -> None:
        self.folder, self._slots, self._wanted, self._python_path = (
            folder,
            slots,
            managers,
            python_path,
        )
        self._java, self._lib, self._jar = program("java"), tool("flink"), tool("flink-job-server")
        self.managers: list[Server] = []
        self._servers = ExitStack()
        self._rest, self._jobs, self._workers = free_port(), free_port(), free_port()

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._servers.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._servers.close()

    @property
    def master(self) -> str:
        """Where the job manager answers."""
        return f"127.0.0.1:{self._rest}"

    def flags(self, parallelism: int) -> list[str]:
        """What a pipeline needs to run here."""
        return [
            "--runner=FlinkRunner",
            f"--flink_master={self.master}",
            f"--job_endpoint=127.0.0.1:{self._jobs}",
            "--environment_type=EXTERNAL",
            f"--environment_config=127.0.0.1:{self._workers}",
            f"--parallelism={parallelism}",
        ]

    def rest(self, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
        """A question to the job manager, or a request with a body."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://{self.master}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"{}")

    def running(self, pipeline: Server, seconds: float = 300) -> str:
        """Wait until the only job that a pipeline has submitted runs; its id."""
        return str(run_until(lambda: self.jobs("RUNNING"), seconds, "the job", pipeline)[0])

    def jobs(self, state: str) -> list[str]:
        """The ids of the jobs in a state such as RUNNING."""
        return [job["id"] for job in self.rest("/jobs")["jobs"] if job["status"] == state]

    def checkpoints(self, job: str) -> int:
        """How many checkpoints of a job are complete."""
        return int(self.rest(f"/jobs/{job}/checkpoints")["counts"]["completed"])

    def newest_checkpoint(self, job: str) -> str:
        """Where the newest complete checkpoint of a job that has ended is.

        On the disk: what the job manager answers may be some seconds old, and its checkpoint
            replaced by newer ones.
        """
        found = (self.folder / "checkpoints" / job).glob("chk-*/_metadata")
        newest = max(
            (path.parent for path in found),
            key=lambda folder: int(folder.name.removeprefix("chk-")),
        )
        return f"file://{newest}"

    def restored(self, job: str) -> int:
        """How often a job has gone on from a checkpoint or savepoint."""
        return int(self.rest(f"/jobs/{job}/checkpoints")["counts"]["restored"])

    def savepoint(self, job: str, seconds: float = 60) -> str:
        """Take a savepoint and end the job; where the savepoint is."""
        body = {"target-directory": f"file://{self.folder}/savepoints", "cancel-job": True}
        trigger = self.rest(f"/jobs/{job}/savepoints", body)["request-id"]

        def done() -> dict[str, Any] | None:
            answer = self.rest(f"/jobs/{job}/savepoints/{trigger}")
            return answer["operation"] if answer["status"]["id"] == "COMPLETED" else None

        operation = run_until(done, seconds, "a savepoint")
        assert "location" in operation, operation
        return str(operation["location"])

    def cancel(self, job: str) -> None:
        """End a job, and wait until it has gone."""
        self.rest(f"/jobs/{job}", {}, "PATCH")
        run_until(lambda: job in self.jobs("CANCELED"), 60, "the job's end")

    def kill_manager(self, number: int) -> None:
        """Kill a task manager, and start another in its place."""
        self.managers[number].kill()
        self.managers[number] = self._task_manager(
            f"{number}-{len(list(self.folder.glob('task-manager-*.log')))}"
        )

    def kill_job_manager(self) -> None:
        """Kill the job manager, and start another in its place, which knows of no job."""
        self.manager.kill()
        number = len(list(self.folder.glob("job-manager*.log")))
        self.manager = self._jvm(f"job-manager-{number}", "600m", _JOB_MANAGER)
        run_until(self._whole, _START_SECONDS, "the task managers", self.manager)

    def _whole(self) -> bool:
        return len(self.rest("/taskmanagers")["taskmanagers"]) >= self._wanted

    def workers(self) -> list[int]:
        """The pids of the Python workers that live."""
        pids = [int(pid) for pid in re.findall(r"^worker (\d+)$", self.pool.output(), re.MULTILINE)]
        return [pid for pid in pids if _alive(pid)]

    def kill_worker(self, pid: int) -> None:
        """Kill a Python worker."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def _start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = {
            "rpc": free_port(),
            "rest": self._rest,
            "slots": self._slots,
            "folder": self.folder,
        }
        (self.folder / "temporary").mkdir()
        (self.folder / "config.yaml").write_text(_CONFIG.format(**settings), encoding="utf-8")
        (self.folder / "log4j.properties").write_text(_LOGGING, encoding="utf-8")
        self.manager = self._jvm("job-manager", "600m", _JOB_MANAGER)
        self.managers = [self._task_manager(str(number)) for number in range(self._wanted)]
        endpoint = [
            "--job-port",
            str(self._jobs),
            "--artifact-port",
            "0",
            "--expansion-port",
            "0",
            "--job-host",
            "127.0.0.1",
        ]
        jar = [
            self._java,
            "-Xmx600m",
            *_JVM,
            "-jar",
            str(self._jar),
            "--flink-master",
            self.master,
            *endpoint,
        ]
        jobs = self._serve("job-server", [*jar, "--artifacts-dir", str(self.folder / "artifacts")])
        self.pool = self._serve(
            "worker-pool", [sys.executable, str(HERE / "worker_pool.py"), f"--port={self._workers}"]
        )
        everything = (self.manager, *self.managers, jobs, self.pool)
        run_until(self._whole, _START_SECONDS, "the cluster", *everything)
        run_until(lambda: listening(self._jobs), _START_SECONDS, "the job server", jobs)
        run_until(
            lambda: "listening" in self.pool.output(), _START_SECONDS, "the worker pool", self.pool
        )

    def _task_manager(self, name: str) -> Server:
        return self._jvm(
            f"task-manager-{name}", "640m", _TASK_MANAGER, f"-Dtaskmanager.resource-id={name}"
        )

    def _jvm(self, name: str, memory: str, main: str, *more: str) -> Server:
        logging = f"-Dlog4j.configurationFile={self.folder / 'log4j.properties'}"
        options = [f"-Xmx{memory}", *_JVM, logging, "-cp", f"{self._lib}/*"]
        return self._serve(
            name, [self._java, *options, main, "--configDir", str(self.folder), *more]
        )

    def _serve(self, name: str, command: list[str]) -> Server:
        # Workers import the project, which need not be installed, from their path. The folder that
        # they start in, which comes before it, has packages of the same names as its folders.
        beside = self.folder / "beside"
        for package in ("model", "pipelines", "transforms"):
            (beside / package).mkdir(parents=True, exist_ok=True)
            (beside / package / "__init__.py").write_text("raise RuntimeError('not ours')\n")
        path = os.pathsep.join(filter(None, [str(ROOT), self._python_path]))
        limits = {name: str(value) for name, (_, value) in LIMITS.items()}
        env = {"PYTHONPATH": path, **limits}
        return self._servers.enter_context(Server(name, command, self.folder, env, beside))


def _alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    with suppress(OSError):
        return stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False
